"""What the rooms hand each other: frozen values, and how a StreamJob is read.

Between watch, observe, plan, build and act nothing else passes. It imports the standard library alone.
"""

"""Third room: pure. A snapshot in, ordered steps out.

Asks :mod:`sluice_policies` what to move, and refuses with a sentence.
"""

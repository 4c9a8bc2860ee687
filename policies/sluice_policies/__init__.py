"""Pure decisions: frozen values in, frozen values out. No Kubernetes, no clock, no dice, no input or output.

Used by operator, agent, simulator, command line and tests alike.
"""

__version__ = "0.1.0"

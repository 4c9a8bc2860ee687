"""The agent: a small sidecar of the driver pod that decides per batch what :mod:`sluice_policies` says.

Standard library and the policies only: its image has nothing else.
"""

__version__ = "0.1.0"

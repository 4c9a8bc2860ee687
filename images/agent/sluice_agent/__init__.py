"""The agent: a small sidecar of the driver pod. It lifts gates when the operator is silent: :mod:`sluice_agent.gates`.

Standard library and :mod:`sluice_policies` only: its image has nothing else.
"""

__version__ = "0.1.0"

"""What the agent is told by its container: one field for each variable, read once by :mod:`sluice_agent.main`."""

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class Settings:
    """Whose agent this is, and how patient it is."""

    job: str
    namespace: str
    gate: str  # the scheduling gate that executors wait behind
    executors: str  # a label selector of the job's executors
    gate_timeout_s: float  # how long one may wait for the operator


def read(environment: Mapping[str, str]) -> Settings:
    """The settings of an environment; ValueError names the variable that is missing or wrong."""
    names = ("SLUICE_JOB", "SLUICE_NAMESPACE", "SLUICE_GATE", "SLUICE_EXECUTORS", "SLUICE_GATE_TIMEOUT_S")
    missing = [name for name in names if not environment.get(name)]
    if missing:
        raise ValueError(f"{', '.join(missing)}: must be set; the operator does so in the driver's pod")
    job, namespace, gate, executors, timeout = (environment[name] for name in names)
    try:
        timeout_s = float(timeout)
    except ValueError:
        timeout_s = 0.0
    if not 0 < timeout_s <= 3600:
        raise ValueError(f"SLUICE_GATE_TIMEOUT_S={timeout!r}: allowed are seconds up to 3600")
    return Settings(job, namespace, gate, executors, timeout_s)

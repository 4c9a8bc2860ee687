"""What the agent is told by its container: one field for each variable, read once by :mod:`sluice_agent.main`."""

import dataclasses
import pathlib
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class Settings:
    """Whose agent this is, and how patient it is."""

    job: str
    namespace: str
    gate: str  # the scheduling gate that executors wait behind
    executors: str  # a label selector of the job's executors
    gate_timeout_s: float  # how long one may wait for the operator
    driver: "Driver | None" = None  # None: a driver without our plugin; only gates are looked after


@dataclasses.dataclass(frozen=True)
class Driver:
    """The driver beside us."""

    job: str
    namespace: str
    pod: str
    uid: str
    address: str  # the pod's, where metrics are served
    folder: pathlib.Path  # shared with it
    template: pathlib.Path  # of executors, as the driver starts with


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
    return Settings(job, namespace, gate, executors, timeout_s, _driver(environment, job, namespace))


def _driver(environment: Mapping[str, str], job: str, namespace: str) -> Driver | None:
    names = ("SLUICE_POD", "SLUICE_POD_UID", "SLUICE_POD_IP", "SLUICE_AGENT_DIR", "SLUICE_EXECUTOR_TEMPLATE")
    found = [environment.get(name, "") for name in names]
    if not any(found):
        return None
    missing = [name for name, value in zip(names, found, strict=True) if not value]
    if missing:
        raise ValueError(f"{', '.join(missing)}: must be set where {names[0]} or one of its kind is")
    pod, uid, address, folder, template = found
    return Driver(job, namespace, pod, uid, address, pathlib.Path(folder), pathlib.Path(template))

"""A program of `make bench NAME=rebalance` in its driver's pod: a ConfigMap, mounted as a folder.

The one of :mod:`bench.rebalance_job` imports its neighbour, so that lies beside any of them.
"""

import pathlib
from typing import Any

from house import paths

_BENCH = paths.ROOT / "tests" / "bench"
JOB = _BENCH / "rebalance_job.py"
_WORKLOADS = _BENCH / "rebalance_workloads.py"
_NAME = "program"
MOUNT = {"name": _NAME, "mountPath": "/program"}


def config_map(program: pathlib.Path) -> dict[str, Any]:
    """To be made before the job."""
    data = {file.name: file.read_text() for file in _files(program).values()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": _NAME}, "data": data}


def volume(program: pathlib.Path) -> dict[str, Any]:
    """Of the driver's pod."""
    items = [{"key": file.name, "path": path} for path, file in _files(program).items()]
    return {"name": _NAME, "configMap": {"name": _NAME, "items": items}}


def _files(program: pathlib.Path) -> dict[str, pathlib.Path]:
    return {program.name: program, f"bench/{_WORKLOADS.name}": _WORKLOADS}

"""What a pod occupies on its node, counted as the scheduler counts it. Pure; called by the records."""

import functools
from collections.abc import Callable, Mapping

from sluice.values import quantities, records
from sluice.values.streamjob import Body

_Amount = Callable[[Body], int]  # of one resource, in a list of resources


def of_pod(spec: Body, status: Body) -> records.Resources:
    """The larger of all containers together and the hungriest moment of starting up, plus its runtime's overhead."""
    held = _held(status)
    if _is_hopeless(status):  # a resize that fits on no such node is not waited for: what is held is what counts
        spec = {**spec, "containers": [_without_wish(container, held) for container in spec["containers"]]}
    found = [_of_resource(spec, held, amount) for amount in (_cpu_m, _memory_bytes)]
    return records.Resources(cpu_m=found[0], memory_bytes=found[1], pods=1)


def _of_resource(spec: Body, held: Mapping[str, tuple[Body, ...]], amount: _Amount) -> int:
    whole_pod = amount((spec.get("resources") or {}).get("requests") or {})
    overhead = amount(spec.get("overhead") or {})
    if whole_pod:
        return whole_pod + overhead
    ask = functools.partial(_of_container, held, amount)
    sidecars = starting = 0
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            sidecars += ask(container)
            starting = max(starting, sidecars)
        else:
            starting = max(starting, sidecars + ask(container))
    running = sidecars + sum(ask(container) for container in spec["containers"])
    return max(running, starting) + overhead


def _of_container(held: Mapping[str, tuple[Body, ...]], amount: _Amount, container: Body) -> int:
    """While a container is resized in place, what it has and what it asks for both count: the larger."""
    asked = amount((container.get("resources") or {}).get("requests") or {})
    return max((asked, *(amount(has) for has in held.get(container["name"], ()))))


def _held(status: Body) -> dict[str, tuple[Body, ...]]:
    every = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    return {
        container["name"]: (
            container.get("allocatedResources") or {},
            (container.get("resources") or {}).get("requests") or {},
        )
        for container in every
    }


def _is_hopeless(status: Body) -> bool:
    return any(
        found["type"] == "PodResizePending" and found.get("reason") == "Infeasible"
        for found in status.get("conditions") or ()
    )


def _without_wish(container: Body, held: Mapping[str, tuple[Body, ...]]) -> Body:
    return {"name": container["name"]} if container["name"] in held else container


def _cpu_m(found: Body) -> int:
    return _read_cpu_m(found["cpu"]) if "cpu" in found else 0


def _memory_bytes(found: Body) -> int:
    return _read_bytes(found["memory"]) if "memory" in found else 0


# A cluster's pods ask in few words, again and again.
_read_cpu_m = functools.lru_cache(1024)(quantities.cpu_m)
_read_bytes = functools.lru_cache(1024)(quantities.whole)

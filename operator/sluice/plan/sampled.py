"""What some batches of a job cost, from its agent's numbers and where its executors sit. Pure.

For plan.wishes, plan.moving, plan.sizing and plan.balanced.
"""

from collections.abc import Mapping

from sluice.plan import crew
from sluice.values import moves, records
from sluice.values.traffic import Traffic

Homes = Mapping[str, str]  # node by executor, as Spark numbers them


def homes(pods: Mapping[str, records.Pod]) -> Homes:
    """Where each sits."""
    return {number: pod.node for number, pod in pods.items()}


def numbered(pods: tuple[records.Pod, ...], driver: str) -> dict[str, records.Pod]:
    """The executors of a driver (its pod's name) that work, by Spark's number."""
    mine = (pod for pod in pods if pod.name.rpartition("-exec-")[0] == driver and crew.number(pod).isdecimal())
    return {crew.number(pod): pod for pod in mine if pod.node and pod.phase == "Running" and not pod.deleting}


def measures(found: Traffic, where: Homes, peers: Mapping[str, int], node: str) -> moves.Measures:
    """Batches and rows of the job; bytes of one executor on a node, with its peers that have a place.

    A move changes the crossings of the one that moves alone, and among its own bytes that is no noise.
    """
    ran = [one for one in found.queries if one.batches]
    batches = sum(one.batches for one in ran)
    known = {other: count for other, count in peers.items() if other in where}
    return moves.Measures(
        batches=enough(found),
        batch_ms=sum(one.batch_ms * one.batches for one in ran) / max(1, batches),
        rows=sum(sum(one.rows.values()) for one in ran),
        bytes=sum(known.values()),
        cross_bytes=sum(count for other, count in known.items() if where[other] != node),
    )


def enough(found: Traffic) -> int:
    """So many batches are told of each query that runs."""
    return min((one.batches for one in found.queries if one.batches), default=0)


def peers(found: Traffic) -> dict[str, dict[str, int]]:
    """For each executor the bytes with each other one, in both directions."""
    met: dict[str, dict[str, int]] = {}
    for (one, other), count in between(found).items():
        for near, far in ((one, other), (other, one)):
            of_near = met.setdefault(near, {})
            of_near[far] = of_near.get(far, 0) + count
    return met


def between(found: Traffic) -> dict[tuple[str, str], int]:
    """Bytes of each pair of two different executors, all queries together."""
    total: dict[tuple[str, str], int] = {}
    for query in found.queries:
        for one, to in query.pairs.items():
            for other, count in to.items():
                if one != other:
                    total[one, other] = total.get((one, other), 0) + count
    return total


def span_s(found: Traffic) -> float:
    """How long the batches took that are told of."""
    return max((one.seconds for one in found.queries), default=0.0)


def loads_m(found: Traffic) -> dict[str, int]:
    """How busy each executor is: milliseconds of tasks each second, which is millicores."""
    total: dict[str, float] = {}
    for query in found.queries:
        for one, run_ms in query.run_ms.items():
            total[one] = total.get(one, 0.0) + run_ms / max(query.seconds, 1e-3)
    return {one: round(load_m) for one, load_m in total.items()}

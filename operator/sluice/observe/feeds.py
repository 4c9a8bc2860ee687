"""Which list-watches feed the mirror, by what the operator may read. Started by main."""

import functools
from collections.abc import Callable, Mapping

from sluice.observe import leases, listwatch, mirror
from sluice.transport import paths, wire
from sluice.values import names
from sluice.values.streamjob import Body

_Told = tuple[Callable[[str | None, Body], None], Callable[[str, Mapping[str, str], int], None]]


def feeds(
    seen: mirror.Mirror, line: wire.Wire, namespaces: tuple[str, ...], *, places: bool
) -> list[listwatch.ListWatch]:
    """Each to be run until the end. No namespaces: all. `places`: whatever occupies nodes is read, wherever it is.

    StreamJobs are followed by kopf (:mod:`sluice.watch`), which never tells of one that went while its watch was
    broken: hence a census. The Lease of a job that went while nobody looked is found in the same way.
    """
    scopes = namespaces or ("",)
    made: list[listwatch.ListWatch] = [count for scope in scopes for count in _counts(line, scope, seen)]
    see_pods = (seen.see_pod, seen.keep_pods)
    if places:
        return [*made, _follow(line, "Pod", "", see_pods), _follow(line, "Node", "", (seen.see_node, seen.keep_nodes))]
    return [*made, *(_follow(line, "Pod", scope, see_pods, {"labelSelector": names.JOB}) for scope in scopes)]


def _counts(line: wire.Wire, namespace: str, seen: mirror.Mirror) -> list[listwatch.Census]:
    jobs = listwatch.Memory(seen.see_streamjob, functools.partial(seen.keep_streamjobs, namespace))
    left = listwatch.Memory(seen.see_lease, lambda *_: None)  # a Lease only reminds of a job: none is kept
    return [
        listwatch.Census(line, paths.collection(names.KIND, namespace), jobs),
        listwatch.Census(line, paths.collection("Lease", namespace), left, {"labelSelector": leases.SELECTOR}),
    ]


def _follow(
    line: wire.Wire, kind: str, namespace: str, told: _Told, query: Mapping[str, str] | None = None
) -> listwatch.ListWatch:
    see, keep = told
    memory = listwatch.Memory(see, functools.partial(keep, namespace))
    return listwatch.ListWatch(line, paths.collection(kind, namespace), memory, query)

"""Which list-watches feed the mirror, by what the operator may read. Started by main."""

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence

from sluice.observe import leases, listwatch, mirror
from sluice.transport import paths, wire
from sluice.values import names
from sluice.values.streamjob import Body

_UNREAD_S = 5.0  # until a job whose namespace was not read is looked for again
_Look = Callable[[mirror.Key, float], Awaitable[float | None]]
_Told = tuple[Callable[[str | None, Body], None], Callable[[str, Mapping[str, str], int], None]]


def feeds(
    seen: mirror.Mirror, line: wire.Wire, namespaces: tuple[str, ...], *, places: bool
) -> list[listwatch.ListWatch]:
    """Each to be run until the end. No namespaces: all. `places`: whatever occupies nodes is read, wherever it is.

    StreamJobs are followed by kopf (:mod:`sluice.watch`), which never tells of one that went while its watch was
    broken: hence a census. The Lease of a job that went while nobody looked is found when Leases are listed.
    """
    scopes = namespaces or ("",)
    made: list[listwatch.ListWatch] = [_count(line, scope, seen) for scope in scopes]
    see_leases, ours = (seen.see_lease, seen.keep_leases), {"labelSelector": leases.SELECTOR}
    made += [_follow(line, "Lease", scope, see_leases, ours) for scope in scopes]
    see_pods = (seen.see_pod, seen.keep_pods)
    if places:
        return [*made, _follow(line, "Pod", "", see_pods), _follow(line, "Node", "", (seen.see_node, seen.keep_nodes))]
    return [*made, *(_follow(line, "Pod", scope, see_pods, {"labelSelector": names.JOB}) for scope in scopes)]


def where_read(followed: Sequence[listwatch.ListWatch], look: _Look) -> _Look:
    """A look at jobs of namespaces that were read. Elsewhere a driver may run unseen, so nothing is decided there."""

    async def look_if_read(key: mirror.Key, waited_s: float) -> float | None:
        unread = any(feed.namespace == key[0] and not feed.synced.is_set() for feed in followed)
        return _UNREAD_S if unread else await look(key, waited_s)

    return look_if_read


def _count(line: wire.Wire, namespace: str, seen: mirror.Mirror) -> listwatch.Census:
    jobs = listwatch.Memory(seen.see_streamjob, functools.partial(seen.keep_streamjobs, namespace))
    return listwatch.Census(line, paths.collection(names.KIND, namespace), jobs, namespace=namespace)


def _follow(
    line: wire.Wire, kind: str, namespace: str, told: _Told, query: Mapping[str, str] | None = None
) -> listwatch.ListWatch:
    see, keep = told
    memory = listwatch.Memory(see, functools.partial(keep, namespace))
    return listwatch.ListWatch(line, paths.collection(kind, namespace), memory, query, namespace)

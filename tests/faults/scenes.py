"""Scenes of a job's life, each with every write that the operator makes in it: the points at which it may be killed.

A point is a kind of write and how often it was made before, so that it stays the same whatever comes side by side.
"""

import collections
import dataclasses
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from cycle import play
from fakes import calls
from sluice.transport import paths
from sluice.values import names

Point = tuple[str, str, int]  # before or after which kind of a write, and which of these


@dataclasses.dataclass(frozen=True)
class Scene:
    """What is there at the beginning, what happens, when it is over, and what is written meanwhile."""

    name: str
    before: Callable[[play.Play], Awaitable[None]]  # brings about what it begins with
    happens: Callable[[play.Play], object]
    over: Callable[[play.Play], bool]
    writes: dict[str, int]  # how many of each kind
    in_vain: frozenset[tuple[str, int]] = frozenset()  # those that are refused: what is to be made is there already
    talking: bool = False  # whether drivers say how they stand, and obey

    def points(self) -> list[Point]:
        """Before and after each write of it; what is refused has no afterwards."""
        found = [(kind, number) for kind, many in self.writes.items() for number in range(1, many + 1)]
        return [
            (when, *point)
            for point in found
            for when in ("before", "after")
            if when == "before" or point not in self.in_vain
        ]


def kind(method: str, path: str) -> str:
    """`POST pods`, `PATCH status`, `DELETE executor`."""
    last = path.rsplit("/", 1)[-1]
    if last == "status":
        return f"{method} status"
    plural = paths.plural(path)
    if plural == "pods" and method != "POST":
        return f"{method} {'executor' if '-exec-' in last else 'driver'}"
    return f"{method} {plural}"


def made(written: list[calls.Call]) -> dict[str, int]:
    """How many of each kind."""
    return dict(collections.Counter(kind(call.method, call.path) for call in written))


def end(at: play.Play) -> dict[str, Any]:
    """Everything there is in the end, without what differs from one run to the next: uids, versions, moments."""
    found = {
        f"{body['kind']} {body['metadata']['name']}": _plain(body)
        for (plural, _, _), body in at.kube.store.objects.items()
        if plural not in ("events", "nodes")
    }
    return dict(sorted(found.items()))


def _plain(body: dict[str, Any]) -> Any:
    # What agents say has numbers of its own.
    kept = ("labels", "finalizers") if body["kind"] == "Lease" else ("labels", "annotations", "finalizers")
    meta = {key: body["metadata"].get(key) for key in kept}
    owners = [owner["name"] for owner in body["metadata"].get("ownerReferences", ())]
    rest = {key: value for key, value in body.items() if key != "metadata"}
    text = json.dumps({**rest, "metadata": {**meta, "owners": owners}}, sort_keys=True)
    text = re.sub(r'"pauseMs": \d+', '"pauseMs": "some"', text)
    text = re.sub(r"a pause of \d+ ms", "a pause", text)
    text = re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", "a moment", text)
    return json.loads(re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "a uid", text))


async def _nothing(_: play.Play) -> None:
    """No job yet."""


async def _running(at: play.Play) -> None:
    at.apply(play.job())
    await at.until(at.ready)


async def _heard(at: play.Play) -> None:
    """Its driver says that it runs, so it is not restarted for what it can do meanwhile."""
    at.apply(play.job(count=2))
    await at.until(at.ready)
    at.say(queries=[{"id": "q-1", "phase": "running"}])


async def _rests(at: play.Play) -> None:
    await _running(at)
    at.apply(play.job(suspend=True))
    await at.until(lambda: _suspended(at))


def _suspended(at: play.Play) -> bool:
    return at.status().get("phase") == "Suspended" and not at.kube.objects("Pod")


def _changed(at: play.Play) -> bool:
    return at.ready() and _image(at) == "clicks:2"


def _settled(at: play.Play, executors: int) -> bool:
    """Nobody comes or goes any more."""
    done = at.condition("Progressing") == ("False", "Running") and len(at.executors()) == executors
    return at.ready() and done and "rolledTo" in at.status()["driver"]


def _image(at: play.Play) -> str:
    found = at.world.pods(names.DRIVER, "clicks")
    return str(found[0]["spec"]["containers"][0]["image"]) if found else ""


async def _talks(at: play.Play) -> None:
    at.apply(play.job(update=_AT_ONCE))
    await at.until(lambda: at.ready() and bool(at.status().get("queries")))


async def _recreates(at: play.Play) -> None:
    """Its next image is broken."""
    at.world.broken = {"clicks:2"}
    at.apply(play.job(update=_RECREATE))
    await at.until(lambda: at.ready() and bool(at.status().get("queries")))


def _handed_over(at: play.Play) -> bool:
    return _ended(at, "Done") and _image(at) == "clicks:2"


def _ended(at: play.Play, phase: str) -> bool:
    return at.ready() and len(at.drivers()) == 1 and at.status().get("handoff", {}).get("phase") == phase


_AT_ONCE = {"rollback": {"batches": 0}}
_RECREATE = {"strategy": "Recreate", **_AT_ONCE}
_OBJECTS = ("configmaps", "serviceaccounts", "rolebindings", "services", "poddisruptionbudgets", "leases")
_POSTED, _APPLIED = "POST poddisruptionbudgets", "PATCH poddisruptionbudgets"
_MADE = {f"POST {plural}": 1 for plural in (*_OBJECTS, "pods")} | {_POSTED: 2}
_RENEWED = {f"PATCH {plural}": 2 for plural in ("serviceaccounts", "rolebindings", "services")}
_RENEWED |= {_APPLIED: 4}
_THERE = frozenset((f"POST {plural}", 1) for plural in _OBJECTS if plural != "configmaps")
_THERE |= {(_POSTED, 2)}
_MADE_TWICE = {what: 2 * many for what, many in _MADE.items()}
_MADE_TWICE |= {what: many + many // 2 for what, many in _RENEWED.items()}  # by then nothing is left to be adopted
_THERE_TWICE = _THERE | {(what, number + _MADE[what]) for what, number in _THERE}
_SCALED = {"POST configmaps": 1, _POSTED: 3, _APPLIED: 3, "PATCH driver": 3}
_ROLLED = {"POST configmaps": 1, _POSTED: 2, _APPLIED: 2, "PATCH driver": 2}
_KEPT_ANEW = frozenset((_POSTED, number) for number in range(1, 6))
_TEMPLATE = {"metadata": {"labels": {"colour": "blue"}}}
_GONE = {"DELETE driver": 1, "DELETE executor": 1}

SCENES: tuple[Scene, ...] = (
    Scene(
        "create",
        _nothing,
        lambda at: at.apply(play.job()),
        play.Play.ready,
        _MADE | {"PATCH status": 6, "POST events": 2, "PATCH executor": 1},
    ),
    Scene(
        "change",
        _running,
        lambda at: at.apply(play.job(image="clicks:2")),
        _changed,
        _MADE | _RENEWED | _GONE | {"PATCH status": 10, "POST events": 6, "PATCH events": 2, "PATCH executor": 1},
        _THERE | {("POST events", 5), ("POST events", 6)},
    ),
    Scene(
        "suspend",
        _running,
        lambda at: at.apply(play.job(suspend=True)),
        _suspended,
        _GONE | {"PATCH status": 3, "POST events": 2},
    ),
    Scene(
        "resume",
        _rests,
        lambda at: at.apply(play.job()),
        play.Play.ready,
        _MADE | _RENEWED | {"PATCH status": 6, "POST events": 2, "PATCH events": 2, "PATCH executor": 1},
        _THERE | {("POST configmaps", 1), ("POST events", 1), ("POST events", 2)},
    ),
    Scene(
        "delete",
        _running,
        lambda at: at.delete(),
        lambda at: not at.kube.objects("Pod") and not at.kube.objects("Lease"),
        _GONE | {"DELETE leases": 1},
    ),
    Scene(
        "failure",
        _running,
        lambda at: at.end_driver(exit_code=1, words="no such topic"),
        lambda at: at.ready() and at.status()["driver"]["attempt"] == 2,
        _MADE
        | _RENEWED
        | {"DELETE executor": 1, "PATCH status": 8, "POST events": 3, "PATCH events": 2, "PATCH executor": 1},
        _THERE | {("POST configmaps", 1), ("POST events", 2), ("POST events", 3)},
    ),
    Scene(
        "hand over",
        _talks,
        lambda at: at.apply(play.job(update=_AT_ONCE, image="clicks:2")),
        _handed_over,
        _MADE
        | _RENEWED
        | _GONE
        | {"PATCH status": 15, "POST events": 6, "PATCH events": 1, "PATCH executor": 1, "PATCH driver": 3}
        | {_POSTED: 5, _APPLIED: 3},
        _THERE | _KEPT_ANEW | {("POST events", 6)},
        talking=True,
    ),
    Scene(
        "roll back",
        _recreates,
        lambda at: at.apply(play.job(update=_RECREATE, image="clicks:2")),
        lambda at: _ended(at, "RolledBack") and _image(at) == "clicks:1",
        _MADE_TWICE
        | _GONE
        | {"PATCH status": 14, "POST events": 8, "PATCH events": 2, "PATCH executor": 1}
        | {_POSTED: 5, "PATCH driver": 1},
        _THERE_TWICE | _KEPT_ANEW | {("POST configmaps", 2), ("POST events", 7), ("POST events", 8)},
        talking=True,
    ),
    Scene(
        "more executors",
        _heard,
        lambda at: at.apply(play.job(count=3)),
        lambda at: _settled(at, 3),
        _SCALED | {"PATCH status": 7, "POST events": 3, "PATCH events": 2, "PATCH executor": 1},
        _KEPT_ANEW | {("POST events", 2), ("POST events", 3)},
    ),
    Scene(
        "fewer executors",
        _heard,
        lambda at: at.apply(play.job(count=1)),
        lambda at: _settled(at, 1),
        _SCALED | {"PATCH status": 5, "POST events": 2, "PATCH events": 1},
        _KEPT_ANEW | {("POST events", 2)},
    ),
    Scene(
        "another template",
        _heard,
        lambda at: at.apply(play.job(executors={"count": 2, "template": _TEMPLATE})),
        lambda at: _settled(at, 2),
        _ROLLED | {"POST pods": 1, "PATCH status": 18, "POST events": 4, "PATCH events": 3, "PATCH executor": 2},
        _KEPT_ANEW | {("POST events", number) for number in (2, 3, 4)},
    ),
)

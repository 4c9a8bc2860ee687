"""The job's Lease: who runs it, and what each driver's agent has to say. Written here and nowhere else in the agent.

The Lease stops nobody, the epoch in the checkpoint does; it tells the operator. The driver whose gate is open holds
it, the one with the higher epoch where two are; others only write their annotation.
"""

import collections
import dataclasses
import datetime
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any

from sluice_agent import client, documents, report, settings

_LOG = logging.getLogger(__name__)
EPOCH = "sluice.dev/epoch"
_SAID = "agent.sluice.dev/"
_RENEW_S, _TELL_S, _DURATION_S = 10.0, 15.0, 30
_MOST_WRITES, _WITHIN_S = 4, 1.0  # whatever flaps; the two of a drain come one right after the other
_LONG_AGO = "1970-01-01T00:00:00Z"
_MERGE = "application/merge-patch+json"


class Refused(Exception):  # it is what it says
    """The API server does not let us."""


@dataclasses.dataclass(frozen=True)
class Claim:
    """The Lease as it was last seen."""

    version: str
    holder: str
    epoch: int
    transitions: int
    until_s: float  # by the API server's clock
    words: Mapping[str, str]  # annotations of agents, by pod


class Lease:
    """One driver's view of it."""

    def __init__(self, api: client.Client, told: settings.Driver, clock: Callable[[], float]) -> None:
        self._api, self._clock = api, clock
        self._pod, self._me = told.pod, f"{told.pod}_{told.uid}"
        self._path = f"/apis/coordination.k8s.io/v1/namespaces/{told.namespace}/leases/{told.job}"
        self._claim: Claim | None = None
        self._ahead_s = 0.0  # the API server's clock before ours
        self._renewed_s = -math.inf
        self._wrote_s = collections.deque([-math.inf] * _MOST_WRITES, maxlen=_MOST_WRITES)
        self._told_s = clock()  # nothing yet; but what is not urgent can wait
        self._urgent: tuple[Any, ...] | None = None

    def before(self) -> Mapping[str, Any]:
        """What we said before we were started anew; empty when nothing, or nothing that makes sense."""
        try:
            return documents.read(self._look().words.get(self._pod, "{}").encode(), "the annotation")
        except documents.Wrong:
            return {}

    def due_s(self, told: report.Report) -> float:
        """How long nothing need be written, if the report stays as it is."""
        now_s = self._clock()
        at_s = self._told_s + _TELL_S if told.urgent == self._urgent else now_s
        if told.leads:
            at_s = min(at_s, self._renewed_s + _RENEW_S)
        return max(0.0, at_s - now_s, self._wrote_s[0] + _WITHIN_S - now_s)

    def write(self, told: report.Report) -> None:
        """Tells, and renews or takes the Lease where it is ours to hold."""
        for _ in range(2):  # once more with the newest, when another was faster
            claim = self._claim or self._look()
            holds = told.leads and (claim.holder == self._me or self._may_take(claim, told))
            answer = self._api.call("PATCH", self._path, self._patch(claim, told, holds), _MERGE)
            if answer.status != 409:
                break
            self._claim = None
        else:
            raise client.Unavailable("the Lease changed twice while it was written")
        if not answer.ok:
            raise Refused(f"cannot write the Lease: {answer.sentence}")
        self._written(told, answer, claim)

    def _written(self, told: report.Report, answer: client.Answer, before: Claim) -> None:
        now_s = self._clock()
        self._claim = _claim(answer.body)
        self._ahead_s = answer.at_s - now_s
        self._urgent, self._told_s, self._renewed_s = told.urgent, now_s, now_s
        self._wrote_s.append(now_s)
        if self._claim.holder != before.holder:
            _LOG.info("the Lease is held by %s, before by %s", self._claim.holder, before.holder or "nobody")

    def _look(self) -> Claim:
        answer = self._api.call("GET", self._path)
        if not answer.ok:
            raise Refused(f"cannot read the Lease: {answer.sentence}")
        self._claim, self._ahead_s = _claim(answer.body), answer.at_s - self._clock()
        return self._claim

    def _may_take(self, claim: Claim, told: report.Report) -> bool:
        ended = claim.until_s < self._clock() + self._ahead_s
        return not claim.holder or ended or told.epoch > claim.epoch

    def _patch(self, claim: Claim, told: report.Report, holds: bool) -> dict[str, Any]:
        now = _micro_time(self._clock() + self._ahead_s)
        annotations: dict[str, str | None] = {f"{_SAID}{self._pod}": told.text(now)}
        if not holds:
            return {"metadata": {"annotations": annotations}}  # of ours alone: no version to mind
        spec: dict[str, Any] = {"holderIdentity": self._me, "renewTime": now, "leaseDurationSeconds": _DURATION_S}
        annotations[EPOCH] = str(told.epoch)
        if claim.holder != self._me:
            spec |= {"acquireTime": now, "leaseTransitions": claim.transitions + 1}
            before = claim.holder.rpartition("_")[0]
            annotations |= {f"{_SAID}{pod}": None for pod in claim.words if pod not in (self._pod, before)}
        return {"metadata": {"resourceVersion": claim.version, "annotations": annotations}, "spec": spec}


def _claim(body: Mapping[str, Any]) -> Claim:
    meta, spec = body.get("metadata") or {}, body.get("spec") or {}
    noted = meta.get("annotations") or {}
    epoch = str(noted.get(EPOCH) or "0")
    try:
        renewed_s = datetime.datetime.fromisoformat(spec.get("renewTime") or _LONG_AGO).timestamp()
    except ValueError as why:
        raise Refused(f"the Lease was renewed at {spec['renewTime']!r}: this is no time") from why
    return Claim(
        str(meta.get("resourceVersion") or ""),
        str(spec.get("holderIdentity") or ""),
        int(epoch) if epoch.isascii() and epoch.isdigit() else 0,
        int(spec.get("leaseTransitions") or 0),
        renewed_s + float(spec.get("leaseDurationSeconds") or 0),
        {name.removeprefix(_SAID): str(text) for name, text in noted.items() if name.startswith(_SAID)},
    )


def _micro_time(at_s: float) -> str:
    return datetime.datetime.fromtimestamp(at_s, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

"""What a StreamJob's file would change: compared with the job that stands, or another file. For `sluice plan -f`."""

import dataclasses
import json
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from sluice import build
from sluice.act import dry_run
from sluice.build import plugin, samples
from sluice.plan import changes
from sluice.values import fields, names, streamjob
from sluice.values.streamjob import Body, Spec, StreamJob


@dataclasses.dataclass(frozen=True)
class Proposal:
    """A job as it would be, what it is now if it is, and what the API server said of it."""

    job: StreamJob
    old: StreamJob | None
    heard: tuple[str, ...]
    plugged: bool | None = None  # whether the driver that runs has the plugin; None: nobody was asked

    @property
    def found(self) -> tuple[changes.Change, ...]:
        """Field by field."""
        return changes.between(self.old, self.job) if self.old else ()

    @property
    def verdict(self) -> str:
        """What it all leads to."""
        if not self.old:
            return "a new job: suspended, so nothing starts yet" if self.job.spec.suspend else "a new job: it starts"
        return changes.verdict(self.found, self.job.spec, plugged=self.plugged)

    def steps(self) -> Iterator[str]:
        """What would be done, in its order."""
        new, old = changes.revision(self.job), changes.revision(self.old) if self.old else ""
        if new == old or self.job.spec.suspend:
            return
        if self.plugged is not False and changes.rolls(self.found, self.job.spec):
            yield from self._rolled(new)
            return
        beside = bool(old) and self.plugged is not False and self.job.spec.update.strategy == "Handover"
        if old and not beside:
            yield f"drivers of revision {old} end, and their executors"
        for manifest in build.objects(self.job, new, 1, build.Surroundings()):
            yield f"{manifest['kind']} {manifest['metadata']['name']}"
        if beside:
            yield from self._handed_over(old)

    def _handed_over(self, old: str) -> Iterator[str]:
        drain_s = self.job.spec.update.drain_timeout_s
        warm = "warms up and " if self.job.spec.update.warm_up else ""
        yield f"the new driver {warm}waits with its executors; if it fails there, revision {old} goes on"
        yield f"the driver of revision {old} ends its batch in {drain_s:.0f} s, or goes on; the new one begins the next"
        yield "expected pause: about a second beyond one batch, longer with much state or a cold start"

    def _rolled(self, revision: str) -> Iterator[str]:
        yield f"ConfigMap {names.config_map(self.job.name, revision)}"
        yield f"PodDisruptionBudget {names.disruption_budget(self.job.name)}"
        yield f"executors: {self.job.spec.executors.count}, as many of them go or come as need be"
        if changes.most(self.found) == fields.Asks.ROLL:
            yield "each executor goes once one made of the new template works, or before if there is no room for both"

    def explain(self) -> str:
        """As a person reads it."""
        new, old = changes.revision(self.job), changes.revision(self.old) if self.old else "none"
        lines = [f"StreamJob {self.job.namespace}/{self.job.name}: revision {old} → {new}"]
        lines += [f"  {change.explain()}" for change in self.found]
        lines += [self.verdict, *(f"  {step}" for step in self.steps()), *self.heard]
        return "\n".join(lines)

    def to_json(self) -> str:
        """For programs."""
        return json.dumps(
            {
                "namespace": self.job.namespace,
                "name": self.job.name,
                "revision": {
                    "before": changes.revision(self.old) if self.old else None,
                    "after": changes.revision(self.job),
                },
                "changes": [{**dataclasses.asdict(c), "asks": c.asks.name.lower()} for c in self.found],
                "verdict": self.verdict,
                "steps": list(self.steps()),
                "heard": list(self.heard),
            },
            indent=1,
        )


def look(file: pathlib.Path, against: pathlib.Path | None, namespace: str) -> Proposal:
    """The proposal in a file; ValueError says what is wrong with it, or why the API server would refuse it."""
    body = _read(file, namespace)
    job = _job(file, body)
    build.objects(job, changes.revision(job), 1, build.Surroundings())  # what no pod can be made of is said here
    if against:
        return Proposal(job, _job(against, _read(against, namespace)), ())
    try:
        return _asked(dry_run.Asker(), file, body)
    except dry_run.NoCluster as why:
        heard = f"no cluster was asked ({why}); --against FILE compares with the job as it was"
        return Proposal(job, None, (heard,))


def _asked(api: dry_run.Asker, file: pathlib.Path, body: Body) -> Proposal:
    meta = body["metadata"]
    stands = api.read(meta["namespace"], meta["name"])
    job = _job(file, api.applied(body))
    return Proposal(job, _job(file, stands) if stands else None, tuple(_heard(api, job)), _is_plugged(stands))


def _heard(api: dry_run.Asker, job: StreamJob) -> Iterator[str]:
    """What it says to the pods, too, and what it was not asked about."""
    for pod in samples.pods(job, changes.revision(job), build.Surroundings()):
        try:
            api.made(pod)
        except dry_run.NotAllowed as why:
            yield "the API server would take the StreamJob"
            yield f"not asked about: its pods, which you may not: {why}"
            return
        except ValueError as why:
            role = pod["metadata"]["labels"][names.ROLE]
            raise ValueError(f"the API server would refuse the {role}'s pod: {why}") from None
    more = "{cpu} CPU and {memory} memory".format(**plugin.RESOURCES["requests"])
    yield "the API server would take the StreamJob, its driver and its executors"
    yield f"not asked about: agent and plugin, for which the driver may need {more} more"


def _is_plugged(stands: Body | None) -> bool:
    """Those that are told anything are the drivers with the plugin."""
    return bool((((stands or {}).get("status") or {}).get("orders") or {}).get("drivers"))


def _read(file: pathlib.Path, namespace: str) -> dict[str, Any]:
    """The one StreamJob of a file."""
    try:
        found = [part for part in yaml.safe_load_all(file.read_text()) if part]
    except (yaml.YAMLError, UnicodeDecodeError) as why:
        raise ValueError(f"{file}: {why}") from None
    jobs = [part for part in found if isinstance(part, dict) and part.get("kind") == names.KIND]
    if len(jobs) != 1:
        raise ValueError(f"{file}: {len(jobs)} of kind {names.KIND}; allowed is one")
    meta = jobs[0].get("metadata")
    if not isinstance(meta, dict) or not isinstance(meta.get("name"), str):
        raise ValueError(f"{file}: metadata.name is missing")
    return {**jobs[0], "metadata": {**meta, "namespace": namespace or meta.get("namespace") or "default"}}


def _job(file: pathlib.Path, body: Body) -> StreamJob:
    meta = body["metadata"]
    return StreamJob(
        namespace=meta["namespace"],
        name=meta["name"],
        spec=_spec(file, body.get("spec")),
        uid=meta.get("uid", ""),
        restarted=(meta.get("annotations") or {}).get(names.RESTARTED, ""),
    )


def _spec(file: pathlib.Path, found: Any) -> Spec:
    try:
        if not isinstance(found, Mapping):
            raise ValueError("spec is missing")
        return streamjob.read_spec(found)
    except ValueError as why:
        raise ValueError(f"{file}: {why}") from None
    except (AttributeError, KeyError, TypeError) as why:
        raise ValueError(f"{file}: spec is not as `kubectl explain streamjob.spec` says: {why}") from None

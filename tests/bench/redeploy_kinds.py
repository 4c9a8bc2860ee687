"""The kinds of jobs that are redeployed under load, and how each one's sink tells what was lost and what came twice."""

import collections
import time
from collections.abc import Callable, Mapping
from typing import Any

from bench import redeploy_stage
from demo import flow, plain_spark, streamjobs, topics
from sluice.values import names

_PATIENCE_S = 120.0
_KEYS, _FILLING = 1_000_000, 1_000  # so many keys, made by so many of the first numbers
FILES = "bench-redeploy/out"  # where the kind that writes files writes them
Found = Mapping[str, int]
Counted = collections.Counter[int]


def of(kind: str, wrong: str = "nothing", steps: int = 0, **spec: Any) -> redeploy_stage.Kind:
    """One of those in bench.redeploy_job."""
    places = (redeploy_stage.SERVERS, redeploy_stage.SOURCE, redeploy_stage.SINK, _folder())
    words = [kind, *places, str(_KEYS), wrong, str(steps)]
    program = f"local:///program/{redeploy_stage.PROGRAM.name}"
    return redeploy_stage.Kind(kind, {"file": program, "args": words}, spec)


def _folder() -> str:
    return f"s3a://{plain_spark.BUCKET}/{FILES}"


_ON_S3: Mapping[str, Any] = {"checkpoint": {"location": f"s3a://{plain_spark.BUCKET}/bench-redeploy/files"}}
_WIDE = {"count": 2, "memory": "2Gi", "template": streamjobs.template(names.EXECUTOR_CONTAINER)}
STATE = of("million", executors=_WIDE)
TO_FILES = of("files", **_ON_S3)
KINDS = (of("aggregation"), of("foreach-batch"), TO_FILES, of("two"), redeploy_stage.REAL_TIME)


def judge(job: streamjobs.Job, load: flow.Load) -> Found:
    """What the sink has of all that was sent, when it has come, or has not for long. Ends the load, to be exact."""
    load.stops = True
    plain_spark.until("the source has all", lambda: topics.count(job.kube, redeploy_stage.SOURCE) == load.sent)
    read, expected = _JUDGES.get(job.name, (_numbers, _each_once))
    deadline_s, wanted = time.monotonic() + _PATIENCE_S, expected(load.sent)
    while True:
        got = read(job)
        lost, repeated = (wanted - got).total(), (got - wanted).total()
        if not lost or time.monotonic() > deadline_s:
            return {"records": load.sent, "lost": lost, "repeated": repeated}


def _numbers(job: streamjobs.Job) -> Counted:
    many = topics.count(job.kube, redeploy_stage.SINK)
    return collections.Counter(map(int, topics.read(job.kube, redeploy_stage.SINK, many)))


def _each_once(sent: int) -> Counted:
    return collections.Counter(range(sent))


def _in_files(job: streamjobs.Job) -> Counted:
    return collections.Counter(map(int, plain_spark.lines_of(job.kube, plain_spark.files_of_sink(job.kube, FILES))))


def _last_counts(job: streamjobs.Job) -> Counted:
    """Each record is a key and how often it has come so far."""
    many = topics.count(job.kube, redeploy_stage.SINK)
    last = collections.Counter[int]()
    for _, line in topics.read_with_moments(job.kube, redeploy_stage.SINK, many):
        key, count = map(int, line.split())
        last[key] = max(last[key], count)
    return last


def _by_hundred(sent: int) -> Counted:
    return collections.Counter(number % 100 for number in range(sent))


def _by_million(sent: int) -> Counted:
    """Each key is there once from the beginning."""
    found = collections.Counter(number * 7919 % _KEYS for number in range(_FILLING, sent))
    return collections.Counter({key: count + 1 for key, count in found.items()})


_JUDGES: Mapping[str, tuple[Callable[[streamjobs.Job], Counted], Callable[[int], Counted]]] = {
    "aggregation": (_last_counts, _by_hundred),
    "million": (_last_counts, _by_million),
    "files": (_in_files, _each_once),
}

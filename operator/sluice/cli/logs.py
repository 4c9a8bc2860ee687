"""`sluice logs JOB`: what the driver, an executor or the agent says, without knowing what its pod is called."""

import argparse
import sys

from sluice.cli import cluster
from sluice.values import names
from sluice.values.streamjob import Body


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    parser = verbs.add_parser("logs", help="what the driver of a job says, or an executor")
    parser.add_argument("job", help="a StreamJob")
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument("--executor", type=int, metavar="ID", help="of this executor, by Spark's number")
    whose.add_argument("--agent", action="store_true", help="of the agent beside the driver")
    parser.add_argument("-f", "--follow", action="store_true", help="go on until you interrupt it")
    parser.add_argument("--tail", type=int, default=None, metavar="LINES", help="only the last ones")
    cluster.add_words(parser, output=False)
    parser.set_defaults(run=run)


def run(said: argparse.Namespace) -> str:
    """Nothing to print at the end: lines are printed as they come."""
    asked = cluster.connect(said)
    driver = _driver(asked, said.job)
    pod, container = driver, names.DRIVER_CONTAINER
    if said.executor is not None:
        pod, container = f"{driver}-exec-{said.executor}", names.EXECUTOR_CONTAINER
    elif said.agent:
        container = names.AGENT_CONTAINER
    for piece in asked.log(pod, container, said.tail, follow=said.follow):
        sys.stdout.write(piece)
        sys.stdout.flush()
    return ""


def _driver(asked: cluster.Cluster, name: str) -> str:
    """As the status says; else the youngest that stands, which may be the one that failed last."""
    job = asked.job(name)
    if said := job.get("status", {}).get("driver", {}).get("pod"):
        return str(said)
    found = asked.pods(f"{names.JOB}={name},{names.ROLE}={names.DRIVER}")
    if not found:
        raise ValueError(f"{name} has no driver; `sluice why {name}` says what it waits for")
    return str(max(found, key=_made)["metadata"]["name"])


def _made(pod: Body) -> str:
    return str(pod["metadata"].get("creationTimestamp", ""))

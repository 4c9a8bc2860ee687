"""`sluice status`: how the jobs are, a line each; how one is, in full."""

import argparse

from sluice.cli import cluster, words
from sluice.values.streamjob import Body


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    parser = verbs.add_parser("status", help="how the jobs are, or one of them")
    parser.add_argument("job", nargs="?", help="one StreamJob; default: all of the namespace")
    parser.add_argument("-A", "--all-namespaces", action="store_true")
    cluster.add_words(parser)
    parser.set_defaults(run=run)


def run(said: argparse.Namespace) -> str:
    """What to print."""
    if said.job and said.all_namespaces:
        raise ValueError("one job has one namespace: say -n NAMESPACE, or leave out -A")
    asked = cluster.connect(said)
    if said.job:
        job = asked.job(said.job)
        return words.as_json(_whole(job)) if said.output == "json" else _page(job)
    jobs = sorted(asked.jobs(everywhere=said.all_namespaces), key=_name)
    if said.output == "json":
        return words.as_json([_whole(job) for job in jobs])
    if not jobs:
        return "there are no StreamJobs" + ("" if said.all_namespaces else f" in namespace {asked.namespace}")
    return _list(jobs, wide=said.all_namespaces)


def _list(jobs: list[Body], *, wide: bool) -> str:
    head = ["NAMESPACE"] * wide + ["NAME", "PHASE", "READY", "EXECUTORS", "RESTARTS", "REVISION", "AGE", "MESSAGE"]
    return words.table(head, [[job["metadata"]["namespace"]] * wide + _row(job) for job in jobs])


def _row(job: Body) -> list[object]:
    status = job.get("status", {})
    meta = job["metadata"]
    return [
        meta["name"],
        status.get("phase"),
        words.conditions(status).get("Ready", {}).get("status"),
        _executors(status),
        status.get("driver", {}).get("restarts"),
        status.get("revision"),
        words.age(meta.get("creationTimestamp", ""), words.now()),
        status.get("message"),
    ]


def _page(job: Body) -> str:
    status = job.get("status", {})
    driver, placement = status.get("driver", {}), status.get("placement", {})
    meta = job["metadata"]
    lines = [
        f"{meta['name']} in {meta['namespace']}: {status.get('phase', 'not looked at yet')}",
        f"  {status.get('message', 'no operator has seen it: is one running, and does it watch this namespace?')}",
        f"revision   {status.get('revision', '-')}{_lag(job)}",
        f"driver     {driver.get('pod', '-')}, attempt {driver.get('attempt', '-')}",
        f"executors  {_executors(status) or '-'} run{_waiting(status)}",
    ]
    if handoff := status.get("handoff"):
        lines.append(f"handover   {handoff['phase']}: {handoff.get('message', '-')}")
    lines += [f"query      {_query(one)}" for one in status.get("queries", ())]
    if nodes := placement.get("nodes"):
        where = ", ".join(f"{node} {count}" for node, count in sorted(nodes.items()))
        lines.append(f"placement  {where} ({placement.get('policy', '-')})")
    if move := placement.get("move"):
        lines.append(
            f"move       {move['executor']} from {move['from']} to {move['to']}, {move['phase']}: {move['why']}"
        )
    if (sizing := status.get("sizing")) and "executors" in sizing:
        lines.append(f"advice     {sizing['executors']} executors of {sizing['cores']} cores: {sizing['why']}")
    found = [(c["type"], c["status"], c.get("reason"), c.get("message")) for c in status.get("conditions", ())]
    return "\n".join(lines) + ("\n\n" + words.table(("CONDITION", "IS", "REASON", "MESSAGE"), found) if found else "")


def _query(one: Body) -> str:
    name, said = one.get("name", one["id"]), [one["phase"]]
    if "batch" in one:
        said.append(f"batch {one['batch']} in {one.get('batchMs', '-')} ms")
    elif one.get("committed", -1) >= 0:
        said.append(f"batch {one['committed']}")
    if "processedRowsPerSecond" in one:
        said.append(f"{one['processedRowsPerSecond']:g} rows/s")
    if "lag" in one:
        said.append(f"{one['lag']:g} wait")
    return f"{name}: {', '.join(said)}{': ' + one['problem'] if one.get('problem') else ''}"


def _lag(job: Body) -> str:
    seen, wanted = job.get("status", {}).get("observedGeneration"), job["metadata"].get("generation")
    return "" if seen == wanted else ", and a change that the operator has not taken up yet"


def _executors(status: Body) -> str:
    found = status.get("executors")
    return f"{found.get('running', 0)}/{found.get('wanted', 0)}" if found else ""


def _waiting(status: Body) -> str:
    waiting = status.get("executors", {}).get("waiting", 0)
    return f", {waiting} wait for a node" if waiting else ""


def _whole(job: Body) -> Body:
    meta = job["metadata"]
    return {
        "namespace": meta["namespace"],
        "name": meta["name"],
        "generation": meta.get("generation"),
        "status": job.get("status", {}),
    }


def _name(job: Body) -> tuple[str, str]:
    return job["metadata"]["namespace"], job["metadata"]["name"]

"""`sluice dump`: nodes and executors as a snapshot, for `sluice plan --snapshot` and `sluice simulate what-if`.

The unit is a millicore. What other pods ask for is taken off a node's capacity; a tainted node is left out. Each pair
of executors of a job counts one byte a second, as before anything is measured.
"""

import argparse
import itertools
from collections import defaultdict
from collections.abc import Iterable

from sluice.cli import cluster
from sluice.observe import records
from sluice.values import names
from sluice.values.records import Node, Pod
from sluice.values.streamjob import Body
from sluice_policies import model


def add(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The words of this verb."""
    parser = verbs.add_parser("dump", help="nodes and executors as a snapshot for `plan --snapshot`")
    parser.add_argument("-A", "--all-namespaces", action="store_true", help="jobs of all namespaces can move")
    cluster.add_words(parser, output=False)
    parser.set_defaults(run=run)


def run(said: argparse.Namespace) -> str:
    """The snapshot as JSON."""
    asked = cluster.connect(said)
    namespace = None if said.all_namespaces else asked.namespace
    return snapshot(asked.nodes(), asked.pods("", everywhere=True), namespace).to_json()


def snapshot(nodes: Iterable[Body], pods: Iterable[Body], namespace: str | None) -> model.Snapshot:
    """What a policy may know of a cluster; executors of other namespaces count as what occupies a node."""
    used_m: dict[str, int] = defaultdict(int)
    tasks: dict[str, list[model.Task]] = defaultdict(list)
    for pod in map(records.read_pod, pods):
        if pod.over:
            continue
        if pod.role == names.EXECUTOR and namespace in (None, pod.namespace):
            tasks[f"{pod.namespace}/{pod.job}"].append(_task(pod))
        else:
            used_m[pod.node] += pod.requests.cpu_m
    return model.Snapshot(
        nodes=tuple(_node(node, used_m) for node in map(records.read_node, nodes) if _takes_pods(node)),
        tasks=tuple(itertools.chain.from_iterable(tasks.values())),
        edges=tuple(
            model.Edge(one.name, other.name, 1)
            for of_job in tasks.values()
            for one, other in itertools.combinations(of_job, 2)
        ),
    )


def _task(pod: Pod) -> model.Task:
    return model.Task(f"{pod.namespace}/{pod.name}", pod.requests.cpu_m, f"{pod.namespace}/{pod.job}", pod.node or None)


def _node(node: Node, used_m: dict[str, int]) -> model.Node:
    return model.Node(node.name, max(0, node.allocatable.cpu_m - used_m[node.name]))


def _takes_pods(node: Node) -> bool:
    return node.ready and not any(taint.effect in ("NoSchedule", "NoExecute") for taint in node.taints)

"""What a person sees of the cluster: what is up, what was done to it, how to reach it, what a stage took."""

import json
from collections.abc import Sequence

from house import screen, stages, trouble
from testbed import addons, binaries, cgroups, cluster, network


def shares(took: Sequence[stages.Took]) -> str:
    """Each stage's time, longest first. Stages run side by side, so they add up to more than the clock."""
    worked = sorted((t for t in took if not t.kept), key=lambda t: -t.seconds)
    total_s = sum(t.seconds for t in worked) or 1.0
    lines = [f"  {t.name:<18} {screen.duration(t.seconds):>12}  {t.seconds / total_s:4.0%}" for t in worked]
    return "\n".join(["what took how long (stages overlap):", *lines])


def status(testbed: "cluster.Cluster") -> str:
    """The cluster in a few lines."""
    if not testbed.nodes:
        return "there is no cluster; `make cluster` brings one up"
    ready = _ready_by_node(testbed)
    lines = [f"{'box':<10}{'state':<12}{'CPU limit':<12}{'memory':<10}"]
    lines.append(_line(testbed, network.CONTROL, ""))
    lines += [_line(testbed, name, ready.get(name, "unknown")) for name in testbed.nodes]
    lines.append(f"memory of all: {cgroups.memory_bytes() / 2**30:.2f} GiB")
    lines.append(
        "from this machine: " + ", ".join(f"{name} 127.0.0.1:{port}" for name, (port, _) in addons.FORWARDS.items())
    )
    lines.append(f"export KUBECONFIG={testbed.kubeconfig} PATH={binaries.directory()}:$PATH")
    return "\n".join(lines)


def _line(testbed: "cluster.Cluster", name: str, ready: str) -> str:
    if testbed.named(name).pid() is None:
        return f"{name:<10}{'dead':<12}"
    pods = f"{name}/{cgroups.PODS}"
    limit = cgroups.cpu_limit(pods) if cgroups.exists(pods) else None
    state = "frozen" if cgroups.frozen(name) else ready or "up"
    memory = f"{cgroups.memory_bytes(name) / 2**20:.0f} MiB"
    return f"{name:<10}{state:<12}{'none' if limit is None else f'{limit:.0%}':<12}{memory:<10}"


def _ready_by_node(testbed: "cluster.Cluster") -> dict[str, str]:
    try:
        listed = json.loads(testbed.kubectl("get", "nodes", "-o", "json", "--request-timeout=5s"))["items"]
    except trouble.Trouble:
        return {}
    return {n["metadata"]["name"]: "Ready" if cluster.is_ready(n) else "NotReady" for n in listed}

"""The cluster as one thing: up, down, what there is, and the experiments by name of a node. Tests use this class.

`up` looks at each box and brings up what is not running; a box that was cut short is not running. So it takes over from
any state, and does nothing where nothing is to do.
"""

import contextlib
import fcntl
import functools
import json
import time
from collections.abc import Iterator

from house import paths, spark, stages, trouble
from testbed import (
    addons,
    binaries,
    box,
    cgroups,
    control_plane,
    experiments,
    fakes,
    forward,
    images,
    machine,
    network,
    node,
    pki,
    store,
)

API_PORT = 26443
_API_DEADLINE_S = 90.0
_NODES_DEADLINE_S = 120


class Cluster:
    """The testbed's cluster on this machine; there is one."""

    def __init__(self) -> None:
        self.home = paths.CACHE / "cluster"
        self.kubeconfig = self.home / "pki" / "admin.kubeconfig"
        self.switch = self._box(network.SWITCH)
        self.network = network.Network(self.switch)

    @property
    def nodes(self) -> list[str]:
        """The names of the real nodes."""
        file = self.home / "nodes"
        return list(network.NODE_NAMES[: int(file.read_text())]) if file.exists() else []

    def running(self) -> bool:
        """Whether every box is up."""
        return bool(self.nodes) and all(self._box(n).pid() for n in (network.SWITCH, network.CONTROL, *self.nodes))

    def up(self, nodes: int = 3) -> list[stages.Took]:
        """Brings everything up, building what the cache does not have."""
        if not 1 <= nodes <= network.MOST_NODES:
            raise trouble.Trouble(f"nodes is {nodes}; allowed are 1 to {network.MOST_NODES}")
        with self._alone():
            return stages.run("cluster", [*build_stages(), *self._boot_stages(nodes)])

    def down(self) -> str:
        """Ends every process of the testbed and removes what they had; the cache stays."""
        with self._alone():
            ended = len(cgroups.processes())
            cgroups.kill()
            paths.remove(self.home)
        return f"the cluster is gone ({ended} processes ended); what was built stays in {paths.CACHE}"

    def kubectl(self, *words: str, text: str | None = None) -> str:
        """What kubectl answers."""
        return addons.kubectl(self.kubeconfig, *words, text=text)

    def slow(self, name: str, share: str) -> str:
        """CPU: `20%` of a core, or `full`."""
        return experiments.slow(self._known(name), share)

    def link(self, name: str, rate: str) -> str:
        """Link speed: `50mbit`, or `full`."""
        return experiments.link(self.switch, self._known(name), rate)

    def freeze(self, name: str) -> str:
        """Stops a node where it stands."""
        return experiments.freeze(self._known(name))

    def thaw(self, name: str) -> str:
        """Lets it go on."""
        return experiments.thaw(self._known(name))

    def cut(self, name: str) -> str:
        """Unplugs a node."""
        return experiments.cut(self.switch, self._known(name))

    def heal(self, name: str) -> str:
        """Plugs it in again."""
        return experiments.heal(self.switch, self._known(name))

    def kill(self, name: str) -> str:
        """Ends a node like a power cut."""
        self._known(name).kill()
        return f"{name} is dead, its disk is kept; `start {name}` boots it"

    def start(self, name: str) -> str:
        """Boots a killed node."""
        target = self._known(name)
        if target.pid():
            return f"{name} is running already"
        with self._alone():
            self._boot_control() if name == network.CONTROL else self._boot_node(name)
        return f"{name} boots"

    def fake(self, count: int) -> str:
        """Sees to it that there are so many KWOK nodes beside the real ones."""
        return fakes.scale(self.kubeconfig, count)

    def named(self, name: str) -> box.Box:
        """A node's box, or the control plane's (`control`)."""
        return self._known(name)

    def _box(self, name: str) -> box.Box:
        return box.Box(name, self.home / name)

    def _known(self, name: str) -> box.Box:
        if not self.nodes:
            raise trouble.Trouble("there is no cluster; `make cluster` brings one up")
        if name not in (*self.nodes, network.CONTROL):
            allowed = ", ".join([*self.nodes, network.CONTROL])
            raise trouble.Trouble(f"node is {name!r}; there are {allowed}")
        return self._box(name)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        paths.CACHE.mkdir(parents=True, exist_ok=True)
        with (paths.CACHE / "cluster.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise trouble.Trouble("another testbed command is at work; let it end, then try again") from None
            yield

    def _boot_stages(self, nodes: int) -> list[stages.Stage]:
        names = list(network.NODE_NAMES[:nodes])

        def raise_nodes(desk: stages.Desk) -> None:
            for name in names:
                self._raise_node(desk, name)

        return [
            stages.Stage("switch", lambda _: self._boot_switch(nodes), ("kernel",)),
            stages.Stage("control plane", lambda _: self._raise_control(), ("switch", "programs")),
            stages.Stage("nodes", raise_nodes, ("control plane", "unpack images")),
            stages.Stage("nodes ready", lambda _: self._wait_for_nodes(names), ("nodes",)),
            stages.Stage("add-ons", lambda _: self._apply_addons(), ("control plane", "unpack images")),
            stages.Stage(
                "add-ons ready", lambda _: addons.wait(self.kubeconfig, own_cluster=False), ("nodes ready", "add-ons")
            ),
        ]

    def _boot_switch(self, nodes: int) -> None:
        if self.switch.pid() is None:
            cgroups.kill()  # wires die with the switch: every box is booted anew, on the disk it has
            self.home.mkdir(parents=True, exist_ok=True)
            if not (self.home / "pki").exists():
                pki.make(self.home / "pki", API_PORT)
            ports = {API_PORT: f"{network.CONTROL_ADDRESS}:6443"} | dict(addons.FORWARDS.values())
            sockets = {machine.listen(port, f"the testbed's {at}"): at for port, at in ports.items()}
            words = [f"{sock.fileno()}={at}" for sock, at in sockets.items()]
            self.switch.directory.mkdir(parents=True, exist_ok=True)
            forwarder = (str(box.PYTHON), box.own_copy(forward.__file__, self.switch.directory), *words)
            fds = tuple(sock.fileno() for sock in sockets)
            self.switch.boot([box.Daemon("forward", forwarder, pass_fds=fds)], self.network.wire_switch, {})
            for sock in sockets:
                sock.close()
        for extra in self.nodes[nodes:]:
            self._box(extra).remove()
            self.kubectl("delete", "node", extra, "--ignore-not-found")
        (self.home / "nodes").write_text(str(nodes))

    def _raise_control(self) -> None:
        if self._box(network.CONTROL).pid() is None:
            self._boot_control()
        self._wait_for_api()

    def _boot_control(self) -> None:
        target = self._box(network.CONTROL)
        daemons = control_plane.daemons(binaries.directory(), self.home / "pki", target.directory)
        target.boot(daemons, lambda pid: self.network.wire(target.name, pid), control_plane.SYSCTLS)

    def _wait_for_api(self) -> None:
        deadline_s = time.monotonic() + _API_DEADLINE_S
        while True:
            try:
                self.kubectl("get", "--raw=/readyz")
                return
            except trouble.Trouble as why:
                if time.monotonic() > deadline_s:
                    logs = self._box(network.CONTROL).logs
                    raise trouble.Trouble(
                        f"the API server is not ready after {_API_DEADLINE_S:.0f} s; logs: {logs}; {why}"
                    ) from why
            time.sleep(0.2)

    def _raise_node(self, desk: stages.Desk, name: str) -> None:
        target = self._box(name)
        if target.pid():
            store.refresh(desk, target)
        else:
            store.furnish(target)
            self._boot_node(name)

    def _boot_node(self, name: str) -> None:
        target = self._box(name)
        daemons = node.daemons(name, target.directory, binaries.directory(), self.home / "pki", network.address(name))
        wire = functools.partial(self.network.wire, name)
        target.boot(daemons, wire, node.SYSCTLS, store.borrowed(target))

    def _wait_for_nodes(self, names: list[str]) -> None:
        deadline_s = time.monotonic() + _NODES_DEADLINE_S
        while time.monotonic() < deadline_s:
            listed = json.loads(self.kubectl("get", "nodes", "-o", "json"))["items"]
            ready = {n["metadata"]["name"] for n in listed if is_ready(n)}
            if ready.issuperset(names):
                return
            time.sleep(0.3)
        missing = sorted(set(names) - ready)
        raise trouble.Trouble(
            f"not Ready after {_NODES_DEADLINE_S} s: {', '.join(missing)}; logs: {self._box(missing[0]).logs}"
        )

    def _apply_addons(self) -> None:
        addons.apply(self.kubeconfig, own_cluster=False)
        addons.supply_volumes(self.kubeconfig, self.home / "volumes")


def build_stages() -> list[stages.Stage]:
    """Everything the cache must have: packages, programs, images; the same whether a cluster follows or not."""
    kube, others = binaries.KUBE, binaries.OTHERS  # one after the other: each keeps all cores busy
    programs = [
        stages.Stage("build kube", kube.build, ("packages",), kube.built),
        stages.Stage("build others", others.build, ("build kube",), others.built),
    ]
    pictures = [stages.Stage(f"image {i.name}", i.build, _before(i), i.built) for i in images.ALL]
    return [
        stages.Stage("machine", machine.check),
        stages.Stage("packages", machine.install_packages, ("machine",), machine.packages_installed),
        stages.Stage("kernel", machine.check_kernel, ("packages",)),
        *programs,
        stages.Stage("programs", lambda _: binaries.link(), tuple(s.name for s in programs)),
        stages.Stage("base", images.build_base, ("packages",), images.base_built),
        stages.Stage("Spark", spark.make, ("packages",), lambda: spark.made() or images.PLUGIN.built()),
        *pictures,
        stages.Stage("unpack images", _unpack, tuple(s.name for s in pictures), store.current),
    ]


def _unpack(desk: stages.Desk) -> None:
    store.fill(desk, in_use=bool(Cluster().nodes))


def _before(image: images.Image) -> tuple[str, ...]:
    if image.on:
        return (f"image {image.on.name}",)
    more = {images.COREDNS: ("build others",), images.PLUGIN: ("Spark",)}.get(image, ())
    return ("base" if image.on_base else "packages", *more)


def is_ready(listed: dict[str, dict[str, list[dict[str, str]]]]) -> bool:
    """Whether a node, as the API server tells it, is Ready."""
    conditions = listed["status"].get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

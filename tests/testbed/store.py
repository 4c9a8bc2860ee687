"""Images on nodes: unpacked once into a store, then each node's disk starts as a hard-linked copy of it.

Unpacking costs 15 s per image and node; a copy of links costs one. containerd never writes to a committed layer, so
nodes may share its files; only its two small databases are copied. A running node gets a changed image by import.
"""

import contextlib
import json
import pathlib
import shutil
import subprocess
import time

from house import paths, stages, trouble
from testbed import box, images, node, oci

_DATABASES = ("io.containerd.metadata.v1.bolt/meta.db", "io.containerd.snapshotter.v1.overlayfs/metadata.db")
_BLOBS = pathlib.Path("io.containerd.content.v1.content/blobs/sha256")
_SOCKET_DEADLINE_S = 20.0


def _at() -> pathlib.Path:
    return paths.CACHE / "store"


def held(record: pathlib.Path) -> dict[str, str]:
    """Which images (by key) a store or node has, as last recorded."""
    return dict(json.loads(record.read_text())) if record.exists() else {}


def wanted() -> dict[str, str]:
    """Which images a node should have."""
    return {image.name: image.key() for image in images.ALL}


def record_of_store() -> pathlib.Path:
    """Where the store's record is."""
    return _at() / "images.json"


def current() -> bool:
    """Whether the store has all images as they are now."""
    return held(record_of_store()) == wanted()


def fill(desk: stages.Desk) -> None:
    """Unpacks what changed into the store."""
    at = _at()
    if (at / "busy").exists():  # an earlier import was cut short: its database may say anything
        paths.remove(at)
    at.mkdir(parents=True, exist_ok=True)
    (at / "busy").touch()
    _import_into_store(desk, at)
    record_of_store().write_text(json.dumps(wanted()))
    (at / "busy").unlink()


def _import_into_store(desk: stages.Desk, at: pathlib.Path) -> None:
    socket, config = at / "containerd.sock", at / "containerd.toml"
    config.write_text(
        f'version = 2\nroot = "{at}/root"\nstate = "{at}/state"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
        f'[grpc]\n  address = "{socket}"\n[ttrpc]\n  address = "{socket}.ttrpc"\n'
    )
    with desk.shell.log.open("ab") as log:
        command = ["unshare", "-m", "--", "containerd", "--config", str(config)]
        daemon = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        _wait_for(socket, daemon)
        for name in _changed(held(record_of_store())):
            desk.say(f"unpacking {name}")
            _import(desk, ["ctr", "-a", str(socket)], next(i for i in images.ALL if i.name == name), at / "root")
    finally:
        daemon.terminate()
        daemon.wait()
    shutil.rmtree(at / "state", ignore_errors=True)


def _wait_for(socket: pathlib.Path, daemon: "subprocess.Popen[bytes]") -> None:
    deadline_s = time.monotonic() + _SOCKET_DEADLINE_S
    while not socket.exists():
        if daemon.poll() is not None or time.monotonic() > deadline_s:
            raise trouble.Trouble("containerd, started to unpack images, does not answer")
        time.sleep(0.05)


def _changed(have: dict[str, str]) -> list[str]:
    return [name for name, key in wanted().items() if have.get(name) != key]


def _import(desk: stages.Desk, ctr: list[str], image: images.Image, root: pathlib.Path) -> None:
    """Sends the image's layers that are not there yet."""
    command = [*ctr, "-n", "k8s.io", "images", "import", "--base-name", f"localhost/{image.name}", "-"]
    with desk.shell.log.open("ab") as log:
        receiver = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
        assert receiver.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # its exit code and the log say why
            oci.send(image.layout(), root / _BLOBS, receiver.stdin)
            receiver.stdin.close()
    if receiver.wait() != 0:
        raise trouble.Trouble(f"containerd does not take the image {image.name}; see {desk.shell.log}")


def _record_of(machine: box.Box) -> pathlib.Path:
    return machine.lib / "images.json"


def furnish(machine: box.Box) -> None:
    """Gives a node that never ran its disk, with all images on it."""
    disk, part = machine.lib / "containerd", machine.lib / "containerd.part"
    if disk.exists():
        return
    shutil.rmtree(part, ignore_errors=True)
    machine.lib.mkdir(parents=True, exist_ok=True)
    source = _at() / "root"
    subprocess.run(["cp", "-al", str(source), str(part)], check=True)
    for database in _DATABASES:
        (part / database).unlink()
        shutil.copy(source / database, part / database)
    shutil.copy(record_of_store(), _record_of(machine))
    part.rename(disk)


def refresh(desk: stages.Desk, machine: box.Box) -> None:
    """Gives a running node the images that changed since it got its disk."""
    have = held(_record_of(machine))
    for name in _changed(have):
        desk.say(f"{machine.name} gets the new {name}")
        ctr = [*machine.inside("-m"), "ctr", "-a", node.SOCKET]
        _import(desk, ctr, next(i for i in images.ALL if i.name == name), machine.lib / "containerd")
    _record_of(machine).write_text(json.dumps(wanted()))

"""Images on nodes: unpacked once into a store, whose layers every node borrows read-only.

Unpacking costs 15 s per image and node, and so does throwing the layers away (a folder removed is a discard on disk).
So a node's disk begins with copies of containerd's two small databases, links to its blobs, and an empty folder for
each unpacked layer, onto which the box mounts the store's. A running node gets a changed image by import.
"""

import contextlib
import json
import pathlib
import shutil
import subprocess
import time

from house import paths, shell, stages, trouble
from testbed import box, images, node, oci

_DATABASES = ("io.containerd.metadata.v1.bolt/meta.db", "io.containerd.snapshotter.v1.overlayfs/metadata.db")
_BLOBS = pathlib.Path("io.containerd.content.v1.content/blobs/sha256")
_LAYERS = pathlib.Path("io.containerd.snapshotter.v1.overlayfs/snapshots")
_BORROWED = "borrowed.json"
_KEPT = "localhost/kept"  # a full name: kubelet asks containerd for an image by any name it has
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


def fill(desk: stages.Desk, *, in_use: bool) -> None:
    """Unpacks what changed into the store; while a cluster has borrowed from it, old layers stay."""
    at = _at()
    if (at / "busy").exists():  # an earlier import was cut short: its database may say anything
        paths.remove(at)
    at.mkdir(parents=True, exist_ok=True)
    (at / "busy").touch()
    _import_into_store(desk, at, in_use)
    record_of_store().write_text(json.dumps(wanted()))
    (at / "busy").unlink()


def _import_into_store(desk: stages.Desk, at: pathlib.Path, in_use: bool) -> None:
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
        ctr = ["ctr", "-a", str(socket), "-n", "k8s.io"]
        have = held(record_of_store())
        if not in_use:
            _drop_kept(desk, ctr)
        for image in _changed(have):
            desk.say(f"unpacking {image.name}")
            if in_use and image.name in have:
                _keep(desk, ctr, image, have[image.name])
            _import(desk, ctr, image, at / "root")
    finally:
        daemon.terminate()
        daemon.wait()
    shutil.rmtree(at / "state", ignore_errors=True)


def _keep(desk: stages.Desk, ctr: list[str], image: images.Image, key: str) -> None:
    """Names an image's present build, so that its layers outlive the next one."""
    names = (f"localhost/{image.name}:{image.tag}", f"{_KEPT}/{image.name}:{key}")
    desk.shell.run(*ctr, "images", "tag", "--force", *names)


def _drop_kept(desk: stages.Desk, ctr: list[str]) -> None:
    listed = shell.read(*ctr, "images", "ls", "-q").split()
    if kept := [name for name in listed if name.startswith(f"{_KEPT}/")]:
        desk.shell.run(*ctr, "images", "rm", *kept)


def _wait_for(socket: pathlib.Path, daemon: "subprocess.Popen[bytes]") -> None:
    deadline_s = time.monotonic() + _SOCKET_DEADLINE_S
    while not socket.exists():
        if daemon.poll() is not None or time.monotonic() > deadline_s:
            raise trouble.Trouble("containerd, started to unpack images, does not answer")
        time.sleep(0.05)


def _changed(have: dict[str, str]) -> list[images.Image]:
    return [image for image in images.ALL if have.get(image.name) != image.key()]


def _import(desk: stages.Desk, ctr: list[str], image: images.Image, root: pathlib.Path) -> None:
    """Sends the image's layers that are not there yet."""
    command = [*ctr, "images", "import", "--base-name", f"localhost/{image.name}", "-"]
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
    disk, part, source = _disk(machine), machine.lib / "containerd.part", _at() / "root"
    if disk.exists():
        return
    paths.remove(part)
    for folder in (_BLOBS, _LAYERS, *(pathlib.Path(database).parent for database in _DATABASES)):
        (part / folder).mkdir(parents=True, exist_ok=True)
    for blob in (source / _BLOBS).iterdir():
        (part / _BLOBS / blob.name).hardlink_to(blob)
    layers = sorted(layer.name for layer in (source / _LAYERS).iterdir())
    for layer in layers:
        (part / _LAYERS / layer).mkdir()
    for database in _DATABASES:
        shutil.copy(source / database, part / database)
    (part / _BORROWED).write_text(json.dumps(layers))
    shutil.copy(record_of_store(), _record_of(machine))
    part.rename(disk)


def borrowed(machine: box.Box) -> dict[str, str]:
    """Where the node mounts which layer of the store, read-only: it may not clean up what others use."""
    names = json.loads((_disk(machine) / _BORROWED).read_text())
    return {f"/var/lib/containerd/{_LAYERS}/{name}": str(_at() / "root" / _LAYERS / name) for name in names}


def _disk(machine: box.Box) -> pathlib.Path:
    return machine.lib / "containerd"


def refresh(desk: stages.Desk, machine: box.Box) -> None:
    """Gives a running node the images that changed since it got its disk."""
    have = held(_record_of(machine))
    for image in _changed(have):
        desk.say(f"{machine.name} gets the new {image.name}")
        ctr = [*machine.inside("-m"), "ctr", "-a", node.SOCKET, "-n", "k8s.io"]
        _import(desk, ctr, image, _disk(machine))
    _record_of(machine).write_text(json.dumps(wanted()))

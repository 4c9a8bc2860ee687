"""Images as folders of layers (OCI layouts), and how to send one where most of its layers are already."""

import json
import pathlib
import tarfile
from typing import IO, Any

_NAME = "org.opencontainers.image.ref.name"


def _blob(layout: pathlib.Path, digest: str) -> pathlib.Path:
    return layout / "blobs" / digest.replace(":", "/")


def digests(layout: pathlib.Path) -> list[str]:
    """Every blob the layout's images are made of: manifests, configurations, layers."""
    found = []
    for manifest in _read(layout / "index.json")["manifests"]:
        found.append(manifest["digest"])
        parts = _read(_blob(layout, manifest["digest"]))
        found += [parts["config"]["digest"], *(layer["digest"] for layer in parts["layers"])]
    return found


def layers(layout: pathlib.Path) -> list[pathlib.Path]:
    """The files of the last build's layers, lowest first."""
    manifest = _read(_blob(layout, _read(layout / "index.json")["manifests"][-1]["digest"]))
    return [_blob(layout, layer["digest"]) for layer in manifest["layers"]]


def is_packed(layer: pathlib.Path) -> bool:
    """Whether a layer's file is compressed (gzip), as a registry keeps it."""
    with layer.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def prune(layout: pathlib.Path) -> None:
    """Drops earlier builds, which a push leaves in the index without a name, and their blobs."""
    index = _read(layout / "index.json")
    index["manifests"] = [build for build in index["manifests"] if _NAME in build.get("annotations", {})]
    part = layout / "index.part"
    part.write_text(json.dumps(index))
    part.replace(layout / "index.json")
    wanted = {_blob(layout, digest) for digest in digests(layout)}
    for blob in (layout / "blobs" / "sha256").iterdir():
        if blob not in wanted:
            blob.unlink()


def send(layout: pathlib.Path, have: pathlib.Path, to: IO[bytes]) -> None:
    """Writes the layout as a tar stream, without the blobs that the folder `have` holds by digest."""
    with tarfile.open(fileobj=to, mode="w|") as tar:
        for name in ("oci-layout", "index.json"):
            tar.add(layout / name, name)
        for digest in dict.fromkeys(digests(layout)):
            blob = _blob(layout, digest)
            if not (have / blob.name).exists():
                tar.add(blob, str(blob.relative_to(layout)))


def _read(file: pathlib.Path) -> Any:
    return json.loads(file.read_text())

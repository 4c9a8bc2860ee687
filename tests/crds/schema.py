"""The CRD as a tree of fields: read it, walk it, fill in its defaults as the API server does."""

import copy
import functools
import pathlib
from collections.abc import Iterator
from typing import Any

import yaml

from house import paths

FILE = paths.ROOT / "crds" / "streamjobs.yaml"
EXAMPLES = paths.ROOT / "crds" / "examples"
OPEN = "x-kubernetes-preserve-unknown-fields"

Node = dict[str, Any]


@functools.cache
def crd() -> Node:
    """The whole manifest."""
    return dict(yaml.safe_load(FILE.read_text()))


def version() -> Node:
    """Its one version."""
    (only,) = crd()["spec"]["versions"]
    return dict(only)


def root() -> Node:
    """The schema of a StreamJob."""
    return dict(version()["schema"]["openAPIV3Schema"])


def spec() -> Node:
    """The schema of its spec."""
    return dict(root()["properties"]["spec"])


def walk(node: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    """Every field with its path: `executors.count`, `args[]`, `sparkConf{}`."""
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from walk(child, f"{path}.{name}" if path else name)
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if key in node:
            yield from walk(node[key], path + mark)


def defaulted(node: Node, value: Any) -> Any:
    """The value with every default filled in, from the outside inwards."""
    if not isinstance(value, dict):
        return value
    filled = dict(value)
    for name, child in node.get("properties", {}).items():
        if name not in filled and "default" in child:
            filled[name] = copy.deepcopy(child["default"])
        if name in filled:
            filled[name] = defaulted(child, filled[name])
    return filled


def unknown(node: Node, value: Any, path: str = "") -> list[str]:
    """Fields of a value that the schema does not have."""
    if OPEN in node:
        return []
    if isinstance(value, list):
        return [found for entry in value for found in unknown(node["items"], entry, path + "[]")]
    if not isinstance(value, dict) or "properties" not in node:
        return []
    found = [f"{path}.{name}" for name in value if name not in node["properties"]]
    known = {name: child for name, child in value.items() if name in node["properties"]}
    return found + [deep for n, child in known.items() for deep in unknown(node["properties"][n], child, f"{path}.{n}")]


def documents(file: pathlib.Path) -> list[Node]:
    """The objects in a manifest."""
    return [dict(found) for found in yaml.safe_load_all(file.read_text())]

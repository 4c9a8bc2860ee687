"""`field=value` words as a policy's `Args`, so that whatever a policy may be told can be told on the command line."""

import dataclasses
import functools
import typing
from collections.abc import Callable, Sequence

import sluice_policies
from sluice_policies import model, moves


def planner(name: str, settings: Sequence[str] = ()) -> Callable[[model.Snapshot], moves.Plan]:
    """A policy with its arguments; ValueError says which word is wrong and what is allowed."""
    policy = sluice_policies.policy(name)
    kind = vars(policy)["Args"]
    fields = {field.name: typing.get_type_hints(kind)[field.name] for field in dataclasses.fields(kind)}
    values: dict[str, object] = {}
    for word in settings:
        field, _, text = word.partition("=")
        if field not in fields:
            raise ValueError(f"{word}: policy {name} allows {', '.join(f'{f}=…' for f in sorted(fields)) or 'nothing'}")
        values[field] = _value(field, text, fields[field])
    return functools.partial(vars(policy)["plan"], args=kind(**values))


def _value(field: str, text: str, kind: type) -> object:
    if kind not in (int, float):
        return text
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{field}={text!r}: allowed is a {'whole ' if kind is int else ''}number") from None

"""Which nodes may take an executor at all: taints, selectors, required node affinity. Called by plan.placement.

What the scheduler also weighs (pods' affinities, topology spread, volumes) is left to it: if it says no, the executor
is planned again without that node (:mod:`sluice.plan.retry_place`).
"""

from collections.abc import Iterable, Mapping

from sluice.values import records
from sluice.values.streamjob import Body

_KEEPS_OFF = ("NoSchedule", "NoExecute")


def allows(node: records.Node, wishes: records.Wishes) -> bool:
    """Whether the node may take a pod with these wishes."""
    return node.ready and _tolerated(node, wishes) and _selected(node, wishes) and _has_affinity(node, wishes.affinity)


def terms(affinity: Body) -> list[Body]:
    """The terms of a required node affinity, one of which a node must meet; none: any node will do."""
    required = ((affinity or {}).get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return list(required.get("nodeSelectorTerms", ()))


def matches(labels: Mapping[str, str], selector: Body) -> bool:
    """Whether labels meet a label selector; an empty one selects nothing here."""
    if not selector:
        return False
    exact = all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
    return exact and all(_meets(labels, expression) for expression in selector.get("matchExpressions", ()))


def tolerates(tolerations: Iterable[Body], taint: records.Taint) -> bool:
    """Whether a taint keeps off none that has these tolerations."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def leaves_cordoned(template: Body) -> bool:
    """Whether pods of a user's template are to leave a cordoned node. Those that tolerate cordons might come back."""
    tolerations = (template.get("spec") or {}).get("tolerations") or ()
    return not tolerates(tolerations, records.Taint(records.CORDON))


def _tolerated(node: records.Node, wishes: records.Wishes) -> bool:
    keeping_off = [taint for taint in node.taints if taint.effect in _KEEPS_OFF]
    return all(tolerates(wishes.tolerations, taint) for taint in keeping_off)


def _tolerates(toleration: Body, taint: records.Taint) -> bool:
    if toleration.get("effect", taint.effect) not in (taint.effect, ""):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return toleration.get("key", "") in (taint.key, "")
    return toleration.get("key") == taint.key and toleration.get("value", "") == taint.value


def _selected(node: records.Node, wishes: records.Wishes) -> bool:
    return all(node.labels.get(key) == value for key, value in wishes.node_selector.items())


def _has_affinity(node: records.Node, affinity: Body) -> bool:
    wanted = terms(affinity)
    return not wanted or any(_meets_term(node, term) for term in wanted)


def _meets_term(node: records.Node, term: Body) -> bool:
    expressions, fields = term.get("matchExpressions", ()), term.get("matchFields", ())
    if not expressions and not fields:
        return False  # as Kubernetes has it: an empty term selects no node
    by_field = {"metadata.name": node.name}
    return all(_meets(node.labels, e) for e in expressions) and all(_meets(by_field, f) for f in fields)


def _meets(labels: Mapping[str, str], expression: Body) -> bool:
    value, values = labels.get(expression["key"]), expression.get("values", ())
    operator = expression["operator"]
    if operator in ("Gt", "Lt"):
        return value is not None and _compared(operator, value, values[0])
    return {
        "In": value in values,
        "NotIn": value not in values,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }.get(operator, False)


def _compared(operator: str, value: str, limit: str) -> bool:
    try:
        return int(value) > int(limit) if operator == "Gt" else int(value) < int(limit)
    except ValueError:
        return False  # what is no number meets neither, as the scheduler has it

"""Kubernetes' label selectors. Pure."""

from collections.abc import Mapping

from sluice.values.streamjob import Body


def selects(selector: Body, labels: Mapping[str, str]) -> bool:
    """Whether all of its terms hold. An empty selector selects nothing here: nobody means all pods of a cluster."""
    same = selector.get("matchLabels") or {}
    terms = selector.get("matchExpressions") or ()
    if not same and not terms:
        return False
    return all(labels.get(key) == value for key, value in same.items()) and all(_holds(term, labels) for term in terms)


def _holds(term: Body, labels: Mapping[str, str]) -> bool:
    value, allowed = labels.get(term["key"]), term.get("values") or ()
    match term["operator"]:
        case "In":
            return value in allowed
        case "NotIn":
            return value not in allowed
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:  # the schema of a StreamJob allows no other
            return False

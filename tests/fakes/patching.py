"""How a fake API server changes bodies: JSON merge patch, and server-side apply in its simplest form."""

import copy
from typing import Any

Body = dict[str, Any]


def merged(target: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def applied(target: Body, before: Body, now: Body) -> Body:
    """What one manager applied before and no longer names goes; what he names is set. Lists are atomic."""
    result = copy.deepcopy(target)
    for key in before.keys() - now.keys():
        result.pop(key, None)
    for key, value in now.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            earlier = before.get(key)
            result[key] = applied(result[key], earlier if isinstance(earlier, dict) else {}, value)
        else:
            result[key] = copy.deepcopy(value)
    return result

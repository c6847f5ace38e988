"""YAML that is damaged in its structure: keys renamed, removed, doubled; values of another type."""

from __future__ import annotations

from random import Random
from typing import Any

import yaml

from lairmake.stages.yaml_limits import FAULTS

OTHERS: list[Any] = [
    None, True, False, 0, -1, 1, 3, 0.5, 2**31, 2**63, 10**40, float("nan"), float("inf"), "", "x",
    "é", "../x", "a\nb", [], [[]], [None], [-1], ["x", "x"], {}, {"x": 1}, {1: 2}, {None: None},
    {"profile": "wse2", "lanes": -1}, "{ PE[1, 1] }", "{ x[i] -> [PE[0, i] -> index[0]] }",
]


def damage_yaml(content: bytes, choose: Random) -> bytes | None:
    """Return a YAML text with a key or a value changed; None where it is none any more."""
    try:
        value = yaml.safe_load(content)
    except (yaml.YAMLError, RecursionError, *FAULTS):
        return None
    places = list(_places(value))
    if not places:
        return None
    holder, key = choose.choice(places)
    doubled = choose.choice(WAYS)(holder, key, choose)
    try:
        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    except (yaml.YAMLError, RecursionError):
        return None
    return (text + text[: len(text) * doubled]).encode("utf-8", "surrogateescape")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every mapping or list below a value, with each of its keys."""
    if isinstance(value, dict):
        below = [place for each in value.values() for place in _places(each)]
        return [*((value, key) for key in value), *below]
    if isinstance(value, list):
        below = [place for each in value for place in _places(each)]
        return [*((value, at) for at in range(len(value))), *below]
    return []


def _remove(holder: Any, key: Any, choose: Random) -> bool:
    del holder[key]
    return False


def _replace(holder: Any, key: Any, choose: Random) -> bool:
    holder[key] = choose.choice(OTHERS)
    return False


def _wrap(holder: Any, key: Any, choose: Random) -> bool:
    holder[key] = choose.choice([[holder[key]], {"x": holder[key]}, str(holder[key])])
    return False


def _rename(holder: Any, key: Any, choose: Random) -> bool:
    if isinstance(holder, dict):
        other = choose.choice([f"{key}s", str(key)[:-1], "x", 1, None, "lair", "é"])
        holder[other] = holder.pop(key)
    else:
        holder.insert(key, holder[choose.randrange(len(holder))])
    return False


def _exchange(holder: Any, key: Any, choose: Random) -> bool:
    other = choose.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    holder[key], holder[other] = holder[other], holder[key]
    return False


def _twice(holder: Any, key: Any, choose: Random) -> bool:
    """Every key is there twice."""
    return True


WAYS = [_remove, _remove, _replace, _replace, _replace, _wrap, _rename, _rename, _exchange, _twice]

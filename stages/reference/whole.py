"""What several layers give together: the results of a network, or of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lairmake.stages.reference.strided import Array

KEPT = ("top", "machine", "invocations", "cycles", "speedup", "memory")


def describe_parts(
    results: Mapping[str, Mapping[str, Any]], texts: Mapping[str, object]
) -> dict[str, dict[str, Any]]:
    """Return what the table says of every part, and the first one that it is like.

    `results` are their build/results.json, and those are alike whose `texts` are equal.
    """
    first: dict[object, str] = {}
    return {
        name: {"like": first.setdefault(texts[name], name), **describe_part(found)}
        for name, found in results.items()
    }


def describe_part(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the table says of a part; `results` is its build/results.json."""
    checks = results["check"].values()
    return {name: results[name] for name in KEPT} | {
        "tasks": {n: {"by": t["by"], "sizes": t["sizes"]} for n, t in results["tasks"].items()},
        "right": all(check["right"] for check in checks),
        "exact": all(check["exact"] for check in checks),
    }


def find_largest_error(given: Array, expected: Array) -> float:
    """Return the largest difference; infinite where one of the two is no number."""
    with np.errstate(invalid="ignore"):
        errors = np.abs(given.astype(np.float64) - expected.astype(np.float64))
    errors = np.where(_alike(given, expected), 0, errors)
    return float(np.nan_to_num(errors, nan=np.inf, posinf=np.inf).max(initial=0))


def is_within(given: Array, expected: Array, allowed: Array) -> bool:
    """Return whether no value differs by more than is allowed.

    What is infinite, or no number, is so in both.
    """
    with np.errstate(invalid="ignore"):
        errors = np.abs(given.astype(np.float64) - expected.astype(np.float64))
    return bool(np.all(_alike(given, expected) | (errors <= allowed)))


def is_same(given: Array, expected: Array) -> bool:
    """Return whether values agree bit for bit (-0 equals 0)."""
    return bool(np.all(_alike(given, expected)))


def _alike(given: Array, expected: Array) -> Array:
    return np.asarray((given == expected) | (np.isnan(given) & np.isnan(expected)))

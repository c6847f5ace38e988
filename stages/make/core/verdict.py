"""The verdict on results: values that are wrong, whatever was built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KINDS = ("parts", "check", "outputs")
"""Keys of results: `parts` of networks and kernels; outputs as `check`, of programs `outputs`."""


def list_wrong(results: Mapping[str, Any]) -> list[str]:
    """Return the parts and outputs that are wrong; `results` is `build/results.json`."""
    found = (results[kind].items() for kind in KINDS if kind in results)
    return [name for each in found for name, said in each if not said["right"]]

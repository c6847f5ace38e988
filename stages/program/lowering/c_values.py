"""Values of the executive in C, at their addresses.

What is read and written has the type of its entry; `get_float16(my, at_x)` is a `float16`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping


def name_places(names: Iterable[str]) -> Mapping[str, str]:
    """Return the enumerator that has the address of each entry: no two are the same."""
    found: dict[str, str] = {}
    for name in names:
        base = spelt = "at_" + re.sub(r"\W", "_", name, flags=re.ASCII)
        number = 1
        while spelt in found.values():
            number += 1
            spelt = f"{base}_{number}"
        found[name] = spelt
    return found


def write_get(place: str, type_: str) -> str:
    """Return what lies at an address."""
    return f"get_{type_}(my, {place})"


def write_put(place: str, type_: str, value: str) -> str:
    """Return the statement that keeps a value of a type at an address."""
    return f"put_{type_}(my, {place}, {value});"

"""Sets and relations that differ in the names of their tuples alone, as one with its text.

The text of a set or relation has the names of its tuples before their `[`, and they make no other
difference: but for `PE`, whose dimensions have names of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import islpy as isl

from stages.poly.naming import ALWAYS, SYNTAX

IN, OUT, SET, PARAM = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.param
Single = isl.Set | isl.Map
KEPT = {*SYNTAX, *(name for name, _ in ALWAYS)}
"""Names of tuples that mean something."""
STANDING = re.compile(r"\btuple_\d+(?=\[)")


@dataclass(frozen=True, slots=True)
class Told:
    """An object as the key of what is remembered of it: equal where isl prints the same of both."""

    text: str
    it: Any = field(compare=False)


def tell(it: Any) -> Told:
    """Return an object of isl as a key."""
    return Told(str(it), it)


def unname(single: Single) -> tuple[Single, dict[str, str]]:
    """Return a set or relation with other names of its tuples, and what these stand for.

    Where a tuple has tuples within, or symbolic constants are around, names are left as they are.
    """
    if single.dim(PARAM) or _is_nested(single):
        return single, {}
    if isinstance(single, isl.Set):
        name = single.get_tuple_name() if single.has_tuple_name() else None
        if name is None or name in KEPT:
            return single, {}
        return single.set_tuple_name("tuple_0"), {"tuple_0": name}
    given = [single.get_tuple_name(k) if single.has_tuple_name(k) else None for k in (IN, OUT)]
    names = dict.fromkeys(name for name in given if name is not None and name not in KEPT)
    other = {name: f"tuple_{n}" for n, name in enumerate(names)}
    for kind, name in zip((IN, OUT), given, strict=True):
        if name is not None and name in other:
            single = single.set_tuple_name(kind, other[name])
    return single, {stands: name for name, stands in other.items()}


def rename(text: str, stands: Mapping[str, str]) -> str:
    """Return a text with the names that tuples of such an object stand for."""
    return STANDING.sub(lambda found: stands.get(found[0], found[0]), text) if stands else text


def tell_apart(single: Single) -> tuple[str, ...]:
    """Return what tells a set or relation from others, with how it was constructed."""
    kinds = (IN, OUT) if isinstance(single, isl.Map) else (SET,)
    names = [single.get_dim_name(kind, k) for kind in kinds for k in range(single.dim(kind))]
    return type(single).__name__, str(single), str(names)


def _is_nested(single: Single) -> bool:
    """Return whether a tuple has tuples within, or there is none at all."""
    if isinstance(single, isl.Map):
        return bool(single.domain_is_wrapping() or single.range_is_wrapping())
    return bool(single.is_params() or single.is_wrapping())

"""Statements that a person reads: what lies on both sides of the middle has lines of its own.

isl describes two single PEs, or two columns, by one conjunction where it can: `15y = 120 + 2x`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl

from stages.poly.pieces import list_maps, list_sets
from stages.poly.text import write_objects

Union = isl.UnionSet | isl.UnionMap
OBSCURE = re.compile(
    r"\b\d+y = |\d\d+[xy]\b|\b\d[xy]\b.* = | mod \d\d+|y = \d+ [+-] x|y = x|y <= .*x")
"""Constraints of x and y together, but for those of a checkerboard."""


def write_statement(name: str, union: Union, middle: tuple[int, int]) -> str:
    """Return `name := { ... };` of sets or relations of PEs, whose middle is PE[x, y]."""
    whole = write_objects("", {name: union}).lstrip("\n")
    if not OBSCURE.search(whole):
        return whole
    lines = sorted({line for each in _list_pieces(union) for line in _list_lines(each, middle)})
    return f"{name} := {{\n  " + ";\n  ".join(lines) + "\n};\n"


def _list_pieces(union: Union) -> Iterator[Union]:
    if isinstance(union, isl.UnionSet):
        yield from map(isl.UnionSet.from_set, list_sets(union))
    else:
        yield from map(isl.UnionMap.from_map, list_maps(union))


def _list_lines(piece: Union, middle: tuple[int, int]) -> list[str]:
    """Return the disjuncts of a set or relation, cut at the middle where they are obscure."""
    found = _spell(piece)
    for axis, at in zip("xy", middle, strict=True):
        if not any(map(OBSCURE.search, found)):
            break
        sides = (_restrict(piece, f"{axis} < {at}"), _restrict(piece, f"{axis} >= {at}"))
        found = [line for each in sides if not each.is_empty() for line in _spell(each)]
    return found


def _spell(piece: Union) -> list[str]:
    text = write_objects("", {"it": piece})
    return [each.strip() for each in text[text.index("{") + 1 : text.rindex("}")].split(";")]


def _restrict(piece: Union, constraint: str) -> Union:
    """Return what lies on PEs for which a constraint of x and y holds."""
    pes = isl.UnionSet(f"{{ PE[x, y] : {constraint} }}")
    if isinstance(piece, isl.UnionSet):
        return piece.intersect(pes)
    if list_maps(piece)[0].get_space().domain().is_wrapping():
        return piece.curry().intersect_domain(pes).uncurry()
    return piece.intersect_domain(pes)

"""Sums over offsets, in place of several accesses of a statement to a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import product
from math import prod

from lairmake.stages.lair.layer import Statement
from lairmake.stages.lair.statements import FURTHER, row_text, spell_wider
from lairmake.stages.lair.tree import AccessSyntax, Affine

# --- One access in place of several ---------------------------------------------------------------
#
# Accesses at constant distances from each other are one, in a sum over their offsets. A condition
# leaves out the offsets at which there is none, if they are every other one of a box; else their
# factors are 0.
#
# Source   ours

FACTORS = ("w", "factors", "weights")


def suggest_offsets(statement: Statement, tensor: str) -> str | None:
    """Return a statement that sums over the offsets of all accesses to a tensor.

    None where these are at no constant distances, or where the statement is no sum.
    """
    accesses = [access for access in statement.reads if access.tensor == tensor]
    alike = {tuple(row.coefficients for row in access.rows) for access in accesses}
    if len(alike) > 1 or statement.op not in ("=", "+="):
        return None
    used = {*statement.iterators, statement.target.tensor, *(a.tensor for a in statement.reads)}
    places = list(zip(*([row.constant for row in a.rows] for a in accesses), strict=True))
    least, extents = [min(at) for at in places], [max(at) - min(at) + 1 for at in places]
    factors = next((name for name in FACTORS if name not in used), None)
    free = [name for name in FURTHER if name not in {*used, factors}]
    if sum(extent > 1 for extent in extents) > len(free) or factors is None:
        return None
    names = [free.pop(0) if extent > 1 else None for extent in extents]
    index = {name: extent for name, extent in zip(names, extents, strict=True) if name is not None}
    wider = replace(
        statement, op="+=", iterators=(*statement.iterators, *index),
        sizes=(*statement.sizes, *index.values()),
    )
    offsets = {
        tuple(row.constant - low for row, low in zip(a.rows, least, strict=True)) for a in accesses
    }
    parity = _spell_parity(offsets, index)
    spelled = spell_wider(statement, wider, parity)
    elsewhere = "" if parity or len(offsets) == prod(extents) else ", 0 where there is no access"
    factor = factors + "".join(f"[{name}]" for name in index)
    element = _spell_element(accesses[0], least, names)
    return f"`{spelled} {element} * {factor}`, with their factors in {factors}{elsewhere}"


def write_access(access: AccessSyntax) -> str:
    """Return the text of an access, `x[2*i + 1]`."""
    return access.tensor + "".join(f"[{row_text(row)}]" for row in access.rows)


def _spell_element(
    access: AccessSyntax, least: Sequence[int], names: Sequence[str | None]
) -> str:
    rows = tuple(
        Affine(coefficients=(*row.coefficients, *([] if n is None else [(n, 1)])), constant=low)
        for row, low, n in zip(access.rows, least, names, strict=True)
    )
    return write_access(replace(access, rows=rows))


def _spell_parity(offsets: Set[tuple[int, ...]], index: Mapping[str, int]) -> list[str]:
    """Return the condition that leaves every other offset of a box, if these are the others."""
    box = set(product(*(range(max(at) + 1) for at in zip(*offsets, strict=True))))
    for parity in (0, 1):
        if offsets != box and offsets == {at for at in box if sum(at) % 2 == parity}:
            names = " + ".join(index)
            return [f"{f'({names})' if len(index) > 1 else names} mod 2 = {parity}"]
    return []

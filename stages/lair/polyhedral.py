"""The statements of a LAIR node as instance sets and access relations.

Paper    V Sec. 4.1.1, (25)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl

from lairmake.stages.lair.conditions import spell_conditions
from lairmake.stages.lair.defining import find_idle
from lairmake.stages.lair.layer import Carry, Layer, Statement, Tensor
from lairmake.stages.lair.tree import Access, Affine
from lairmake.stages.poly.canonical import letters


def polyhedral_description(layer: Layer) -> dict[str, isl.UnionSet | isl.UnionMap]:
    """Return instances, tensors, reads and writes of a layer; idle, internal, carried if any."""
    reads = [_access(s, a) for s in layer.statements for a in s.reads]
    writes = [_access(s, s.target) for s in layer.statements]
    found: dict[str, isl.UnionSet | isl.UnionMap] = {
        "instances": isl.UnionSet(_union(_instances(s) for s in layer.statements)),
        "tensors": isl.UnionSet(_union(map(_tensor, layer.tensors.values()))),
        "reads": isl.UnionMap(_union(reads)),
        "writes": isl.UnionMap(_union(writes)),
    }
    idle = _idle(layer)
    if not idle.is_empty():
        found["idle"] = idle
    if layer.internals:
        found["internal"] = isl.UnionSet(_union(map(_tensor, layer.internals)))
    if layer.carries:
        found["carried"] = isl.UnionMap(_union(_carried(c, layer) for c in layer.carries))
    return found


def _union(disjuncts: Iterable[str]) -> str:
    return f"{{ {'; '.join(disjuncts)} }}"


def _instances(statement: Statement) -> str:
    bounds = [_bounds(statement.iterators, statement.sizes)]
    bounds += spell_conditions(statement.conditions)
    return f"{statement.name}[{', '.join(statement.iterators)}] : {' and '.join(bounds)}"


def _idle(layer: Layer) -> isl.UnionSet:
    """Return { S[i] } that stand for elements to which nothing is reduced."""
    found = isl.UnionSet("{ }")
    for statement in layer.statements:
        if statement.conditions and statement.op != "=":
            idle = find_idle(statement, layer).set_tuple_name(statement.name)
            found = found.union(isl.UnionSet.from_set(idle))
    return found


def _access(statement: Statement, access: Access) -> str:
    rows = ", ".join(map(_affine, access.rows))
    return f"{statement.name}[{', '.join(statement.iterators)}] -> {access.tensor}[{rows}]"


def _affine(row: Affine) -> str:
    terms = [f"{coefficient}*{iterator}" for iterator, coefficient in row.coefficients]
    return " + ".join([*terms, str(row.constant)])


def _tensor(tensor: Tensor) -> str:
    names = letters(len(tensor.shape))
    return f"{tensor.name}[{', '.join(names)}] : {_bounds(names, tensor.shape)}"


def _carried(carry: Carry, layer: Layer) -> str:
    element, _, bounds = _tensor(layer.tensors[carry.tensor]).partition(" : ")
    source = element.replace(carry.tensor, carry.source, 1)
    return f"{element} -> {source} : {bounds}"


def _bounds(names: Sequence[str], sizes: Sequence[int]) -> str:
    return " and ".join(f"0 <= {n} < {s}" for n, s in zip(names, sizes, strict=True)) or "true"

"""Turn the statements of a LAIR node into instance sets and access relations.

Paper    V Sec. 4.1.1
Reads    layer.yaml, *.lair
Writes   lair.isl    instances, tensors, reads, writes; idle, internal, carried
Assumes  nothing: every rule of LAIR is checked here.
Ensures  accesses are affine, and inside the tensors.
Differs  instance sets are rectangular from zero only where a statement has no conditions.
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.diagnose import UserErrors
from stages.lair.conditions import spell_conditions
from stages.lair.defining import find_idle
from stages.lair.layer import Carry, Layer, Statement, Tensor
from stages.lair.tree import Access, Affine
from stages.mapping.tensors import check_tensors
from stages.poly.naming import letters
from stages.poly.text import write_objects

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import LayerInputs

READS = ("layer.yaml", "*.lair")
WRITES = ("lair.isl",)
HEADER = """Instance sets and access relations of the statements (Sec. 4.1.1).
instances: { statement[iterators] }, tensors: { tensor[element] },
reads, writes: { statement[iterators] -> tensor[element] }, eq. (25), of any instance."""
IDLE_HEADER = """
idle: { statement[iterators] } that do not run, but have a place: an element to which nothing is
reduced is there, and what it is at first.
"""
GRAPH_HEADER = """
internal: { tensor[element] } of what only other statements read, if there is any.
carried: { tensor[element] -> source[element] }: what it is in the next invocation, if not the same.
"""


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return lair.isl."""
    layer = inputs.lair()
    errors = list(check_tensors(inputs.mapping(), layer))
    if errors:
        raise UserErrors(errors)
    objects = polyhedral_description(layer)
    header = HEADER + (IDLE_HEADER.rstrip() if "idle" in objects else "")
    header += GRAPH_HEADER if layer.internals or layer.carries else ""
    return {"lair.isl": write_objects(header, objects)}


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


def _union(disjuncts: typing.Iterable[str]) -> str:
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


def _bounds(names: typing.Sequence[str], sizes: typing.Sequence[int]) -> str:
    return " and ".join(f"0 <= {n} < {s}" for n, s in zip(names, sizes, strict=True)) or "true"

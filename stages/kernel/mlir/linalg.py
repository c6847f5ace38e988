"""Structured operations: instances of loops that read and write elements by affine maps.

Source   F: MLIR `linalg::LinalgOp`, VEM from MLIR
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import BroadcastOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from lairmake.stages.kernel.mlir.affine import Loops, linear, write_affine
from lairmake.stages.kernel.mlir.body import KernelBody, check_defined, find_reduction
from lairmake.stages.kernel.mlir.comparisons import TRUTH
from lairmake.stages.kernel.mlir.dialect import MapOp, ReduceOp, read_element_type
from lairmake.stages.kernel.mlir.draft import (
    Entry,
    KernelDraft,
    check_loops,
    name_dimensions,
    write_tuple,
)
from lairmake.stages.lair.expressions import write_expression
from lairmake.stages.lair.tree import Expr, mentions


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A structured operation: the values that it reads and reduces into, each with its map.

    The arguments of `block` are the elements of `inputs`, then those of `outputs`.
    """

    operation: Operation
    inputs: Sequence[SSAValue]
    outputs: Sequence[SSAValue]
    maps: Sequence[AffineMap]
    block: Block
    loops: int

    @property
    def operands(self) -> list[SSAValue]:
        """Return inputs, then outputs."""
        return [*self.inputs, *self.outputs]


def structured(draft: KernelDraft, operation: Operation) -> None:
    """Add an operation of linalg to a kernel. Raises UserError if it has no volumes."""
    assert isinstance(operation, LinalgStructuredOperation)
    maps = [each.data for each in operation.get_indexing_maps()]
    check_loops(draft, operation, maps)
    add(draft, Structure(
        operation=operation, inputs=operation.inputs, outputs=operation.outputs, maps=maps,
        block=operation.body.block, loops=maps[0].num_dims if maps else 0,
    ))


def broadcast(draft: KernelDraft, operation: Operation) -> None:
    """Add linalg.broadcast: the same elements along new dimensions."""
    assert isinstance(operation, BroadcastOp)
    new = operation.dimensions.get_values()
    rank = len(draft.sizes(operation.init))
    kept = _without(rank, new)
    add(draft, Structure(
        operation=operation, inputs=[operation.input], outputs=[operation.init],
        maps=[kept, AffineMap.identity(rank)], block=operation.hidden_region.block, loops=rank,
    ))


def _without(rank: int, dimensions: Sequence[int]) -> AffineMap:
    """Return the map of `rank` dimensions to those that are not in `dimensions`."""
    return AffineMap(rank, 0, tuple(AffineDimExpr(k) for k in range(rank) if k not in dimensions))


def reduce(draft: KernelDraft, operation: Operation) -> None:
    """Add linalg.reduce: some dimensions become one element."""
    assert isinstance(operation, ReduceOp)
    rank = len(draft.sizes(operation.inputs[0]))
    whole = AffineMap.identity(rank)
    kept = _without(rank, operation.dimensions.get_values())
    maps = [*[whole] * len(operation.inputs), *[kept] * len(operation.outputs)]
    add(draft, Structure(
        operation=operation, inputs=operation.inputs, outputs=operation.outputs, maps=maps,
        block=operation.body.block, loops=rank,
    ))


def map_(draft: KernelDraft, operation: Operation) -> None:
    """Add linalg.map: a function of elements at one place."""
    assert isinstance(operation, MapOp)
    rank, block = len(draft.sizes(operation.outputs[0])), operation.body.block
    count = len(operation.inputs) + len(operation.outputs)
    for output in operation.outputs[len(block.args) - len(operation.inputs):]:
        block.insert_arg(read_element_type(output), len(block.args))
    add(draft, Structure(
        operation=operation, inputs=operation.inputs, outputs=operation.outputs,
        maps=[AffineMap.identity(rank)] * count, block=block, loops=rank,
    ))


def elementwise(draft: KernelDraft, operation: Operation) -> None:
    """Add arithmetic on tensors of one shape, or on scalars; truths are no volumes."""
    (result,) = operation.results
    is_truth = read_element_type(result) == TRUTH
    if is_truth:
        name = draft.introduce_truth(result, operation)
    else:
        name = draft.introduce(result, operation, operation.name)
    sizes = draft.sizes(result)
    for value in filter(draft.is_volume, operation.operands):
        for own, other in zip(sizes, draft.sizes(value), strict=False):
            draft.claim(operation, name, f"{own} = {other}")
    if is_truth:
        return
    loops = Loops(names=name_dimensions("d", len(sizes)), sizes=sizes)
    body = KernelBody(draft, operation, loops, loops.names)
    found = body.apply(operation)
    instance, instances = loops.instances(name)
    writes = f"{instance} -> {write_tuple(name, loops.names)}"
    _finish(draft, operation, Entry(
        loops=instances, reads=_from(instance, body, [found]),
        results={name: {"writes": writes, "operator": "=", "value": write_expression(found)}},
    ))


def _from(instance: str, body: KernelBody, values: Sequence[Expr]) -> dict[str, str]:
    """Return { instance -> element } for all elements that some values consist of."""
    return {
        label: f"{instance} -> {element}" for label, element in body.elements.items()
        if any(mentions(value, label) for value in values)
    }


def add(draft: KernelDraft, structure: Structure) -> None:
    """Add a structured operation: a computation, or a copy where it only moves elements."""
    operation = structure.operation
    if not operation.results:
        raise draft.error(operation, f"{operation.name} writes memory",
                          "give it tensors: results are values here")
    names = [draft.introduce(each, operation, operation.name) for each in operation.results]
    for result, output in zip(operation.results, structure.outputs, strict=True):
        for own, other in zip(draft.sizes(result), draft.sizes(output), strict=True):
            draft.claim(operation, names[0], f"{own} = {other}")
    dims = name_dimensions("d", structure.loops)
    loops = Loops(names=dims, sizes=_extents(draft, structure, names[0]))
    body = KernelBody(draft, operation, loops)
    labels = _labels(structure, body, dims)
    last = structure.block.last_op
    assert last is not None
    values = [body.value(operand) for operand in last.operands]
    body.check_types([draft.types[name] for name in names])
    instance, instances = loops.instances(names[0])
    results = {}
    for k, (name, found) in enumerate(zip(names, values, strict=True)):
        position = len(structure.inputs) + k
        results[name] = _result(draft, structure, position, found, labels[position])
        to = _element(name, structure.maps[position], dims)
        results[name]["writes"] = f"{instance} -> {to}"
    _check_read(draft, structure, labels, values, list(results.values()))
    for label, entry in zip(labels[len(structure.inputs):], results.values(), strict=True):
        if entry["operator"] != "=":
            del body.elements[label]
    _finish(draft, operation, Entry(
        loops=instances, reads=_from(instance, body, values), results=results
    ))


def _labels(structure: Structure, body: KernelBody, dims: Sequence[str]) -> list[str]:
    """Return the labels of the arguments in the body, and note those of reduced results."""
    found = []
    triples = zip(structure.block.args, structure.operands, structure.maps, strict=True)
    for k, (argument, value, by) in enumerate(triples):
        label = body.operand(argument, value, [write_affine(each, dims) for each in by.results])
        if k >= len(structure.inputs) and len(_loops_of(by)) < structure.loops:
            body.growing.add(label)
        found.append(label)
    return found


def _loops_of(by: AffineMap) -> set[int]:
    """Return the loops that are indices of a result: the others are reduced."""
    return {row.position for row in by.results if isinstance(row, AffineDimExpr)}


def _check_read(
    draft: KernelDraft, structure: Structure, labels: Sequence[str], values: Sequence[Expr],
    results: Sequence[Entry],
) -> None:
    """Raise UserError for a sum that is read while it is reduced, or elements without values."""
    for k, (label, operand) in enumerate(zip(labels, structure.operands, strict=True)):
        users = [n for n, value in enumerate(values) if mentions(value, label)]
        own = k - len(structure.inputs)
        is_sum = own >= 0 and results[own]["operator"] != "="
        if is_sum and users != [own]:
            message = f"{label} is read while it is reduced"
            raise draft.error(structure.operation, message, "read it in an operation of its own")
        if users and not is_sum:
            check_defined(draft, structure.operation, operand)


def _element(volume: str, by: AffineMap, loops: Sequence[str]) -> str:
    return write_tuple(volume, [write_affine(each, loops) for each in by.results])


def _extents(draft: KernelDraft, structure: Structure, name: str) -> list[str]:
    """Return the size of each loop, in sizes of operands; accesses beyond these are claims.

    A loop has the size of a dimension that it alone indexes.
    """
    operation = structure.operation
    found: dict[int, str] = {}
    rows = [
        (row, size)
        for value, by in zip(structure.operands, structure.maps, strict=True)
        for row, size in zip(by.results, draft.sizes(value), strict=True)
    ]
    for row, size in rows:
        if isinstance(row, AffineDimExpr) and found.setdefault(row.position, size) != size:
            draft.claim(operation, name, f"{size} = {found[row.position]}")
    missing = [k for k in range(structure.loops) if k not in found]
    if missing:
        hint = "index a dimension of some operand by it alone, as pooling does by its window"
        raise draft.error(operation, f"nothing says how far loop d{missing[0]} goes", hint)
    for row, size in rows:
        affine = linear(row, structure.loops)
        if not isinstance(row, AffineDimExpr) and affine is not None:
            draft.claim(operation, name, _reach(affine, found, min) + " >= 0")
            draft.claim(operation, name, f"{_reach(affine, found, max)} < {size}")
    return [found[k] for k in range(structure.loops)]


def _reach(
    affine: tuple[list[int], int], extents: dict[int, str], end: Callable[[int, int], int]
) -> str:
    """Return the least or the greatest value of an affine expression over the loops."""
    factors, constant = affine
    terms = [f"{c}*({extents[k]} - 1)" for k, c in enumerate(factors) if c and end(c, 0) == c]
    return " + ".join([*terms, str(constant)])


def _result(
    draft: KernelDraft, structure: Structure, position: int, value: Expr, label: str
) -> Entry:
    """Return operator and value of a result, with the volume from which a reduction starts.

    A reduction into a tensor without values, tensor.empty, starts from the neutral element. Raises
    UserError where some loops are reduced, but the body reduces nothing.
    """
    operation, by = structure.operation, structure.maps[position]
    kept = _loops_of(by)
    zeros = [k for k, row in enumerate(by.results) if row == AffineConstantExpr(0)]
    if len(kept) + len(zeros) != len(by.results):
        hint = "index a result by different loops, one for each dimension, or by 0"
        raise draft.error(operation, f"elements of a result are not instances: {by}", hint)
    sizes = draft.sizes(structure.operands[position])
    for k in zeros:
        draft.claim(operation, draft.volume(operation.results[0]), f"{sizes[k]} = 1")
    if len(kept) == structure.loops:
        return {"operator": "=", "value": write_expression(value)}
    found = find_reduction(value, label)
    if found is None:
        hint = "yield the result's own element and another value, with + * max or min"
        raise draft.error(operation, "some loops are reduced, and the body reduces nothing", hint)
    init = structure.operands[position]
    entry = {"operator": f"{found[0]}=", "value": write_expression(found[1])}
    if isinstance(init.owner, EmptyOp):
        return entry
    return entry | {"init": draft.volume(init)}


def _finish(draft: KernelDraft, operation: Operation, entry: Entry) -> None:
    """Add a computation by its results; one that only moves elements of one type is a copy."""
    name, result = next(iter(entry["results"].items()))
    read = entry["reads"].get(result["value"], "").partition(" -> ")[2].partition("[")[0]
    moves = len(entry["results"]) == 1 and result["operator"] == "=" and read
    if moves and draft.types[name] == draft.types[read]:
        draft.add(name, {"kind": "copy", "copies": [_moved(entry, result)]},
                  operation, operation.name)
        return
    entry["loops"] = _braced(entry["loops"])
    entry["reads"] = {label: _braced(text) for label, text in entry["reads"].items()}
    for each in entry["results"].values():
        each["writes"] = _braced(each["writes"])
    draft.add(name, {"kind": "compute", **entry}, operation, operation.name)


def _moved(entry: Entry, result: Entry) -> str:
    """Return { result[e] -> operand[e'] } of a computation that only moves elements."""
    to = result["writes"].partition(" -> ")[2]
    source = entry["reads"][result["value"]].partition(" -> ")[2]
    return _braced(f"{to} -> {source} : {entry['loops'].partition(' : ')[2]}")


def _braced(text: str) -> str:
    return f"{{ {text} }}"

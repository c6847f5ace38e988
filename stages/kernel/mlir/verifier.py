"""Checks of operations against their operands, before attributes are used.

Everything in an operation that counts or names dimensions is checked against the shapes of its
operands here; xDSL reads texts in which the two differ.

Source   MLIR, dialects linalg and tensor: the constraints of each operation
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import BroadcastOp, IndexOp, TransposeOp
from xdsl.dialects.tensor import (
    CastOp,
    CollapseShapeOp,
    ConcatOp,
    ExpandShapeOp,
    ExtractOp,
    ExtractSliceOp,
    InsertSliceOp,
    PadOp,
)
from xdsl.ir import Block, Operation, SSAValue

from lairmake.stages.diagnose import UserError, plural
from lairmake.stages.kernel.mlir.affine import find_fault
from lairmake.stages.kernel.mlir.dialect import MapOp, ReduceOp
from lairmake.stages.kernel.mlir.draft import KernelDraft, find_rank
from lairmake.stages.kernel.mlir.syntax import show_form

Found = Iterator[str]


def check_form(draft: KernelDraft, operation: Operation) -> None:
    """Raise UserError for an operation with an attribute that contradicts its operands."""
    for kind, check in CHECKS.items():
        if isinstance(operation, kind):
            wrong = next(check(operation), None)
            if wrong is not None:
                raise _malformed(draft, operation, wrong)
    for inner in operation.walk():
        if isinstance(inner, ExtractOp):
            wrong = next(_extract(inner), None)
            if wrong is not None:
                raise _malformed(draft, inner, wrong)


def check_index(draft: KernelDraft, operation: IndexOp, loops: int) -> None:
    """Raise UserError for a linalg.index of a loop that the operation does not have."""
    loop = operation.dim.value.data
    if not 0 <= loop < loops:
        last = f"loops are 0 to {loops - 1}" if loops > 1 else "its one loop is 0"
        message = f"linalg.index {loop} in an operation of {plural(loops, 'loop')}"
        raise draft.error(operation, message, last if loops else "it has no loop")


def _malformed(draft: KernelDraft, operation: Operation, said: str) -> UserError:
    return draft.error(operation, f"{operation.name} {said}", show_form(operation.name))


def _counts(what: str, found: int, wanted: int, of: str) -> Found:
    """Yield a fault for a wrong count."""
    if found != wanted:
        yield f"has {plural(found, what)} for {of}"


def _dims(value: SSAValue) -> str:
    """Return how many dimensions a value has, in words."""
    return plural(find_rank(value), "dimension")


def _given(what: str, numbers: Sequence[int], values: Sequence[SSAValue], of: SSAValue) -> Found:
    """Yield the faults of offsets, sizes or strides: numbers, and values in place of some."""
    yield from _counts(what, len(numbers), find_rank(of), _dims(of))
    unknown = sum(number == DYNAMIC_INDEX for number in numbers)
    yield from _counts("value", len(values), unknown, f"{plural(unknown, what)} without a number")


def _within(dimensions: Sequence[int], of: SSAValue) -> Found:
    """Yield the faults of dimensions of a value: each must exist, and occur once."""
    for k, each in enumerate(dimensions):
        if not 0 <= each < find_rank(of):
            yield f"names dimension {each} of {_dims(of)}, which are counted from 0"
        if each in dimensions[:k]:
            yield f"names dimension {each} twice"


def _alike(values: Sequence[SSAValue], rank: int) -> Found:
    """Yield a fault for a value with another number of dimensions."""
    for value in values:
        if find_rank(value) != rank:
            yield f"has an operand of {_dims(value)} where others have {rank}"


def _single(block: Block, what: str, arguments: Sequence[int], yields: int) -> Found:
    """Yield the faults of a body: of its arguments, and of the values that it yields."""
    if len(block.args) not in arguments:
        yield f"has a body of {plural(len(block.args), 'argument')} for {what}"
    last = block.last_op
    given = 0 if last is None or not last.name.endswith(".yield") else len(last.operands)
    yield from _counts("yielded value", given, yields, plural(yields, "result"))


def _results(operation: Operation, outputs: Sequence[SSAValue]) -> Found:
    """Yield the faults of results: each is like an output; without any, memory is written."""
    if operation.results:
        wanted = plural(len(outputs), "output")
        yield from _counts("result", len(operation.results), len(outputs), wanted)
    for result, output in zip(operation.results, outputs, strict=False):
        if find_rank(result) != find_rank(output):
            yield f"gives {_dims(result)} for an output of {_dims(output)}"


def _cast(operation: Operation) -> Found:
    assert isinstance(operation, CastOp)
    yield from _alike([operation.source], find_rank(operation.dest))


def _extract(operation: Operation) -> Found:
    assert isinstance(operation, ExtractOp)
    of = operation.tensor
    yield from _counts("index", len(operation.indices), find_rank(of), _dims(of))


def _pad(operation: Operation) -> Found:
    assert isinstance(operation, PadOp)
    of = operation.source
    yield from _alike([of], find_rank(operation.result))
    yield from _given("low width", operation.static_low.get_values(), operation.low, of)
    yield from _given("high width", operation.static_high.get_values(), operation.high, of)
    yield from _single(operation.region.block, _dims(of), [find_rank(of)], 1)


def _slice(operation: Operation) -> Found:
    assert isinstance(operation, ExtractSliceOp | InsertSliceOp)
    whole = operation.source
    if isinstance(operation, InsertSliceOp):
        whole = operation.dest
        yield from _alike([whole], find_rank(operation.result))
    yield from _given("offset", operation.static_offsets.get_values(), operation.offsets, whole)
    yield from _given("size", operation.static_sizes.get_values(), operation.sizes, whole)
    yield from _given("stride", operation.static_strides.get_values(), operation.strides, whole)
    if 0 in operation.static_strides.get_values():
        yield "has a stride of 0"


def _concat(operation: Operation) -> Found:
    assert isinstance(operation, ConcatOp)
    if not operation.inputs:
        yield "has no operands"
    yield from _within([operation.dim.value.data], operation.result)
    yield from _alike(operation.inputs, find_rank(operation.result))


def _reshape(operation: Operation) -> Found:
    assert isinstance(operation, CollapseShapeOp | ExpandShapeOp)
    ends = (operation.src, operation.result)
    wide, flat = ends if isinstance(operation, CollapseShapeOp) else ends[::-1]
    groups = [[each.value.data for each in group] for group in operation.reassociation]
    yield from _counts("group", len(groups), find_rank(flat), _dims(flat))
    if groups and [k for group in groups for k in group] != list(range(find_rank(wide))):
        yield f"has groups of other dimensions than 0 to {find_rank(wide) - 1}, in this order"
    if not all(groups):
        yield "has a group of no dimensions"
    if isinstance(operation, ExpandShapeOp):
        given = operation.static_output_shape.get_values()
        yield from _given("size", given, operation.dynamic_output_shape, wide)


def _broadcast(operation: Operation) -> Found:
    assert isinstance(operation, BroadcastOp)
    new = operation.dimensions.get_values()
    yield from _within(new, operation.init)
    kept = find_rank(operation.init) - len(new)
    yield from _counts("dimension", find_rank(operation.input), kept, f"{kept} that are not new")
    yield from _results(operation, [operation.init])


def _transpose(operation: Operation) -> Found:
    assert isinstance(operation, TransposeOp)
    if len(operation.inputs) != 1 or len(operation.outputs) != 1:
        yield "has one operand, and one output"
    order = operation.permutation.get_values()
    yield from _alike(operation.operands, len(order))
    yield from _within(order, operation.inputs[0])


def _reduce(operation: Operation) -> Found:
    assert isinstance(operation, ReduceOp)
    inputs, gone = operation.inputs, operation.dimensions.get_values()
    if not inputs:
        yield "has no operands"
    yield from _counts("output", len(operation.outputs), len(inputs), plural(len(inputs), "input"))
    yield from _alike(inputs, find_rank(inputs[0]))
    yield from _within(gone, inputs[0])
    yield from _alike(operation.outputs, find_rank(inputs[0]) - len(gone))
    both = 2 * len(inputs)
    yield from _single(operation.body.block, plural(both, "operand"), [both], len(inputs))


def _map(operation: Operation) -> Found:
    assert isinstance(operation, MapOp)
    inputs, outputs = operation.inputs, operation.outputs
    yield from _counts("output", len(outputs), 1, "one result")
    yield from _alike(inputs, find_rank(outputs[0]))
    counts = [len(inputs), len(inputs) + 1]
    yield from _single(operation.body.block, plural(len(inputs), "input"), counts, 1)


def _structured(operation: Operation) -> Found:
    assert isinstance(operation, LinalgStructuredOperation)
    operands = [*operation.inputs, *operation.outputs]
    maps = [each.data for each in operation.get_indexing_maps()]
    yield from _counts("indexing map", len(maps), len(operands), plural(len(operands), "operand"))
    for value, by in zip(operands, maps, strict=True):
        of = f"an operand of {_dims(value)}"
        yield from _counts("index", len(by.results), find_rank(value), of)
        if by.num_symbols:
            yield f"has a map with symbols: {by}"
        for fault in filter(None, map(find_fault, by.results)):
            yield f"has a map that is not affine: {fault}"
    yield from _results(operation, operation.outputs)
    wanted, outputs = len(operands), len(operation.outputs)
    yield from _single(operation.body.block, plural(wanted, "operand"), [wanted], outputs)


CHECKS: Mapping[type[Operation], Callable[[Operation], Found]] = {
    CastOp: _cast, ExtractOp: _extract, PadOp: _pad, ExtractSliceOp: _slice,
    InsertSliceOp: _slice, ConcatOp: _concat, CollapseShapeOp: _reshape, ExpandShapeOp: _reshape,
    BroadcastOp: _broadcast, TransposeOp: _transpose, ReduceOp: _reduce, MapOp: _map,
    LinalgStructuredOperation: _structured,
}
"""The check of each kind of operation, for everything in it that names a dimension."""

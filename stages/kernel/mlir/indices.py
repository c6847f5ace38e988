"""Values of type index as affine expressions of sizes and of the arguments of a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.arith import AddiOp, ConstantOp, MuliOp, SubiOp
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.dialects.tensor import DimOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from lairmake.stages.diagnose import UserError, plural
from lairmake.stages.kernel.mlir.affine_text import find_fault, write_affine
from lairmake.stages.kernel.mlir.draft import Draft
from lairmake.stages.kernel.mlir.syntax import show_form

AFFINE = "an index is a sum of others times numbers, or such a sum divided by a positive number"


def write_index(draft: Draft, value: SSAValue, known: Mapping[int, str] | None = None) -> str:
    """Return a value of type index as isl reads it; `known` names some values by identity.

    What is no affine expression of others is a symbolic constant of its own.
    """
    found = (known or {}).get(id(value)) or draft.indices.get(id(value))
    if found is not None:
        return found
    text = _text(draft, value, known)
    if text is None:
        text = draft.symbol(draft.text.names.get(id(value), "n"))
    if known is None:
        draft.indices[id(value)] = text
    return text


def _text(draft: Draft, value: SSAValue, known: Mapping[int, str] | None) -> str | None:
    owner = value.owner
    match owner:
        case ConstantOp(value=IntegerAttr() as number):
            return str(number.value.data)
        case AddiOp():
            return _binary(draft, owner, "+", known)
        case SubiOp():
            return _binary(draft, owner, "-", known)
        case MuliOp():
            parts = [write_index(draft, each, known) for each in owner.operands]
            numbers = sorted(parts, key=is_number)
            return f"({numbers[1]}*{numbers[0]})" if is_number(numbers[1]) else None
        case DimOp():
            return _size(draft, owner, write_index(draft, owner.index, known))
        case ApplyOp():
            operands = [write_index(draft, each, known) for each in owner.mapOperands]
            by = read_map(draft, owner)
            return write_affine(by.results[0], operands[: by.num_dims], operands[by.num_dims :])
    return None


def _size(draft: Draft, operation: DimOp, at: str) -> str | None:
    """Return the size that tensor.dim is; None where which one is not known."""
    sizes = draft.sizes(operation.source)
    if not is_number(at):
        return None
    if not 0 <= int(at) < len(sizes):
        message = f"tensor.dim of dimension {at} of {plural(len(sizes), 'dimension')}"
        raise draft.error(operation, message, "dimensions are counted from 0")
    return sizes[int(at)]


def read_map(draft: Draft, operation: ApplyOp) -> AffineMap:
    """Return the map that affine.apply applies. Raises UserError where it gives no one index."""
    by: AffineMap = operation.map.data
    wanted, given = by.num_dims + by.num_symbols, len(operation.mapOperands)
    if wanted != given or len(by.results) != 1:
        message = f"affine.apply of {plural(given, 'index')} by {by}"
        raise draft.error(operation, message, show_form(operation.name))
    fault = find_fault(by.results[0])
    if fault is not None:
        raise draft.error(operation, f"an index is not affine: {fault}", AFFINE)
    return by


def _binary(
    draft: Draft, owner: Operation, operator: str, known: Mapping[int, str] | None
) -> str:
    left, right = (write_index(draft, each, known) for each in owner.operands)
    return f"({left} {operator} ({right}))"


def read_mixed(
    draft: Draft, numbers: Sequence[int], values: Sequence[SSAValue]
) -> list[str]:
    """Return offsets, sizes or strides: numbers, and values where the text has none."""
    rest = iter(values)
    return [
        write_index(draft, next(rest)) if number == DYNAMIC_INDEX else str(number)
        for number in numbers
    ]


def is_number(text: str) -> bool:
    """Return whether a text is an integer."""
    return text.removeprefix("-").isdigit()


def read_strides(
    draft: Draft, operation: Operation, numbers: Sequence[int], values: Sequence[SSAValue]
) -> list[str]:
    """Return strides, which are numbers. Raises UserError for others."""
    found = read_mixed(draft, numbers, values)
    wrong = next((each for each in found if not is_number(each)), None)
    if wrong is not None:
        raise _not_affine(draft, operation, wrong)
    return found


def _not_affine(draft: Draft, operation: Operation, stride: str) -> UserError:
    return draft.error(operation, f"stride {stride} is no number", "elements are affine: fix it")

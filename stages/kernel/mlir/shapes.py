"""Other shapes of the same elements: several dimensions become one, or one several.

Source   MLIR, dialect tensor: collapse_shape, expand_shape; elements keep their order
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.dialects.tensor import CollapseShapeOp, ExpandShapeOp
from xdsl.ir import Operation

from lairmake.stages.kernel.mlir.draft import Draft, name_dimensions, write_tuple
from lairmake.stages.kernel.mlir.indices import read_mixed
from lairmake.stages.kernel.mlir.moves import copy


def collapse(draft: Draft, operation: Operation) -> None:
    """Add tensor.collapse_shape: a group of dimensions becomes one, the last of it the fastest."""
    assert isinstance(operation, CollapseShapeOp)
    name = draft.introduce(operation.result, operation, operation.name)
    wide, flat = draft.sizes(operation.src), draft.sizes(operation.result)
    groups = _groups(operation.reassociation)
    _claim(draft, operation, name, flat, wide, groups)
    at = name_dimensions("i", len(flat))
    element = ["0"] * len(wide)
    for i, group in zip(at, groups, strict=True):
        for k, index in zip(group, _digits(i, [wide[k] for k in group]), strict=True):
            element[k] = index
    source = write_tuple(draft.volume(operation.src), element)
    copy(draft, name, operation, [f"{write_tuple(name, at)} -> {source}"], flat)


def expand(draft: Draft, operation: Operation) -> None:
    """Add tensor.expand_shape: a dimension becomes a group of them, the last of it the fastest."""
    assert isinstance(operation, ExpandShapeOp)
    name = draft.introduce(operation.result, operation, operation.name)
    flat, wide = draft.sizes(operation.src), draft.sizes(operation.result)
    given = operation.static_output_shape.get_values()
    sizes = read_mixed(draft, given, operation.dynamic_output_shape)
    for own, size in zip(wide, sizes, strict=True):
        draft.claim(operation, name, f"{own} = {size}")
    groups = _groups(operation.reassociation)
    _claim(draft, operation, name, flat, wide, groups)
    at = name_dimensions("i", len(wide))
    element = [_number([at[k] for k in group], [wide[k] for k in group]) for group in groups]
    source = write_tuple(draft.volume(operation.src), element)
    copy(draft, name, operation, [f"{write_tuple(name, at)} -> {source}"], wide)


def _groups(given: ArrayAttr[ArrayAttr[IntegerAttr]]) -> list[list[int]]:
    return [[each.value.data for each in group] for group in given]


def _claim(
    draft: Draft, operation: Operation, name: str, flat: Sequence[str], wide: Sequence[str],
    groups: Sequence[Sequence[int]],
) -> None:
    """Claim that a dimension is as large as its group; without groups all sizes are 1."""
    for size, group in zip(flat, groups, strict=True):
        first, *inner = (wide[k] for k in group)
        for each in inner:
            first = f"({first}*{each})"
        draft.claim(operation, name, f"{size} = {first}", factors=inner)
    if not groups:
        for size in wide:
            draft.claim(operation, name, f"{size} = 1")


def _number(digits: Sequence[str], sizes: Sequence[str]) -> str:
    """Return (i0*n1 + i1)*n2 + i2 for digits i and sizes n."""
    found, *rest = digits
    for digit, size in zip(rest, sizes[1:], strict=True):
        found = f"({found})*{size} + {digit}"
    return found


def _digits(number: str, sizes: Sequence[str]) -> list[str]:
    """Return the digits of which `_number` makes a number."""
    return list(_from_last(number, sizes))[::-1]


def _from_last(number: str, sizes: Sequence[str]) -> Iterator[str]:
    for size in sizes[:0:-1]:
        yield f"(({number}) mod {size})"
        number = f"floor(({number})/{size})"
    yield number

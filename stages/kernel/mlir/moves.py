"""Operations that move elements: padding, slices, concatenation, other shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, TensorType
from xdsl.dialects.tensor import (
    CastOp,
    CollapseShapeOp,
    ConcatOp,
    EmptyOp,
    ExpandShapeOp,
    ExtractOp,
    ExtractSliceOp,
    InsertSliceOp,
    PadOp,
    SplatOp,
)
from xdsl.ir import Operation, SSAValue

from lairmake.stages.kernel.mlir.affine import is_number, read_mixed, read_strides, write_index
from lairmake.stages.kernel.mlir.body import constant
from lairmake.stages.kernel.mlir.draft import (
    Entry,
    KernelDraft,
    name_dimensions,
    write_box,
    write_tuple,
)

# --- Padding, slices, concatenation and types -----------------------------------------------------
#
# Source   F A.2.6 (padding), Def. 4.8 and 4.9 (view, slice)

BOUNDARY = "boundary"
PERIODIC = "periodic"


def empty(draft: KernelDraft, operation: Operation) -> None:
    """Add tensor.empty: sizes, and no values."""
    assert isinstance(operation, EmptyOp)
    name = draft.define(operation.tensor, {"kind": "empty"}, operation, operation.name)
    _claim_unknown(draft, name, operation, operation.tensor, operation.dynamic_sizes)


def splat(draft: KernelDraft, operation: Operation) -> None:
    """Add tensor.splat: one value everywhere."""
    assert isinstance(operation, SplatOp)
    name = draft.introduce(operation.result, operation, operation.name)
    _claim_unknown(draft, name, operation, operation.result, operation.dynamicSizes)
    sizes = draft.sizes(operation.result)
    own = write_tuple(name, name_dimensions("i", len(sizes)))
    copy(draft, name, operation, [f"{own} -> {draft.volume(operation.input)}[]"], sizes)


def extract(draft: KernelDraft, operation: Operation) -> None:
    """Add tensor.extract: one element, a scalar."""
    assert isinstance(operation, ExtractOp)
    name = draft.introduce(operation.result, operation, operation.name)
    at = [write_index(draft, each) for each in operation.indices]
    for index, size in zip(at, draft.sizes(operation.tensor), strict=True):
        draft.claim(operation, name, f"0 <= {index} < {size}")
    element = write_tuple(draft.volume(operation.tensor), at)
    copy(draft, name, operation, [f"{name}[] -> {element}"], [])


def _claim_unknown(
    draft: KernelDraft, name: str, operation: Operation, result: SSAValue, given: Sequence[SSAValue]
) -> None:
    """Claim that the open sizes of a type are those given."""
    assert isinstance(result.type, TensorType)
    shape = result.type.get_shape()
    unknown = [s for s, n in zip(draft.sizes(result), shape, strict=True) if n < 0]
    if len(unknown) != len(given):
        message = f"{len(unknown)} sizes are unknown, and {len(given)} given"
        raise draft.error(operation, message, "give one value of type index for each `?`")
    for size, value in zip(unknown, given, strict=True):
        draft.claim(operation, name, f"{size} = {write_index(draft, value)}")


def cast(draft: KernelDraft, operation: Operation) -> None:
    """Add tensor.cast: the same elements, with other sizes known."""
    assert isinstance(operation, CastOp)
    name = draft.introduce(operation.dest, operation, operation.name)
    sizes = draft.sizes(operation.dest)
    for own, other in zip(sizes, draft.sizes(operation.source), strict=True):
        draft.claim(operation, name, f"{own} = {other}")
    at = name_dimensions("i", len(sizes))
    source = draft.volume(operation.source)
    copy(draft, name, operation, [f"{write_tuple(name, at)} -> {write_tuple(source, at)}"], sizes)


def pad(draft: KernelDraft, operation: Operation) -> None:
    """Add tensor.pad: the source inside, the boundary outside.

    The boundary is one value, which the region yields; or `tensor.extract` of any tensor at affine
    indices of the region's arguments; or, with the attribute `boundary = "periodic"`, the source
    again.
    """
    assert isinstance(operation, PadOp)
    name = draft.introduce(operation.result, operation, operation.name)
    sizes, inner = draft.sizes(operation.result), draft.sizes(operation.source)
    low = read_mixed(draft, operation.static_low.get_values(), operation.low)
    high = read_mixed(draft, operation.static_high.get_values(), operation.high)
    for own, other, first, last in zip(sizes, inner, low, high, strict=True):
        draft.claim(operation, name, f"{own} = {other} + {first} + {last}")
        for each in (first, last):
            if each.startswith("-") or not is_number(each):
                draft.claim(operation, name, f"{each} >= 0")
    at = name_dimensions("i", len(sizes))
    inside = " and ".join(
        f"{f} <= {i} < {f} + {s}" for i, f, s in zip(at, low, inner, strict=True)
    ) or "true"
    shifted = [f"{i} - ({f})" for i, f in zip(at, low, strict=True)]
    source = write_tuple(draft.volume(operation.source), shifted)
    boundary = _boundary(draft, operation, name, at, list(zip(low, high, inner, strict=True)))
    copy(draft, name, operation, [
        f"{write_tuple(name, at)} -> {source} : {inside}",
        f"{write_tuple(name, at)} -> {boundary} and not ({inside})",
    ], sizes)


def _boundary(
    draft: KernelDraft,
    operation: PadOp,
    name: str,
    at: list[str],
    dims: Sequence[tuple[str, str, str]],
) -> str:
    """Return the element of the boundary: `volume[element] : constraints`."""
    kind = operation.attributes.get(BOUNDARY)
    if kind is not None:
        if kind != StringAttr(PERIODIC):
            hint = f'`{BOUNDARY} = "{PERIODIC}"`, or let the region yield another element'
            raise draft.error(operation, f"unknown boundary {kind}", hint)
        return _periodic(draft, operation, name, at, dims)
    last = operation.region.block.last_op
    assert last is not None
    value = last.operands[0]
    if isinstance(value.owner, ConstantOp) and not draft.is_volume(value):
        constant(draft, value.owner)
    if draft.is_volume(value) and not draft.sizes(value):
        return f"{draft.volume(value)}[] : true"
    extract = value.owner
    if not isinstance(extract, ExtractOp) or not draft.is_volume(extract.tensor):
        hint = "yield a constant, a scalar, or tensor.extract at affine indices"
        raise draft.error(operation, "the boundary is no element of a volume", hint)
    known = {id(own): i for own, i in zip(operation.region.block.args, at, strict=True)}
    count = len(draft.symbols)
    element = [write_index(draft, each, known) for each in extract.indices]
    if len(draft.symbols) > count:
        raise draft.error(extract, "indices of a boundary are affine", "use affine.apply")
    return f"{write_tuple(draft.volume(extract.tensor), element)} : true"


def _periodic(
    draft: KernelDraft,
    operation: PadOp,
    name: str,
    at: list[str],
    dims: Sequence[tuple[str, str, str]],
) -> str:
    """Return the source, repeated around itself at most once on each side."""
    source = name_dimensions("t", len(at))
    terms = []
    for i, t, (low, high, size) in zip(at, source, dims, strict=True):
        for each in (low, high):
            draft.claim(operation, name, f"{each} <= {size}")
        shifted = f"{i} - ({low})"
        terms.append(f"0 <= {t} < {size}")
        terms.append(f"({t} = {shifted} or {t} = {shifted} + {size} or {t} = {shifted} - {size})")
    return f"{write_tuple(draft.volume(operation.source), source)} : {' and '.join(terms)}"


def extract_slice(draft: KernelDraft, operation: Operation) -> None:
    """Add tensor.extract_slice: a view with offsets, sizes and strides."""
    assert isinstance(operation, ExtractSliceOp)
    name = draft.introduce(operation.result, operation, operation.name)
    at, element = _slice(draft, operation, name, operation.result, operation.source)
    source = write_tuple(draft.volume(operation.source), element)
    sizes = draft.sizes(operation.result)
    copy(draft, name, operation, [f"{write_tuple(name, at)} -> {source}"], sizes)


def insert_slice(draft: KernelDraft, operation: Operation) -> None:
    """Add tensor.insert_slice: the source in the slice, the destination elsewhere."""
    assert isinstance(operation, InsertSliceOp)
    name = draft.introduce(operation.result, operation, operation.name)
    sizes = draft.sizes(operation.result)
    for size, other in zip(sizes, draft.sizes(operation.dest), strict=True):
        draft.claim(operation, name, f"{size} = {other}")
    at, element = _slice(draft, operation, name, operation.source, operation.dest)
    inner = write_box(at, draft.sizes(operation.source))
    own = name_dimensions("j", len(sizes))
    pairs = zip(own, element, strict=True)
    same = " and ".join(f"{j} = {where}" for j, where in pairs) or "true"
    hit = f"exists {', '.join(at)} : {same} and {inner}" if at else same
    source, dest = draft.volume(operation.source), draft.volume(operation.dest)
    copy(draft, name, operation, [
        f"{write_tuple(name, own)} -> {write_tuple(source, at)} : {same} and {inner}",
        f"{write_tuple(name, own)} -> {write_tuple(dest, own)} : not ({hit})",
    ], sizes, own)


def _slice(
    draft: KernelDraft, operation: ExtractSliceOp | InsertSliceOp, name: str, part: SSAValue,
    whole: SSAValue,
) -> tuple[list[str], list[str]]:
    """Return the dimensions of the part, and the element of the whole for each of its elements.

    The claim is that the part lies in the whole. Dimensions of size 1 may be missing in the part.
    """
    offsets = read_mixed(draft, operation.static_offsets.get_values(), operation.offsets)
    sizes = read_mixed(draft, operation.static_sizes.get_values(), operation.sizes)
    strides = read_strides(
        draft, operation, operation.static_strides.get_values(), operation.strides
    )
    own = draft.sizes(part)
    at = name_dimensions("i", len(own))
    kept = _kept(draft, operation, sizes, part)
    element = []
    for k, (offset, size, stride, outer) in enumerate(
        zip(offsets, sizes, strides, draft.sizes(whole), strict=True)
    ):
        draft.claim(operation, name, f"{offset} >= 0")
        draft.claim(operation, name, f"{offset} + ({size} - 1)*{stride} < {outer}")
        if k in kept:
            draft.claim(operation, name, f"{own[kept.index(k)]} = {size}")
        element.append(f"{offset} + {stride}*{at[kept.index(k)]}" if k in kept else offset)
    return at, element


def _kept(
    draft: KernelDraft, operation: ExtractSliceOp | InsertSliceOp, sizes: list[str], part: SSAValue
) -> list[int]:
    """Return the dimensions of a slice that the part has: those of size 1 may be left out."""
    assert isinstance(part.type, TensorType)
    shape = part.type.get_shape()
    spare = len(sizes) - len(shape)
    found: list[int] = []
    for k, size in enumerate(sizes):
        fits = len(found) < len(shape) and (shape[len(found)] == 1 or spare == 0)
        if size == "1" and spare and not fits:
            spare -= 1
        else:
            found.append(k)
    if len(found) != len(shape):
        raise draft.error(operation, f"a slice of {len(sizes)} dimensions is no {part.type}",
                          "only dimensions of size 1 may be left out")
    return found


def concat(draft: KernelDraft, operation: Operation) -> None:
    """Add tensor.concat: operands one after another along a dimension."""
    assert isinstance(operation, ConcatOp)
    name = draft.introduce(operation.result, operation, operation.name)
    sizes, along = draft.sizes(operation.result), operation.dim.value.data
    at = name_dimensions("i", len(sizes))
    copies, before = [], "0"
    for value in operation.inputs:
        inner = draft.sizes(value)
        for k, (own, other) in enumerate(zip(sizes, inner, strict=True)):
            if k != along:
                draft.claim(operation, name, f"{own} = {other}")
        element = [f"{i} - ({before})" if k == along else i for k, i in enumerate(at)]
        after = f"{before} + {inner[along]}"
        part = f"{before} <= {at[along]} < {after}"
        copies.append(
            f"{write_tuple(name, at)} -> {write_tuple(draft.volume(value), element)} : {part}"
        )
        before = after
    draft.claim(operation, name, f"{sizes[along]} = {before}")
    copy(draft, name, operation, copies, sizes)


def copy(
    draft: KernelDraft,
    name: str,
    operation: Operation,
    copies: Sequence[str],
    sizes: Sequence[str],
    at: Sequence[str] | None = None,
) -> None:
    """Add a copy; each of `copies` is `result[i] -> operand[e] : constraints`."""
    inside = write_box(at or name_dimensions("i", len(sizes)), sizes)
    texts = [f"{each}{' and' if ' : ' in each else ' :'} {inside}" for each in copies]
    entry: Entry = {"kind": "copy", "copies": [f"{{ {text} }}" for text in texts]}
    draft.add(name, entry, operation, operation.name)

# --- Collapsed and expanded shapes ----------------------------------------------------------------
#
# Source   MLIR, dialect tensor: collapse_shape, expand_shape; elements keep their order

def collapse(draft: KernelDraft, operation: Operation) -> None:
    """Add tensor.collapse_shape: a group of dimensions becomes one, its last one the fastest."""
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


def expand(draft: KernelDraft, operation: Operation) -> None:
    """Add tensor.expand_shape: a dimension becomes a group of them, the last one the fastest."""
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
    draft: KernelDraft, operation: Operation, name: str, flat: Sequence[str], wide: Sequence[str],
    groups: Sequence[Sequence[int]],
) -> None:
    """Claim that a dimension has the size of its group; without groups all sizes are 1."""
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
    """Return the digits of the numbers that `_number` makes."""
    return list(_from_last(number, sizes))[::-1]


def _from_last(number: str, sizes: Sequence[str]) -> Iterator[str]:
    for size in sizes[:0:-1]:
        yield f"(({number}) mod {size})"
        number = f"floor(({number})/{size})"
    yield number

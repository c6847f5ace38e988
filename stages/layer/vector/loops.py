"""Ways to a vector instruction within loops."""

from __future__ import annotations

import itertools
import typing
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice, product
from math import inf, prod

import islpy as isl

from lairmake.stages.lair.expressions import Leaf, VectorOperation
from lairmake.stages.layer.streams.operands import order_sources
from lairmake.stages.layer.texts.task_graph import Operate
from lairmake.stages.layer.vector import boxes
from lairmake.stages.layer.vector.boxes import boxed, dense
from lairmake.stages.layer.vector.operands import GivenOperand, Operand, along, extend, in_memory
from lairmake.stages.layer.vector.situation import NotPossibleError, Situation, VectorCandidate
from lairmake.stages.machine.types import BYTES, find_integers, is_integer
from lairmake.stages.poly.box import exact_bounds, find_fixed_size, find_full
from lairmake.stages.poly.compression import find_periods, split
from lairmake.stages.poly.functions import (
    bind_domain,
    find_index_constants,
    find_same,
    greatest_value,
    simplify,
)
from lairmake.stages.poly.integers import linear_map
from lairmake.stages.poly.lattices import bases, linear_form

PARAM, IN, SET = isl.dim_type.param, isl.dim_type.in_, isl.dim_type.set

# --- Vector instructions in loops -----------------------------------------------------------------
#
# Some dimensions are loops, the others a box of fixed size.
#
# Paper    V Sec. 5, goes without this

WHY_NESTED = "within loops, the instances are a box"


def candidate(situation: Situation) -> VectorCandidate:
    """Return the largest box in the fewest loops. Raises NotPossibleError."""
    plain = dense(situation)
    elements = situation.elements.apply(plain.reverse())
    width = elements.dim(SET)
    reason = NotPossibleError("there is a single dimension")
    for loops in range(max(1, width - situation.profile.dimensions), width):
        found: list[VectorCandidate] = []
        for outer in itertools.combinations(range(width), loops):
            try:
                found.append(find_within(situation, plain, elements, outer, ("nested", WHY_NESTED)))
            except NotPossibleError as error:
                reason = NotPossibleError(f"within loops, {error}")
        if found:
            return max(found, key=_points)
    raise reason


def find_within(
    situation: Situation,
    plain: isl.Map,
    elements: isl.Set,
    outer: tuple[int, ...],
    called: tuple[str, str],
) -> VectorCandidate:
    """Return the box of the other dimensions within loops over these; `called`: its way, and why.

    `plain` is { [k] -> [i] }, `elements` the instances { [k] }. Raises NotPossibleError.
    """
    change = split_off(plain.get_space().domain(), outer).apply_range(plain)
    return replace(boxed(situation, *called, change), outer=find_loops(elements, outer))


def find_loops(elements: isl.Set, outer: Sequence[int]) -> isl.Set:
    """Return { [outer0, ...] }, the values of the outer dimensions of { [k] }."""
    around = elements
    for position in reversed(range(elements.dim(SET))):
        if position not in outer:
            around = around.project_out(SET, position, 1)
    for position in range(len(outer)):
        around = around.set_dim_name(SET, position, f"outer{position}")
    return around.coalesce()


def split_off(space: isl.Space, outer: Sequence[int]) -> isl.Map:
    """Return [outer0, ...] -> { [k] -> [i] }, the outer dimensions as symbolic constants."""
    split = isl.Map.identity(space.map_from_set())
    for number, position in enumerate(outer):
        split = split.move_dims(PARAM, split.dim(PARAM), isl.dim_type.in_, position - number, 1)
        split = split.set_dim_name(PARAM, split.dim(PARAM) - 1, f"outer{number}")
    return split


def _points(candidate: VectorCandidate) -> int:
    """Return how many elements a box has at most."""
    domain = candidate.box.params()
    sizes = (size.intersect_params(domain).floor() for size in candidate.sizes)
    return prod(greatest_value(size).to_python() for size in sizes)

# --- Rows of several sizes within loops -----------------------------------------------------------
#
# The size differs from one row to the next: each is configured before its call.
#
# The loops are over some dimensions of the instances, which are a box in the others for each value
# of these. Where all instances of a PE are a box, they may also be a single row.
#
# Paper    V Sec. 5, goes without this

WHY_ROW_SIZES = (
    "within loops, the instances are boxes of several sizes, configured before each call"
)
MOST_TRIED = 8
"""The most choices of loops that are tried, those of the fewest rows first."""
MOST_MORE = 4
"""The factor on the fewest rows up to which loops are thought of."""
MOST_BASES = 2
"""The most bases besides that of the unit vectors, those of the smallest boxes."""


def by_row_sizes(situation: Situation) -> Iterator[VectorCandidate]:
    """Yield the rows for some choices of loops, none if no sizes differ."""
    if situation.exact.is_box:
        return
    fewest = inf
    for plain, outer, rows in islice(_list_loops(situation), MOST_TRIED):
        if rows > MOST_MORE * fewest:
            continue
        elements = situation.elements.apply(plain.reverse())
        found = _whole(situation, plain, elements, outer)
        if found is None:
            change = split_off(elements.space, outer).apply_range(plain)
            found = _candidate(situation, change, find_loops(elements, outer))
        if found is not None:
            fewest = min(fewest, rows)
            yield found


def _list_loops(situation: Situation) -> Iterator[tuple[isl.Map, tuple[int, ...], int]]:
    """Yield a basis { [k] -> [i] }, the dimensions of it for loops, and how many rows there are.

    At most so many; the fewest first. Sums are added in the order of the instances.
    """
    plain = dense(situation)
    elements = situation.elements.apply(plain.reverse())
    width = elements.dim(SET)
    for basis in _list_bases(elements, situation.known):
        changed = basis.reverse().apply_range(plain)
        sizes = _find_extents(elements.apply(basis), situation.known)
        several = [o for loops in range(1, width) for o in combinations(range(width), loops)]
        rows = {outer: prod(sizes[k] for k in outer) for outer in several}
        for outer in sorted(several, key=lambda outer: rows[outer]):
            if _keeps_sums(situation, changed, outer):
                yield changed, outer, rows[outer]


def _find_extents(elements: isl.Set, known: isl.Set) -> list[int]:
    """Return the largest size along each dimension."""
    here = elements.intersect_params(known)
    spreads = (here.dim_max(k).sub(here.dim_min(k)).floor() for k in range(here.dim(SET)))
    return [int(greatest_value(spread).to_python()) + 1 for spread in spreads]


def _list_bases(elements: isl.Set, known: isl.Set) -> Iterator[isl.Map]:
    """Yield { [i] -> [U i] }: the unit vectors, then others, each in both directions."""
    width = elements.dim(SET)
    yield isl.Map.identity(elements.get_space().map_from_set())
    for basis in islice(bases(elements, known), MOST_BASES):
        yield basis
        for turned in range(width):
            rows = [_unit(k, width) for k in range(width)]
            rows[turned][turned] = -1
            yield basis.apply_range(linear_map(rows, width))


def _keeps_sums(situation: Situation, plain: isl.Map, outer: Sequence[int]) -> bool:
    """Return whether each element of the target gets its sum in the order of the instances.

    They run in the order of the outer dimensions, then of the others, of { [k] -> [i] }.
    """
    assert situation.target is not None, "a statement writes its target"
    to = situation.accesses[situation.target].intersect_domain(situation.elements)
    before = to.apply_range(to.reverse()).intersect(isl.Map.lex_lt(to.get_space().domain()))
    inner = [k for k in range(plain.dim(IN)) if k not in outer]
    order = linear_map([_unit(k, plain.dim(IN)) for k in (*outer, *inner)], plain.dim(IN))
    order = plain.reverse().apply_range(order)
    run = before.apply_domain(order).apply_range(order)
    return bool(run.intersect(isl.Map.lex_ge(run.get_space().domain())).is_empty())


def _unit(position: int, width: int) -> list[int]:
    return [int(k == position) for k in range(width)]


def _whole(
    situation: Situation, plain: isl.Map, elements: isl.Set, outer: Sequence[int]
) -> VectorCandidate | None:
    """Return rows of all dimensions, a single one where all instances of a PE are a box.

    None if that is nowhere so, or there are too many dimensions.
    """
    full = find_full(elements, exact_bounds(elements, situation.known))
    if full.is_empty() or elements.dim(SET) > situation.profile.dimensions:
        return None
    whole = elements.intersect_params(full)
    run = _in_loops(elements.subtract(whole), outer)
    run = run.union(isl.Map.from_domain_and_range(_in_loops(whole, outer).domain().lexmin(), whole))
    names = [f"outer{n}" for n in range(len(outer))]
    box = bind_domain(run.coalesce(), names)
    change = isl.Map.identity(box.get_space().map_from_set()).intersect_domain(box)
    around = run.domain()
    for position, name in enumerate(names):
        around = around.set_dim_name(SET, position, name)
    found = _candidate(situation, change.apply_range(plain), around.coalesce())
    if found is None:
        return None
    starts = {k: isl.PwAff(f"[outer{n}] -> {{ [(outer{n})] }}") for n, k in enumerate(outer)}
    origin = tuple(starts.get(k, each) for k, each in enumerate(found.origin))
    return replace(found, origin=origin)


def _in_loops(elements: isl.Set, outer: Sequence[int]) -> isl.Map:
    """Return { [o] -> [k] }, the elements for each value of the outer dimensions."""
    pairs = isl.Map.identity(elements.get_space().map_from_set()).intersect_range(elements)
    inner = [k for k in range(elements.dim(SET)) if k not in outer]
    for position in reversed(inner):
        pairs = pairs.project_out(IN, position, 1)
    return pairs


def _candidate(situation: Situation, change: isl.Map, outer: isl.Set) -> VectorCandidate | None:
    """Return the rows of a change [p, outer] -> { [k] -> [i] }, if they are boxes that differ."""
    box = situation.elements.apply(change.reverse()).coalesce()
    exact = exact_bounds(box, situation.known)
    if not exact.is_box or find_fixed_size(exact, find_index_constants(box)) is not None:
        return None
    return VectorCandidate(
        way="nested",
        why=WHY_ROW_SIZES,
        sizes=exact.size,
        origin=tuple(simplify(least, exact.domain) for least in exact.minimum),
        box=box,
        change=change,
        outer=outer,
        each_call=True,
    )

# --- Multiply-adds by a scalar within loops -------------------------------------------------------
#
# The machine has no multiply-add of two vectors.
#
# The loops are over what a sum goes over, and over what one of the factors varies along:
# y[i] += A[i, j] * x[j] becomes, for each j, y[:] += A[:, j] * x[j].

WHY_SCALAR = "within loops, a factor is the same for a whole vector"


def by_scalar(situation: Situation) -> list[VectorCandidate]:
    """Return a box for each choice of loops. Raises NotPossibleError if there is none."""
    plain = dense(situation)
    elements = situation.elements.apply(plain.reverse())
    found: list[VectorCandidate] = []
    reason = NotPossibleError("no factor is a scalar for a whole vector within loops")
    for outer in _loops(situation, plain, elements):
        try:
            found.append(find_within(situation, plain, elements, outer, ("scalar", WHY_SCALAR)))
        except NotPossibleError as error:
            reason = error
    if not found:
        raise reason
    return found


def _loops(
    situation: Situation, plain: isl.Map, elements: isl.Set
) -> Iterator[tuple[int, ...]]:
    """Yield dimensions for loops: those along which the target stands still, and a tensor varies.

    At least one, and not all of them.
    """
    assert situation.target is not None, "a statement writes its target"
    every = set(range(elements.dim(SET)))
    still = every - _varying(situation, situation.target, plain, elements)
    others = [t for t in situation.accesses if t not in (situation.target, situation.arriving)]
    sums = [still | _varying(situation, tensor, plain, elements) for tensor in others]
    for loops in dict.fromkeys(tuple(sorted(each)) for each in [still, *sums]):
        if 0 < len(loops) < len(every):
            yield loops


def _varying(
    situation: Situation, tensor: str, plain: isl.Map, elements: isl.Set
) -> set[int]:
    """Return the dimensions of { [k] } along which an access varies; all if it is not linear."""
    access = plain.apply_range(situation.accesses[tensor])
    local = access.apply_range(situation.files.by_tensor[tensor]).intersect_domain(elements)
    form = linear_form(local, situation.known)
    if form is None:
        return set(range(elements.dim(SET)))
    columns = enumerate(zip(*form.coefficients, strict=True))
    return {k for k, column in columns if any(column)}

# --- Products of two vectors in blocks ------------------------------------------------------------
#
# Memory has no room for all products at a time.
# A machine that multiplies and adds by a scalar only has the products of two vectors in a part,
# which is as large as the box. Within a loop over blocks of one dimension it is as large as a
# block. That is for a matrix times a vector: of more dimensions one may be the loop, and the others
# are a matrix.
#
# Paper    V Sec. 5, goes without this

WHY_BLOCKS = "within a loop over blocks, for all products have no room in memory"
MOST_BLOCKS = 2
"""The most numbers of blocks that are tried of each dimension: the least ones with room."""
MATRIX = 2
"""The dimensions of a matrix."""
PART = 8
"""The part of a PE's memory that a block of products takes at most: larger ones gain little."""


def by_blocks(situation: Situation) -> Iterator[VectorCandidate]:
    """Yield blocks of a matrix, along each dimension; none if there is room for all products.

    Raises NotPossibleError if the instances are no box of fixed size.
    """
    assert situation.target is not None, "a statement writes its target"
    sizes, bytes_ = _find_sizes(situation), BYTES[situation.type_of(situation.target)]
    free = _find_free(situation)
    if len(sizes) != MATRIX or prod(sizes) * bytes_ <= free:
        return
    room = min(free, situation.profile.memory // PART) // bytes_
    for position, size in enumerate(sizes):
        others = prod(sizes) // size
        fit = (n for n in range(2, size) if size % n == 0 and others * (size // n) <= room)
        for _, count in zip(range(MOST_BLOCKS), fit, strict=False):
            change = _cut(situation, position, size // count, len(sizes))
            elements = situation.elements.apply(change.reverse())
            yield find_within(situation, change, elements, (position,), ("nested", WHY_BLOCKS))


def _find_sizes(situation: Situation) -> list[int]:
    """Return the sizes of the box that the instances are. Raises NotPossibleError."""
    exact, names = situation.exact, find_index_constants(situation.elements)
    sizes = find_fixed_size(exact, names) if exact.is_box else None
    found = [size for size in map(find_same, sizes or ()) if size is not None]
    if not sizes or len(found) < len(sizes):
        raise NotPossibleError("the instances are no box of fixed size")
    return found


def _find_free(situation: Situation) -> int:
    """Return how many bytes a PE has besides its local tensors and its code."""
    files, memory = situation.files, extend(situation.files.local, ())
    used = memory.bytes(situation.local_type) + files.find_code(situation.name) - files.saved
    return situation.profile.memory - used


def _cut(situation: Situation, position: int, block: int, width: int) -> isl.Map:
    """Return { [k] -> [i] }: i = least + block k + k' at a position, k' after k, and else i = k.

    The least value of i may depend on symbolic constants.
    """
    names = [f"k{n}" for n in range(width)]
    within = [*names[: position + 1], "inside", *names[position + 1 :]]
    moved = [f"i{n}" for n in range(width)]
    same = [f"i{n} = k{n}" for n in range(width) if n != position]
    bounds = " and ".join([*same, f"0 <= inside < {block}"])
    offset = f"i{position} - {block} k{position} - inside"
    cut = isl.Map(f"{{ [[{_list(within)}] -> [{_list(moved)}]] -> [{offset}] : {bounds} }}")
    least = isl.Set.from_pw_aff(situation.exact.minimum[position])
    return cut.intersect_range(least).domain().unwrap()


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)

# --- Instructions with a stream as an operand -----------------------------------------------------
#
# What arrives is an operand, and perhaps what leaves. The stream comes first, as the fabric has it:
# d = stream OPERATION memory.
#
# Paper    V Sec. 5, conditions 3 and 4
# Source   CSL Language Guide, Builtins: fabric DSDs are operands of what computes, not of copies
#          only

def find_streamed(
    situation: Situation,
    task: Operate,
    operations: Sequence[VectorOperation],
    candidate: VectorCandidate,
) -> tuple[str, tuple[Operand, ...]]:
    """Return the operation of a task, and its operands d, a, b. Raises NotPossibleError."""
    tensor = situation.files.graph.arrivals[task.arrival].tensor
    ordered = order_sources(operations, tensor)
    if ordered is None:
        raise NotPossibleError("it is no operation on a stream")
    name, (_, *others) = ordered
    sources = [_find_source(situation, task, leaf, candidate) for leaf in others]
    arriving = GivenOperand(kind="stream", value=task.arrival, type=situation.type_of(tensor))
    _check(situation, name, sources)
    return name, (_find_target(situation, task, candidate), arriving, *sources)


def _find_source(
    situation: Situation, task: Operate, leaf: Leaf, candidate: VectorCandidate
) -> Operand:
    """Return an operand besides the stream: memory, or a number."""
    if isinstance(leaf, str):
        return in_memory(situation, leaf, candidate)
    types = [situation.type_of(t) for t in situation.accesses]
    whole = is_integer(situation.type_of(task.target))
    value = typing.cast(float, leaf)
    return GivenOperand(
        kind="number", value=value, type=find_integers(types) if whole else "float32"
    )


def _find_target(situation: Situation, task: Operate, candidate: VectorCandidate) -> Operand:
    """Return where results go: to memory, or as a stream."""
    if task.departure is None:
        return in_memory(situation, task.target, candidate)
    return GivenOperand(kind="stream", value=task.departure, type=situation.type_of(task.target))


def _check(situation: Situation, name: str, sources: Sequence[Operand]) -> None:
    """Raise NotPossibleError where the machine multiplies and adds by a scalar only."""
    if name == "MAC" and not situation.profile.vector_multiply_add and along(sources[0]):
        raise NotPossibleError("a multiply-add of two vectors")

# --- Elements that a task moves in rows -----------------------------------------------------------
#
# Memory has blocks of them, and the stream has not.
#
# Paper    V Sec. 5, goes without this

def transfers(situation: Situation) -> tuple[VectorCandidate, ...]:
    """Return the elements that a task moves or initialises, in order. Raises NotPossibleError.

    If their addresses are not linear, and are so in rows of them: as these rows.
    """
    plain = boxes.transfer_instances(situation)
    (tensor,) = situation.accesses
    if _is_linear(situation, tensor, plain):
        return (plain,)
    local = situation.accesses[tensor].apply_range(situation.files.by_tensor[tensor])
    periods = find_periods(local.intersect_domain(situation.elements))
    several = product(*([None, *found] for found in periods))
    for each in islice(several, 1, 1 + MOST_TRIED):
        try:
            change = split(situation.exact.minimum, each)
            found = boxed(situation, plain.way, plain.why, change)
        except NotPossibleError:
            continue
        if _is_linear(situation, tensor, found):
            return (found,)
    return (plain,)


def _is_linear(situation: Situation, tensor: str, candidate: VectorCandidate) -> bool:
    """Return whether the addresses of a box are linear."""
    try:
        in_memory(situation, tensor, candidate)
    except NotPossibleError:
        return False
    return True

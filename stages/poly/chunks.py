"""Orders cut into chunks; rings of chunks, and halos of windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from lairmake.stages.poly.box import box, find_extents
from lairmake.stages.poly.canonical import letters
from lairmake.stages.poly.cardinality import bound_points
from lairmake.stages.poly.compression import fit
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_domain,
    bind_range,
    find_function_in,
    find_greatest,
    find_least,
    greatest,
    least,
    name_indices,
    project_names,
    unbind_set,
)
from lairmake.stages.poly.sides import at_index, at_pe, at_places

OUT, SET = isl.dim_type.out, isl.dim_type.set

# --- Cuts of an order into chunks -----------------------------------------------------------------
#
# Chunks are consecutive elements, as many in each, but for the last one.
# A chunk has some values of one index, one value of each outer index, and all inner ones.

MOST = 256
"""The most chunks that a stream may have: with more, little is gained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBox:
    """The least value of each index of an order, and how many there are, on every PE."""

    least: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A cut of an index box: `of` is { index[i] -> chunk[p] }, `counts` how many p there are.

    `size` is the number of elements in each chunk, `rest` that in the last one. `places` is
    { index[i] -> place[r, k] }, the row of each element, counted through all chunks, and its place
    in that row; a chunk has so many `rows`.
    """

    of: isl.Map
    counts: tuple[int, ...]
    size: int
    rest: int
    places: isl.Map
    rows: int

    @property
    def number(self) -> int:
        """The number of chunks."""
        return prod(self.counts)


def find_index_box(order: isl.Map) -> IndexBox | None:
    """Return the box of { t[e] -> [PE -> index[i]] }, the same on all PEs; None if there is none.

    Every index in the box has an element on every PE.
    """
    indices = order.range().unwrap()
    whole = indices.range()
    ends = find_extents(whole)
    if not ends:
        return None
    filled = isl.Set.universe(whole.space)
    for k, (low, high) in enumerate(ends):
        filled = filled.lower_bound_val(SET, k, low).upper_bound_val(SET, k, high)
    if not isl.Map.from_domain_and_range(indices.domain(), filled).is_subset(indices):
        return None
    least = tuple(low for low, _ in ends)
    sizes = tuple(high - low + 1 for low, high in ends)
    return IndexBox(least=least, sizes=sizes)


def list_cuts(
    boxes: Sequence[IndexBox], shared: int, *, fine: bool = False
) -> Iterator[tuple[Cut, ...]]:
    """Yield cuts into two chunks or more, MOST at most, those of the largest chunks first.

    The boxes have their first `shared` outer indices in common; all are cut along one of these,
    into as many chunks. The last chunk is smaller only where no index further out has several
    values. With `fine`, a chunk has a power of two of values of that index, and there may be any
    number of chunks: so the same chunks are among those of any long stream.
    """
    for depth, size in enumerate(boxes[0].sizes[:shared]):
        outer = prod(boxes[0].sizes[:depth])
        for width in _list_powers(size) if fine else _list_widths(size, MOST // outer):
            if size % width == 0 or outer == 1:
                yield tuple(_cut(box, depth, width) for box in boxes)


def _list_widths(size: int, most: int) -> Iterator[int]:
    """Yield widths that cut a size into any number of chunks up to `most`."""
    for number in range(2, min(size, most) + 1):
        width = -(-size // number)
        if -(-size // width) == number:
            yield width


def _list_powers(size: int) -> Iterator[int]:
    """Yield the powers of two below a size, the greatest first."""
    yield from (1 << k for k in reversed(range((size - 1).bit_length())))


def _cut(box: IndexBox, depth: int, width: int) -> Cut:
    """Return { index[i] -> chunk[i0, ..., floor(i_depth / width)] }, all counted from 0."""
    names = letters(len(box.sizes))
    at = [_counted(name, low) for name, low in zip(names, box.least, strict=True)]
    outer = [k for k in range(depth) if box.sizes[k] > 1]
    chunk = [*(at[k] for k in outer), f"floor(({at[depth]})/{width})"]
    inner, size = prod(box.sizes[depth + 1 :]), box.sizes[depth]
    row = [f"{prod(box.sizes[k + 1 : depth + 1])}*({at[k]})" for k in range(depth + 1)]
    place = ", ".join([" + ".join(row), *at[depth + 1 :]])
    return Cut(
        of=isl.Map(f"{{ index[{', '.join(names)}] -> chunk[{', '.join(chunk)}] }}"),
        counts=(*(box.sizes[k] for k in outer), -(-size // width)),
        size=width * inner,
        rest=((size - 1) % width + 1) * inner,
        places=isl.Map(f"{{ index[{', '.join(names)}] -> place[{place}] }}"),
        rows=width,
    )


def _counted(name: str, low: int) -> str:
    return name if low == 0 else f"{name} - {low}" if low > 0 else f"{name} + {-low}"


def cut_order(order: isl.Map, cut: isl.Map) -> isl.Map:
    """Return { t[e] -> [PE -> chunk[p]] } of { t[e] -> [PE -> index[i]] }."""
    pes = isl.Map.identity(order.range().unwrap().domain().get_space().map_from_set())
    return order.apply_range(pes.product(cut))


def find_first(cut: isl.Map) -> isl.Set:
    """Return { chunk[0, ...] }, the first chunk of a cut."""
    first = isl.Set.universe(cut.range().get_space())
    for k in range(first.dim(SET)):
        first = first.fix_val(SET, k, 0)
    return first


def bind_chunk(cut: isl.Map) -> isl.Set:
    """Return [index...] -> { index[i] } of the elements of a chunk."""
    return bind_range(cut, name_indices(cut.dim(isl.dim_type.out)))


def chunks(counts: tuple[int, ...] | list[int]) -> isl.Set:
    """Return [index...] -> { : 0 <= index < count }, the chunks that there are."""
    names = name_indices(len(counts))
    bounds = " and ".join(f"0 <= {n} < {c}" for n, c in zip(names, counts, strict=True))
    return isl.Set(f"[{', '.join(names)}] -> {{ : {bounds} }}")


def find_last_step(steps: isl.Map, writes: isl.Map) -> isl.Map:
    """Return { t[e] -> [PE -> chunk[p]] }, the last step in which a PE adds to an element.

    `steps` is { S[i] -> [PE -> chunk[p]] }, `writes` { S[i] -> t[e] }.
    """
    return greatest(writes.reverse().apply_range(steps).uncurry()).curry()


def count_most_in_step(steps: isl.Map) -> int:
    """Return a bound on the instances of a step on a PE: the product of their spreads."""
    names = [*PE_NAMES, *name_indices(steps.range().unwrap().dim(isl.dim_type.out))]
    listed = ", ".join(names)
    inside = ", ".join(names[len(PE_NAMES) :])
    here = steps.reverse().intersect_domain(
        isl.Set(f"[{listed}] -> {{ [PE[PE_X, PE_Y] -> chunk[{inside}]] }}")
    )
    return bound_points(here.range())

# --- Positions of an order that leave early -------------------------------------------------------
#
# A statement runs in steps, { S[i] -> [PE -> step[k]] }, in lexicographic order of k. A position
# may leave after a step, while the statement still runs, if nothing later adds to its element, nor
# to those of the positions before it.
#
# Paper    V Sec. 4.2

@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """What leaves a PE early: [PE_X, PE_Y] -> { index[i] -> t[e] } and { index[i] -> step[k] }.

    `after` is the step after which an index leaves; indices without one leave at the end.
    """

    at: isl.Map
    after: isl.Map

    def sent(self, names: Sequence[str]) -> isl.Set:
        """Return [PE_X, PE_Y, names] -> { index[i] } of what leaves after a step."""
        return bind_range(self.after, names)

    @property
    def rest(self) -> isl.Set:
        """Return [PE_X, PE_Y] -> { index[i] } of what leaves when all steps have run."""
        return self.at.domain().subtract(self.after.domain())


def find_completed(order: isl.Map, last: isl.Map, stops: isl.Set, pes: isl.Set) -> Completed:
    """Return what leaves early of an order { t[e] -> [PE -> index[i]] }, after steps in `stops`.

    `last` is { t[e] -> [PE -> step[k]] }, the last step that adds to an element. The element leaves
    after the first stop from that step on, or after the first stop of all if a PE adds nothing to
    it. Only `pes` run the steps.
    """
    at, here = at_pe(order), at_pe(at_places(order, pes))
    early = at.apply_range(at_pe(last.apply_range(_within_pe(last, _next_stop(stops)))).reverse())
    others = here.domain().subtract(here.intersect_range(at_pe(last).range()).domain())
    passing = isl.Map.from_domain_and_range(others, stops.lexmin())
    after = early.intersect_domain(here.domain()).union(passing).coalesce()
    return Completed(at=at, after=after)


def is_in_order(completed: Completed) -> bool:
    """Say whether each index leaves after those before it."""
    later = isl.Map.lex_lt(completed.at.domain().get_space())
    steps = completed.after.reverse().apply_range(later).apply_range(completed.after)
    if not steps.is_subset(isl.Map.lex_le(completed.after.range().get_space())):
        return False
    return completed.rest.apply(later).is_disjoint(completed.after.domain())


def list_stops(last: isl.Map, box: Sequence[Sequence[int]]) -> Iterator[isl.Set]:
    """Yield sets of stops { step[k] } in a box [least, greatest], without its last step and with.

    Stops are at every n-th value of one dimension, from the first in { t[e] -> [PE -> step[k]] }
    on, and at the last values of the inner dimensions.
    """
    steps = last.range_factor_range().range()
    end = isl.Set.universe(steps.get_space())
    for k, (_, high) in enumerate(box):
        end = end.fix_val(SET, k, high)
    for depth, (_, high) in enumerate(box):
        first = find_least(steps, depth).to_python()
        for chunk in _halves(high - first + 1):
            found = _stops(steps.get_space(), box, depth, isl.Set(
                f"{{ [k] : {first} <= k <= {high} and (k - {first} + 1) mod {chunk} = 0 }}"
            ))
            yield from (s for s in (found.subtract(end), found) if not s.is_empty())


def _halves(size: int) -> Iterator[int]:
    """Yield size / 2, size / 4, ..., 1, rounded up."""
    while size > 1:
        size = -(-size // 2)
        yield size


def _stops(space: isl.Space, box: Sequence[Sequence[int]], depth: int, some: isl.Set) -> isl.Set:
    """Return the steps of a box with `some` values at a depth, and the last ones inside."""
    found = isl.Set.universe(space)
    for k, (low, high) in enumerate(box):
        found = found.lower_bound_val(SET, k, high if k > depth else low)
        found = found.upper_bound_val(SET, k, high)
    at = isl.Map.identity(space.map_from_set()).project_out(OUT, depth + 1, len(box) - depth - 1)
    at = at.project_out(OUT, 0, depth).reset_tuple_id(OUT)
    return found.intersect(some.apply(at.reverse()))


def _next_stop(stops: isl.Set) -> isl.Map:
    """Return { step[k] -> step[s] }, the first stop that is not before a step."""
    return least(isl.Map.lex_le(stops.get_space()).intersect_range(stops))


def _within_pe(like: isl.Map, change: isl.Map) -> isl.Map:
    """Return { [PE -> step] -> [PE -> change(step)] }, with the PEs of { t[e] -> [PE -> step] }."""
    pes = like.range().unwrap().domain().get_space()
    return isl.Map.identity(pes.map_from_set()).product(change)

# --- Reuse distance of elements, in chunks --------------------------------------------------------

def number_chunks(counts: Sequence[int]) -> isl.Map:
    """Return { chunk[p] -> [n] }, the place of each chunk among all, in lexicographic order."""
    names = letters(len(counts))
    terms = [f"{prod(counts[k + 1 :])}*{name}" for k, name in enumerate(names)]
    return isl.Map(f"{{ chunk[{', '.join(names)}] -> [{' + '.join(terms)}] }}")


def number_order(order: isl.Map, counts: Sequence[int]) -> isl.Map:
    """Return { x -> [PE -> [n]] } of { x -> [PE -> chunk[p]] }."""
    pes = isl.Map.identity(order.range().unwrap().domain().get_space().map_from_set())
    return order.apply_range(pes.product(number_chunks(counts)))


def find_reuse(steps: isl.Map, needed: isl.Map, counts: Sequence[int]) -> int:
    """Return the most steps after its own one at which an element of a chunk is still used.

    That is max { number(p) - number(q) }: `steps` is { S[i] -> [PE -> chunk[p]] }, the chunk after
    which an instance runs, `needed` { S[i] -> [PE -> chunk[q]] }, those of which it uses elements.
    """
    pairs = number_order(needed, counts).reverse().apply_range(number_order(steps, counts))
    return _find_most(pairs, 1)


def find_reach(steps: isl.Map, places: isl.Map, counts: Sequence[int], rows: int) -> int:
    """Return the most rows before the first one of a chunk that its step uses elements of.

    That is max { rows number(p) - r }: `steps` is { S[i] -> [PE -> chunk[p]] }, the chunk after
    which an instance runs, `places` { S[i] -> [PE -> place[r, k]] }, the rows that it uses.
    """
    inner = "".join(f", {name}" for name in letters(places.range().unwrap().dim(OUT) - 1))
    row = isl.Map(f"{{ [PE[x, y] -> place[r{inner}]] -> [PE[x, y] -> [r]] }}")
    used = places.apply_range(row)
    return _find_most(used.reverse().apply_range(number_order(steps, counts)), rows)


def _find_most(pairs: isl.Map, factor: int) -> int:
    """Return the greatest factor p - q of { [PE -> [q]] -> [PE -> [p]] }, 0 at least."""
    same = isl.Map("{ [PE[x, y] -> [q]] -> [PE[x, y] -> [p]] }").intersect(pairs).wrap()
    distance = isl.Map(f"{{ [[PE[x, y] -> [q]] -> [PE[a, b] -> [p]]] -> [{factor}p - q] }}")
    greatest = find_greatest(same.apply(distance), 0)
    return max(0, int(greatest.to_python())) if greatest.is_int() else 0

# --- Rings of chunks ------------------------------------------------------------------------------
#
# A ring is local memory in which a chunk takes the place of one that is no longer used. Chunk n
# lies in slot n modulo the depth.

NUMBER = "index"
"""The symbolic constant for the number of a chunk."""

PE = "[PE_X, PE_Y] -> { PE[PE_X, PE_Y] }"


def roll(numbers: isl.Map, depth: int, name: str) -> tuple[isl.Set, isl.Map]:
    """Return { name[l] : 0 <= l < size } and where each element lies, while it is in memory.

    That is { [PE -> T[e]] -> name[n mod depth, e - offset(PE, n)] }, where `numbers` is
    { T[e] -> [PE -> [n]] }, the chunk of each element. Size and offset are those of the fixed-size
    box hull of a chunk, V (8).
    """
    elements = at_index(numbers)
    size, local = fit(elements, name)
    whole = project_names(_in_slot(local.intersect_domain(elements), depth).wrap(), [NUMBER])
    to_local = whole.coalesce().unbind_params_insert_domain(isl.MultiId(PE)).uncurry()
    return box(name, (depth, *size)), to_local


def roll_in_boxes(
    numbers: isl.Map, depth: int, counts: Sequence[int], name: str
) -> tuple[isl.Set, isl.Map]:
    """Return the same memory, and where elements lie when one of `counts` chunks is at work.

    That is [index...] -> { [PE -> T[e]] -> name[l] } for all of the box in its slot, whether there
    are such elements or not: so the first chunk and the last one may be as large as others.
    """
    elements = at_index(numbers)
    size, local = fit(elements, name)
    inside = local.intersect_range(box(name, size)).intersect_params(elements.params())
    to_local = _in_slot(inside, depth).wrap().unbind_params_insert_domain(isl.MultiId(PE))
    by_number = unbind_set(to_local.uncurry().wrap(), "", [NUMBER])
    by_chunk = number_chunks(counts).apply_range(by_number)
    found = bind_domain(by_chunk, name_indices(len(counts))).unwrap()
    return box(name, (depth, *size)), found.coalesce()


def _in_slot(local: isl.Map, depth: int) -> isl.Map:
    """Return [index] -> { T[e] -> name[index mod depth, l] } of { T[e] -> name[l] }."""
    name = local.get_tuple_name(isl.dim_type.out)
    slot = isl.Map(f"[{NUMBER}] -> {{ [] -> [{NUMBER} mod {depth}] }}").range()
    placed = isl.Map.from_domain_and_range(local.domain(), slot).flat_range_product(local)
    return placed.set_tuple_name(isl.dim_type.out, name)

# --- Rings with a halo ----------------------------------------------------------------------------
#
# Windows reach over the chunks of such a ring as if all chunks were in memory. The chunks lie one
# after the other, by rows of elements, and before them a copy of the last rows of the ring:
#
#     halo | chunk 0 | chunk 1 | ... | chunk depth - 1
#
# When chunk n is taken, row r lies at r + halo - rows depth floor(n/depth), where a chunk has so
# many rows. So the rows that its step uses, which begin up to `halo` ones before its own, lie one
# after the other, and an access to them is as linear as it would be to the whole tensor. Once the
# last chunk of the ring is there, its last rows are copied to the front, where the next one finds
# them.

@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """{ T[e] -> [PE -> place[r, k]] }, the row of each element, counted through all chunks.

    A chunk has so many `rows`, and `counts` are how many chunks there are in each dimension;
    `depth` of them are in memory. A step reaches `halo` rows before its chunk.
    """

    places: isl.Map
    rows: int
    counts: tuple[int, ...]
    depth: int
    halo: int


def roll_rows(rows: Rows, name: str) -> tuple[isl.Set, isl.Map]:
    """Return { name[l] : 0 <= l < size } and where elements lie when a chunk is taken.

    That is [index...] -> { [PE -> T[e]] -> name[l] } for all that memory, whether there are such
    elements or not: so what reaches beyond the first one, or the last one, has a place.
    """
    size = (rows.halo + rows.rows * rows.depth, *_count_inner(rows.places))
    reaching = replace(rows, places=_extend(rows.places))
    return box(name, size), _lay(reaching, name, size, later=0)


def repeat_rows(rows: Rows, tensor: str, name: str) -> isl.Map:
    """Return [index...] -> { [PE -> tensor[e]] -> name[l] }, where rows of the halo are copied to.

    That is where the elements lie when the next chunk is taken, if that begins the ring again.
    """
    number, last = _number(rows.counts), prod(rows.counts) - 1
    turns = f"({number} + 1) mod {rows.depth} = 0 and {number} < {last}"
    listed = ", ".join(name_indices(len(rows.counts)))
    turning = isl.Set(f"[{listed}] -> {{ : {turns} }}")
    again = replace(rows, places=rows.places.set_tuple_name(isl.dim_type.in_, tensor))
    size = (rows.halo, *_count_inner(rows.places))
    return _lay(again, name, size, later=1).intersect_params(turning)


def _extend(places: isl.Map) -> isl.Map:
    """Return places of further elements by the same function, if it has one piece."""
    function = find_function_in(places.reverse().curry().range_reverse().uncurry())
    simple = function.gist(function.domain()).coalesce()
    if not simple.isa_multi_aff():
        return places
    pes = places.range().unwrap().domain()
    further = isl.Map.from_multi_aff(simple.as_multi_aff())
    further = further.curry().intersect_domain(pes).uncurry()
    return further.curry().range_reverse().uncurry().reverse()


def _lay(rows: Rows, name: str, size: Sequence[int], *, later: int) -> isl.Map:
    """Return where elements lie in a box, so many rounds of the ring `later`."""
    names = name_indices(len(rows.counts))
    inner = "".join(f", {k}" for k in _inner(rows.places))
    whole = rows.rows * rows.depth
    at = f"r + {rows.halo - later * whole} - {whole}*(floor(({_number(rows.counts)})/{rows.depth}))"
    bounds = [f"0 <= {n} < {c}" for n, c in zip(names, rows.counts, strict=True)]
    lay = isl.Map(
        f"[{', '.join(names)}] -> {{ place[r{inner}] -> {name}[{at}{inner}] : "
        f"{' and '.join(bounds)} }}"
    ).intersect_range(box(name, size))
    placed = rows.places.reverse().curry().range_reverse().uncurry()
    return placed.apply_range(lay)


def _number(counts: Sequence[int]) -> str:
    """Return the number of a chunk among all of them, of its symbolic constants."""
    terms = (f"{prod(counts[k + 1 :])}*{n}" for k, n in enumerate(name_indices(len(counts))))
    return " + ".join(terms)


def _count_inner(places: isl.Map) -> tuple[int, ...]:
    """Return the sizes of a row."""
    extents = find_extents(places.range().unwrap().range())
    assert extents is not None, "what arrives has an end"
    return tuple(high + 1 for _, high in extents[1:])


def _inner(places: isl.Map) -> list[str]:
    names = letters(places.range().unwrap().dim(isl.dim_type.out) - 1)
    return [f"{name}'" for name in names]

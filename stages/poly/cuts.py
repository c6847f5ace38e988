"""Cut an order into chunks: consecutive elements, as many in each, but for the last one.

A chunk has some values of one index, one value of each outer index, and all inner ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from lairmake.stages.poly.bind import PE_NAMES, bind_range, name_indices
from lairmake.stages.poly.extents import find_extents
from lairmake.stages.poly.least import greatest
from lairmake.stages.poly.naming import letters
from lairmake.stages.poly.number import bound_points

SET = isl.dim_type.set
MOST = 256
"""How many chunks a stream may have: with more, little is gained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBox:
    """The least value of each index of an order, and how many there are, on every PE."""

    least: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A cut of an index box: `of` is { index[i] -> chunk[p] }, `counts` how many p there are.

    `size` is the number of elements in each chunk, `rest` that in the last one. `places` is
    { index[i] -> place[r, k] }, the row of each element, counted through all chunks, and where it
    is in that; a chunk has so many `rows`.
    """

    of: isl.Map
    counts: tuple[int, ...]
    size: int
    rest: int
    places: isl.Map
    rows: int

    @property
    def number(self) -> int:
        """How many chunks there are."""
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

    The boxes have so many outer indices in common as are `shared`; all are cut along one of these,
    into as many chunks. The last chunk is smaller only where the chunks are those of one index.
    With `fine` chunks have as many values of that as a power of two, and may be as many as there
    are: so the same chunks are among those of any long stream.
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
    """Return [index...] -> { : 0 <= index < count }, which chunks there are."""
    names = name_indices(len(counts))
    bounds = " and ".join(f"0 <= {n} < {c}" for n, c in zip(names, counts, strict=True))
    return isl.Set(f"[{', '.join(names)}] -> {{ : {bounds} }}")


def find_last_step(steps: isl.Map, writes: isl.Map) -> isl.Map:
    """Return { t[e] -> [PE -> chunk[p]] }, the last step on a PE in which it adds to an element.

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

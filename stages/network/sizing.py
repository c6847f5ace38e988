"""Estimates of parts of a network, and rectangles that keep a limit of cycles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.lair.grammar import parse_lair
from lairmake.stages.lair.layer import Layer
from lairmake.stages.lair.specialise import specialise
from lairmake.stages.lair.statements import polyhedral_description
from lairmake.stages.layer.search.beam import Search
from lairmake.stages.layer.search.closed_form import BORDERS, SearchState, are_free
from lairmake.stages.layer.search.coordinates import find_extent
from lairmake.stages.layer.search.problem import Question, ask
from lairmake.stages.layer.search.proposal import propose_state
from lairmake.stages.machine.profile import Profile
from lairmake.stages.mapping.layer_yaml import LayerMapping, read_mapping
from lairmake.stages.poly.text import Objects, write_objects
from lairmake.stages.skewing.elements import Lair, read_lair

# --- Estimates of a part --------------------------------------------------------------------------
#
# They are in closed form, before any stage has seen the part.
#
# Source   design, Placement by search; stages/layer/search has the figures

MOST_LOOKED_AT = 3
"""Largest number of best placements that are checked for a valid one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedPart:
    """A part as a layer: its LAIR, and the content of its lair.isl."""

    layer: Layer
    lair: Lair


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The figures of the best placement of a narrow search.

    `cycles` are predicted, `lacking` are bytes on the fullest PE; `columns` is the least width of a
    rectangle for the placement.
    """

    cycles: int
    lacking: int
    columns: int


def read_part(text: str) -> SizedPart:
    """Return the part of a LAIR text."""
    file = parse_lair(Source(path="part.lair", text=text))
    mapping = read_given('target: "{ PE[1, 1] }"\n')
    layer = specialise(file, None, {}, {}, mapping.span)
    objects = Objects(write_objects("", polyhedral_description(layer)))
    return SizedPart(layer=layer, lair=read_lair(objects))


def read_given(text: str) -> LayerMapping:
    """Return the mapping of a layer.yaml that is not written yet. Raises UserErrors."""
    return read_mapping(Source(path="layer.yaml", text=text))


def expect(part: SizedPart, mapping: LayerMapping, profile: Profile) -> Expected | None:
    """Return the figures of a part; None without a placement, or without a search.

    The search keeps only one partial placement, not as many as the search of `choose`.
    """
    if not mapping.is_open:
        return None
    try:
        question = ask(mapping, part.layer, part.lair, profile)
        states = Search(question, width=1, more=1).run()
        return next(_expected(states[:MOST_LOOKED_AT], question), None)
    except (UserError, UserErrors):  # `choose` says what is wrong
        return None


def _expected(states: list[SearchState], question: Question) -> Iterator[Expected]:
    for state in states:
        if not _has_queues(state, question):
            continue
        if propose_state(state, question).refused is None:
            yield Expected(
                cycles=state.cycles, lacking=max(0, state.memory - question.profile.memory),
                columns=_count_columns(state, question),
            )


def _has_queues(state: SearchState, question: Question) -> bool:
    """Return whether PEs have enough queues, where the machine limits them."""
    profile = question.profile
    queues = len(profile.input_queues), len(profile.output_queues)
    counts = count_streams(state, question)
    return all(not most or count <= most for count, most in zip(counts, queues, strict=True))


def count_streams(state: SearchState, question: Question) -> tuple[int, int]:
    """Return estimates of the streams that a PE takes, and of the streams that an adapter sends.

    A tensor that adapters spread has a stream for each port, other tensors have one. Results that
    PEs pass on to each other are one stream each, and so are tensors that come back from other PEs.
    """
    taken: dict[str, int] = {}
    spread: set[str] = set()
    for (name, tensor), access in question.reads.items():
        if tensor in question.traffic:
            axes, lanes = state.places[name].axes, question.traffic[tensor].lanes
            for option, at in zip(axes, lanes, strict=True):
                used = access.reverse().apply_range(option.at.relation)
                count = find_extent(used.reverse().apply_range(at))
                spread |= {tensor} & option.along.spread
                taken[tensor] = max(
                    count if tensor in option.along.spread else 1, taken.get(tensor, 1)
                )
    passed = {
        tensor for place in state.places.values() for option in place.axes
        for tensor, count in option.along.senders.items()
        if count > 1 or tensor in option.along.sums
    }
    fed = len(passed) + len(state.moved.keys() - question.traffic.keys())
    return sum(taken.values()) + fed, sum(taken[tensor] for tensor in spread)


def _count_columns(state: SearchState, question: Question) -> int:
    """Return the columns that a placement needs, with the borders for its adapters."""
    assert state.used is not None, "a state has statements"
    rows, columns = question.target.bottom + 1, question.target.right + 1
    around = state.around or state.collects
    for count in range(state.used[0][1] + 1, columns):
        extents = count, rows
        borders = any(are_free([side], state.used, extents) for side in BORDERS)
        if are_free(state.free, state.used, extents) and (borders or not around):
            return count
    return columns

# --- Smallest rectangle within a limit ------------------------------------------------------------
#
# Source   design, Placement by search

Size = tuple[int, int]
"""The columns and rows of a rectangle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """A rectangle, and the expected figures of a part on it; None without a placement.

    `weighed` has the figures of all sizes that were tried for it, in order.
    """

    size: Size
    found: Expected | None
    weighed: Mapping[Size, Expected | None] = field(default_factory=dict)


def find_smallest(
    largest: Size, rows: int, limit: int, expect: Callable[[Size], Expected | None]
) -> Sized:
    """Return the rectangle with the fewest PEs that keeps a limit of cycles.

    The heights are those of the largest rectangle, half of it, and so on, down to `rows`, as long
    as the number of PEs goes down; the width is the least for the height. If the largest rectangle
    does not keep the limit, the result is the largest.
    """
    weighed: dict[Size, Expected | None] = {}
    best: Size | None = None
    for height in list_halves(largest[1], rows):
        most = largest[0] if best is None else min(largest[0], (prod(best) - 1) // height)
        narrow = _narrow((most, height), limit, expect, weighed)
        if narrow is None:
            break
        best = narrow
    size = best or largest
    return Sized(size=size, found=weighed[size], weighed=weighed)


def list_halves(most: int, least: int) -> Iterator[int]:
    """Yield a number, half of it, rounded up, and so on; `least` is the last one."""
    while most > least:
        yield most
        most = max(least, -(-most // 2))
    yield most


def describe_size(sized: Sized, limit: int | None) -> dict[str, Any]:
    """Return the entry of fitted.yaml for a rectangle and the others that were weighed."""
    size = {"size": list(sized.size)}
    if limit is None:
        return size
    weighed = {f"{w} x {h}": tell_cycles(found) for (w, h), found in sized.weighed.items()}
    why = f"no other that takes {limit} cycles at most has fewer PEs"
    return {**size, "why": why, "weighed": weighed}


def tell_cycles(found: Expected | None) -> int | str:
    """Return the expected cycles, or what is missing."""
    if found is None:
        return "no placement"
    return f"lacks {found.lacking} bytes" if found.lacking else found.cycles


def _narrow(
    widest: Size, limit: int, expect: Callable[[Size], Expected | None],
    weighed: dict[Size, Expected | None],
) -> Size | None:
    """Return the rectangle with the fewest columns that keep a limit; None if none do.

    All tries are noted in `weighed`. The next try is the width that would keep the limit if cycles
    fell as columns grow; once a width is too small, tries bisect the rest.
    """
    columns, rows = widest
    few, enough, middle = 0, 0, columns
    while few < middle and enough != few + 1:
        found = weighed[middle, rows] = expect((middle, rows))
        if found is None or found.lacking or found.cycles > limit:
            few = middle
            middle = (few + enough) // 2
        else:
            enough = middle
            middle = min(enough - 1, max(few + 1, -(-found.columns * found.cycles // limit)))
    return (enough, rows) if enough else None

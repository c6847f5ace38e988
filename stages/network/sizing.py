"""Rectangles that keep a limit."""

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

# --- What a part of a network would take, in closed form, before any stage has seen it ----------
#
# Source   design, Placement by search; stages/layer/search has the figures

MOST_LOOKED_AT = 3
"""How many of the best placements are looked at for one that may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedPart:
    """A part as a layer: its LAIR, and what lair.isl will say of it."""

    layer: Layer
    lair: Lair


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the best placement takes that a narrow search finds.

    `cycles` are predicted, and `lacking` bytes on the fullest PE; `columns` is how wide a rectangle
    has to be for it.
    """

    cycles: int
    lacking: int
    columns: int


def read_part(text: str) -> SizedPart:
    """Return a part of its LAIR."""
    file = parse_lair(Source(path="part.lair", text=text))
    mapping = read_given('target: "{ PE[1, 1] }"\n')
    layer = specialise(file, None, {}, {}, mapping.span)
    objects = Objects(write_objects("", polyhedral_description(layer)))
    return SizedPart(layer=layer, lair=read_lair(objects))


def read_given(text: str) -> LayerMapping:
    """Return what a layer.yaml says that is not written yet. Raises UserErrors."""
    return read_mapping(Source(path="layer.yaml", text=text))


def expect(part: SizedPart, mapping: LayerMapping, profile: Profile) -> Expected | None:
    """Return what a part takes; None if no placement is found, or no search is asked for.

    The search keeps one way to place the statements so far, not as many as that of `choose`.
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
    """Return whether PEs have queues enough, where the machine says how many."""
    profile = question.profile
    queues = len(profile.input_queues), len(profile.output_queues)
    counts = count_streams(state, question)
    return all(not most or count <= most for count, most in zip(counts, queues, strict=True))


def count_streams(state: SearchState, question: Question) -> tuple[int, int]:
    """Return from how many streams a PE takes elements, and on how many an adapter sends, roughly.

    Each port is one of a tensor that adapters spread, and others have one. Results that PEs pass on
    to each other are one more each, and so is what comes back from other PEs.
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
    """Return how many columns a placement needs, with the borders for its adapters."""
    assert state.used is not None, "a state has statements"
    rows, columns = question.target.bottom + 1, question.target.right + 1
    around = state.around or state.collects
    for count in range(state.used[0][1] + 1, columns):
        extents = count, rows
        borders = any(are_free([side], state.used, extents) for side in BORDERS)
        if are_free(state.free, state.used, extents) and (borders or not around):
            return count
    return columns

# --- How small the rectangle of a part may be on which it is expected to keep to a limit of cycles
#
# Source   design, Placement by search

Size = tuple[int, int]
"""The columns and rows of a rectangle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """A rectangle, and what a part is expected to take on it; None if no placement is found.

    `weighed` has this of all sizes that were looked at for it, in their order.
    """

    size: Size
    found: Expected | None
    weighed: Mapping[Size, Expected | None] = field(default_factory=dict)


def find_smallest(
    largest: Size, rows: int, limit: int, expect: Callable[[Size], Expected | None]
) -> Sized:
    """Return the rectangle with the fewest PEs of those that keep to a limit of cycles.

    It has as many rows as the largest, half of them, and so on, as long as fewer PEs are enough,
    but no fewer than `rows`; and the fewest columns then. Where the largest does
    not keep to the limit it is that.
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
    """Yield a number, half of it, rounded up, and so on; at last `least`, if that is less."""
    while most > least:
        yield most
        most = max(least, -(-most // 2))
    yield most


def describe_size(sized: Sized, limit: int | None) -> dict[str, Any]:
    """Return what fitted.yaml says of a rectangle, and of those that it is the smallest of."""
    size = {"size": list(sized.size)}
    if limit is None:
        return size
    weighed = {f"{w} x {h}": tell_cycles(found) for (w, h), found in sized.weighed.items()}
    why = f"no other that takes {limit} cycles at most has fewer PEs"
    return {**size, "why": why, "weighed": weighed}


def tell_cycles(found: Expected | None) -> int | str:
    """Return the cycles that are expected, or what there is not."""
    if found is None:
        return "no placement"
    return f"lacks {found.lacking} bytes" if found.lacking else found.cycles


def _narrow(
    widest: Size, limit: int, expect: Callable[[Size], Expected | None],
    weighed: dict[Size, Expected | None],
) -> Size | None:
    """Return the rectangle with the fewest columns that keep to a limit; None if all do not.

    Noted in `weighed`. The columns that are looked at are those that keep to it if cycles go down
    as columns go up, and once these are too few, those in the middle of what is left.
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

"""Cycles of a halo exchange, in closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lairmake.stages.movement.halo import AXES

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

# --- Cycles of a halo -----------------------------------------------------------------------------
#
# A PE starts all streams of a round, one after the other. Where streams and tasks share a datapath
# each element or command that it sends, and each element that it takes, is a cycle of it besides,
# and the last one comes when neighbours have sent all of theirs. Else streams along one axis come
# one after the other, once neighbours have started half of theirs, and those of the axes at once;
# but all that neighbours send passes one ramp, once they have started the first one. A task follows
# what a PE sends along an axis, and what it takes: the first one when half is done, the others one
# after the other.
#
# Source   codegen/exchange.py, which writes that; docs/machines.md

@dataclass(frozen=True, slots=True, kw_only=True)
class SideLoad:
    """How many elements a PE sends to a side, and how many that move to this side it takes."""

    sent: int
    taken: int


def find_round_cycles(
    profile: Profile, sides: Mapping[str, SideLoad], *, in_turn: bool = False, meanwhile: int = 0
) -> int:
    """Return the cycles of a round on a PE, given what moves to each side.

    Streams that are `in_turn` are configured anew. `meanwhile` are cycles of what the PE does until
    all has come.
    """
    lanes = [[sides[side] for side in pair if side in sides] for pair in AXES.values()]
    started = sum(_start(profile, lane) for lane in lanes if lane)
    streams = sum(map(_count, sides.values()))
    started += streams * profile.configuration * int(in_turn)
    sent = sum(each.sent + bool(each.sent) for each in sides.values())
    moved = (sent + sum(each.taken for each in sides.values())) * int(profile.shared_datapath)
    taken = sum(each.taken + bool(each.taken) for each in sides.values())
    longest = max(started // 2 + max(_find_lane(profile, lane) for lane in lanes),
                  started // max(1, streams) + max(sent, taken))
    travel = 2 * profile.ramp + profile.hop + profile.vector_latency
    busy = started + meanwhile + profile.vector_start_up + moved
    first = started + moved // 2 + profile.dispatch
    waits = started + sent + travel if moved else longest + travel + profile.dispatch
    tasks = sum(bool(any(each.sent for each in lane)) + any(each.taken for each in lane)
                for lane in lanes)
    return max(busy, first, waits) + tasks * profile.find_dispatch_next()


def find_around_cycles(
    profile: Profile, elements: int, steps: int, *, straight: bool, ordered: bool
) -> int:
    """Return the cycles in which as many elements go around, over adapters if not `straight`.

    Streams carry them one after the other, at most so many steps to a border, along it and back.
    Loops order them on adapters; and where they leave and arrive, on computing PEs, if they are not
    `ordered` there.
    """
    loops = 0 if ordered else 2
    loops += 0 if straight else 2
    each = profile.loop + 2 * profile.scalar + profile.address
    legs = 2 if straight else 3
    travel = legs * (steps * profile.hop + 2 * profile.ramp + profile.dispatch)
    return travel + elements * (legs + loops * each)


def _find_lane(profile: Profile, lane: Sequence[SideLoad]) -> int:
    """Return the cycles in which streams along an axis move, one after the other.

    Between two of them is a command.
    """
    every = [each.sent for each in lane], [each.taken for each in lane]
    streams = ([count for count in counts if count] for counts in every)
    return max(sum(some) + len(some) * (profile.vector_start_up + 1) for some in streams)


def _start(profile: Profile, lane: Sequence[SideLoad]) -> int:
    """Return the cycles in which a PE starts its streams along an axis, given those of each side.

    It finds its colours, and tests once whether it has neighbours on both sides; else it tests that
    again for its streams.
    """
    branch, streams = profile.find_kind_cost("branch"), sum(map(_count, lane))
    found = streams * profile.address + 2 * profile.scalar + branch
    if len(lane) == 1:
        return found + profile.scalar
    found += profile.find_kind_cost("load")
    if streams < 2 * len(lane):
        found += (2 * len(lane) - 1) * (profile.scalar + branch)
    return found


def _count(each: SideLoad) -> int:
    """Return how many streams of a side a PE has."""
    return bool(each.sent) + bool(each.taken)

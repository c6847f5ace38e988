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
# each element that it sends, and each that it takes, is a cycle of it besides. Else elements that
# move along one axis come one after the other, once neighbours have started half of their streams;
# those of the axes at once. The task that goes on comes when all is done, or after the one that
# started the streams.
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
    started = meanwhile + sum(_start(profile, each) for each in sides.values())
    started += sum(map(_count, sides.values())) * profile.configuration * int(in_turn)
    moved = sum(each.sent + each.taken for each in sides.values())
    lanes = [[sides[side] for side in pair if side in sides] for pair in AXES.values()]
    longest = max(_find_lane(profile, lane) for lane in lanes)
    travel = 2 * profile.ramp + profile.hop + profile.vector_latency
    busy = started + moved * int(profile.shared_datapath)
    waits = (started - meanwhile) // 2 + longest + travel
    return waits + profile.dispatch if waits > busy else busy + profile.find_dispatch_next()


def find_around_cycles(profile: Profile, elements: int, *, straight: bool) -> int:
    """Return the cycles in which as many elements go around, over adapters if not `straight`.

    Streams carry them one after the other, to a border, along it and back; loops order them where
    they leave and arrive, on computing PEs, and on adapters.
    """
    ordered = profile.loop + 2 * profile.scalar + profile.address
    return elements * (2 + 2 * ordered if straight else 3 + 4 * ordered)


def _find_lane(profile: Profile, lane: Sequence[SideLoad]) -> int:
    """Return the cycles in which streams along an axis move, one after the other.

    Between two of them is a command.
    """
    every = [each.sent for each in lane], [each.taken for each in lane]
    streams = ([count for count in counts if count] for counts in every)
    return max(sum(some) + len(some) * (profile.vector_start_up + 1) for some in streams)


def _start(profile: Profile, each: SideLoad) -> int:
    """Return the cycles in which a PE tests whether it has streams of a side, and starts them.

    Behind what it sends it sends a command.
    """
    tests = 2 * (profile.scalar + profile.find_kind_cost("branch"))
    streams = _count(each) * (profile.address + profile.scalar)
    return tests + streams + bool(each.sent) * profile.scalar


def _count(each: SideLoad) -> int:
    """Return how many streams of a side a PE has."""
    return bool(each.sent) + bool(each.taken)

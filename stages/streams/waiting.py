"""Streams that wait on a PE for other PEs, which must not fill its queue of instructions.

While that is full no task starts, and where results return other PEs may wait for just that task.

Source   design, The machine: an instruction with a fabric operand is queued; profiles,
         instruction_queue
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.diagnose import UserError
from stages.lair.layer import Layer
from stages.poly.side import SIDES

if typing.TYPE_CHECKING:
    from stages.streams.routing import Streams

Description = dict[str, typing.Any]


def check_waiting(streams: Streams) -> None:
    """Raise UserError if on some PE so many streams may wait that no task of it starts."""
    if not streams.returned:
        return
    found = {"a computing PE": computing(streams)}
    for side, described in SIDES.items():
        found[f"an adapter of the {described.word}"] = (adapting(streams, side), True)
    queue = streams.profile.instruction_queue
    for place, (most, go_on) in found.items():
        if most + go_on > queue:
            raise UserError(
                f"on {place} {most} streams may wait for other PEs, and {streams.profile.name} "
                f"starts no task while {queue} do: {', '.join(streams.returned.values())} return",
                streams.mapping.span("placement"),
                "place statements on the PEs that compute what they read, or build the graph in "
                "parts",
            )


def computing(streams: Streams) -> tuple[int, bool]:
    """Return how many streams at most wait at once on a computing PE, and if others come after.

    Of departures that come one after the other, one: itself, and what of it comes back.
    """
    order = [s.target.tensor for s in streams.layer.statements]
    departures = sorted(
        ((n, d) for n, d in streams.departures.items() if "returns" in d or _passes(n, streams)),
        key=lambda departure: order.index(str(departure[1]["tensor"])),
    )
    chains: list[list[Description]] = []
    for name, departure in departures:
        chain = next((c for c in chains if _ends_before(c[-1], name, departure, streams)), None)
        if chain is None:
            chains.append([departure])
        else:
            chain.append(departure)
    most = sum(max(("returns" in d) + _instructions(d) for d in chain) for chain in chains)
    return most, any(len(chain) > 1 for chain in chains)


def adapting(streams: Streams, side: str) -> int:
    """Return how many streams at most wait at once on an adapter of a side."""
    spread = [a for a in streams.arrivals.values() if a["spread"] and "returns" in a]
    both = [*spread, *streams.collections.values()]
    return sum(stream["side"] == side for stream in both)


def _ends_before(
    first: Description, name: str, second: Description, streams: Streams
) -> bool:
    """Say whether one departure is back, on every PE concerned, before a second one is sent.

    It is if what the second one sends is made of it, and all PEs that the latter passes, and those
    that take it when it comes back, take the first one.
    """
    if "returns" not in first:
        return False
    concerned = typing.cast(isl.Set, streams.objects[f"{name}_chain"])
    if "returns" in second:
        concerned = concerned.union(_takers(second, streams))
    made = second["tensor"] in _made_of(str(first["returns"]), streams.layer)
    return made and bool(concerned.is_subset(_takers(first, streams)))


def _passes(departure: str, streams: Streams) -> bool:
    """Say whether a PE sends what comes from other PEs, too."""
    chain, first = (
        typing.cast(isl.Set, streams.objects[f"{departure}_{p}"]) for p in ("chain", "first")
    )
    return not chain.is_subset(first)


def _takers(departure: Description, streams: Streams) -> isl.Set:
    taken = streams.objects[f"{departure['returns']}_taken"]
    return typing.cast(isl.Map, taken).range()


def _made_of(tensor: str, layer: Layer) -> set[str]:
    """Return the tensors that statements make of a tensor, at first or second hand, on one PE.

    A statement comes after those that define what it reads.
    """
    made = {tensor}
    for statement in layer.statements:
        if any(access.tensor in made for access in statement.reads):
            made.add(statement.target.tensor)
    return made


def _instructions(departure: Description) -> int:
    """Return how many instructions send a departure at once: those of a gather pass others on."""
    if departure["by"] != "gather":
        return 1
    parts = (isl.PwAff(str(departure[part])) for part in ("before", "after"))
    return 1 + sum(bool(part.max_val().is_pos()) for part in parts)

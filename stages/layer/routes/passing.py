"""Whether PEs pass a stream on, or each gets a replica of its own: by what that pays.

    passed on:  steps to the last PE + the time of one for all that comes
    replicas:   for each PE, that of what comes, or longer of what it takes

Where routers do not copy. A step is what the skewed schedule lags by: two ramps and a hop, and of
what is sparse the start of a task, as each element that comes takes. What passing on saves is
what the port would send again, which waits for the PE that takes it. So it is along a border, too,
from which adapters send inwards.

Paper    M Sec. I, III.F
Source   docs/multicast.md, where this is measured
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lairmake.stages.machine.profile import Profile
from lairmake.stages.poly.sides import SIDES

NAMES = {
    (True, True): "forwarded", (False, False): "replicas",
    (True, False): "replicas_then_forwarded", (False, True): "forwarded_then_replicas",
}
"""How a stream comes inwards, and along the border: is it passed on?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineDemand:
    """The most of one line: `pes` that want something of `elements` that come, and `taken` of one.
    """

    pes: int
    elements: int
    taken: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a stream comes: is it passed on `inwards`, and `along` the border, if it is spread?

    `cycles` has, by NAMES, how long each way was expected to take; nothing if there is one way.
    """

    inwards: bool
    along: bool
    cycles: Mapping[str, int]


def given_way(side: str, sparse: bool, skew: bool | str) -> Way:
    """Return the way that layer.yaml wants for what enters on a side.

    Adapters do not pass on what is sparse, if PEs get replicas: they need one for each themselves.
    """
    inwards, along = (skew in (True, "y" if s in "NS" else "x") for s in (side, SIDES[side].left))
    return Way(inwards=inwards, along=along and (inwards or not sparse), cycles={})


def choose_way(
    inwards: LineDemand, along: LineDemand | None, sparse: bool, profile: Profile
) -> Way:
    """Return the way of the fewest cycles, of those the one that passes on more.

    `along` is None for a stream that is not spread.
    """
    ways = [(True, True), (True, False), (False, False), (False, True)]
    if along is None:
        ways = [(True, True), (False, False)]
    elif sparse:
        ways.pop()
    cycles = {way: _cycles(way, inwards, along, sparse, profile) for way in ways}
    chosen = min(ways, key=lambda way: cycles[way])
    return Way(
        inwards=chosen[0],
        along=chosen[1],
        cycles={NAMES[way]: number for way, number in cycles.items()},
    )


def _cycles(
    way: tuple[bool, bool],
    inwards: LineDemand,
    along: LineDemand | None,
    sparse: bool,
    profile: Profile,
) -> int:
    """Return the cycles until the last PE has what it takes.

    Of a sparse stream that comes inwards in replicas, adapters get as many as they send; a dense
    one they keep, and start an instruction for each.
    """
    wait, busy = _of_line(inwards, way[0], sparse, profile)
    if along is None:
        return wait + busy
    first, least = _of_line(along, way[1], sparse, profile)
    if not way[0]:
        again = along.pes * (least + 1) if sparse else _start(profile)
        first += (inwards.pes - 1) * again
    return wait + first + max(busy, least)


def _of_line(line: LineDemand, passed: bool, sparse: bool, profile: Profile) -> tuple[int, int]:
    """Return the cycles until the last PE gets something, and those that it takes then.

    A control wavelet ends each replica.
    """
    each = profile.dispatch + 2 * profile.scalar if sparse else 1
    if not passed:
        own = max(line.elements, line.taken * each)
        return (line.pes - 1) * (own + 1), own
    task = profile.dispatch + profile.scalar if sparse else 0
    send = profile.scalar if sparse else 0
    return (line.pes - 1) * (2 * profile.ramp + profile.hop + task), line.elements * (each + send)


def _start(profile: Profile) -> int:
    return profile.dispatch + profile.vector_start_up + 3 * profile.scalar

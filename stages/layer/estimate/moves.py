"""What streams and tasks take, in cycles: closed forms of the figures of a profile.

They are what predictions are made of, before and after there is code. A task starts after a
dispatch, and nothing else runs on its PE; where streams and tasks share a datapath, each element
that a stream moves there puts the running task off by a cycle, but not while it is dispatched.

Source   stages/fabric/pe.c and stream.c, which charge these
"""

from __future__ import annotations

import typing
from collections.abc import Collection
from math import sqrt
from statistics import NormalDist

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

ON_ARRIVAL = 1
"""Scalar operations of a task that takes a whole stream, or runs a statement."""

SEQUENCE = 2
"""Those that count a sequence of a sparse stream, for each outer index: `streams.add_odometer`
charges all of them at once."""

STORED = 4
"""Scalar operations and addresses that keep a sparse element: `taking._write_reaction`."""

ROW = 4
"""Scalar operations between a row that PEs send in turn and the next: `gathering.Gather.write`."""

RELAYED = 3
"""Scalar operations that send on an element with another index: `spreading._write_relay`."""

PACKED = 5, 2, 2
"""Scalar operations and addresses of an element that is perhaps a zero, and more if it is none."""


def find_travel(profile: Profile, hops: int) -> int:
    """Return the cycles from one PE to another: both ramps, and the hops between."""
    return 2 * profile.ramp + hops * profile.hop


def find_relay(profile: Profile, places: int) -> int:
    """Return the cycles in which an element passes so many PEs that each send on what they take."""
    return places * find_travel(profile, 1)


def count_most(elements: float, density: float, groups: int) -> float:
    """Return how many of the elements are not zero in the fullest of some groups, expected.

    Each is not zero with a probability; the largest of normal variables is that of Blom, 1958.
    """
    mean = elements * density
    if groups <= 1 or not 0 < density < 1:
        return mean
    above = NormalDist().inv_cdf((groups - 0.375) / (groups + 0.25))
    return min(elements, mean + above * sqrt(mean * (1 - density)))


def find_react(profile: Profile, elements: float, work: float, *, waits: bool) -> float:
    """Return the cycles of tasks that react to elements, of which all take `work` together."""
    return elements * _find_begun(profile, waits=waits) + work


def find_sequences(profile: Profile, sequences: float, outer: int, *, waits: bool) -> float:
    """Return the cycles of the tasks that end so many sequences with so many outer indices."""
    return sequences * (_find_begun(profile, waits=waits) + outer * SEQUENCE * profile.scalar)


def _find_begun(profile: Profile, *, waits: bool) -> int:
    """Return the cycles until a task has begun that takes a wavelet, an element or an end.

    What `waits` in memory comes there by a stream, and is taken out with a scalar operation.
    """
    return profile.dispatch + (profile.scalar + min(1, profile.fifo) if waits else 0)


def find_taken(profile: Profile, own: float, together: Collection[float]) -> float:
    """Return in how many cycles a PE takes a stream of `own` elements, of all that it takes.

    They take turns where there is one datapath.
    """
    return sum(min(own, each) for each in together) if profile.shared_datapath else own


def find_steps_end(
    profile: Profile,
    *,
    arriving: float,
    first: float,
    steps: int,
    tasks: int,
    work: float,
    sent: float,
) -> float:
    """Return the cycles from the first element on to the end of the last step.

    So many elements are `arriving`, of which the `first` step needs some; a step takes so many
    `tasks`, all of them some cycles of `work`, and meanwhile elements are `sent`. Either the PE is
    busy all the time, or it waits for the last elements. Streams move while tasks are dispatched:
    in the first step all the time, later on once the next receive has started.
    """
    started = steps * tasks * profile.dispatch
    busy = first + started + work
    if profile.shared_datapath:
        between = (steps - 1) * tasks * max(0, profile.dispatch - profile.vector_start_up)
        busy += max(0, arriving - first + sent - profile.dispatch - between)
    return max(busy, arriving + (started + work) / steps)


def find_packed(profile: Profile, elements: float, density: float) -> float:
    """Return the cycles in which a PE sends what is not zero of a sequence, and its end."""
    scalars, addresses, more = PACKED
    each = profile.loop + scalars * profile.scalar + addresses * profile.address
    some = elements * density
    begun = profile.dispatch + profile.configuration + profile.vector_start_up
    return begun + elements * each + some * (more * profile.scalar + 1) + scalars * profile.scalar

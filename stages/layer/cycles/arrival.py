"""Earliest cycles in which wavelets reach PEs and ports, whatever the programs are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl
import numpy as np

from lairmake.stages.fabric.elements import Bools, Ints, number_elements, open_mesh
from lairmake.stages.fabric.ports import Points, PortTimes
from lairmake.stages.layer.cycles.needs import NeededDeparture, PeNeeds
from lairmake.stages.machine.profile import Profile
from lairmake.stages.poly.arrays import evaluate_set
from lairmake.stages.poly.functions import bind_set

MOST_POINTS = 1 << 22
"""The most pairs of a place and an element that are looked at; of more places some stand for all.
"""

NEVER = -(1 << 40)
"""The cycle of what does not happen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalPlaces:
    """PEs, or external PEs: arrays [place]."""

    x: Ints
    y: Ints


def way(profile: Profile, a: ArrivalPlaces, b: ArrivalPlaces) -> Ints:
    """Return the cycles from the router of `a` to that of `b`: an array [a, b]."""
    across = np.abs(a.x[:, None] - b.x[None, :]) + np.abs(a.y[:, None] - b.y[None, :])
    hops: Ints = across * profile.hop
    return hops


def related(relation: isl.Map | None, a: ArrivalPlaces, b: ArrivalPlaces) -> Bools:
    """Return where { PE[x, y] -> PE[u, v] } holds: an array [a, b]; nowhere if it is None."""
    if relation is None:
        return np.zeros((len(a.x), len(b.x)), dtype=np.bool_)
    return _holds(relation, a, b, [])


def taken(
    needs: PeNeeds, times: Mapping[str, PortTimes], pes: ArrivalPlaces, profile: Profile
) -> Ints:
    """Return when PEs can take what they need, in any order: an array [PE, wavelet] with NEVER.

    Of a sparse tensor they need the elements that move, and the ends of their sequences.
    """
    found = [np.full((len(pes.x), 1), NEVER)]
    for name, relation in needs.taken.items():
        time = times[name]
        ports = ArrivalPlaces(x=time.x, y=time.y)
        here = _holds(relation, pes, ports, time.axes)
        ways = way(profile, pes, ports) + profile.ramp
        streams = [(here & time.sent, time.cycle)]
        if time.ends is not None:
            streams.append((np.any(here, axis=-1), time.ends))
        for needed, cycle in streams:
            cycles = np.where(needed, cycle + _beside(ways, needed), NEVER)
            found.append(cycles.reshape(len(pes.x), -1))
    return np.concatenate(found, axis=1)


def entering(
    needs: PeNeeds, times: Mapping[str, PortTimes]
) -> Iterator[tuple[ArrivalPlaces, Ints]]:
    """Yield the ports of each stream, and how many wavelets of it pass up to the last needed."""
    anywhere = ArrivalPlaces(x=np.zeros(1, dtype=np.int64), y=np.zeros(1, dtype=np.int64))
    for name, relation in needs.taken.items():
        time = times[name]
        ports = ArrivalPlaces(x=time.x, y=time.y)
        taken_at = isl.Map.from_domain_and_range(isl.Set("{ PE[0, 0] }"), relation.range())
        needed = _holds(taken_at, anywhere, ports, time.axes)[0] & time.sent
        passed = np.where(needed, time.cycle + 1, 0).reshape(len(time.x), -1).max(axis=1, initial=0)
        yield ports, passed


def sends(
    relation: isl.Map | None, ports: ArrivalPlaces, axes: Sequence[Ints], pes: ArrivalPlaces
) -> Bools:
    """Return which elements, of { PE -> [PE' -> index] }, PEs send: [PE, element]."""
    if relation is None:
        return np.zeros((len(pes.x), 0), dtype=np.bool_)
    return _holds(relation, pes, ports, axes).reshape(len(pes.x), -1)


def left(
    departure: NeededDeparture,
    points: Points,
    ports: ArrivalPlaces,
    times: Mapping[str, PortTimes],
    profile: Profile,
) -> Ints:
    """Return when elements can be at their ports: an array [port, index...] with NEVER.

    Each takes an operation, one cycle, and its way from the port of the last element it needs.
    """
    found = np.where(points.inside, 1, NEVER)
    for name, latest in departure.latest.items():
        time = times[name]
        mesh = open_mesh([ports.x, *points.axes, time.x])
        across, down = ports.y.reshape(mesh[0].shape), time.y.reshape(mesh[-1].shape)
        number, needed = number_elements(
            _from_zero(latest, [int(axis[0]) for axis in time.axes]),
            [mesh[0], across, *mesh[1:-1], mesh[-1], down],
            [len(axis) for axis in time.axes],
        )
        cycle = time.cycle.reshape(len(time.x), -1)[np.arange(len(time.x)), number]
        hops = way(profile, ports, ArrivalPlaces(x=time.x, y=time.y))
        cycle = cycle + hops.reshape(len(ports.x), *(1,) * len(points.axes), -1)
        last = np.where(needed, cycle + 2 * profile.ramp + 1, NEVER).max(axis=-1, initial=NEVER)
        found = np.where(points.inside, np.maximum(found, last), NEVER)
    return found


def one_by_one(cycles: Ints, profile: Profile) -> Ints:
    """Return when the last of the wavelets [place, wavelet] has passed each place, over a link.

    In a cycle one passes, or as many as a link carries, and none before its own cycle: so to the
    cycle of each wavelet come as many as are not earlier.
    """
    latest_first = -np.sort(-cycles, axis=1)
    after = np.arange(cycles.shape[1]) // find_at_once(profile)
    passed: Ints = (latest_first + after).max(axis=1, initial=NEVER)
    return passed


def find_at_once(profile: Profile) -> int:
    """Return how many wavelets of 32 bits cross a link in a cycle, at most."""
    return max(1, profile.link_width // 32)


def _holds(relation: isl.Map, a: ArrivalPlaces, b: ArrivalPlaces, axes: Sequence[Ints]) -> Bools:
    """Return where { PE[x, y] -> [PE[u, v] -> index] } holds: an array [a, b, index...]."""
    mesh = open_mesh([a.x, b.x, *axes])
    values = [mesh[0], a.y.reshape(mesh[0].shape), mesh[1], b.y.reshape(mesh[1].shape), *mesh[2:]]
    names = [f"d{k}" for k in range(len(values))]
    holds = evaluate_set(
        bind_set(relation.wrap().flatten(), names), dict(zip(names, values, strict=True))
    )
    return np.broadcast_to(holds, [len(axis) for axis in (a.x, b.x, *axes)])


def _beside(pairs: Ints, other: Bools) -> Ints:
    """Return an array [a, b] so that it broadcasts against one [a, b, index...]."""
    return pairs.reshape(*pairs.shape, *(1,) * (other.ndim - 2))


def _from_zero(relation: isl.Map, lowest: Sequence[int]) -> isl.Map:
    """Return a relation whose range is counted from the lowest values."""
    names = [f"i{k}" for k in range(len(lowest))]
    moved = ", ".join(f"{name} - {low}" for name, low in zip(names, lowest, strict=True))
    to = relation.get_tuple_name(isl.dim_type.out) or ""
    return relation.apply_range(isl.Map(f"{{ {to}[{', '.join(names)}] -> {to}[{moved}] }}"))

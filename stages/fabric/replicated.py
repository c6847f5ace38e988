"""What external PEs send where each PE gets a stream of its own: so many replicas, and their ends.

A control wavelet after a replica advances the switch of the router that handed it over; those
before it have no further position. After the last one on a way it resets all that it passes. The
router of a port that feeds adapters pops its command, the first of two
(stages/movement/gather.py). All that follows the same adapter ends with its last replica.
"""

from __future__ import annotations

from typing import Any

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from lairmake.stages.fabric.elements import Bools, Ints
from lairmake.stages.fabric.grid import Grid, coordinates, members
from lairmake.stages.fabric.layout_yaml import Entry
from lairmake.stages.fabric.switches import ADVANCE, NOP, RESET, encode_quiet
from lairmake.stages.poly.functions import PE_NAMES, bind_domain, evaluate_pw_aff, find_function

TURN, TURN_BACK = encode_quiet(ADVANCE), encode_quiet(RESET)
"""What follows the replica of a PE, and the last one."""

TURN_BEYOND, TURN_PORT = encode_quiet(NOP, ADVANCE), encode_quiet(ADVANCE, RESET)
TURN_ALL_BACK = encode_quiet(RESET, RESET)
"""What follows that of an adapter beyond the port, the last one on a way, and the last one."""

ABSENT, NOTHING = -1, 0
"""What follows a replica that is not sent, and one that no control wavelet follows."""

Array = NDArray[Any]


def find_replicas(arrival: Entry, nodes: Ints, grid: Grid) -> Ints | None:
    """Return what follows each replica from the ports beside `nodes`: an array [port][replica].

    These are the bits of a control wavelet. None if one stream is for all.
    """
    across = arrival.side in ("N", "S")
    lanes = nodes % grid.width if across else nodes // grid.width
    if arrival.along is not None:
        return _to_adapters(arrival, arrival.along, lanes, grid, across)
    if arrival.replicas is None:
        return None
    counts = _on_lanes(arrival.replicas, grid, across)[lanes]
    port = np.repeat(np.arange(len(nodes)), counts)
    last = np.cumsum(counts)[counts > 0] - 1
    ends = np.full(len(port), TURN)
    ends[last] = TURN_BACK
    return _by_port(port, ends, len(nodes))


def replicate(
    sent: NDArray[np.uint32], control: Bools, keep: Bools, ends: Ints
) -> tuple[NDArray[np.uint32], Bools, Bools]:
    """Return payloads, control marks and what is sent, so many times in each invocation.

    All are [port][invocation][replica, index...].
    """
    shape = (*sent.shape[:2], ends.shape[1])
    follows = np.broadcast_to(ends[:, None, :, None], (*shape, 1))

    def whole(each: Array, last: Array) -> Array:
        flat = np.broadcast_to(each.reshape(*shape[:2], 1, -1), (*shape, each[0, 0].size))
        return np.concatenate([flat, last], axis=-1)

    payloads = np.maximum(follows, NOTHING).astype(np.uint32)
    here, controls = follows != ABSENT, follows > NOTHING
    return whole(sent, payloads), whole(control, controls), whole(keep, controls) & here


def _to_adapters(arrival: Entry, along: str, lanes: Ints, grid: Grid, across: bool) -> Ints:
    """Return what follows the replicas for adapters: first that at the port, right ones, left ones.
    """
    lane, port = _adapters(along, lanes, grid, across)
    away = lane - lanes[port]
    group = np.select([away == 0, away > 0], [0, 1], 2)
    order = np.lexsort((np.abs(away), group, port))
    lane, port, group = lane[order], port[order], group[order]
    finished = np.append(np.diff(port) != 0, True)
    last = np.append(np.diff(group) != 0, True)
    ends = np.select(
        [finished, group == 0, last], [TURN_ALL_BACK, TURN, TURN_PORT], TURN_BEYOND
    )
    each = np.ones_like(lane)
    if arrival.replicas is not None:
        each = _on_lanes(arrival.replicas, grid, across)[lane]
    several = np.repeat(ends, each, axis=0)
    several[np.delete(np.arange(len(several)), np.cumsum(each) - 1)] = NOTHING
    return _by_port(np.repeat(port, each), several, len(lanes))


def _adapters(along: str, lanes: Ints, grid: Grid, across: bool) -> tuple[Ints, Ints]:
    """Return the lanes of the adapters { adapter -> port }, and which of the ports each has."""
    x, y = coordinates(np.arange(grid.size, dtype=np.int64), grid)
    towards = find_function(bind_domain(isl.Map(along), PE_NAMES))
    at = towards.get_pw_aff(0 if across else 1)
    value, defined = evaluate_pw_aff(at, dict(zip(PE_NAMES, (x, y), strict=True)))
    here = np.flatnonzero(defined)
    lane = here % grid.width if across else here // grid.width
    number = np.full(max(grid.width, grid.height), -1)
    number[lanes] = np.arange(len(lanes))
    return lane, number[value[here] - (grid.west if across else grid.north)]


def _on_lanes(pes: str, grid: Grid, across: bool) -> Ints:
    """Return how many { PE } there are on each column, or row."""
    counts: Ints = members(isl.Set(pes), grid).sum(axis=0 if across else 1, dtype=np.int64)
    return counts


def _by_port(port: Ints, ends: Ints, ports: int) -> Ints:
    """Return [port][replica] of the ends [replica], those of one port side by side."""
    counts = np.bincount(port, minlength=ports)
    within = np.arange(len(port)) - np.repeat(np.cumsum(counts) - counts, counts)
    found = np.full((ports, int(counts.max(initial=0))), ABSENT)
    found[port, within] = ends
    return found

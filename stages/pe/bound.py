"""A lower bound on the cycles of a layer: for its placement, its arrivals and its data.

It is the greatest of: the operations of the busiest PE, over the lanes of a vector instruction; the
wavelets of the busiest port; and for each output port the arrival of the last wavelet it needs,
its way through the fabric, and one operation.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl
import numpy as np

from stages.fabric.driver import FabricRun
from stages.fabric.ports import Ports
from stages.fabric.profile import Profile
from stages.lair.layer import Layer
from stages.poly.bind import bind_set
from stages.poly.evaluate import evaluate_set
from stages.poly.order import taken_by

if typing.TYPE_CHECKING:
    from stages.make.inputs import Inputs

Description = Mapping[str, typing.Any]
LANES = {
    "N": "{ PE[x, y] -> PE[x, v] }",
    "S": "{ PE[x, y] -> PE[x, v] }",
    "W": "{ PE[x, y] -> PE[u, y] }",
    "E": "{ PE[x, y] -> PE[u, y] }",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """Which departure ports need which ports of one stream, and which need its last element.

    `needs` and `needs_last` are { [PE[x, y] -> PE[u, v]] }: what leaves to PE[u, v] depends on
    what arrives from PE[x, y]. The end of a sparse stream is needed wherever the stream is.
    """

    colour: int
    needs: isl.Set
    needs_last: isl.Set


def read_dependences(inputs: Inputs) -> list[Dependence]:
    """Return the dependence of each stream of a layer."""
    layout, routes = inputs.yaml("build/layout.yaml"), inputs.objects("routes.isl")
    lair, placement = inputs.objects("lair.isl"), inputs.objects("adapted.isl")["placement"]
    leaves = isl.UnionMap("{ }")
    for departure in layout["departures"].values():
        order = isl.Map(departure["order"])
        leaves = leaves.union(isl.UnionMap.from_map(order.range_factor_domain()))
    out = _through(lair["reads"], lair["writes"], lair["writes"].apply_range(leaves))
    streams, adapted = inputs.yaml("tasks.yaml")["arrivals"], inputs.objects("adapted.isl")
    return [
        stream_dependence(
            layout["colours"][arrival["colour"]]["number"],
            arrival,
            streams[name]["spread"],
            lair["reads"].intersect(placement.apply_range(routes[f"{name}_taken"].reverse())),
            placement,
            out,
            adapted.get(streams[name].get("part")),
        )
        for name, arrival in layout["arrivals"].items()
    ]


def _through(
    reads: isl.UnionMap, writes: isl.UnionMap, leaves: isl.UnionMap
) -> isl.UnionMap:
    """Return { S[i] -> PE } of the ports that S[i] matters to, at first or second hand.

    `leaves` has those for which S[i] itself adds to what leaves. Chains of statements end.
    """
    found = step = leaves
    later = writes.apply_range(reads.reverse())
    while not later.is_empty() and not step.is_empty():
        step = later.apply_range(step)
        found = found.union(step)
    return found


def stream_dependence(
    colour: int,
    arrival: Description,
    spread: bool,
    reads: isl.UnionMap,
    placement: isl.UnionMap,
    out: isl.UnionMap,
    part: isl.UnionMap | None = None,
) -> Dependence:
    """Return a stream's dependence; `reads` is { S[i] -> t[e] : PE of S[i] takes t[e] from it }.

    Without adapters a PE takes elements from the port on its row or column. Of a `part` they are
    taken at { t[e] -> port }.
    """
    order = isl.Map(arrival["order"])
    taken = order if part is None else taken_by(order, isl.Map.from_union_map(part))
    ports = reads.apply_range(isl.UnionMap.from_map(taken))
    if not spread:
        lane = placement.apply_range(isl.UnionMap(LANES[arrival["side"]]))
        ports = ports.intersect_range_factor_domain(lane)
    needs = ports.reverse().apply_range(out)
    last = isl.UnionSet.from_set(order.range().unwrap().lexmax().wrap())
    ends = needs if arrival["sparse"] else needs.intersect_domain(last)
    return Dependence(colour=colour, needs=_port_pairs(needs), needs_last=_port_pairs(ends))


def _port_pairs(needs: isl.UnionMap) -> isl.Set:
    """Return { [PE -> PE'] } of { [PE -> index] -> PE' }."""
    if needs.is_empty():
        return isl.Set("{ [PE[x, y] -> PE[u, v]] : false }")
    pairs = isl.Map.from_union_map(needs).curry().range_factor_range()
    return pairs.wrap()


def lower_bound(
    dependences: Sequence[Dependence],
    layer: Layer,
    profile: Profile,
    loops: FabricRun,
    busiest: int,
) -> dict[str, typing.Any]:
    """Return the bound in cycles and what binds: operations, ports or latency.

    `loops` is the run with loops only, which executes exactly the instances of the layer; `busiest`
    is the most instances, of all statements, that one PE ran in all invocations.
    """
    written = {statement.target.tensor for statement in layer.statements}
    lanes = max(profile.lanes[layer.tensors[name].type] for name in written)
    candidates = {
        "operations": -(-busiest // lanes),
        "ports": max(map(busiest_place, (loops.entering, loops.leaving))),
        "latency": max((latency(d, profile, loops) for d in dependences), default=0),
    }
    by = max(candidates, key=lambda key: candidates[key])
    return {"cycles": candidates[by], "by": by}


def busiest_place(ports: Ports) -> int:
    """Return the most wavelets over one external link, all its colours together."""
    _, where = np.unique(np.stack([ports.x, ports.y]), axis=1, return_inverse=True)
    return int(np.bincount(where.reshape(-1), weights=ports.wavelets).max(initial=0))


def latency(dependence: Dependence, profile: Profile, run: FabricRun) -> int:
    """Return the greatest, over ports that depend on each other, of last arrival + way + 1.

    A port sends a wavelet per cycle from cycle 0; the way is one hop per step and two ramps.
    """
    here = run.entering.colour == dependence.colour
    if not here.any() or not run.leaving.x.size:
        return 0
    x, y, wavelets = (
        a[here][:, None] for a in (run.entering.x, run.entering.y, run.entering.wavelets)
    )
    u, v = run.leaving.x[None, :], run.leaving.y[None, :]
    way = (np.abs(x - u) + np.abs(y - v)) * profile.hop + 2 * profile.ramp + 1
    places = {"a": x, "b": y, "c": u, "d": v}
    needs = evaluate_set(bind_set(dependence.needs.flatten(), list(places)), places)
    last = evaluate_set(bind_set(dependence.needs_last.flatten(), list(places)), places)
    return int(np.where(needs, way + np.where(last, wavelets - 1, 0), 0).max(initial=0))

"""A lower bound on the cycles of a layer: for its placement, its arrivals and its data.

It is the greatest of: the operations of the busiest PE, over the lanes of a vector instruction; the
wavelets of the busiest port; and for each output port the arrival of the last wavelet it depends
on, its way through the fabric, and one operation.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass

import islpy as isl
import numpy as np

from stages.fabric.driver import FabricRun, Ports
from stages.fabric.profile import Profile
from stages.lair.layer import Layer
from stages.poly.bind import bind_set
from stages.poly.evaluate import evaluate_set
from stages.poly.side import SIDES, bounding_rectangle, turn

if typing.TYPE_CHECKING:
    from stages.make.inputs import Inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """{ [PE -> PE'] : an element that leaves to PE' depends on one that arrives from PE }."""

    pairs: isl.Set

    @staticmethod
    def read(inputs: Inputs) -> Dependence:
        """Return the dependence of a layer's ports, the departures on the border of the grid."""
        lair, adapted = inputs.objects("lair.isl"), inputs.objects("adapted.isl")
        instances = adapted["placement"].domain()
        through = lair["reads"].intersect_domain(instances).reverse().apply_range(lair["writes"])
        sources = adapted["sources"].range_factor_domain()
        departures = adapted["departures"].range_factor_domain()
        ports = sources.reverse().apply_range(through).apply_range(departures)
        if ports.is_empty():
            return Dependence(pairs=isl.Set("{ [PE[x, y] -> PE[u, v]] : false }"))
        grid = bounding_rectangle(isl.Set.from_union_set(adapted["grid"]))
        core = bounding_rectangle(isl.Set.from_union_set(adapted["target"]))
        outwards = isl.Map("{ PE[x, y] -> PE[u, v] : false }")
        for side in SIDES:
            beside = isl.Map.from_domain_and_range(_external(side, core), _external(side, grid))
            move = turn(side, core).apply_range(turn(side, grid).reverse())
            outwards = outwards.union(move.intersect(beside))
        whole = isl.Map.from_union_map(ports).apply_range(outwards)
        return Dependence(pairs=whole.wrap())


def _external(side: str, rectangle: typing.Any) -> isl.Set:
    from stages.poly.side import ports

    return ports(side, rectangle)


def lower_bound(
    dependence: Dependence,
    layer: Layer,
    profile: Profile,
    loops: FabricRun,
    busiest: int,
    invocations: int,
) -> dict[str, typing.Any]:
    """Return the bound in cycles and what binds: operations, ports or latency.

    `loops` is the run with loops only, which executes exactly the instances of the layer; `busiest`
    is the most instances of one statement that one PE ran, in all invocations.
    """
    lanes = max(profile.lanes[t.type] for t in layer.outputs)
    candidates = {
        "operations": -(-busiest // lanes),
        "ports": invocations
        * max(int(p.wavelets.max(initial=0)) for p in (loops.entering, loops.leaving)),
        "latency": latency(dependence, profile, loops.entering, loops.leaving),
    }
    by = max(candidates, key=lambda key: candidates[key])
    return {"cycles": candidates[by], "by": by}


def latency(dependence: Dependence, profile: Profile, entering: Ports, leaving: Ports) -> int:
    """Return the greatest, over ports that depend on each other, of last arrival + way + 1.

    A port sends a wavelet per cycle from cycle 0; the way is one hop per step and two ramps.
    """
    if not entering.x.size or not leaving.x.size:
        return 0
    x, y = entering.x[:, None], entering.y[:, None]
    u, v = leaving.x[None, :], leaving.y[None, :]
    flat = dependence.pairs.flatten()
    inside = evaluate_set(bind_set(flat, ["a", "b", "c", "d"]), {"a": x, "b": y, "c": u, "d": v})
    steps = np.abs(x - u) + np.abs(y - v)
    cycles = entering.wavelets[:, None] - 1 + steps * profile.hop + 2 * profile.ramp + 1
    return int(np.where(inside, cycles, 0).max(initial=0))

"""What skew.yaml says of the edges of a torus.

Paper    M Sec. VI.A.2, (11), (12)
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.functions import depends_on
from lairmake.stages.skewing.statements import Space
from lairmake.stages.skewing.torus import always_steps, crosses_edge, next_task, unfold
from lairmake.stages.skewing.yaml_texts import Edge

OUT = isl.dim_type.out


def edges(space: Space, wraps: isl.UnionMap, name: str) -> dict[str, Edge]:
    """Return, by dimension of a torus, whether a statement's tiles cross its edge, and always step.

    `wraps` { S[i] -> [n, m] } is how often placements wrap around before. Nothing where the
    innermost loop from tile to tile, or from instance to instance, is over no iterator alone.
    """
    clock, sizes = space.clocks[name], space.topology.sizes
    count = clock.tiles or len(clock.loops)
    rows = depends_on(isl.Map.from_union_map(from_domain(space.schedule, name)))
    loops = rows[clock.loops[count - 1]] if count else set()
    if len(loops) != 1:
        return {}
    own = isl.Map.from_union_map(from_domain(wraps, name))
    place = unfold(space.places[name], own, sizes)
    times = clock.times.project_out(OUT, count, clock.times.dim(OUT) - count)
    step = next_task(times.flat_range_product(place), loops.pop())
    return {
        axis: Edge(
            crosses=crosses_edge(place, step, size, k), steps=always_steps(place, step, k)
        )
        for k, (axis, size) in enumerate(zip("xy", sizes, strict=True))
    }

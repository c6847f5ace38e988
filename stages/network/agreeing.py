"""Whether what leaves one part is what arrives at another, where both are built.

Their layouts say how tensors leave and arrive; `crossing` says when that agrees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.fabric.layout import Entry, Exit, Layout
from lairmake.stages.lair.layer import Tensor
from lairmake.stages.mapping.network_yaml import End
from lairmake.stages.network.crossing import Stop, check_crossing
from lairmake.stages.network.whole.joints import Joint
from lairmake.stages.poly.sides import bounding_rectangle

NOWHERE = Span(source=Source(path="", text=""), start=0, end=0)


def check_ends(
    joints: Sequence[Joint], layouts: Mapping[str, Layout], moves: Mapping[str, isl.Map]
) -> Iterator[UserError]:
    """Yield an error for each crossing of which the ends do not agree.

    `moves` has { output[e] -> input[e'] } by the input, `part.x`; others need no look.
    """
    for joint in joints:
        to, (given,) = joint.crossing.to, joint.crossing.given
        if str(to) in moves:
            source, target = layouts[given.end.part], layouts[to.part]
            leaving = _stop(given.end, source, source.departures.values())
            arriving = _stop(to, target, target.arrivals.values())
            try:
                check_crossing(leaving, moves[str(to)], arriving, joint.crossing.span)
            except UserError as error:
                yield error


def _stop(end: End, layout: Layout, streams: Iterable[Entry | Exit]) -> Stop:
    """Return where a tensor leaves a part, or arrives at it, in the coordinates of its layout."""
    first, *others = (each for each in streams if each.tensor == end.tensor)
    order = isl.Map(first.order)
    for each in others:
        order = order.union(isl.Map(each.order))
    return Stop(
        end=end, tensor=Tensor(name=end.tensor, type=first.type, shape=(), span=NOWHERE),
        order=order.coalesce(), target=bounding_rectangle(isl.Set(layout.grid)), times=1,
    )

"""The colours of a layer's streams, within the number that the machine has.

Source   design, The machine; Cerebras SDK white paper, p. 4
"""

from __future__ import annotations

import typing
from collections.abc import Mapping as Dict

import islpy as isl

from stages.diagnose import UserError
from stages.poly.colouring import find_busiest_router, find_routers, share
from stages.poly.flow import Routes
from stages.poly.side import Rectangle

if typing.TYPE_CHECKING:
    from stages.machine.profile import Profile
    from stages.mapping.layer_yaml import Mapping


def share_colours(
    streams: Dict[str, Routes], grid: Rectangle, profile: Profile, mapping: Mapping
) -> tuple[str | tuple[str, ...], ...]:
    """Return the streams of each colour: one, while there are colours enough.

    Else streams that pass no router together share one. Raises UserError if that does not suffice.
    """
    if len(streams) <= profile.colours:
        return tuple(streams)
    routers = {name: find_routers(routes) for name, routes in streams.items()}
    shared = share(routers)
    if len(shared) > profile.colours:
        in_target = isl.UnionMap(f"{{ PE[x, y] -> PE[x - ({grid.left}), y - ({grid.top})] }}")
        pe, meeting = find_busiest_router({n: pes.apply(in_target) for n, pes in routers.items()})
        raise UserError(
            f"the routes need {len(shared)} colours, {profile.name} has {profile.colours}: "
            f"on {pe} meet {', '.join(meeting)}",
            mapping.key_span("tensors"),
            "let fewer tensors arrive and leave there",
        )
    return tuple(group[0] if len(group) == 1 else tuple(group) for group in shared)

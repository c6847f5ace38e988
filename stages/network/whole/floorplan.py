"""Where the parts of a network lie on one fabric.

What network.yaml does not place lies beside a part that it gives something, or takes it of, on the
side on which that crosses, first port beside first port, with the bridges between: in a row from
west to east, where that is how things cross. What is not joined to such a row lies south of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import islpy as isl

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.fabric.grid import STEPS, Place
from lairmake.stages.fabric.layout import Layout
from lairmake.stages.mapping.network_yaml import Network
from lairmake.stages.network.whole.joints import Joint
from lairmake.stages.poly.sides import Rectangle, bounding_rectangle

Places = dict[str, Place]


def place_parts(
    network: Network, layouts: Mapping[str, Layout], joints: Sequence[Joint]
) -> Places:
    """Return where PE[0, 0] of each part lies. Raises UserError where two parts overlap."""
    places = {name: (each.x, each.y) for name, each in network.floorplan.items()}
    _place_joined(places, joints)
    for name in network.parts:
        if name not in places:
            joined = {name: (0, 0)}
            _place_joined(joined, joints)
            places |= _below(joined, places, layouts)
    if not network.floorplan:
        places = _from_zero(places, layouts)
    _check_overlaps(network, places, layouts)
    return places


def _place_joined(places: Places, joints: Sequence[Joint]) -> None:
    """Place all that is joined to what has a place, with the least distance between."""
    waiting = list(places)
    while waiting:
        name = waiting.pop(0)
        for joint in joints:
            x, y = _beside(joint, places[name], joint.bridges - 1)
            back = 2 * places[name][0] - x, 2 * places[name][1] - y
            for part, other, place in (
                (joint.source, joint.to, (x, y)), (joint.to, joint.source, back)
            ):
                if part == name and other not in places:
                    places[other] = place
                    waiting.append(other)


def _below(joined: Places, places: Places, layouts: Mapping[str, Layout]) -> Places:
    """Return places of parts that are joined, moved south of all that have one."""
    bottom = max((find_rectangle(layouts[n], p).bottom for n, p in places.items()), default=-1)
    top = min(find_rectangle(layouts[name], place).top for name, place in joined.items())
    return {name: (x, y + bottom + 1 - top) for name, (x, y) in joined.items()}


def find_rectangle(layout: Layout, place: Place) -> Rectangle:
    """Return the PEs of a part that lies at a place."""
    own = bounding_rectangle(isl.Set(layout.grid))
    return Rectangle(
        left=own.left + place[0], right=own.right + place[0],
        top=own.top + place[1], bottom=own.bottom + place[1],
    )


def find_distance(joint: Joint, places: Mapping[str, Place]) -> int:
    """Return how many PEs lie between the two parts of a joint, but one.

    Raises UserError where their ports are not in line, or there is no room for bridges.
    """
    place, source, least = places[joint.to], places[joint.source], joint.bridges - 1
    zero, (dx, dy) = _beside(joint, source, 0), STEPS[joint.side]
    off = place[0] - zero[0], place[1] - zero[1]
    distance = off[0] * dx + off[1] * dy
    if off != (distance * dx, distance * dy) or distance < least:
        x, y = _beside(joint, source, max(distance, least))
        raise UserError(
            f"{joint.to} is not beside {joint.source}, lane beside lane, with room for "
            f"{'a bridge' if least == 0 else 'two bridges'} between them", joint.crossing.span,
            f"what leaves {joint.source} arrives if it lies there: "
            f"`floorplan: {{{joint.to}: \"PE[{x}, {y}]\"}}`",
        )
    return distance


def _beside(joint: Joint, source: Place, distance: int) -> Place:
    """Return where the part that takes lies, so many PEs further than port on port."""
    (x, y), (dx, dy) = joint.offset, STEPS[joint.side]
    return source[0] + x + distance * dx, source[1] + y + distance * dy


def _from_zero(places: Places, layouts: Mapping[str, Layout]) -> Places:
    """Return the same places with the first column and row at 0."""
    all_ = [find_rectangle(layouts[name], place) for name, place in places.items()]
    west, north = min(each.left for each in all_), min(each.top for each in all_)
    return {name: (x - west, y - north) for name, (x, y) in places.items()}


def overlap(one: Rectangle, other: Rectangle) -> bool:
    """Return whether two rectangles have a PE in common."""
    return (
        one.left <= other.right and other.left <= one.right
        and one.top <= other.bottom and other.top <= one.bottom
    )


def _check_overlaps(network: Network, places: Places, layouts: Mapping[str, Layout]) -> None:
    taken = {name: find_rectangle(layouts[name], place) for name, place in places.items()}
    for one, other in itertools.combinations(taken, 2):
        if overlap(taken[one], taken[other]):
            raise UserError(
                f"{one} lies on {spell(taken[one])}, and {other} on {spell(taken[other])}",
                _span(network, one, other),
                f"place one of them elsewhere: `floorplan: {{{other}: \"PE[x, y]\"}}`",
            )


def _span(network: Network, one: str, other: str) -> Span:
    """Return the place in network.yaml that places one of two parts, or names it."""
    placed = network.floorplan.get(other) or network.floorplan.get(one)
    return network.spans[other] if placed is None else placed.span


def spell(area: Rectangle) -> str:
    """Return a rectangle as people write it."""
    return f"PE[{area.left}:{area.right}, {area.top}:{area.bottom}]"

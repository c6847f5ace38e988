"""Joints between parts on one fabric: ports and colours of crossings.

What is refused could be built; each refusal names the crossing, and `run: parts` always remains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.fabric.coordinates import Place, shift
from lairmake.stages.fabric.grid import OPPOSITE, STEPS
from lairmake.stages.fabric.layout import FabricLayout, PortEntry, PortExit
from lairmake.stages.mapping.network_yaml import Crossing, End, Network
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import find_example

Pair = tuple[int, int]
"""The numbers of two colours: the one heard and the one sent."""
APART = "with `run: parts` the parts run one by one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """A crossing with its ports, { PE[x, y] } by the number of a colour.

    `leaving` are the ports beside the part that gives, `arriving` those beside the part that takes,
    by the colour that it hears. Coordinates are those of each part. `side` is the side on which the
    tensor leaves.
    """

    crossing: Crossing
    side: str
    leaving: Mapping[int, isl.Set]
    arriving: Mapping[int, isl.Set]

    @property
    def source(self) -> str:
        """Return the part that gives the tensor."""
        return self.crossing.given[0].end.part

    @property
    def to(self) -> str:
        """Return the part that takes the tensor."""
        return self.crossing.to.part

    @property
    def bridges(self) -> int:
        """Return the least number of PEs between the two parts on a lane.

        A router cannot change a colour, and a PE cannot hear and send on one.
        """
        return max((len(list_bridges(*pair)) for pair in self.lanes), default=1)

    @property
    def lanes(self) -> dict[Pair, isl.Set]:
        """Return the ports, by the colours of departure and arrival, where both ends meet."""
        back = shift(self.offset)
        found = {
            (sent, heard): ports.intersect(others.apply(back)).coalesce()
            for sent, ports in self.leaving.items() for heard, others in self.arriving.items()
        }
        return {pair: ports for pair, ports in found.items() if not ports.is_empty()}

    @property
    def offset(self) -> Place:
        """Return the distance from the first port of the part that gives to that of the other."""
        (left, top), (west, north) = (
            _first(all_of(ports)) for ports in (self.leaving, self.arriving)
        )
        return left - west, top - north


def list_bridges(sent: int, heard: int) -> list[Pair]:
    """Return the colours that each bridge of a lane hears and sends, from those at its ends."""
    if sent != heard:
        return [(sent, heard)]
    other = 0 if sent else 1
    return [(sent, other), (other, heard)]


def all_of(colours: Mapping[int, isl.Set]) -> isl.Set:
    """Return the ports of all colours."""
    first, *others = colours.values()
    for each in others:
        first = first.union(each)
    return first.coalesce()


def _first(ports: isl.Set) -> Place:
    (x, _), (y, _) = bounding_box(ports)
    return x, y


def list_joints(
    network: Network, layouts: Mapping[str, FabricLayout], moves: Mapping[str, isl.Map]
) -> tuple[list[Joint], list[UserError]]:
    """Return the crossings, and the errors for crossings that are not built on one fabric.

    `moves` has { output[e] -> input[e'] } by the input, `part.x`, for inputs whose elements move.
    """
    joints, errors = [], [*_find_rounds(network)]
    for crossing in network.crossings:
        try:
            joints.append(_join(crossing, layouts, moves.get(str(crossing.to))))
        except UserError as error:
            errors.append(error)
    return joints, errors


def _find_rounds(network: Network) -> Iterator[UserError]:
    """Yield an error for each crossing that closes a round of parts, whatever its direction.

    Without rounds, no part can wait for itself through others.
    """
    group = {name: name for name in network.parts}
    given: dict[str, str] = {}
    for crossing in network.crossings:
        for each in crossing.given:
            source, to = group[each.end.part], group[crossing.to.part]
            if str(each.end) in given:
                yield UserError(
                    f"{each.end} goes to {given[str(each.end)]} and to {crossing.to}", each.span,
                    f"on one fabric an output goes to one part; {APART}",
                )
            elif source == to:
                yield UserError(
                    f"{each.end.part} and {crossing.to.part} are joined twice", each.span,
                    f"on one fabric parts might wait for each other there; {APART}",
                )
            given[str(each.end)] = str(crossing.to)
            group = {name: to if of == source else of for name, of in group.items()}


def _join(crossing: Crossing, layouts: Mapping[str, FabricLayout], moves: isl.Map | None) -> Joint:
    """Return a crossing. Raises UserError for one that is not built on one fabric."""
    if len(crossing.given) > 1:
        raise refuse_mixed(crossing.to, [str(each.end) for each in crossing.given], crossing.span)
    end = crossing.given[0].end
    exits = [e for e in layouts[end.part].departures.values() if e.tensor == end.tensor]
    to = layouts[crossing.to.part]
    entries = [e for e in to.arrivals.values() if e.tensor == crossing.to.tensor]
    if not exits or not entries:
        raise UserError(
            f"{crossing.to} crosses in memory", crossing.span,
            f"on one fabric it leaves and arrives: give both ends ports; {APART}",
        )
    _check_streams(crossing, exits, entries)
    if moves is not None:
        _check_all_cross(crossing, exits[0], moves)
    return Joint(
        crossing=crossing, side=exits[0].side, arriving=_find_arriving(crossing, to, entries),
        leaving=find_leaving(layouts[end.part], exits[0]),
    )


def _check_streams(crossing: Crossing, exits: list[PortExit], entries: list[PortEntry]) -> None:
    """Raise UserError unless the tensor is dense, and leaves as one stream."""
    end, sides = crossing.given[0].end, {entry.side for entry in entries}
    wrong = None
    if len(exits) > 1:
        wrong = f"{end} leaves in {len(exits)} streams"
    elif exits[0].sparse or any(entry.sparse for entry in entries):
        wrong = f"{end if exits[0].sparse else crossing.to} is sparse"
    elif any(entry.replicas is not None or entry.along is not None for entry in entries):
        wrong = f"{crossing.to} arrives once for each PE that needs it"
    elif sides != {OPPOSITE[exits[0].side]}:
        there = " and the ".join(sorted(sides))
        wrong = f"{end} leaves on the {exits[0].side}, {crossing.to} arrives on the {there}"
    if wrong:
        raise UserError(
            wrong, crossing.span, f"on one fabric a tensor crosses as one dense stream; {APART}"
        )


def refuse_mixed(to: End, sources: Sequence[str], span: Span) -> UserError:
    """Return the error for an input with several sources."""
    return UserError(
        f"{to} is put together of {' and '.join(sources)}", span,
        f"on one fabric a tensor comes from one part; {APART}",
    )


def _check_all_cross(crossing: Crossing, departure: PortExit, moves: isl.Map) -> None:
    """Raise UserError for elements that leave but do not arrive: they would block the lane."""
    leaving = isl.Map(departure.order).domain()
    dropped = leaving.subtract(moves.domain())
    if not dropped.is_empty():
        end = crossing.given[0].end
        raise UserError(
            f"{end.part}.{find_example(dropped.lexmin())} leaves, and is no element of "
            f"{crossing.to}", crossing.span,
            f"on one fabric all that leaves one part arrives at the next; {APART}",
        )


def find_ports(order: str) -> isl.Set:
    """Return the external PEs of { tensor[e] -> [PE[x, y] -> index[i]] }."""
    return isl.Map(order).range().unwrap().domain().coalesce()


def _find_arriving(
    crossing: Crossing, layout: FabricLayout, entries: Sequence[PortEntry]
) -> dict[int, isl.Set]:
    """Return the ports at which a tensor arrives, by the number of the colour.

    Raises UserError where two of its streams arrive at one port.
    """
    found: dict[int, isl.Set] = {}
    taken: isl.Set | None = None
    for entry in entries:
        ports, number = find_ports(entry.order), layout.colours[entry.colour].number
        if taken is not None and not taken.is_disjoint(ports):
            raise UserError(
                f"{crossing.to} arrives in two streams at one port", crossing.span,
                f"on one fabric a port has one; {APART}",
            )
        taken = ports if taken is None else taken.union(ports)
        found[number] = found[number].union(ports).coalesce() if number in found else ports
    return found


def find_leaving(layout: FabricLayout, departure: PortExit) -> dict[int, isl.Set]:
    """Return the ports at which a departure leaves, by the number of the colour.

    Raises UserError for a port that it leaves on two colours.
    """
    ports = find_ports(departure.order)
    found: dict[int, isl.Set] = {}
    for name in departure.colours:
        colour = layout.colours[name]
        routes = [isl.UnionMap(text) for text in colour.positions or [colour.routes or "{ }"]]
        target = isl.UnionSet(f"{{ {departure.side}[] }}")
        for each in routes:
            sending = each.intersect_range(target).domain().unwrap().domain()
            outside = sending.apply(isl.UnionMap(shift(STEPS[departure.side])))
            here = isl.UnionSet(ports).intersect(outside)
            if not here.is_empty():
                known = found.get(colour.number, isl.Set.empty(ports.get_space()))
                found[colour.number] = known.union(isl.Set.from_union_set(here)).coalesce()
    _check_apart(found, departure)
    return found


def _check_apart(found: Mapping[int, isl.Set], departure: PortExit) -> None:
    known = None
    for ports in found.values():
        if known is not None and not known.is_disjoint(ports):
            raise UserError(
                f"{departure.tensor} leaves on two colours at one port",
                hint=f"on one fabric a port has one; {APART}",
            )
        known = ports if known is None else known.union(ports)

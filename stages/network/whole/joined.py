"""The layouts of all parts of a network as one layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import islpy as isl

from lairmake.stages.diagnose import Source, Span, UserErrors
from lairmake.stages.fabric.coordinates import move_layout
from lairmake.stages.fabric.layout import (
    FabricLayout,
    LocalTensor,
    PortEntry,
    PortExit,
    Queue,
    Role,
    RoleMemory,
)
from lairmake.stages.machine.profile import Profile
from lairmake.stages.mapping.isl_texts import IslText
from lairmake.stages.mapping.network_yaml import Crossing, End, GraphMapping, Network, OutputOfPart
from lairmake.stages.movement.flow import RouterColour
from lairmake.stages.network.parts.part import find_chained
from lairmake.stages.network.whole.floorplan import (
    BridgeWay,
    check_ways,
    cross,
    enter,
    find_rectangle,
    leave,
    place_parts,
)
from lairmake.stages.network.whole.joints import Joint, Pair, refuse_mixed
from lairmake.stages.poly.sides import Rectangle
from lairmake.stages.poly.text import spell_object

if TYPE_CHECKING:
    pass

# --- Programs of several parts --------------------------------------------------------------------
#
# All programs of a role have one function name, whatever the part. A line before a text renames it,
# so each text is compiled once, unchanged, into one library.

Program = tuple[str, str]
"""The role in the text of a program, and the text."""


def write_programs(
    programs: Mapping[str, Program], folder: Path
) -> tuple[list[Path], dict[str, str]]:
    """Write distinct programs into a folder; return their files, and the symbol of each role."""
    numbers = {program: n for n, program in enumerate(dict.fromkeys(programs.values()))}
    files = []
    for (role, text), number in numbers.items():
        file = folder / f"pe_{number}.c"
        line = f"#define program_{role} program_{number}\n#line 1\n"
        file.write_text(line + text, encoding="utf-8")
        files.append(file)
    return files, {name: f"program_{numbers[each]}" for name, each in programs.items()}

# --- The network of a graph -----------------------------------------------------------------------

PARTS = "parts.yaml"


def describe_whole(given: GraphMapping, parts: Mapping[str, Any]) -> Network:
    """Return the network of the parts of a graph.

    Raises UserErrors for parts that cannot be built on one fabric.
    """
    mixed = [refuse_mixed(*each) for each in _list_mixed(parts, given)]
    if mixed:
        raise UserErrors(mixed)
    return Network(
        parts={name: given.folder_of(name) or name for name in parts},
        crossings=tuple(_cross(parts, given)), spans={name: given.span_of(name) for name in parts},
        fabric=given,
    )


def _list_mixed(
    parts: Mapping[str, Any], given: GraphMapping
) -> Iterator[tuple[End, list[str], Span]]:
    """Yield each input that comes from several parts, or from parts and from elsewhere."""
    for name, described in parts.items():
        for tensor, sources in find_chained(described).items():
            if len(sources) > 1:
                yield End(part=name, tensor=tensor), list(sources), given.span_of(name)


def _cross(parts: Mapping[str, Any], given: GraphMapping) -> Iterator[Crossing]:
    """Yield the crossings from one part to another, with the maps of parts.yaml."""
    for name, described in parts.items():
        for tensor, sources in find_chained(described).items():
            ((source, text),) = sources.items()
            part, _, output = source.partition(".")
            made = IslText(
                text=text, source=Source(path=PARTS, text=text), offsets=tuple(range(len(text) + 1))
            )
            end, span = End(part=part, tensor=output), given.span_of(name)
            yield Crossing(
                to=End(part=name, tensor=tensor),
                given=(OutputOfPart(end=end, map=made, span=span),),
                span=span,
            )


# --- The layout of one part -----------------------------------------------------------------------
#
# Roles, streams and tensors are called `part.name`, since other parts may use the same names.
# Colours keep their numbers, and are named by them: parts never touch, so a number may be another
# colour in each. Roles keep the names of their parts.

def name_colour(number: int) -> str:
    """Return the name of a colour on the fabric of several parts."""
    return f"colour{number}"


def name_layout(layout: FabricLayout, part: str) -> FabricLayout:
    """Return the layout of a part with names that no other part has."""
    names = {name: name_colour(each.number) for name, each in layout.colours.items()}
    return FabricLayout(
        grid=layout.grid,
        roles={f"{part}.{n}": _name_role(r, part, names) for n, r in layout.roles.items()},
        colours={names[n]: each for n, each in layout.colours.items()},
        arrivals={
            f"{part}.{n}": _name_entry(each, part, names) for n, each in layout.arrivals.items()
        },
        departures={
            f"{part}.{n}": _name_exit(each, part, names) for n, each in layout.departures.items()
        },
    )


def _name_role(role: Role, part: str, names: Mapping[str, str]) -> Role:
    return replace(
        role,
        listens=None if role.listens is None else tuple(names[name] for name in role.listens),
        streams={new: old for old, new in names.items()},
        input_queues=_rename(role.input_queues, names),
        output_queues=_rename(role.output_queues, names),
        tensors={name: _name_local(each, part) for name, each in role.tensors.items()},
    )


def _rename(
    queues: Mapping[str, Queue] | None, names: Mapping[str, str]
) -> Mapping[str, Queue] | None:
    return None if queues is None else {names[name]: queue for name, queue in queues.items()}


def _name_local(local: LocalTensor, part: str) -> LocalTensor:
    return local if local.stored is None else replace(local, tensor=f"{part}.{local.tensor}")


def _name_entry(entry: PortEntry, part: str, names: Mapping[str, str]) -> PortEntry:
    return replace(entry, tensor=f"{part}.{entry.tensor}", colour=names[entry.colour])


def _name_exit(departure: PortExit, part: str, names: Mapping[str, str]) -> PortExit:
    return replace(
        departure, tensor=f"{part}.{departure.tensor}",
        colours=tuple(names[name] for name in departure.colours),
    )

# --- The layout of all parts ----------------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """One layout, and its bridges by the colours that they hear and send."""

    layout: FabricLayout
    bridges: tuple[Pair, ...]


def link(
    network: Network, layouts: Mapping[str, FabricLayout], joints: Sequence[Joint], profile: Profile
) -> Linked:
    """Return one layout of all parts. Raises UserError or UserErrors for parts that do not fit."""
    places = place_parts(network, layouts, joints)
    areas = {name: find_rectangle(layouts[name], place) for name, place in places.items()}
    ways = [cross(joint, places) for joint in joints]
    grid = _around([*areas.values(), *(way.area for way in ways)])
    moved = {
        name: move_layout(name_layout(layouts[name], name), place)
        for name, place in places.items()
    }
    arrivals, departures, more = _at_edge(network, moved, grid)
    ways += more
    errors = list(check_ways(ways, areas))
    if errors:
        raise UserErrors(errors)
    bridges = _bridges(ways)
    roles = {name: role for each in moved.values() for name, role in each.roles.items()}
    return Linked(
        bridges=tuple(bridges),
        layout=FabricLayout(
            grid=spell_object(grid.as_set()),
            roles=roles | {name_bridge(p): _role(p, at, profile) for p, at in bridges.items()},
            colours=_colours(moved, ways), arrivals=arrivals, departures=departures,
        ),
    )


def _around(areas: Sequence[Rectangle]) -> Rectangle:
    return Rectangle(
        left=min(a.left for a in areas), right=max(a.right for a in areas),
        top=min(a.top for a in areas), bottom=max(a.bottom for a in areas),
    )


def _at_edge(
    network: Network, moved: Mapping[str, FabricLayout], grid: Rectangle
) -> tuple[dict[str, PortEntry], dict[str, PortExit], list[BridgeWay]]:
    """Return the tensors that enter and leave at the edge of the grid, and their ways."""
    crossing = {str(c.to) for c in network.crossings}
    crossing |= {str(each.end) for c in network.crossings for each in c.given}
    arrivals: dict[str, PortEntry] = {}
    departures: dict[str, PortExit] = {}
    ways: list[BridgeWay | None] = []
    for part, layout in moved.items():
        for name, entry in layout.arrivals.items():
            if entry.tensor not in crossing:
                arrivals[name], way = enter(entry, layout, grid, network.spans[part])
                ways.append(way)
        for name, departure in layout.departures.items():
            if departure.tensor not in crossing:
                departures[name], way = leave(departure, layout, grid, network.spans[part])
                ways.append(way)
    return arrivals, departures, [way for way in ways if way is not None]


def name_bridge(pair: Pair) -> str:
    """Return the name of the role of bridges between two colours."""
    return f"bridge_{pair[0]}_{pair[1]}"


def _bridges(ways: Sequence[BridgeWay]) -> dict[Pair, isl.Set]:
    found: dict[Pair, isl.Set] = {}
    for way in ways:
        for pair, pes in way.bridges.items():
            found[pair] = found[pair].union(pes) if pair in found else pes
    return {pair: found[pair].coalesce() for pair in sorted(found)}


def _role(pair: Pair, at: isl.Set, profile: Profile) -> Role:
    return Role(
        at=spell_object(at), listens=(name_colour(pair[0]),), tensors={},
        memory=RoleMemory(data=0, code=profile.code_base + profile.code_task),
    )


def _colours(
    moved: Mapping[str, FabricLayout], ways: Sequence[BridgeWay]
) -> dict[str, RouterColour]:
    """Return the colours of all parts by their numbers, with the routes between parts."""
    parts = [(layout.grid, c) for layout in moved.values() for c in layout.colours.values()]
    numbers = {colour.number for _, colour in parts} | {n for way in ways for n in way.routes}
    return {
        name_colour(number): _colour(
            number, [(grid, c) for grid, c in parts if c.number == number],
            [way.routes[number] for way in ways if number in way.routes],
        )
        for number in sorted(numbers)
    }


def _colour(
    number: int, parts: Sequence[tuple[str, RouterColour]], ways: Sequence[isl.UnionMap]
) -> RouterColour:
    """Return the colour of a number in all parts; each part keeps its switches."""
    texts = [colour.positions or (colour.routes or "{ }",) for _, colour in parts]
    most = max(map(len, texts), default=1)
    routes = [[isl.UnionMap(each[k]) for each in texts if k < len(each)] for k in range(most)]
    routes[0] += ways
    if most == 1:
        return RouterColour(number=number, routes=_all(routes[0]), filter=_numbers(parts, "filter"))
    counts = [isl.UnionMap(text) for text in _counts(parts, ways)]
    return RouterColour(
        number=number, positions=tuple(map(_all, routes)), counts=_all(counts),
        ring=_numbers(parts, "ring"), pop=_numbers(parts, "pop"),
        filter=_numbers(parts, "filter"),
    )


def _all(relations: Sequence[isl.UnionMap]) -> str:
    found = isl.UnionMap("{ }")
    for each in relations:
        found = found.union(each)
    return spell_object(found)


def _numbers(parts: Sequence[tuple[str, RouterColour]], key: str) -> str | None:
    """Return the numbers that parts have for their PEs under a key; None if no part has any."""
    said = [getattr(colour, key) for _, colour in parts if getattr(colour, key) is not None]
    return _all([isl.UnionMap(text) for text in said]) if said else None


def _counts(
    parts: Sequence[tuple[str, RouterColour]], ways: Sequence[isl.UnionMap]
) -> Iterator[str]:
    """Yield the number of positions of the PEs of each part; PEs between parts have one."""
    for grid, colour in parts:
        count = len(colour.positions or ("",))
        yield colour.counts or _each(isl.UnionSet(grid), count)
    for way in ways:
        yield _each(way.domain().unwrap().domain(), 1)


def _each(pes: isl.UnionSet, number: int) -> str:
    return spell_object(isl.UnionMap.from_domain_and_range(pes, isl.UnionSet(f"{{ [{number}] }}")))


"""Fit the parts of a network from a graph to each other: what crosses over which lanes, how wide.

Paper    not in the paper, which is given placements
Reads    parts.yaml, network.yaml
Writes   fitted.yaml
Assumes  parts come after those whose results they take (split).
Ensures  both ends of a crossing have the same lanes, in the same order. The same network gives the
         same lanes.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from stages.diagnose import UserError, UserErrors
from stages.layer.searching import check_directions
from stages.mapping.graph_yaml import Graph, load_graph
from stages.mapping.machine import read_machine
from stages.mapping.yaml_text import write_document
from stages.network.expecting import Expected, Part, expect, read_given, read_part
from stages.network.parts.part_layers import (
    Fitted,
    find_largest,
    is_fitted,
    write_part_layer,
)
from stages.network.parts.spreading import (
    Lanes,
    count_lanes,
    find_most_lanes,
    find_source,
    find_takers,
)
from stages.poly.text import spell_object

if typing.TYPE_CHECKING:
    from stages.machine.profile import Profile
    from stages.mapping.inputs import Inputs

READS = ("parts.yaml", "network.yaml")
WRITES = ("fitted.yaml",)
HEADER = """Over which lanes the results of parts cross, and how wide the rectangles of parts are.
cycles: what a part is expected to take, by a closed form; size: columns and rows of its rectangle,
no wider than that needs. lanes: the lane of each element of its result, from the north, where there
are several; tried: over which lanes it might cross, and the cycles of the parts at both ends then.
Others cross as was decided, those of parts further down over several lanes."""
Tried = dict[str, typing.Any]
Size = tuple[int, int]
"""The columns and rows of a rectangle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Network:
    """A network while it is fitted: parts.yaml, and what is known of LAIRs and layer.yamls."""

    given: Graph
    parts: Mapping[str, typing.Any]
    profile: Profile
    layers: dict[str, Part] = field(default_factory=dict)
    expected: dict[tuple[str, str], Expected | None] = field(default_factory=dict)

    def read(self, lair: str) -> Part:
        """Return a part of its LAIR: parts that compute alike are read once."""
        if lair not in self.layers:
            self.layers[lair] = read_part(lair)
        return self.layers[lair]


def run(inputs: Inputs) -> dict[str, str]:
    """Return fitted.yaml.

    Raises UserError for a machine that there is not, UserErrors for such directions of parts.
    """
    given = load_graph(map(inputs.source, inputs.names("network.yaml")))
    network = _Network(
        given=given, parts=inputs.yaml("parts.yaml"),
        profile=read_machine(given, inputs.further_path),
    )
    errors = [each for name in network.parts for each in _check_directions(name, network)]
    if errors:
        raise UserErrors(errors)
    lanes, tried = _choose(network)
    said = {
        name: _describe(name, lanes, tried.get(name, []), network)
        for name in network.parts if is_fitted(name, given)
    }
    return {"fitted.yaml": write_document(HEADER, said)}


def _check_directions(name: str, network: _Network) -> Iterator[UserError]:
    """Yield an error for each direction of a part that none of its statements has."""
    own = network.given.parts.get(name)
    if own is not None and own.placement is not None and own.folder is None:
        layer = network.read(network.parts[name]["lair"]).layer
        yield from check_directions(own.placement, layer)


def _choose(network: _Network) -> tuple[dict[str, Lanes], dict[str, list[Tried]]]:
    """Return the lanes of the results that cross over several, and what was weighed for each.

    Crossing after crossing, from all over several lanes. Taken is that with which the slowest part
    at its ends is fast, and then the sum of their cycles small.
    """
    crossings = list(_list_crossings(network))
    lanes, tried = {name: way for name, _, way in crossings}, {}
    for name, ends, way in crossings:
        others = {other: lanes[other] for other in lanes if other != name}
        both = others | {name: way}
        one, several = (_weigh(ends, each, network) for each in (others, both))
        lanes = both if _rank(several) < _rank(one) else others
        tried[name] = [{"lanes": 1, "cycles": _tell(one)}, {
            "lanes": count_lanes(way), "of": spell_object(way), "cycles": _tell(several),
        }]
    return _drop_misfits(lanes, network), tried


def _list_crossings(network: _Network) -> Iterator[tuple[str, list[str], Lanes]]:
    """Yield results that may cross over several lanes, by their parts, with all ends and lanes."""
    for name, takers in find_takers(network.parts).items():
        ends = list(dict.fromkeys([name, *takers]))
        if all(is_fitted(each, network.given) for each in ends):
            rows = min(find_largest(each, network.given)[1] for each in ends)
            elements = isl.Map(network.parts[name]["leaves"]).domain()
            if (way := find_most_lanes(elements, rows)) is not None:
                yield name, ends, way


def _drop_misfits(lanes: dict[str, Lanes], network: _Network) -> dict[str, Lanes]:
    """Return the lanes without those at parts for which no placement is found with them."""
    for name, described in network.parts.items():
        if is_fitted(name, network.given) and _weigh([name], lanes, network)[name] is None:
            ends = {end for each in described["arrives"].values() for end in each["from"]}
            near = {name, *map(find_source, ends)}
            lanes = {other: way for other, way in lanes.items() if other not in near}
    return lanes


def _weigh(
    ends: Iterable[str], lanes: Mapping[str, Lanes], network: _Network
) -> dict[str, Expected | None]:
    """Return what parts take on the largest rectangles that they may have, by their names."""
    return {
        name: _expect(name, lanes, find_largest(name, network.given), network) for name in ends
    }


def _expect(
    name: str, lanes: Mapping[str, Lanes], size: Size, network: _Network
) -> Expected | None:
    """Return what a part takes. Parts that compute alike are looked at once."""
    fitted = {each: Fitted(lanes=way) for each, way in lanes.items()}
    fitted[name] = Fitted(size=size, lanes=lanes.get(name))
    described = network.parts[name]
    key = described["lair"], write_part_layer(described, name, network.given, fitted)
    if key not in network.expected:
        part, mapping = network.read(key[0]), read_given(key[1])
        network.expected[key] = expect(part, mapping, network.profile)
    return network.expected[key]


def _trim(
    name: str, found: Expected, lanes: Mapping[str, Lanes], network: _Network
) -> Size:
    """Return the rectangle of a part: as wide as what was found needs, if that is no worse there.

    What was found may be in the way of the ports of a narrower one, or of its adapters.
    """
    largest = find_largest(name, network.given)
    narrow = found.columns, largest[1]
    again = _expect(name, lanes, narrow, network)
    return narrow if _rank({name: again}) <= _rank({name: found}) else largest


def _rank(expected: Mapping[str, Expected | None]) -> tuple[int, int, int, int]:
    """Return what comes first: what has a place, and room in memory, then by cycles."""
    known = [each for each in expected.values() if each is not None]
    cycles = [each.cycles for each in known]
    lacking = sum(each.lacking for each in known)
    return len(expected) - len(known), lacking, max(cycles, default=0), sum(cycles)


def _tell(expected: Mapping[str, Expected | None]) -> dict[str, int | str]:
    return {name: each.cycles if each else "no placement" for name, each in expected.items()}


def _describe(
    name: str, lanes: Mapping[str, Lanes], tried: Sequence[Tried], network: _Network
) -> dict[str, typing.Any]:
    """Return what fitted.yaml says of a part."""
    found = _weigh([name], lanes, network)[name]
    said: dict[str, typing.Any] = {}
    if found is not None:
        said["cycles"] = found.cycles
        if "target" not in network.given.said_of(name):
            said["size"] = list(_trim(name, found, lanes, network))
    if name in lanes:
        said["lanes"] = spell_object(lanes[name])
    return {**said, "tried": list(tried)} if tried else said

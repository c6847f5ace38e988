"""Fit the parts of a network from a graph to each other: what crosses over which lanes, how wide.

Paper    not in the paper, which is given placements
Reads    parts.yaml, network.yaml
Writes   fitted.yaml
Assumes  parts come after those whose results they take (split).
Ensures  both ends of a crossing have the same lanes, in the same order. The same network gives the
         same lanes.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import islpy as isl

from stages.diagnose import UserError, UserErrors
from stages.layer.search.checking import check_directions
from stages.mapping.graph_yaml import Graph, load_graph
from stages.mapping.machine import read_machine
from stages.mapping.yaml_text import write_document
from stages.network.fitting.expecting import Expected, Part, expect, read_given, read_part
from stages.network.fitting.sizing import (
    Size,
    Sized,
    describe_size,
    find_smallest,
    list_halves,
    tell_cycles,
)
from stages.network.parts.part_layers import (
    Fitted,
    count_rows,
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
LIMITED = """
weighed: the cycles of the part on rectangles of other sizes, in the order in which these were
looked at; why: what is best of the taken one. Lanes are those with which all ends of a crossing
together have the fewest PEs."""
Tried = dict[str, typing.Any]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Try:
    """Lanes of results, and what fitted.yaml says of the ends of one of these; the least rank is
    best."""

    rank: tuple[int, ...]
    lanes: dict[str, Lanes]
    said: Tried


def run(inputs: Inputs) -> dict[str, str]:
    """Return fitted.yaml.

    Raises UserError for a machine that there is not, UserErrors for such directions of parts, and
    for a limit of cycles to which parts are not expected to keep.
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
    over = list(_check_limit(lanes, network))
    if over:
        raise UserErrors(over)
    said = {
        name: _describe(name, lanes, tried.get(name, []), network)
        for name in network.parts if is_fitted(name, given)
    }
    header = HEADER if given.cycles is None else HEADER + LIMITED
    return {"fitted.yaml": write_document(header, said)}


def _check_directions(name: str, network: _Network) -> Iterator[UserError]:
    """Yield an error for each direction of a part that none of its statements has."""
    own = network.given.parts.get(name)
    if own is not None and own.placement is not None and own.folder is None:
        layer = network.read(network.parts[name]["lair"]).layer
        yield from check_directions(own.placement, layer)


def _check_limit(lanes: Mapping[str, Lanes], network: _Network) -> Iterator[UserError]:
    """Yield an error for each part that is expected to take more cycles than network.yaml has."""
    given, limit = network.given, network.given.cycles
    if limit is None:
        return
    names = [name for name in network.parts if is_fitted(name, given)]
    found = {
        name: (each.found.cycles, each.size)
        for name, each in _weigh(names, lanes, network).items()
        if each.found is not None and each.found.cycles > limit
    }
    for name, (cycles, (width, height)) in found.items():
        message = f"{name} is expected to take {cycles} cycles at least, on {width} x {height} PEs"
        most = max(cycles for cycles, _ in found.values())
        hint = f"`cycles: {most}`, or a larger `target`"
        yield UserError(message, given.span("cycles"), hint)


def _choose(network: _Network) -> tuple[dict[str, Lanes], dict[str, list[Tried]]]:
    """Return the lanes of the results that cross over several, and what was weighed for each.

    Crossing after crossing, from all over several lanes, or from all over one if there is a limit,
    as that lets rectangles be low. Taken is what `_rank` puts first. From the most lanes on half of
    them are weighed, and so on, until there is a place for all ends; with a limit until that is no
    better.
    """
    limit, tried = network.given.cycles, {}
    crossings = list(_list_crossings(network))
    lanes = {name: ways[0] for name, _, ways in crossings if limit is None}
    for name, ends, ways in crossings:
        others = {other: lanes[other] for other in lanes if other != name}
        found = [_try(None, ends, others, network)]
        for way in ways:
            found.append(_try(way, ends, others | {name: way}, network))
            if _is_enough([each.rank for each in found], limit):
                break
        lanes = min(found, key=lambda each: each.rank).lanes
        tried[name] = [each.said for each in found]
    return _drop_misfits(lanes, network), tried


def _try(
    way: Lanes | None, ends: Iterable[str], lanes: dict[str, Lanes], network: _Network
) -> _Try:
    """Return what ends take if the result crosses in a way, and all results over some lanes."""
    sized, limit = _weigh(ends, lanes, network), network.given.cycles
    said = {**_spell_lanes(way), **_tell(sized, limit)}
    return _Try(rank=_rank(sized, limit), lanes=lanes, said=said)


def _is_enough(ranks: Sequence[tuple[int, ...]], limit: int | None) -> bool:
    """Return whether fewer lanes need no look: all ends have a place, and, with a limit, the last
    ones are no better than those before. First come the ranks over one lane."""
    if limit is None:
        return not ranks[-1][0]
    return len(ranks) > 2 and ranks[-1] >= ranks[-2]


def _list_crossings(network: _Network) -> Iterator[tuple[str, list[str], list[Lanes]]]:
    """Yield results that may cross over several lanes, by their parts, with all ends and lanes.

    The most lanes that there may be come first, then half of them, and so on.
    """
    for name, takers in find_takers(network.parts).items():
        ends = list(dict.fromkeys([name, *takers]))
        if all(is_fitted(each, network.given) for each in ends):
            rows = min(find_largest(each, network.given)[1] for each in ends)
            elements = isl.Map(network.parts[name]["leaves"]).domain()
            found = (find_most_lanes(elements, count) for count in list_halves(rows, 1))
            ways = {count_lanes(way): way for way in found if way is not None}
            if ways:
                yield name, ends, list(ways.values())


def _drop_misfits(lanes: dict[str, Lanes], network: _Network) -> dict[str, Lanes]:
    """Return the lanes without those at parts for which no placement is found with them."""
    for name, described in network.parts.items():
        if is_fitted(name, network.given) and _size(name, lanes, network).found is None:
            ends = {end for each in described["arrives"].values() for end in each["from"]}
            near = {name, *map(find_source, ends)}
            lanes = {other: way for other, way in lanes.items() if other not in near}
    return lanes


def _weigh(
    names: Iterable[str], lanes: Mapping[str, Lanes], network: _Network
) -> dict[str, Sized]:
    """Return rectangles of parts, by their names, and what they take on them."""
    return {name: _size(name, lanes, network) for name in names}


def _size(name: str, lanes: Mapping[str, Lanes], network: _Network) -> Sized:
    """Return the largest rectangle that a part may have; the smallest if there is a limit.

    One of which the user says the target has that.
    """
    given, largest = network.given, find_largest(name, network.given)
    expect = functools.partial(_expect, name, lanes, network)
    if given.cycles is None or "target" in given.said_of(name):
        return Sized(size=largest, found=expect(largest))
    fitted = {each: Fitted(lanes=way) for each, way in lanes.items()}
    rows = count_rows(network.parts[name], name, fitted)
    return find_smallest(largest, rows, given.cycles, expect)


def _expect(
    name: str, lanes: Mapping[str, Lanes], network: _Network, size: Size
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


def _trim(name: str, sized: Sized, lanes: Mapping[str, Lanes], network: _Network) -> Size:
    """Return the rectangle of a part: as wide as what was found needs, if that is no worse there.

    What was found may be in the way of the ports of a narrower one, or of its adapters.
    """
    assert sized.found is not None, "nothing else is trimmed"
    narrow = sized.found.columns, sized.size[1]
    again = Sized(size=narrow, found=_expect(name, lanes, network, narrow))
    return narrow if _rank({name: again}) <= _rank({name: sized}) else sized.size


def _rank(sized: Mapping[str, Sized], limit: int | None = None) -> tuple[int, ...]:
    """Return what comes first: what has a place, and room in memory, then by cycles.

    With a limit of cycles, before these, what keeps to it, and then by PEs.
    """
    known = [each.found for each in sized.values() if each.found is not None]
    cycles = [each.cycles for each in known]
    lacking, slowest = sum(each.lacking for each in known), max(cycles, default=0)
    first = len(sized) - len(known), lacking
    if limit is None:
        return *first, slowest, sum(cycles)
    pes = sum(prod(each.size) for each in sized.values())
    return *first, max(0, slowest - limit), pes, slowest, sum(cycles)


def _spell_lanes(way: Lanes | None) -> dict[str, typing.Any]:
    return {"lanes": 1} if way is None else {"lanes": count_lanes(way), "of": spell_object(way)}


def _tell(sized: Mapping[str, Sized], limit: int | None) -> dict[str, typing.Any]:
    """Return what fitted.yaml says of the ends of a crossing."""
    said = {"cycles": {name: tell_cycles(each.found) for name, each in sized.items()}}
    sizes = {name: list(each.size) for name, each in sized.items()}
    return said if limit is None else {**said, "size": sizes}


def _describe(
    name: str, lanes: Mapping[str, Lanes], tried: Sequence[Tried], network: _Network
) -> dict[str, typing.Any]:
    """Return what fitted.yaml says of a part."""
    sized = _size(name, lanes, network)
    said: dict[str, typing.Any] = {}
    if sized.found is not None:
        said["cycles"] = sized.found.cycles
        if sized.weighed:
            said |= describe_size(sized, network.given.cycles)
        elif "target" not in network.given.said_of(name):
            said["size"] = list(_trim(name, sized, lanes, network))
    if name in lanes:
        said["lanes"] = spell_object(lanes[name])
    return {**said, "tried": list(tried)} if tried else said

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.mapping.machine import check_grid, read_machine
from lairmake.stages.mapping.network_yaml import GraphMapping, read_graph
from lairmake.stages.mapping.yaml_text import write_document
from lairmake.stages.network.parts.part import (
    FittedPart,
    Lanes,
    count_lanes,
    count_rows,
    find_largest,
    find_most_lanes,
    find_source,
    find_takers,
    is_fitted,
    write_part_layer,
)
from lairmake.stages.network.sizing import (
    Expected,
    Size,
    Sized,
    SizedPart,
    describe_size,
    expect,
    find_smallest,
    list_halves,
    read_given,
    read_part,
    tell_cycles,
)
from lairmake.stages.poly.text import spell_object

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.inputs import Inputs

READS = ("parts.yaml", "network.yaml: machine, target, goal, cycles, invocations, parts")
WRITES = ("fitted.yaml",)
HEADER = """Over which lanes the results of parts cross, and how wide the rectangles of parts are.
cycles: what a part is expected to take, by a closed form; size: columns and rows of its rectangle,
no wider than that needs. lanes: the lane of each element of its result, from the north, where there
are several; tried: over which lanes it might cross, and the cycles of the parts at both ends then.
Others cross as was decided, those of parts further down over several lanes."""
LIMITED = """
weighed: the cycles of the part on rectangles of other sizes, in the order in which these were
looked at; why: what is best of the taken one. Results cross over one lane if both ends then are
expected to keep to the limit on their largest rectangles."""
Tried = dict[str, typing.Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Network:
    """A network while it is fitted: parts.yaml, and caches for LAIRs and layer.yamls."""

    given: GraphMapping
    parts: Mapping[str, typing.Any]
    profile: Profile
    layers: dict[str, SizedPart] = field(default_factory=dict)
    expected: dict[tuple[str, str], Expected | None] = field(default_factory=dict)

    def read(self, lair: str) -> SizedPart:
        """Return the part of a LAIR text; parts that compute alike are read once."""
        if lair not in self.layers:
            self.layers[lair] = read_part(lair)
        return self.layers[lair]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Try:
    """A choice of lanes for results, with the entry of fitted.yaml for one crossing.

    The least rank is best.
    """

    rank: tuple[int, ...]
    lanes: dict[str, Lanes]
    said: Tried


def run(inputs: Inputs) -> dict[str, str]:
    """Return fitted.yaml.

    Raises UserError for an unknown machine, or one that is smaller than a target, and UserErrors
    where parts are not expected to keep the limit of cycles.
    """
    given = inputs.file_or_empty("network.yaml", read_graph)
    network = _Network(
        given=given, parts=inputs.yaml("parts.yaml"),
        profile=read_machine(given, inputs),
    )
    for name in network.parts:
        _check_target(name, network)
    lanes, tried = _choose(network)
    names = [name for name in network.parts if is_fitted(name, given)]
    sizes = {name: _size(name, lanes, network) for name in names}
    over = list(_check_limit(sizes, given))
    if over:
        raise UserErrors(over)
    said = {
        name: _describe(name, each, lanes, tried.get(name, []), given)
        for name, each in sizes.items()
    }
    header = HEADER if given.cycles is None else HEADER + LIMITED
    return {"fitted.yaml": write_document(header, said)}


def _check_target(name: str, network: _Network) -> None:
    """Raise UserError for a part whose target is larger than the machine."""
    given = network.given
    own = given.parts.get(name)
    path = ("target",) if own is None or own.target is None else ("parts", name, "target")
    if own is None or own.folder is None:
        check_grid(find_largest(name, given), network.profile, given.span(*path))


def _check_limit(sizes: Mapping[str, Sized], given: GraphMapping) -> Iterator[UserError]:
    """Yield an error for each part that is expected to exceed the cycles of network.yaml."""
    limit = given.cycles
    over = {
        name: (each.found.cycles, each.size) for name, each in sizes.items()
        if limit is not None and each.found is not None and each.found.cycles > limit
    }
    for name, (cycles, (width, height)) in over.items():
        message = f"{name} is expected to take {cycles} cycles at least, on {width} x {height} PEs"
        most = max(cycles for cycles, _ in over.values())
        hint = f"`cycles: {most}`, or a larger `target`"
        yield UserError(message, given.span("cycles"), hint)


def _choose(network: _Network) -> tuple[dict[str, Lanes], dict[str, list[Tried]]]:
    """Return the lanes of results that cross over several, and the choices weighed for each result.

    Crossings are decided one after another. At first all cross over several lanes, or over one if
    there is a limit of cycles: one lane lets rectangles be low, and a crossing that keeps the limit
    stays so. The choices for a crossing are the most lanes, half of them, and so on, until all ends
    have a place. The choice with the best `_rank` is taken.
    """
    limit, tried = network.given.cycles, {}
    crossings = list(_list_crossings(network))
    lanes = {name: ways[0] for name, _, ways in crossings if limit is None}
    for name, ends, ways in crossings:
        others = {other: lanes[other] for other in lanes if other != name}
        found = [_try(None, ends, others, network)]
        keeps = limit is not None and not any(found[0].rank[:-2])
        for way in () if keeps else ways:
            found.append(_try(way, ends, others | {name: way}, network))
            if not found[-1].rank[0]:
                break
        lanes = min(found, key=lambda each: each.rank).lanes
        tried[name] = [each.said for each in found]
    return _drop_misfits(lanes, network), tried


def _try(
    way: Lanes | None, ends: Iterable[str], lanes: dict[str, Lanes], network: _Network
) -> _Try:
    """Return the figures of all ends of a result that crosses over `way`, beside other lanes."""
    found = {name: _expect(name, lanes, network) for name in ends}
    cycles = {name: tell_cycles(each) for name, each in found.items()}
    rank = _rank(found.values(), network.given.cycles)
    return _Try(rank=rank, lanes=lanes, said={**_spell_lanes(way), "cycles": cycles})


def _list_crossings(network: _Network) -> Iterator[tuple[str, list[str], list[Lanes]]]:
    """Yield each result that may cross over several lanes: its part, all ends, and its lanes.

    The largest number of lanes comes first, then half of it, and so on.
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
    """Return the lanes without those at parts that have no placement with them."""
    for name, described in network.parts.items():
        if is_fitted(name, network.given) and _expect(name, lanes, network) is None:
            ends = {end for each in described["arrives"].values() for end in each["from"]}
            near = {name, *map(find_source, ends)}
            lanes = {other: way for other, way in lanes.items() if other not in near}
    return lanes


def _expect(
    name: str, lanes: Mapping[str, Lanes], network: _Network, size: Size | None = None
) -> Expected | None:
    """Return the figures of a part on a rectangle, by default its largest one.

    Parts that compute alike are evaluated once.
    """
    fitted = {each: FittedPart(lanes=way) for each, way in lanes.items()}
    fitted[name] = FittedPart(size=size, lanes=lanes.get(name))
    described = network.parts[name]
    key = described["lair"], write_part_layer(described, name, network.given, fitted)
    if key not in network.expected:
        part, mapping = network.read(key[0]), read_given(key[1])
        network.expected[key] = expect(part, mapping, network.profile)
    return network.expected[key]


def _size(name: str, lanes: Mapping[str, Lanes], network: _Network) -> Sized:
    """Return the rectangle of a part: as wide as needed, or the smallest within a limit.

    A target of the user is kept as it is.
    """
    given, largest = network.given, find_largest(name, network.given)
    expect_on = functools.partial(_expect, name, lanes, network)
    found = expect_on(largest)
    if found is None or "target" in given.said_of(name):
        return Sized(size=largest, found=found)
    if given.cycles is not None:
        fitted = {each: FittedPart(lanes=way) for each, way in lanes.items()}
        rows = count_rows(network.parts[name], name, fitted)
        return find_smallest(largest, rows, given.cycles, expect_on)
    return _trim(Sized(size=largest, found=found), found.columns, expect_on)


def _trim(
    sized: Sized, columns: int, expect_on: Callable[[Size], Expected | None]
) -> Sized:
    """Return a rectangle with only the columns that its placement needs, if that is no worse.

    The placement may be in the way of ports or adapters on a narrower rectangle.
    """
    narrow = columns, sized.size[1]
    again = expect_on(narrow)
    better = _rank([again]) <= _rank([sized.found])
    return Sized(size=narrow if better else sized.size, found=sized.found)


def _rank(found: Iterable[Expected | None], limit: int | None = None) -> tuple[int, ...]:
    """Return the rank of a choice; the least is best.

    It has the ends without a place, the bytes that lack, the cycles over the limit, and the cycles
    of the slowest end and of all ends.
    """
    all_ends = list(found)
    known = [each for each in all_ends if each is not None]
    cycles = [each.cycles for each in known]
    lacking, slowest = sum(each.lacking for each in known), max(cycles, default=0)
    over = 0 if limit is None else max(0, slowest - limit)
    return len(all_ends) - len(known), lacking, over, slowest, sum(cycles)


def _spell_lanes(way: Lanes | None) -> dict[str, typing.Any]:
    return {"lanes": 1} if way is None else {"lanes": count_lanes(way), "of": spell_object(way)}


def _describe(
    name: str, sized: Sized, lanes: Mapping[str, Lanes], tried: Sequence[Tried], given: GraphMapping
) -> dict[str, typing.Any]:
    """Return the entry of a part in fitted.yaml."""
    said: dict[str, typing.Any] = {}
    if sized.found is not None:
        said["cycles"] = sized.found.cycles
        if "target" not in given.said_of(name):
            said |= describe_size(sized, given.cycles)
    if name in lanes:
        said["lanes"] = spell_object(lanes[name])
    return {**said, "tried": list(tried)} if tried else said

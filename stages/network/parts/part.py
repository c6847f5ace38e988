"""A part of a network as a layer: LAIR and layer.yaml."""

from __future__ import annotations

import functools
import itertools
import string
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import yaml

from lairmake.stages.diagnose import Span
from lairmake.stages.lair.tree import make_plain_name
from lairmake.stages.machine.types import BYTES
from lairmake.stages.mapping.isl_texts import IslText, parse_target
from lairmake.stages.mapping.layer_yaml import ANYWHERE, Analysis, TensorMapping, is_whole
from lairmake.stages.mapping.network_yaml import GraphMapping, Part
from lairmake.stages.network.parts.dividing import DividedPiece, PartRoom
from lairmake.stages.network.parts.grouping import OperationGroup, trace
from lairmake.stages.parts.tile_layer import iterators, write_lair
from lairmake.stages.parts.tiling import PartTile, Rows, Slice, TileStatement
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import letters
from lairmake.stages.poly.functions import find_greatest, find_least
from lairmake.stages.poly.iscc import ToldObject, tell
from lairmake.stages.poly.text import spell_object
from lairmake.stages.volumes.operation import VolumeProgram

IN, OUT, SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

# --- Names of iterators ---------------------------------------------------------------------------
#
# The names are those that people know, alike in all statements of a part. A result is [n, k, i, j],
# as of a convolution: sample, channel, row and column; a result of fewer dimensions has the last of
# these, a vector i. Where windows move, i and j are their starts, in every layout; a and b run
# within windows, and c over other sums. An iterator along a dimension of a tensor that was read or
# computed before has the name of that dimension. So a direction of a placement, `(k, i)`, applies
# to all statements with these iterators.

Names = Mapping[int, str]
"""Names of iterators by their places among all iterators of a statement."""

RESULTS, PLACES, WINDOWS, SUMS, GROUPS = "nkij", "ij", "ab", "cab", "g"


def name_loops(tile: PartTile, names: Mapping[str, str]) -> dict[str, Names]:
    """Return the names of the iterators of each statement, by the tensor that it computes.

    `names` are the names of tensors in LAIR, which no iterator gets.
    """
    taken = set(names.values())
    known: dict[str, Sequence[str | None]] = {}
    loops: dict[str, Names] = {}
    for statement in tile.statements:
        along = _Along(statement=statement, results=_find_results(statement))
        found = loops[statement.tensor] = _name(along, known, taken)
        for tensor, rows in ((statement.tensor, statement.target), *along.reads(known)):
            runners = map(along.find, rows)
            known.setdefault(tensor, [None if k is None else found.get(k) for k in runners])
    return loops


@dataclass(frozen=True, slots=True, kw_only=True)
class _Along:
    """The iterators of a statement along dimensions of tensors.

    `results` has the iterator along each dimension of the result, None where there is none.
    """

    statement: TileStatement
    results: Sequence[int | None]

    def find(self, row: Sequence[int]) -> int | None:
        """Return the iterator along a dimension of a tensor: one of the result, or the only one."""
        several = [k for k in _used(row) if self.statement.size[k] > 1]
        own = [k for k in several if k in self.results]
        return own[0] if own else several[0] if len(several) == 1 else None

    def reads(self, known: Collection[str]) -> list[tuple[str, Rows]]:
        """Return the reads of the statement, of known tensors first."""
        return sorted(self.statement.reads.values(), key=lambda read: read[0] not in known)

    def windows(self) -> dict[int, int]:
        """Return the iterators within windows, each with that of the place that it moves."""
        results, target = self.results, self.statement.target
        sums = set(range(len(self.statement.size))).difference(*map(_used, target))
        moved = {
            k: place
            for _, rows in self.statement.reads.values() for used in map(_used, rows)
            for k in used if k in sums for place in used if place in results
        }
        for place, row in zip(results, target, strict=True):
            if place is not None:
                moved |= {k: place for k in _used(row) if k != place and row[k] <= row[place]}
        return moved


def _find_results(statement: TileStatement) -> list[int | None]:
    """Return the iterator along each dimension of the result, None where there is none."""
    rows = [row for _, rows in statement.reads.values() for row in rows]
    single = {used[0] for row in rows if len(used := _used(row)) == 1}
    return [_find_result(row, statement, single) for row in statement.target]


def _find_result(
    row: Sequence[int], statement: TileStatement, single: Collection[int]
) -> int | None:
    """Return the iterator along a dimension of the result.

    Of several iterators, it is the one with the largest step among those that are alone in an index
    of a read (`single`), as in a transposed convolution; else the last one, as of channels within a
    group.
    """
    used = [k for k in _used(row) if statement.size[k] > 1] or _used(row)
    alone = [k for k in used if len(used) > 1 and k in single]
    return max(alone, key=lambda k: row[k]) if alone else next(reversed(used), None)


def _used(row: Sequence[int]) -> list[int]:
    """Return the iterators in an index, whose last entry is its constant."""
    return [k for k, factor in enumerate(row[:-1]) if factor]


def _name(
    along: _Along, known: Mapping[str, Sequence[str | None]], taken: Collection[str]
) -> dict[int, str]:
    """Return the names of those iterators of a statement that LAIR writes."""
    found: dict[int, str] = {}
    kept = iterators(along.statement)
    wishes = itertools.chain(_known(along, known), _results(along))
    for k, name in wishes:
        if k in kept and k not in found and name not in {*found.values(), *taken}:
            found[k] = name
    windows, results = along.windows(), {k for row in along.statement.target for k in _used(row)}
    for k in kept:
        if k not in found:
            first = WINDOWS if k in windows else GROUPS if k in results else SUMS
            used = {*found.values(), *taken}
            found[k] = next(each for each in _free_names(first) if each not in used)
    return {k: found[k] for k in kept}


def _known(
    along: _Along, known: Mapping[str, Sequence[str | None]]
) -> Iterator[tuple[int, str]]:
    """Yield iterators with the names of known dimensions along which they run."""
    for tensor, rows in along.reads(known):
        for row, name in zip(rows, known.get(tensor, ()), strict=False):
            k = along.find(row)
            if k is not None and name is not None:
                yield k, name


def _results(along: _Along) -> Iterator[tuple[int, str]]:
    """Yield iterators with the names of a result's dimensions, from the last one on."""
    runners, places = along.results, set(along.windows().values())
    names = RESULTS if len(runners) > 1 else PLACES[:1]
    others = [k for k in runners if k is not None and k not in places]
    if places and runners and (runners[0] is not None or len(others) < 2):
        rank = min(len(PLACES), max(len(runners) - 2, 1))
        rest = [k for k in runners if k in places or (k is None and len(places) < rank)]
        runners, names = [*others, *rest[-rank:]], RESULTS[: -len(PLACES)] + PLACES[:rank]
    for k, name in zip(reversed(runners), reversed(names), strict=False):
        if k is not None:
            yield k, name


def _free_names(first: str) -> Iterator[str]:
    """Yield names without a meaning elsewhere: those in `first`, other letters, then c1, c2, ..."""
    yield from (each for each in first + string.ascii_lowercase if each not in RESULTS)
    yield from (f"c{n}" for n in itertools.count(1))

# --- A part in parts.yaml -------------------------------------------------------------------------
#
# parts.yaml has the LAIR of a part, the slices of its tensors, and the elements that cross to it.
# Tensors have the same names in all parts, so that parts which compute alike are one text: `x`,
# `x1`, ... arrive, `w`, `w1`, ... are weights, and `y` is the result.

RESULT = "y"
Described = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSurroundings:
    """The network around a part: its operations, weights, and parts.

    `numbers` are the volumes with one value everywhere; `parts` has the part, or the parts, of each
    volume that parts compute.
    """

    program: VolumeProgram
    weights: Collection[str]
    numbers: Mapping[str, float]
    parts: Mapping[str, Sequence[DividedPiece]]


def describe(part: DividedPiece, around: PartSurroundings) -> Described:
    """Return the entry of a part in parts.yaml."""
    found, group = part.tile, part.group
    sources = {name: _sources(name, slice_, around) for name, slice_ in found.inputs.items()}
    names = _names(found, group, {n for n, each in sources.items() if _is_weight(each, around)})
    return {
        "why": part.why,
        "operations": [each.name for each in group.operations],
        "output": group.result,
        **({} if part.is_whole else {"piece": _slice(found.output)}),
        "inputs": {names[name]: _slice(slice_) for name, slice_ in found.inputs.items()},
        "arrives": {
            names[name]: _arrival(names[name], each, around)
            for name, each in sources.items() if not _is_weight(each, around)
        },
        "leaves": _in_order(tell(_result(part))),
        "lair": write_lair(found, "part", names, around.program.types, name_loops(found, names)),
    }


def find_chained(described: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the maps of those tensors that are made of results of parts, by source.

    Results come first. Other sources are volumes: inputs of the network, weights, numbers.
    """
    return {
        tensor: dict(sorted(each["from"].items(), key=lambda source: not is_result(source[0])))
        for tensor, each in described["arrives"].items() if any(map(is_result, each["from"]))
    }


def list_given(described: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the files of the other sources of such tensors, each with its volume."""
    return [
        (f"given/{tensor}_{n}.npy", end)
        for tensor, sources in find_chained(described).items()
        for n, end in enumerate(sources) if not is_result(end)
    ]


def is_result(end: str) -> bool:
    """Return whether a source is the result of a part, `conv1.y`."""
    return end.endswith(f".{RESULT}")


def _sources(name: str, slice_: Slice, around: PartSurroundings) -> dict[str, isl.Map]:
    """Return { name[l] -> v[e] } for a slice, by the volumes v that are no copies."""
    at = slice_.at().domain_factor_range().set_tuple_name(IN, name)
    return trace(at, around.program)


def _is_weight(sources: Mapping[str, isl.Map], around: PartSurroundings) -> bool:
    """Return whether all of a tensor is known."""
    return all(name in around.weights or name in around.numbers for name in sources)


def _names(found: PartTile, group: OperationGroup, weights: Collection[str]) -> dict[str, str]:
    """Return the names of tensors in a part."""
    names: dict[str, str] = {}
    sources = {each.name: each.source for each in group.operations}
    for name in found.inputs:
        stem = "w" if name in weights else "x"
        count = sum(each.startswith(stem) for each in names.values())
        names[name] = f"{stem}{count or ''}"
    for n, name in enumerate(found.computed):
        source = make_plain_name(sources.get(name, "again").lower())
        names[name] = RESULT if name == group.result else f"{source}_{n}"
    return names


def _arrival(called: str, sources: Mapping[str, isl.Map], around: PartSurroundings) -> Described:
    """Return the arrival of a tensor: its order, its sources, and the value of other elements.

    Elements that all have one known value do not arrive; all others do.
    """
    numbers = around.numbers
    known = sorted({numbers[name] for name in sources if name in numbers})[:1]
    moving = {name: each for name, each in sources.items() if numbers.get(name) not in known}
    maps = {name: each.set_tuple_name(IN, called) for name, each in moving.items()}
    found: Described = {
        "order": _order(list(maps.values())),
        "from": {
            end: spell_object(each) for name, moved in maps.items()
            for end, each in _list_ends(name, moved, around)
        },
    }
    return {**found, "otherwise": known[0]} if known else found


def _list_ends(
    volume: str, moved: isl.Map, around: PartSurroundings
) -> Iterator[tuple[str, isl.Map]]:
    """Yield the sources that { x[e] -> volume[e'] } leads to, by their names for users, with maps.

    A source is the result of a part, with its first element at zero, or an input of the network.
    """
    for part in around.parts.get(volume, ()):
        if part.is_whole:
            yield f"{part.name}.{RESULT}", moved
        elif not (inside := moved.intersect_range(part.elements)).is_empty():
            yield f"{part.name}.{RESULT}", inside.apply_range(_from_zero(part.elements)).coalesce()
    if volume not in around.parts:
        yield volume, moved


def _from_zero(box: isl.Set) -> isl.Map:
    """Return { v[e] -> v[e - first] } for the elements of a box."""
    name, first = box.get_tuple_name(), [low for low, _ in bounding_box(box)]
    names = letters(len(first))
    there = ", ".join(f"{each} - {low}" for each, low in zip(names, first, strict=True))
    moved = isl.Map(f"{{ {name}[{', '.join(names)}] -> {name}[{there}] }}")
    return moved.intersect_domain(box)


def _order(maps: list[isl.Map]) -> str:
    """Return { x[e] -> [i, ...] }, the order in which a tensor comes over one lane.

    It is the tensor's own order, row by row, or that of its source if the two differ. In the
    source's order an element that occurs several times, as by reflection, comes as often.
    """
    every = maps[0].domain()
    for each in maps[1:]:
        every = every.union(each.domain())
    if len(maps) == 1 and not _is_ordered(maps[0]) and maps[0].is_injective():
        return str(_without_single(maps[0].reset_tuple_id(OUT)))
    return _in_order(tell(every.coalesce()))


def _is_ordered(moved: isl.Map) -> bool:
    """Return whether a function does not change the order of any two elements."""
    return _keeps_order(tell(_plain(moved)))


@functools.lru_cache(256)
def _keeps_order(moved: ToldObject) -> bool:
    """Return whether { [e] -> [e'] } does not change the order of any two elements."""
    plain: isl.Map = moved.it
    later = isl.Map.lex_lt(plain.domain().get_space())
    pairs = later.intersect_domain(plain.domain())
    image = pairs.apply_domain(plain).apply_range(plain)
    return bool(image.is_subset(isl.Map.lex_lt(image.range().get_space())))


def _plain(relation: isl.Map) -> isl.Map:
    return relation.reset_tuple_id(IN).reset_tuple_id(OUT)


@functools.lru_cache(256)
def _in_order(elements: ToldObject) -> str:
    """Return { x[e] -> [e] }, without dimensions of size 1."""
    space = elements.it.get_space()
    same = isl.Map.identity(space.map_from_set()).intersect_domain(elements.it)
    return str(_without_single(same.reset_tuple_id(OUT)))


def _without_single(order: isl.Map) -> isl.Map:
    """Return an order without dimensions of a single value; at least one dimension stays.

    A tensor of one number has no dimension, and its order gets one with the value 0.
    """
    if order.dim(OUT) == 0:
        return order.insert_dims(OUT, 0, 1).fix_val(OUT, 0, 0)
    for k in reversed(range(order.dim(OUT))):
        values = order.range()
        least, most = find_least(values, k), find_greatest(values, k)
        if least.eq(most) and order.dim(OUT) > 1:
            order = order.project_out(OUT, k, 1)
    return order


def _result(part: DividedPiece) -> isl.Set:
    """Return the elements of the result of a part, in the part's own indices."""
    elements = part.elements
    if not part.is_whole:
        elements = elements.apply(_from_zero(elements)).coalesce()
    return elements.set_tuple_name(RESULT)


def _slice(found: Slice) -> Described:
    return {
        "volume": found.volume, "offset": str(found.offset),
        "stride": list(found.stride), "size": list(found.size),
    }

# --- Lanes of a result ----------------------------------------------------------------------------
#
# A result may always cross over one lane. Several lanes have blocks of one dimension, one below the
# other; there are at most as many as rows of PEs. Then each port carries less, and elements may
# arrive where they are needed.

Lanes = isl.Map
"""{ y[e] -> [lane] }"""


def find_source(end: str) -> str | None:
    """Return the part of a result, `conv1` for `conv1.y`; None for other sources."""
    return end.removesuffix(f".{RESULT}") if is_result(end) else None


def find_takers(parts: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the parts that take the result of each part, by name.

    Results that are joined with others in one tensor cross over one lane, so they are left out.
    """
    found: dict[str, list[str]] = {name: [] for name in parts}
    for name, described in parts.items():
        for each in described["arrives"].values():
            for source in filter(None, map(find_source, each["from"])):
                if len(each["from"]) > 1:
                    found.pop(source, None)
                elif source in found:
                    found[source].append(name)
    return {name: takers for name, takers in found.items() if takers}


def find_most_lanes(elements: isl.Set, rows: int) -> Lanes | None:
    """Return the lanes with blocks of the dimension that gives most lanes, the outermost of these.

    `elements` are the elements of the result, { y[e] }, and `rows` is the largest number of lanes.
    Returns None for a single lane.
    """
    names, most, best = letters(elements.dim(isl.dim_type.set)), 1, None
    for name, (low, high) in zip(names, bounding_box(elements), strict=True):
        size = high - low + 1
        block = -(-size // rows)
        if (count := -(-size // block)) > most:
            most, best = count, f"({name} - {low})//{block}"
    if best is None:
        return None
    return isl.Map(f"{{ {RESULT}[{', '.join(names)}] -> [{best}] }}").intersect_domain(elements)


def count_lanes(lanes: Lanes) -> int:
    """Return the number of lanes."""
    ((low, high),) = bounding_box(lanes.range())
    return high - low + 1

# --- layer.yaml of a part -------------------------------------------------------------------------
#
# Tensors cross from the west to the east, over one lane, row by row, or over the lanes that `fit`
# found. So both ends agree, whatever the placements of the parts are.

WIDTH, HEIGHT = 20, 8
"""The rectangle of a part, in PEs, if network.yaml has none."""


OWN = ("machine", "search", "tensors")
"""Keys of a user with which a part is not fitted to others, as with places of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedPart:
    """The fit of a part: its width and height, and the lanes { y[e] -> [lane] } of its result.

    None stands for the largest size that it may have, and for one lane.
    """

    size: tuple[int, int] | None = None
    lanes: isl.Map | None = None


def read_fitted(said: Mapping[str, Any]) -> dict[str, FittedPart]:
    """Return the content of fitted.yaml, by the names of parts."""
    return {
        name: FittedPart(
            size=tuple(each["size"]) if "size" in each else None,
            lanes=isl.Map(each["lanes"]) if "lanes" in each else None,
        )
        for name, each in said.items()
    }


def is_fitted(name: str, given: GraphMapping) -> bool:
    """Return whether a part may be fitted: it has no folder, no OWN keys and no whole placement.

    A placement of directions leaves its places open.
    """
    if given.folder_of(name) is not None or set(OWN) & set(given.said_of(name)):
        return False
    placement = given.parts[name].placement if name in given.parts else None
    return placement is None or not is_whole(placement)


def write_part_layer(
    described: Mapping[str, Any], name: str, given: GraphMapping,
    fitted: Mapping[str, FittedPart] | None = None,
) -> str:
    """Return the layer.yaml of a part; keys of the user replace those chosen for it.

    `fitted` has the fit of parts by name: of this one, and of those whose results it takes.
    """
    said, fitted = given.said_of(name), fitted or {}
    own = fitted.get(name, FittedPart())
    width, height = own.size or find_largest(name, given)
    tensors: dict[str, Any] = {
        tensor: _arrives(each, row, fitted) for row, (tensor, each) in
        enumerate(described["arrives"].items())
    }
    order = isl.Map(described["leaves"])
    lanes = _one_lane(order, 0) if own.lanes is None else own.lanes
    tensors[RESULT] = {"leaves": _ports(order, width, lanes)}
    for tensor, more in said.pop("tensors", {}).items():
        tensors[tensor] = {**tensors.get(tensor, {}), **more}
    layer = {
        "machine": _machine(given.machine), "target": f"{{ PE[{width}, {height}] }}",
        "placement": "search", "goal": given.goal_of_parts, "tensors": tensors,
    }
    if "machine" in said:
        said["machine"] = _machine(said["machine"])
    if given.invocations > 1:
        layer["invocations"] = given.invocations
    return yaml.safe_dump({**layer, **said}, sort_keys=False, width=100)


def count_rows(described: Mapping[str, Any], name: str, fitted: Mapping[str, FittedPart]) -> int:
    """Return the least number of rows of PEs of a part: those of the lanes of its tensors."""
    own, rows = fitted.get(name, FittedPart()).lanes, [1]
    for row, each in enumerate(described["arrives"].values()):
        lanes = find_lanes(each, fitted)
        rows.append(row + 1 if lanes is None else _find_last(lanes) + 1)
    return max(*rows, 0 if own is None else _find_last(own) + 1)


def _find_last(lanes: isl.Map) -> int:
    ((_, last),) = bounding_box(lanes.range())
    return last


def find_largest(name: str, given: GraphMapping) -> tuple[int, int]:
    """Return the largest width and height of a part, in PEs."""
    own = given.parts[name].target if name in given.parts else None
    target = own or given.target
    return (WIDTH, HEIGHT) if target is None else parse_target(target)


def find_room(name: str, given: GraphMapping, memory: int) -> PartRoom:
    """Return the room of a part on PEs with `memory` bytes; unlimited for a folder of the user."""
    if given.folder_of(name) is not None:
        return PartRoom(width=1, height=1, memory=sys.maxsize, size=0)
    width, height = find_largest(name, given)
    return PartRoom(width=width, height=height, memory=memory, size=BYTES[given.type])


def _arrives(
    described: Mapping[str, Any], row: int, fitted: Mapping[str, FittedPart]
) -> dict[str, Any]:
    order = isl.Map(described["order"])
    found = {"arrives": _ports(order, -1, find_lanes(described, fitted) or _one_lane(order, row))}
    if "otherwise" in described:
        found["otherwise"] = described["otherwise"]
    return found


def find_lanes(described: Mapping[str, Any], fitted: Mapping[str, FittedPart]) -> isl.Map | None:
    """Return { x[e] -> [lane] } of an input over lanes of a part's result; None for one lane."""
    if len(described["from"]) != 1:
        return None
    ((end, moved),) = described["from"].items()
    found = fitted.get(find_source(end) or "", FittedPart())
    if found.lanes is None:
        return None
    return isl.Map(moved).set_tuple_name(OUT, RESULT).apply_range(found.lanes)


def _one_lane(order: isl.Map, row: int) -> isl.Map:
    """Return { x[e] -> [row] } of { x[e] -> [i, ...] }."""
    return isl.Map.from_domain_and_range(order.domain(), isl.Set(f"{{ [{row}] }}"))


def _ports(order: isl.Map, x: int, lanes: isl.Map) -> str:
    """Return { x[e] -> [PE[x, y] -> index[i, ...]] } of { x[e] -> [i, ...] }, { x[e] -> [y] }."""
    place = lanes.apply_range(isl.Map(f"{{ [y] -> PE[{x}, y] }}"))
    return spell_object(place.range_product(order.set_tuple_name(OUT, "index")))


def _machine(machine: str | dict[str, Any]) -> Any:
    """Return a machine for the layer.yaml of a part: paths start from the folder of the part."""
    figures = {"profile": machine} if isinstance(machine, str) else dict(machine)
    if str(figures.get("profile", "")).endswith(".yaml"):
        figures["profile"] = f"../../../{figures['profile']}"
    return figures if len(figures) > 1 else figures.get("profile", machine)

# --- Entries of network.yaml for a part -----------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfPart:
    """The entries of network.yaml for a part of a graph, in the form of layer.yaml.

    Entries for a tensor are added to those chosen: of the tensors that arrive, and those that
    leave.
    """

    name: str
    graph: GraphMapping
    arrives: Collection[str]
    leaves: Collection[str]

    @property
    def _part(self) -> Part:
        return self.graph.parts[self.name]

    @property
    def machine(self) -> str | dict[str, Any]:
        """Return the machine of the part."""
        return self._part.machine

    @property
    def tensors(self) -> dict[str, TensorMapping]:
        """Return the entries of tensors, with the ports that all of them have."""
        ports = IslText(text=ANYWHERE, source=self.span().source, offsets=(0,) * 5)
        added: dict[str, dict[str, IslText]] = {}
        for way, names in (("arrives", self.arrives), ("leaves", self.leaves)):
            added |= {name: {way: ports} for name in names}
        return {
            name: each.model_copy(update={
                way: ports for way in added.get(name, {}) if getattr(each, way) is None
            })
            for name, each in self._part.tensors.items()
        }

    @property
    def placement(self) -> IslText | None:
        """Return the places of instances."""
        return self._part.placement

    @property
    def search(self) -> list[str]:
        """Return the statements for which a search finds places."""
        return self._part.search

    @property
    def schedule(self) -> IslText | None:
        """Return the times of instances."""
        return self._part.schedule

    @property
    def moves(self) -> Mapping[str, str]:
        """Return how PEs get what others compute."""
        return self._part.moves

    @property
    def analysis(self) -> Analysis:
        """Return the tensors between which the program map goes."""
        return self._part.analysis

    def span(self, *path: str | int) -> Span:
        """Return the place of a value."""
        return self.graph.span("parts", self.name, *path)

    def key_span(self, *path: str | int) -> Span:
        """Return the place of a key."""
        return self.graph.key_span("parts", self.name, *path)

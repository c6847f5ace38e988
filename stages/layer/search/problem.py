"""The problem of a search: the open parts of layer.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.machine.profile import Profile
from lairmake.stages.mapping.isl_texts import parse_map, parse_target
from lairmake.stages.mapping.layer_yaml import DIRECTIONS, LayerMapping, is_anywhere, is_whole
from lairmake.stages.mapping.ports import Direction, read_ports
from lairmake.stages.poly.box import find_shape
from lairmake.stages.poly.canonical import list_maps, list_sets
from lairmake.stages.poly.cardinality import bound_points
from lairmake.stages.poly.functions import bind_range
from lairmake.stages.poly.sides import Rectangle, on_side
from lairmake.stages.skewing.elements import Lair, complete

if TYPE_CHECKING:
    from lairmake.stages.diagnose import Span
    from lairmake.stages.mapping.isl_texts import IslText

# --- Problem of a search --------------------------------------------------------------------------
#
# It is a layer without places, and how its tensors come and go.
# Along the axis 0 PEs have columns, at the ports of the north and south; along 1 they have rows.

AXES = (("N", "S"), ("W", "E"))
"""The sides whose ports tell a column, and those whose ports tell a row."""

Directions = tuple[str | None, str | None]
"""The iterators that run to the east and to the south; None: none does."""

PORT = ["PORT_X", "PORT_Y"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTraffic:
    """How a tensor comes, or goes: `at` has { T[e] -> PE } by side, for the sides with ports.

    `lanes` are { T[e] -> [c] } of the ports, by axis, and `only` { T[e] } without ports on the
    other axis. `wavelets` bound the elements of the busiest port, `elements` are those of the
    tensor, and `inner` is { T[e] -> [i] }, the innermost index.
    """

    tensor: str
    arrives: bool
    sparse: bool
    at: Mapping[str, isl.Map]
    lanes: tuple[isl.Map, isl.Map]
    only: tuple[isl.Set, isl.Set]
    wavelets: int
    elements: int
    inner: isl.Map


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLink:
    """A statement that needs, with { S[i] -> T[e] }, what another one writes, perhaps later.

    It knows the tensor by the name that it `reads`.
    """

    tensor: str
    reads: str
    writer: str
    reader: str
    needs: isl.Map


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A layer, its target, and the accesses { S[i] -> T[e] } of its instances, by both names.

    `instances` are all that need a place, idle ones among them. `arriving` and `leaving` are the
    tensors that may do so anywhere; `given` is { S[i] -> PE } of statements that have a place, and
    `directions` are the iterators that run to the east and to the south, None if any may.
    """

    mapping: LayerMapping
    layer: Layer
    lair: Lair
    profile: Profile
    target: Rectangle
    instances: Mapping[str, isl.Set]
    reads: Mapping[tuple[str, str], isl.Map]
    writes: Mapping[tuple[str, str], isl.Map]
    traffic: Mapping[str, SearchTraffic]
    links: tuple[SearchLink, ...]
    arriving: tuple[str, ...]
    leaving: tuple[str, ...]
    given: Mapping[str, isl.Map]
    directions: Directions | None

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements, each after those that define what it reads."""
        return self.layer.statements


def ask(mapping: LayerMapping, layer: Layer, lair: Lair, profile: Profile) -> Question:
    """Return what layer.yaml leaves open. Raises UserError for ports that are none."""
    width, height = parse_target(mapping.target)
    target = Rectangle(left=0, top=0, right=width - 1, bottom=height - 1)
    placed = lair.instances.union(lair.idle)
    instances = {each.get_tuple_name(): each for each in list_sets(placed)}
    reads, writes = _by_names(lair.reads, lair.instances), _by_names(lair.writes, placed)
    return Question(
        mapping=mapping, layer=layer, lair=lair, profile=profile, target=target,
        instances=instances, reads=reads, writes=writes,
        traffic={each.tensor: each for each in _list_traffic(mapping, lair, target)},
        links=tuple(_list_links(lair, reads, writes)),
        arriving=_list_open(mapping, "arrives"), leaving=_list_open(mapping, "leaves"),
        given=_find_given(mapping, lair), directions=_find_directions(mapping),
    )


def _find_given(mapping: LayerMapping, lair: Lair) -> dict[str, isl.Map]:
    """Return { S[i] -> PE } by statement: those that layer.yaml has, and those these tell."""
    if mapping.placement is None or not is_whole(mapping.placement):
        return {}
    placement = parse_map(mapping.placement)
    if not mapping.search:
        placement = complete(placement, lair)
    maps = list_maps(placement.intersect_domain(lair.instances.union(lair.idle)))
    return {each.get_tuple_name(isl.dim_type.in_): each for each in maps}


def _find_directions(mapping: LayerMapping) -> Directions | None:
    text = mapping.placement
    found = DIRECTIONS.fullmatch(text.text) if text is not None else None
    return (found.group(1), found.group(2)) if found else None


def _list_open(mapping: LayerMapping, way: Direction) -> tuple[str, ...]:
    """Return the tensors that may arrive, or leave, anywhere."""
    return tuple(name for name in mapping.tensors if _is_open(mapping, name, way))


def _is_open(mapping: LayerMapping, tensor: str, way: Direction) -> bool:
    given = mapping.tensors.get(tensor)
    if given is None:
        return False
    text = given.arrives if way == "arrives" else given.leaves
    return text is not None and is_anywhere(text)


def _by_names(
    accesses: isl.UnionMap, instances: isl.UnionSet
) -> dict[tuple[str, str], isl.Map]:
    return {
        (m.get_tuple_name(isl.dim_type.in_), m.get_tuple_name(isl.dim_type.out)): m
        for m in list_maps(accesses.intersect_domain(instances))
    }


def _list_traffic(mapping: LayerMapping, lair: Lair, target: Rectangle) -> Iterator[SearchTraffic]:
    for elements in list_sets(lair.tensors):
        tensor = elements.get_tuple_name()
        ways: tuple[Direction, ...] = ("arrives", "leaves")
        for way in ways:
            if _is_open(mapping, tensor, way):
                continue
            ports = read_ports(mapping, tensor, way, elements, target)
            if ports is not None:
                sparse = mapping.tensors[tensor].sparse
                yield _traffic(tensor, way == "arrives", sparse, ports, target)


def _traffic(
    tensor: str, arrives: bool, sparse: bool, ports: isl.Map, target: Rectangle
) -> SearchTraffic:
    """Return what { T[e] -> [PE -> index] } says."""
    places = ports.range_factor_domain()
    sides = {side: on_side(ports, side, target) for pair in AXES for side in pair}
    at = {s: each.range_factor_domain() for s, each in sides.items() if not each.is_empty()}
    lanes = tuple(_lanes(places, at, axis) for axis in (0, 1))
    ends = [lane.domain() for lane in lanes]
    return SearchTraffic(
        tensor=tensor, arrives=arrives, sparse=sparse, at=at, lanes=(lanes[0], lanes[1]),
        only=(ends[0].subtract(ends[1]), ends[1].subtract(ends[0])),
        wavelets=bound_points(bind_range(places, PORT)),
        elements=prod(find_shape(places.domain())),
        inner=_innermost(ports.range_factor_range()),
    )


def _innermost(index: isl.Map) -> isl.Map:
    """Return { T[e] -> [i] } of { T[e] -> index[..., i] }."""
    last = index.dim(isl.dim_type.out) - 1
    return index.project_out(isl.dim_type.out, 0, last).reset_tuple_id(isl.dim_type.out)


def _lanes(places: isl.Map, at: Mapping[str, isl.Map], axis: int) -> isl.Map:
    """Return { T[e] -> [c] } of the ports on the two sides of an axis."""
    here = places.subtract(places)
    for side in AXES[axis]:
        here = here.union(at[side]) if side in at else here
    return here.coalesce().apply_range(isl.Map(f"{{ PE[x, y] -> [{'xy'[axis]}] }}"))


def _list_links(
    lair: Lair,
    reads: Mapping[tuple[str, str], isl.Map],
    writes: Mapping[tuple[str, str], isl.Map],
) -> Iterator[SearchLink]:
    """Yield who needs what others write; who needs T[e] needs what it becomes, as well."""
    writers = {tensor: statement for statement, tensor in writes}
    later = {m.get_tuple_name(isl.dim_type.in_): m for m in list_maps(lair.carried)}
    for (reader, tensor), access in reads.items():
        needs, name, seen = access, tensor, {tensor}
        while True:
            if name in writers:
                yield SearchLink(
                    tensor=name, reads=tensor, writer=writers[name], reader=reader, needs=needs
                )
            if name not in later:
                break
            needs = needs.apply_range(later[name])
            name = needs.get_tuple_name(isl.dim_type.out)
            if name in seen:
                break
            seen.add(name)

# --- Keys of layer.yaml against a candidate -------------------------------------------------------
#
# Source   design, Placement by search

def find_against(span: Span | None, mapping: LayerMapping) -> str | None:
    """Return the key of layer.yaml that holds a place: `tensors.x.arrives`; None for others."""
    for tensor, way, text in list_ports(mapping):
        whole = text.place
        is_in = span is not None and whole.start <= span.start < span.end <= whole.end
        if is_in and span is not None and span.source.path == whole.source.path:
            return f"tensors.{tensor}.{way}"
    return None


def list_ports(mapping: LayerMapping) -> Iterator[tuple[str, str, IslText]]:
    """Yield the ports of tensors: the tensor, `arrives` or `leaves`, and the text of its ports."""
    for name, tensor in mapping.tensors.items():
        for way, text in (("arrives", tensor.arrives), ("leaves", tensor.leaves)):
            if text is not None:
                yield name, way, text

"""A placed layer, and the routes of its streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.lair.layer import Layer
from lairmake.stages.layer.routes.feedback import (
    apply_feedback,
    apply_feedback_to_layer,
    find_fed_back,
)
from lairmake.stages.layer.texts.isl_files import Adapted, RoutesObject, Routing
from lairmake.stages.layer.texts.task_graph import (
    Arrival,
    Departure,
    Forwarding,
    Move,
    SumCollection,
)
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.types import is_integer
from lairmake.stages.mapping.layer_yaml import LayerMapping
from lairmake.stages.movement.flow import Routes
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.functions import find_least
from lairmake.stages.poly.sides import Rectangle, turn
from lairmake.stages.skewing.elements import Lair, find_computed_elements, find_needed_elements
from lairmake.stages.skewing.statements import Scheduled


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedLayer:
    """A layer, its machine, and the PEs that need and compute its elements.

    `grid` are all PEs, `core` those that compute; `fed_back` are the tensors that come back, by the
    names that they then have. `needed` and `computed` are { tensor[e] -> PE[x, y] }. `kept` is what
    was found so far of how many elements of tensors a PE keeps.
    """

    mapping: LayerMapping
    profile: Profile
    layer: Layer
    lair: Lair
    adapted: Adapted
    fed_back: Mapping[str, str]
    grid: Rectangle
    core: Rectangle
    needed: isl.UnionMap
    computed: isl.UnionMap
    kept: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """The routes of streams: those of colours, and all that routes.isl says of them.

    `forwarding` are the lines of PEs that forward a stream, `ways` the side to which these PEs pass
    it. `copied` would be the routes if routers copied; `filters` are the colours of which routers
    drop what their PEs do not want.
    """

    colours: Mapping[str, Routes] = field(default_factory=dict)
    objects: Mapping[str, RoutesObject] = field(default_factory=dict)
    forwarding: Mapping[str, Forwarding] = field(default_factory=dict)
    ways: Mapping[str, str] = field(default_factory=dict)
    copied: Mapping[str, Routes] = field(default_factory=dict)
    filters: tuple[str, ...] = ()

    @property
    def said(self) -> Routing:
        """The objects, by stream and what they say of it."""
        return Routing(self.objects)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """The streams of a placed layer, by name, what PEs exchange besides, and the routes of all."""

    placed: PlacedLayer
    arrivals: Mapping[str, Arrival] = field(default_factory=dict)
    departures: Mapping[str, Departure] = field(default_factory=dict)
    collections: Mapping[str, SumCollection] = field(default_factory=dict)
    moves: Mapping[str, Move] = field(default_factory=dict)
    routed: Routed = field(default_factory=Routed)


def placed_of(scheduled: Scheduled, adapted: Adapted) -> PlacedLayer:
    """Return a layer as adapted.isl has it."""
    lair = apply_feedback(scheduled.lair, adapted)
    fed_back = find_fed_back(adapted)
    return PlacedLayer(
        mapping=scheduled.mapping,
        profile=scheduled.profile,
        layer=apply_feedback_to_layer(scheduled.layer, lair, fed_back),
        lair=lair,
        adapted=adapted,
        fed_back=fed_back,
        grid=adapted.grid,
        core=adapted.target,
        needed=find_needed_elements(lair, adapted.placement),
        computed=find_computed_elements(lair, adapted.placement),
    )


def join(parts: Iterable[Routed]) -> Routed:
    """Return how all of some streams are routed, in their order."""
    every = list(parts)
    return Routed(
        colours={name: each for part in every for name, each in part.colours.items()},
        objects={name: each for part in every for name, each in part.objects.items()},
        forwarding={name: each for part in every for name, each in part.forwarding.items()},
        ways={name: each for part in every for name, each in part.ways.items()},
        copied={name: each for part in every for name, each in part.copied.items()},
        filters=tuple(colour for part in every for colour in part.filters),
    )


def colour_routes(colour: str, routes: Routes) -> Routed:
    """Return one colour with its routes; its routers must each listen to one side."""
    listens = routes.domain().unwrap()
    assert listens.is_single_valued(), f"{colour} enters a router from two sides"
    return Routed(colours={colour: routes}, objects={colour: routes})


def is_sparse(tensor: str, placed: PlacedLayer) -> bool:
    """Say whether only what is not zero of a tensor moves."""
    given = placed.mapping.tensors
    return tensor in given and given[tensor].sparse


def find_otherwise(tensor: str, placed: PlacedLayer) -> str | None:
    """Return what elements of a tensor are that never arrive; None if all do."""
    given = placed.mapping.tensors.get(tensor)
    if given is None or given.otherwise is None:
        return None
    whole = is_integer(placed.layer.tensors[tensor].type)
    return repr(int(given.otherwise) if whole else given.otherwise)


def find_depth(side: str, placed: PlacedLayer) -> int:
    """Return the depth of the first computing PEs: 1 where the side is peeled off, else 0."""
    grid, core = placed.grid, placed.core
    return {
        "N": core.top - grid.top,
        "S": grid.bottom - core.bottom,
        "W": core.left - grid.left,
        "E": grid.right - core.right,
    }[side]


def find_feedback_depth(back: str, side: str, placed: PlacedLayer) -> int:
    """Return at which depth a tensor turns: that of the first PEs that compute or need it."""
    places = from_domain(placed.needed, back).range()
    places = places.union(from_domain(placed.computed, placed.fed_back[back]).range())
    depth = isl.Set.from_union_set(places).apply(turn(side, placed.grid))
    return int(find_least(depth, 1).to_python())


def find_adapters(places: isl.Set, turned: isl.Map) -> isl.Set:
    """Return { PE } of the border at the rows or columns of { PE }, seen from a side."""
    border = isl.Map("{ [lane, depth] -> [lane, 0] }").apply_range(turned.reverse())
    return places.apply(turned).apply(border)

"""Borders peeled off the target for adapters, so that all data flows along rows or columns.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2, eqs. (5) (6) (10)
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.diagnose import Span, UserError, working_on
from stages.layer.routes.arriving import MOST_PARTS, part_name, split
from stages.layer.routes.collection import lane_order, must_turn
from stages.layer.routes.returning import (
    Way,
    arrival_of,
    astray,
    departure_of,
    way_of,
    with_returns,
)
from stages.mapping.isl_text import IslText
from stages.mapping.layer_yaml import Mapping
from stages.mapping.ports import read_ports
from stages.poly.bind import bind_domain
from stages.poly.box_hull import box_hull, offset_set
from stages.poly.order import behind_ports, on_side, relocated, taken_by
from stages.poly.pieces import example_of, from_domain, maps_of, named_set, sets_of
from stages.poly.side import SIDES, Rectangle, turn
from stages.skewing.elements import Lair, computed_elements, needed_elements

T = typing.TypeVar("T")


class Adaptation:
    """One layer's arrivals and departures, and the sides that they peel off its target."""

    def __init__(
        self, mapping: Mapping, lair: Lair, placement: isl.UnionMap, target: Rectangle
    ) -> None:
        """Read the ports and decide which sides are peeled off. Raises UserError."""
        lair = with_returns(lair, placement)
        self.lair, self.mapping, self.target = lair, mapping, target
        self.tensors, self.placement = lair["tensors"], placement
        self.needed = needed_elements(lair, placement)
        computed = computed_elements(lair, placement)
        returns = lair.get("returns", isl.UnionMap("{ }"))
        self.computed = computed.union(returns.apply_range(computed))
        internal = lair.get("internal", isl.UnionSet("{ }"))
        self.internal = [s.get_tuple_name() for s in sets_of(internal)]
        written = [s.get_tuple_name() for s in sets_of(lair["writes"].range())]
        read = [t for t in (s.get_tuple_name() for s in sets_of(self.tensors)) if t not in written]
        self.sources = self._ports("arrives", read)
        self.departures = self._ports("leaves", written)
        self.spread = {t: self._spread_from(t) for t in self.sources}
        self.collected = {t: self._collected_on(t) for t in self.departures}
        self.written = written
        self.returns = {m.get_tuple_name(isl.dim_type.in_): m for m in maps_of(returns)}
        self.ways = {back: self._bring_back(back) for back in self.returns}
        turning = (*self.spread.values(), *self.collected.values())
        self.peeled = {side for sides in turning for side in sides}

    def check(self) -> None:
        """Raise UserError where adapters have no room, or sums stay on several PEs."""
        for back in self.returns:
            self._check_return(back)
        for tensor, spread in self._given(self.spread):
            for side in spread:
                self._check_border(f"spread {tensor}", side, self._span(tensor, "arrives"))
                self._parts(tensor, side)
        for tensor, sides in self._given(self.collected):
            for side in sides:
                straight = f", or let {tensor} leave straight from the PEs that sum it"
                span = self._span(tensor, "leaves")
                self._check_border(f"collect {tensor}", side, span, straight)
        for tensor in self.written:
            if tensor not in self.departures and tensor not in self.internal:
                self._check_whole(tensor, self._computed(tensor))

    def objects(self) -> dict[str, isl.UnionSet | isl.UnionMap | isl.Set]:
        """Return the objects of adapted.isl, in coordinates that start at the computing PEs."""
        core = peel(self.target, self.peeled)
        move = isl.Map(f"{{ PE[x, y] -> PE[x - ({core.left}), y - ({core.top})] }}")
        arrivals, departures = {}, {}
        for tensor in self.sources:
            with working_on(f"arrival {tensor}"):
                arrivals[tensor] = self._arrival(tensor, core)
        for tensor in self.departures:
            with working_on(f"departure {tensor}"):
                departures[tensor] = self._departure(tensor, core)
        objects: dict[str, isl.UnionSet | isl.UnionMap | isl.Set] = {
            "target": core.as_set().apply(move),
            "grid": self.target.as_set().apply(move),
            "placement": self.placement.apply_range(isl.UnionMap.from_map(move)),
            "sources": _moved(self.sources, move),
            "arrivals": _moved(arrivals, move),
            "departures": _moved(departures, move),
        }
        collected = {t: self._collected(t) for t, sides in self.collected.items() if sides}
        for name, part in (pair for t in self.spread for pair in self._named_parts(t)):
            objects[name] = isl.UnionMap.from_map(part.apply_range(move))
        if self.returns:
            names = ("reads", "carried", "returns")
            objects |= {name: self.lair[name] for name in names if name in self.lair}
        return objects | ({"collected": _moved(collected, move)} if collected else {})

    def _given(self, sides: dict[str, T]) -> list[tuple[str, T]]:
        """Return what is known of tensors but those that return."""
        return [(tensor, known) for tensor, known in sides.items() if tensor not in self.returns]

    def _bring_back(self, back: str) -> Way:
        """Choose the way of a tensor that returns: it departs and arrives like others."""
        computed, needed = self._computed(back), self._needed(back)
        computed = computed.intersect_domain(needed.domain())
        way = way_of(computed, needed, self.target, lambda side: not self._is_in_the_way(side))
        self.departures[back] = departure_of(needed, way, self.target)
        self.sources[back] = arrival_of(needed, way, self.target)
        self.spread[back] = {} if way.straight else {way.comes: needed}
        self.collected[back] = [] if way.straight else [way.leaves]
        return way

    def _ports(
        self, direction: typing.Literal["arrives", "leaves"], tensors: list[str]
    ) -> dict[str, isl.Map]:
        found = {}
        for tensor in tensors:
            elements = typing.cast(isl.Set, named_set(self.tensors, tensor))
            ports = read_ports(self.mapping, tensor, direction, elements, self.target)
            if ports is not None:
                found[tensor] = ports
        return found

    def _needed(self, tensor: str) -> isl.Map:
        """Return { tensor[e] -> PE[x, y] } of the PEs that read an element."""
        used = from_domain(self.needed, tensor)
        if used.is_empty():
            return isl.Map(f"{{ {tensor}[] -> PE[x, y] : false }}")
        return isl.Map.from_union_map(used)

    def _spread_from(self, tensor: str) -> dict[str, isl.Map]:
        """Return, by side, what its border must spread: { tensor[e] -> PE }, none where all flows.

        Of the sides of an element that must be spread, one where no instance is in the way spreads
        it; a side that spreads brings nothing straight, so that what it brought is looked at again.
        """
        here = {s: on_side(self.sources[tensor], s, self.target) for s in SIDES}
        sides = sorted((s for s in SIDES if not here[s].is_empty()), key=self._is_in_the_way)
        spread: dict[str, isl.Map] = {}
        if self._needed(tensor).is_empty():
            return spread
        missing = self._not_delivered(tensor, sides)
        while not missing.is_empty():
            side = self._side_of(missing, here, [s for s in sides if s not in spread])
            spread[side] = missing
            missing = self._not_delivered(tensor, [s for s in sides if s not in spread])
            for chosen in spread:
                spread[chosen] = missing.intersect_domain(here[chosen].domain())
                missing = missing.subtract(spread[chosen])
        return spread

    def _side_of(self, missing: isl.Map, here: dict[str, isl.Map], sides: list[str]) -> str:
        """Return the first side at which all missing elements arrive, else some of them."""
        wanted = missing.domain()
        for side in sides:
            if wanted.is_subset(here[side].domain()):
                return side
        return next(s for s in sides if not wanted.is_disjoint(here[s].domain()))

    def _not_delivered(self, tensor: str, sides: list[str]) -> isl.Map:
        """Return what flows to no PE that needs it from the given sides: { tensor[e] -> PE }."""
        missing = self._needed(tensor)
        for side in sides:
            missing = missing.subtract(delivered(self.sources[tensor], side, self.target))
        return missing

    def _border(self, side: str) -> isl.Set:
        """Return { PE[x, y] } of the row or column of the target on a side."""
        return isl.Set("{ [lane, 0] }").apply(turn(side, self.target).reverse())

    def _is_in_the_way(self, side: str) -> bool:
        """Say whether instances run where the adapters of a side must stand."""
        border = isl.UnionSet.from_set(self._border(side))
        return not self.placement.range().is_disjoint(border)

    def _check_border(self, task: str, side: str, span: Span, otherwise: str = "") -> None:
        """Raise UserError if instances run where adapters must stand to spread or collect."""
        used = self.placement.intersect_range(isl.UnionSet.from_set(self._border(side)))
        if not used.is_empty():
            line = border_text(side)
            raise UserError(
                f"adapters must {task} on the {line} of the target, "
                f"where {example_of(used.domain())} runs",
                span,
                f"make the target one {line.split()[1]} larger and keep the placement off its "
                f"{line}{otherwise}",
            )

    def _arrival(self, tensor: str, core: Rectangle) -> isl.Map:
        """Return how a tensor reaches the computing PEs, as eq. (5), re-indexed where spread."""
        source, spread = self.sources[tensor], self.spread[tensor]
        straight = [s for s in SIDES if s not in spread]
        arrival = self._onto(core, source, straight)
        for side, missing in spread.items():
            here = on_side(source, side, self.target)
            for part in self._parts(tensor, side):
                lanes = missing.intersect_domain(part.domain())
                lanes = lanes.apply_range(turn(side, self.target))
                lanes = lanes.project_out(isl.dim_type.out, 1, 1)
                order = taken_by(here, part).range_factor_range()
                arrival = arrival.union(reindexed(lanes, order, turn(side, core)))
        return arrival

    def _computed(self, tensor: str) -> isl.Map:
        """Return { tensor[e] -> PE[x, y] } of the PEs that compute an element, all or in part."""
        return isl.Map.from_union_map(from_domain(self.computed, tensor))

    def _collected_on(self, tensor: str) -> list[str]:
        """Return the sides on which adapters must collect what leaves there."""
        ports, computed = self.departures[tensor], self._computed(tensor)
        here = {side: on_side(ports, side, self.target) for side in SIDES}
        return [s for s in SIDES if must_turn(computed, here[s], s, self.target)]

    def _departure(self, tensor: str, core: Rectangle) -> isl.Map:
        """Return how a tensor leaves the computing PEs: straight, or towards adapters."""
        order, sides = self.departures[tensor], self.collected[tensor]
        departure = self._onto(core, order, [s for s in SIDES if s not in sides])
        for side in sides:
            ports = on_side(order, side, self.target)
            computed = self._computed(tensor).intersect_domain(ports.domain())
            departure = departure.union(lane_order(computed, ports, side, self.target, core))
        return departure.coalesce()

    def _collected(self, tensor: str) -> isl.Map:
        """Return how a tensor leaves the adapters that collect it."""
        order = self.departures[tensor]
        found = isl.Map.empty(order.get_space())
        for side in self.collected[tensor]:
            found = found.union(on_side(order, side, self.target))
        return found

    def _onto(self, core: Rectangle, order: isl.Map, sides: typing.Iterable[str]) -> isl.Map:
        """Return the order at some sides, every port moved from the target's side to the core's."""
        moved = isl.Map.empty(order.get_space())
        for side in sides:
            step = turn(side, self.target).apply_range(turn(side, core).reverse())
            moved = moved.union(relocated(on_side(order, side, self.target), step))
        return moved.coalesce()

    def _parts(self, tensor: str, side: str) -> list[isl.Map]:
        """Return { t[e] -> port } of each stream in which adapters hear a tensor.

        Raises UserError if these are too many.
        """
        ports = on_side(self.sources[tensor], side, self.target).range_factor_domain()
        parts = split(ports, self.spread[tensor][side], turn(side, self.target))
        if parts is None:
            raise UserError(
                f"{tensor} arrives at PEs of the {SIDES[side].word} that feed the same "
                f"{'columns' if side in 'NS' else 'rows'}, and needs more than {MOST_PARTS} "
                "streams",
                self._span(tensor, "arrives"),
                "let it arrive at one PE, or at the PEs that need it",
            )
        return parts

    def _check_return(self, back: str) -> None:
        """Raise UserError if instances run where adapters must stand to bring a tensor back."""
        way = self.ways[back]
        sides = dict.fromkeys(() if way.straight else (way.leaves, way.comes))
        lines = [border_text(s) for s in sides if self._is_in_the_way(s)]
        if not lines:
            return
        returns = isl.UnionMap.from_map(self.returns[back])
        needed = isl.UnionMap.from_map(self._needed(back))
        pairs = astray(isl.UnionMap.from_map(self._computed(back)), needed).apply_domain(returns)
        one = isl.Map.from_union_map(pairs)
        one = one.intersect_domain(one.domain().lexmin()).lexmin()
        element, both = one.domain(), one.range().unwrap()
        other, here = both.domain(), both.range()
        computed = isl.Map.from_union_map(from_domain(self.computed, element.get_tuple_name()))
        partly = not computed.intersect_domain(element).intersect_range(here).is_empty()
        where = f"{example_of(here)} and {example_of(other)}" if partly else example_of(other)
        tensor = element.get_tuple_name()
        raise UserError(
            f"{example_of(element)} is computed on {where}, "
            f"but {example_of(here)} needs {'all of ' if partly else ''}it",
            self.mapping.span("placement"),
            f"place what computes an element of {tensor}, all of it, on the PE that reads it; or "
            f"make the target larger and keep the placement off its {' and '.join(lines)}, for the "
            f"adapters that bring {tensor} there",
        )

    def _named_parts(self, tensor: str) -> typing.Iterator[tuple[str, isl.Map]]:
        """Yield the parts of a tensor that comes in several streams, or from chosen ports."""
        for side in self.spread[tensor]:
            parts = self._parts(tensor, side)
            ports = on_side(self.sources[tensor], side, self.target).range_factor_domain()
            if len(parts) > 1 or not parts[0].is_equal(ports):
                for number, part in enumerate(parts):
                    yield part_name(tensor, side, number), part

    def _check_whole(self, tensor: str, computed: isl.Map) -> None:
        """Raise UserError if an output that stays in memory is spread over several PEs."""
        if computed.is_single_valued():
            return
        twice = computed.lexmin().subtract(computed.lexmax()).domain()
        element = isl.Set.from_point(twice.sample_point())
        here = computed.intersect_domain(element)
        raise UserError(
            f"{example_of(element)} is summed on {example_of(here.lexmin().range())} "
            f"and {example_of(here.lexmax().range())}, and stays in their memory",
            self._key(tensor),
            f"say where {tensor} leaves, or place each of its elements on one PE",
        )

    def _span(self, tensor: str, key: str) -> Span:
        text: IslText = getattr(self.mapping.tensors[tensor], key)
        return text.place

    def _key(self, tensor: str) -> Span:
        """Return the place of what layer.yaml says of a tensor, or of all tensors."""
        path = ("tensors", tensor) if tensor in self.mapping.tensors else ("tensors",)
        return self.mapping.key_span(*path)


def peel(target: Rectangle, sides: typing.Collection[str]) -> Rectangle:
    """Return the rectangle without its border on the given sides."""
    return Rectangle(
        left=target.left + ("W" in sides),
        top=target.top + ("N" in sides),
        right=target.right - ("E" in sides),
        bottom=target.bottom - ("S" in sides),
    )


def border_text(side: str) -> str:
    """Return `north row`, as messages call the border of a side."""
    return f"{SIDES[side].word} {'row' if side in 'NS' else 'column'}"


def delivered(order: isl.Map, side: str, target: Rectangle) -> isl.Map:
    """Return { tensor[e] -> PE } of all PEs on the row or column of a port of a side."""
    return behind_ports(order, side, target).range_factor_domain()


def reindexed(lanes: isl.Map, order: isl.Map, turned: isl.Map) -> isl.Map:
    """Return { t[e] -> [PE -> index[o, i - offset(lane)]] } for t[e] needed on a lane.

    The offset is that of the fixed-size box hull of the inner indices that the lane needs.
    """
    needed = lanes.reverse().apply_range(order)
    inner = order.dim(isl.dim_type.out) - 1
    values = bind_domain(needed.project_out(isl.dim_type.out, 0, inner), ["PE_X"])
    hull = box_hull(values.reset_tuple_id(), None, quasi_affine=True)
    assert hull is not None, "the indices of a lane are bounded"
    offset = offset_set(hull).unbind_params_insert_domain(isl.MultiId("[PE_X] -> { [PE_X] }"))
    outer = "".join(f"o{k}, " for k in range(inner))
    pair = f"[[lane] -> index[{outer}i]]"
    swap = isl.Map(f"{{ {pair} -> [index[{outer}i] -> [lane]] }}")
    keep = isl.Map.identity(order.range().get_space().map_from_set())
    shift = isl.Map(f"{{ [index[{outer}i] -> [offset]] -> index[{outer}i - offset] }}")
    index = swap.apply_range(keep.product(offset)).apply_range(shift)
    port = isl.Map(f"{{ {pair} -> [lane, -1] }}").apply_range(turned.reverse())
    return lanes.range_product(order).apply_range(port.range_product(index))


def _moved(orders: dict[str, isl.Map], move: isl.Map) -> isl.UnionMap:
    """Return the union of the orders with every PE moved."""
    union = isl.UnionMap("{ }")
    for order in orders.values():
        union = union.union(isl.UnionMap.from_map(relocated(order, move)))
    return union

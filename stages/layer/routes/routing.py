"""The streams of a layer: what enters and leaves on a side, by which routes.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2
"""

from __future__ import annotations

import functools
import typing

import islpy as isl

from stages.diagnose import working_on
from stages.lair.layer import Layer, writer_of
from stages.layer.routes.arriving import Arriving, arriving, part_names, ports_of
from stages.layer.routes.collection import (
    chain_objects,
    collection,
    in_turn,
    named_along,
    ports_apart,
)
from stages.layer.routes.leaving import gathering, instructions_of, leaving, leaving_name
from stages.layer.routes.ordering import Ordering
from stages.layer.routes.passed_on import (
    described,
    is_passed,
    is_passed_along,
    line_colours,
    line_objects,
    line_routes,
    position_names,
)
from stages.layer.routes.returning import (
    after_returns,
    away_name,
    layer_after_returns,
    returned_tensors,
)
from stages.mapping.machine import read_machine
from stages.poly.border import BorderChain, beside, border_chain, feeding
from stages.poly.corners import around_line, around_routes
from stages.poly.flow import (
    Routes,
    chain_routes,
    column_routes,
    parity,
    spread_routes,
    turning_routes,
)
from stages.poly.order import at_places, index_filter, on_side, outer_box, relocated, taken_by
from stages.poly.own_sequences import border_copies, copy_routes
from stages.poly.passing import Line, inward_line, port_line, turning_line
from stages.poly.pieces import from_domain, map_from
from stages.poly.side import SIDES, bounding_rectangle, turn
from stages.skewing.elements import computed_elements, needed_elements

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

NONE = isl.UnionMap("{ }")
COMBINE = {"=": "add", "+=": "add", "*=": "mul", "max=": "max", "min=": "min"}


class Streams:
    """The arrivals, departures and collections of a layer, as tasks.yaml describes them.

    `colours` are the routes of each, `objects` all that routes.isl says of them.
    """

    def __init__(self, inputs: Inputs) -> None:
        """Find the streams and route them."""
        self.inputs, self.mapping = inputs, inputs.mapping()
        adapted = inputs.objects("adapted.isl")
        self.adapted = {name: obj for name, obj in adapted.items()}
        self.lair = lair = after_returns(inputs.objects("lair.isl"), adapted)
        self.returned = returned_tensors(adapted)
        self.layer: Layer = layer_after_returns(inputs.lair(), lair, self.returned)
        self.grid = bounding_rectangle(isl.Set.from_union_set(adapted["grid"]))
        self.core = bounding_rectangle(isl.Set.from_union_set(adapted["target"]))
        self.needed = needed_elements(lair, adapted["placement"])
        self.computed = computed_elements(lair, adapted["placement"])
        self.profile = read_machine(inputs, self.mapping)
        self.filters = dict.fromkeys(("adapter", "compute"), self.profile.filters)
        self.colours: dict[str, Routes] = {}
        self.objects: dict[str, isl.UnionMap | isl.Map | isl.Set] = {}
        self.passing: dict[str, dict[str, object]] = {}
        self.ways: dict[str, str] = {}
        self.copied: dict[str, Routes] = {}
        self.arrivals = {n: a for t in self.layer.inputs for n, a in self._arrivals(t.name)}
        self.collections: dict[str, dict[str, object]] = {}
        leaving = (*self.layer.outputs, *self.layer.returned)
        self.departures = {n: d for t in leaving for n, d in self._departures(t.name)}
        for back in self.returned:
            self.arrivals |= self._arrivals(back)

    @functools.cached_property
    def ordering(self) -> Ordering:
        """The skewed schedule, in whose order PEs pass on."""
        return Ordering(self.inputs, self.adapted["placement"])

    def _order(self, name: str, tensor: str, taken: isl.Map, *, lanes: bool) -> None:
        """Say of a stream that is passed on in which order of the skewed schedule that is."""
        way = self.ways.get(name)
        if way is not None:
            source = self.returned.get(tensor, tensor)
            taken = taken.set_tuple_name(isl.dim_type.in_, source)
            self.passing[name] |= self.ordering.of(source, taken, way, lanes=lanes)

    def _arrivals(self, tensor: str) -> typing.Iterator[tuple[str, dict[str, object]]]:
        """Route one tensor's arrivals, one a side; yield their names and descriptions."""
        untaken = from_domain(self.needed, tensor)
        relation = map_from(self.adapted["arrivals"], tensor)
        if relation is None or untaken.is_empty():
            return
        missing = isl.Map.from_union_map(untaken)
        sides = [s for s in SIDES if not on_side(relation, s, self.core).is_empty()]
        for side in sides:
            base = tensor if len(sides) == 1 else f"{tensor}_{SIDES[side].word}"
            parts = part_names(self.adapted, tensor, side)
            for number, part in enumerate(parts or [None]):
                flow = arriving(self.adapted, tensor, side, part)
                taken = missing.intersect(flow.everywhere.range_factor_domain())
                missing = missing.subtract(taken)
                if not taken.is_empty():
                    name = f"{base}_stream{number}" if part else base
                    described = self._arrival(name, tensor, side, taken, flow)
                    yield name, described | ({"part": part} if part else {})

    def _arrival(
        self, name: str, tensor: str, side: str, taken: isl.Map, flow: Arriving
    ) -> dict[str, object]:
        turned, source = turn(side, self.grid), map_from(self.adapted["sources"], tensor)
        assert source is not None, "the tensor arrives"
        lanes = taken.range().apply(turned)
        adapters = self._is_spread(tensor, taken, flow)
        if adapters:
            self._spread(f"{name}_source", tensor, side, taken, flow)
            border = isl.Map("{ [lane, depth] -> [lane, 0] }")
            self.objects[f"{name}_adapters"] = lanes.apply(border).apply(turned.reverse())
        if tensor in self.returned and not adapters:
            self._turn(name, lanes, side, self._turning(tensor, side))
        else:
            passed = tensor in self.returned or is_passed(side, self.mapping)
            self._flow(name, lanes, side, spread=adapters, passed=passed)
        self.objects[f"{name}_taken"] = taken
        self._order(name, tensor, taken, lanes=True)
        self._order(f"{name}_source", tensor, taken, lanes=False)
        if self.is_sparse(tensor):
            self._filter(name, taken, flow, adapters)
        self.objects[f"{name}_ports"] = ports_of(flow, taken, turned, adapters)
        return {
            "tensor": tensor,
            "side": side,
            "sparse": self.is_sparse(tensor),
            "colour": name,
            "source": f"{name}_source" if adapters else name,
            "spread": adapters,
            "outer": outer_box(source),
            **self._copies(name),
            **({"returns": self.returned[tensor]} if tensor in self.returned else {}),
        }

    def _is_spread(self, tensor: str, taken: isl.Map, flow: Arriving) -> bool:
        """Say whether adapters spread what PEs take; what goes around always needs them."""
        if tensor in self.returned:
            return not from_domain(self.adapted.get("collected", NONE), tensor).is_empty()
        return not taken.is_subset(flow.straight)

    def _spread(self, name: str, tensor: str, side: str, taken: isl.Map, flow: Arriving) -> None:
        """Route a stream along the border: from its ports, or if it returns, from where it is.

        One PE sends all of it: the last of its departure, or of what collects that.
        """
        turned = turn(side, self.grid)
        if tensor in self.returned:
            streams = self.departures | self.collections
            away, found = next((n, s) for n, s in streams.items() if s.get("out") == name)
            last = typing.cast(isl.Set, self.objects[f"{away}_last"])
            way = (last, taken.range(), str(found["side"]), side, self.grid)
            self._route(name, around_routes(*way), lambda: around_line(*way), turned, None)
        else:
            feeds = feeding(flow.chosen, taken, turned)
            copied = spread_routes(feeds, side, turned)
            passed = is_passed_along(side, self.is_sparse(tensor), self.mapping)
            if self.profile.multicast or passed:
                self._route(name, copied, lambda: port_line(feeds, side, turned), turned, None)
            else:
                self._copy(name, border_copies(feeds, side, turned), copied)
                self.objects[f"{name}_reach"] = beside(feeds, turned)

    def _turn(self, name: str, takers: isl.Set, side: str, first: int) -> None:
        """Route a stream inwards along its lanes from the PEs at depth `first`, which send it."""
        turned = turn(side, self.grid)
        copied = turning_routes(takers, side, turned, first)
        self._route(name, copied, lambda: turning_line(takers, side, turned, first), turned, first)

    def _route(
        self,
        name: str,
        copied: Routes,
        line: typing.Callable[[], Line],
        turned: isl.Map,
        first: int | None,
    ) -> None:
        """Route a stream by routers that copy, else along a line of PEs that pass it on."""
        if self.profile.multicast:
            self._add(name, copied)
        else:
            self._pass(name, line(), copied, turned, first)

    def _flow(
        self, name: str, takers: isl.Set, side: str, *, spread: bool, passed: bool
    ) -> None:
        """Route a stream inwards along its lanes to { [lane, depth] }."""
        turned, first = turn(side, self.grid), self._depth(side)
        copied = column_routes(takers, side, turned, spread=spread)
        if self.profile.multicast or passed:
            def line() -> Line:
                return inward_line(takers, side, turned, first, spread=spread)

            self._route(name, copied, line, turned, first)
        else:
            self._copy(name, copy_routes(takers, side, turned, spread=spread), copied)

    def as_copied(self) -> dict[str, Routes]:
        """Return the routes of all colours if routers copied what PEs pass on."""
        lines = {colour for name in self.passing for colour in line_colours(name)}
        others = {colour: routes for colour, routes in self.colours.items() if colour not in lines}
        return self.copied | others

    def _pass(
        self, name: str, line: Line, copied: Routes, turned: isl.Map, first: int | None
    ) -> None:
        """Let PEs pass on a stream along a line: inwards from depth `first`, or a border.

        `copied` is what its routes would be if routers copied.
        """
        for colour, routes in line_routes(name, line).items():
            self._add(colour, routes)
        self.objects[f"{name}_copied"] = self.copied[name] = copied
        self.objects |= line_objects(name, line)
        self.passing[name] = described(name, line, turned, first)
        if not line.passing.is_empty():
            self.ways[name] = line.way()

    def _copy(self, name: str, positions: tuple[Routes, ...], copied: Routes) -> None:
        """Let each PE of a lane, or of a border, get a stream of its own."""
        self._add(name, functools.reduce(isl.UnionMap.union, positions))
        self.objects |= dict(zip(position_names(name), positions, strict=False))
        self.objects[f"{name}_copied"] = self.copied[name] = copied

    def _copies(self, name: str) -> dict[str, list[str]]:
        """Return which colours of an arrival bring a copy for each PE that listens, if any."""
        found = [each for each in (f"{name}_source", name) if f"{each}_then" in self.objects]
        return {"copies": found} if found else {}

    def _filter(self, name: str, taken: isl.Map, flow: Arriving, adapters: bool) -> None:
        """Let routers drop what their PEs do not want, where an interval of the index tells it."""
        passing = at_places(flow.everywhere, taken.range())
        self._keep_filter(name, index_filter(passing, taken_by(flow.everywhere, taken)))
        if adapters:
            wanted = taken_by(flow.heard, flow.sent.range_factor_domain())
            self._keep_filter(f"{name}_source", index_filter(flow.heard, wanted))

    def _keep_filter(self, colour: str, interval: isl.Map | None) -> None:
        """Keep a filter while a PE has one free; adapters and computing PEs are never the same."""
        role = "adapter" if colour.endswith("_source") else "compute"
        if interval is not None and self.filters[role] > 0:
            self.filters[role] -= 1
            copied = "_copied" if colour in self.passing else ""
            self.objects[f"{colour}{copied}_filter"] = interval

    def is_sparse(self, tensor: str) -> bool:
        """Say whether only what is not zero of a tensor moves."""
        return tensor in self.mapping.tensors and self.mapping.tensors[tensor].sparse

    def _departures(self, tensor: str) -> typing.Iterator[tuple[str, dict[str, object]]]:
        relation = map_from(self.adapted["departures"], tensor)
        if relation is None:
            return
        made = from_domain(self.computed, self.returned.get(tensor, tensor))
        computed = isl.Map.from_union_map(made).set_tuple_name(isl.dim_type.in_, tensor)
        base = away_name(tensor) if tensor in self.returned else tensor
        sides = [s for s in SIDES if not on_side(relation, s, self.core).is_empty()]
        for side in sides:
            name = base if len(sides) == 1 else f"{base}_{SIDES[side].word}"
            sums = computed.intersect_domain(on_side(relation, side, self.core).domain())
            with working_on(f"departure {name}"):
                yield name, self._departure(name, tensor, side, sums)

    def _departure(self, name: str, tensor: str, side: str, sums: isl.Map) -> dict[str, object]:
        turned, returns = turn(side, self.grid), self.returned.get(tensor)
        ports = self._collected(tensor, side)
        members = sums.range().apply(turned)
        alone = members.project_out(isl.dim_type.set, 1, 1).is_singleton()
        collect = ports is not None and not (returns and alone)
        turns = returns is not None and not collect
        straight = turns and ports is None
        first = self._turning(tensor, side) if straight else self._depth(side)
        chain = chain_routes(members, side, turned, first, collect=collect, turns=turns)
        self._add(f"{name}_even", chain.even)
        self._add(f"{name}_odd", chain.odd)
        self.objects[f"{name}_chain"] = chain.members
        self.objects[f"{name}_first"] = chain.starts
        described: dict[str, object] = {
            "tensor": returns or tensor,
            "side": side,
            "colours": [f"{name}_even", f"{name}_odd"],
            "by": COMBINE[writer_of(self.layer, returns or tensor).op],
            "parity": parity(turned),
            **({"returns": tensor} if returns else {}),
        }
        if ports is not None and collect:
            self._collect(name, described, ports, sums)
            described["collected"] = True
        elif turns:
            self.objects[f"{name}_last"] = chain.ends
            described["out"] = tensor if straight else f"{tensor}_source"
        elif self.is_sparse(tensor):
            order = map_from(self.adapted["departures"], tensor)
            assert order is not None, "the tensor leaves"
            self.objects[f"{name}_last"] = chain.ends
            return described | {"sparse": True, "outer": outer_box(order)}
        order = leaving(self.adapted, described, chain.members)
        computed = sums.set_tuple_name(isl.dim_type.in_, str(described["tensor"]))
        return described | gathering(order, computed, side, self.adapted)

    def _collected(self, tensor: str, side: str) -> isl.Map | None:
        """Return { t[e] -> [port -> index] } of what adapters on a side collect, if anything."""
        order = map_from(self.adapted.get("collected", NONE), tensor)
        here = None if order is None else on_side(order, side, self.grid)
        return None if here is None or here.is_empty() else here

    def _collect(
        self, name: str, departure: dict[str, object], ports: isl.Map, sums: isl.Map
    ) -> None:
        """Route the sums of a departure from adapter to adapter to its ports, or back."""
        side, tensor = str(departure["side"]), leaving_name(departure)
        turned = turn(side, self.grid)
        border = isl.Map("{ [lane, depth] -> [lane, 0] }").apply_range(turned.reverse())
        self.objects[f"{name}_adapters"] = sums.range().apply(turned).apply(border)
        sparse = {"sparse": True, "outer": outer_box(ports)} if self.is_sparse(tensor) else {}
        met = feeding(ports.range_factor_domain(), sums, turned)
        parts = ports_apart(tensor, met, self.profile, self.mapping)
        for along, part in named_along(name, parts):
            chain = border_chain(part, side, turned)
            self._add(f"{along}_even", chain.even)
            self._add(f"{along}_odd", chain.odd)
            content = departure | collection(name, along, turned) | sparse
            if not sparse and len(parts) == 1:
                content |= self._in_turn(tensor, side, ports, chain)
            if tensor in self.returned:
                content["out"] = f"{tensor}_source"
            else:
                self._add(f"{along}_out", chain.out)
            self.objects |= chain_objects(along, chain)
            self.collections[along] = content

    def _in_turn(
        self, tensor: str, side: str, ports: isl.Map, chain: BorderChain
    ) -> dict[str, object]:
        """Return how adapters pass on in turn what their rows or columns send, if they can.

        With room in their queue of instructions for a stream that they spread, and for a task.
        """
        lanes = map_from(self.adapted["departures"], tensor)
        assert lanes is not None, "the tensor leaves"
        adapters = on_side(lanes, side, self.core).range_factor_domain()
        found = in_turn(relocated(ports, chain.reach), adapters, chain)
        fits = found and instructions_of(found) + 2 <= self.profile.instruction_queue
        return found if fits else {}

    def _turning(self, back: str, side: str) -> int:
        """Return at which depth a tensor turns: that of the first PEs that compute or need it."""
        places = from_domain(self.needed, back).range()
        places = places.union(from_domain(self.computed, self.returned[back]).range())
        depth = isl.Set.from_union_set(places).apply(turn(side, self.grid))
        return int(depth.dim_min_val(1).to_python())

    def _depth(self, side: str) -> int:
        """Return the depth of the first computing PEs: 1 where the side is peeled off, else 0."""
        return {
            "N": self.core.top - self.grid.top,
            "S": self.grid.bottom - self.core.bottom,
            "W": self.core.left - self.grid.left,
            "E": self.grid.right - self.core.right,
        }[side]

    def _add(self, colour: str, routes: Routes) -> None:
        """Keep the routes of a colour; its routers must each listen to one side."""
        listens = routes.domain().unwrap()
        assert listens.is_single_valued(), f"{colour} enters a router from two sides"
        self.objects[colour] = self.colours[colour] = routes

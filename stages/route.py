"""Build the task graph: what moves, what reacts, what computes; and route the colours.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2
Reads    layer.yaml, *.lair, lair.isl, adapted.isl
Writes   tasks.yaml    tensors, arrivals, departures, tasks, colours
         routes.isl    { [PE[x, y] -> from[]] -> to[] } per colour, and the PEs that take part
Assumes  data flows along rows or columns, or is spread on a peeled border (adapt).
Ensures  every router has one input side per colour.
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.lair.arriving import Arriving, arriving, part_names, ports_of
from stages.lair.collection import (
    chain_objects,
    collecting_tasks,
    collection,
    named_along,
    ports_apart,
)
from stages.lair.colours import shared_colours
from stages.lair.elements import computed_elements, needed_elements
from stages.lair.expressions import is_zero_at
from stages.lair.layer import Carry, Layer, Statement, Tensor
from stages.lair.leaving import gathering, leaving, summed_elements
from stages.lair.sharing import held_tensors, waits_of
from stages.lair.tasks import running
from stages.lair.yaml_text import write_document
from stages.poly.border import border_chain, feeding
from stages.poly.flow import Routes, chain_routes, column_routes, parity, spread_routes
from stages.poly.order import at_places, index_filter, on_side, outer_box, taken_by
from stages.poly.pieces import from_domain, to_range
from stages.poly.side import SIDES, bounding_rectangle, turn
from stages.poly.text import write_objects

if typing.TYPE_CHECKING:
    from stages.lair.mapping import Mapping
    from stages.make.inputs import Inputs

READS = ("layer.yaml", "*.lair", "lair.isl", "adapted.isl")
WRITES = ("tasks.yaml", "routes.isl")
HEADER = """Routes (Sec. 4.2), per colour: { [PE[x, y] -> from side[]] -> to side[] }.
N_taken: which PE takes which element of arrival N; N_adapters: PEs that spread it;
N_ports: where it enters; N_filter: the index from and up to which a router hands it to its PE.
N_chain: PEs that sum departure N on its way out; N_first: those where it starts."""
TASKS_HEADER = """The task graph (Sec. 4.2).
tensors: kept: resident (in memory from the start), stored (as it arrives), result, or never.
arrivals: the streams that enter on a side. source: the colour at the port; colour: the one that PEs
listen to, another one where adapters spread the stream. outer: least and greatest outer indices.
departures: the streams that leave, summed by `by` along a row or column. colours: a PE sends on the
first if its depth from the side is even, parity, else on the second.
tasks: initialise, react (to a sparse element), store (one), receive (a dense stream), compute (on
memory), send; of adapters: relay (sparse elements), hear and spread (a dense stream)."""
SPARSE_HEADER = """
N_last: PEs that send the whole sums of a sparse departure N to their ports."""
SPARSE_TASKS_HEADER = """
pack (what is not zero in a sequence of a sparse departure, with its index)."""
GRAPH_TASKS_HEADER = """
Besides, kept: internal (only other statements read it), delayed (what another tensor was before);
in: the tensor whose memory holds it. carry: what a tensor is in the next invocation.
waits: the statements that must have run on the PE before one runs."""
GATHER_TASKS_HEADER = """
A departure by `gather` is sent in rows, one for each value of outer indices: from first, rows many.
Of a row, PEs pass on `before` elements from farther in, send `own` ones, and pass on `after`."""
COLLECT_HEADER = """
N_adapters: PEs that collect departure N. N_chain, N_first, N_last: those that sum collection N;
N_even, N_odd: from one to the next; N_out: from the last to the port; N_reach: { port -> PE }."""
COLLECT_TASKS_HEADER = """
collections: from adapter to adapter, sums of a departure flow on to a port; out: the last colour.
tasks of these adapters: clear (memory), gather (a departure's stream), send."""
NEUTRAL = {"=": "0", "+=": "0", "*=": "1", "max=": "-inf", "min=": "inf"}
COMBINE = {"=": "add", "+=": "add", "*=": "mul", "max=": "max", "min=": "min"}


def run(inputs: Inputs) -> dict[str, str]:
    """Return tasks.yaml and routes.isl."""
    graph = TaskGraph(inputs)
    header, tasks_header = HEADER, TASKS_HEADER
    leaving = graph.departures | graph.collections
    if graph.collections:
        header, tasks_header = header + COLLECT_HEADER, tasks_header + COLLECT_TASKS_HEADER
    if any(departure["by"] == "gather" for departure in leaving.values()):
        tasks_header += GATHER_TASKS_HEADER
    if any("sparse" in departure for departure in leaving.values()):
        header, tasks_header = header + SPARSE_HEADER, tasks_header + SPARSE_TASKS_HEADER
    if graph.layer.internals or graph.layer.carries:
        tasks_header += GRAPH_TASKS_HEADER
    return {
        "tasks.yaml": write_document(tasks_header, graph.tasks()),
        "routes.isl": write_objects(header, graph.objects),
    }


class TaskGraph:
    """The streams of a layer, the tasks they start, and their routes."""

    def __init__(self, inputs: Inputs) -> None:
        """Find the streams and route them."""
        self.layer: Layer = inputs.lair()
        self.mapping: Mapping = inputs.mapping()
        lair, adapted = inputs.objects("lair.isl"), inputs.objects("adapted.isl")
        self.adapted = {name: obj for name, obj in adapted.items()}
        self.grid = bounding_rectangle(isl.Set.from_union_set(adapted["grid"]))
        self.core = bounding_rectangle(isl.Set.from_union_set(adapted["target"]))
        self.reads, self.placement = lair["reads"], adapted["placement"]
        self.needed = needed_elements(lair, self.placement)
        self.computed = computed_elements(lair, self.placement)
        self.profile = inputs.profile()
        self.filters = dict.fromkeys(("adapter", "compute"), self.profile.filters)
        self.colours: dict[str, Routes] = {}
        self.objects: dict[str, isl.UnionMap | isl.Map | isl.Set] = {}
        self.written = [s.target.tensor for s in self.layer.statements]
        self.arrivals = {n: a for t in self.layer.inputs for n, a in self._arrivals(t.name)}
        self.collections: dict[str, dict[str, object]] = {}
        self.departures = {n: d for t in self.layer.outputs for n, d in self._departures(t.name)}
        apart = {str(d["tensor"]) for d in self.departures.values()}
        apart |= {t for t in self.written if self._reacting(self._writer(t))}
        self.held = held_tensors(self.layer, self.needed, self.computed, apart)

    def tasks(self) -> dict[str, object]:
        """Return the content of tasks.yaml."""
        waits = dict(waits_of(self.layer, self.held))
        return {
            "tensors": {name: self._tensor(name) for name in self.layer.tensors},
            "arrivals": self.arrivals,
            "departures": self.departures,
            **({"collections": self.collections} if self.collections else {}),
            "tasks": dict(self._tasks()),
            **({"waits": waits} if waits else {}),
            "colours": shared_colours(self.colours, self.grid, self.profile, self.mapping),
        }

    def _arrivals(self, tensor: str) -> typing.Iterator[tuple[str, dict[str, object]]]:
        """Route one tensor's arrivals, one a side; yield their names and descriptions."""
        untaken = from_domain(self.needed, tensor)
        relation = _relation(self.adapted["arrivals"], tensor)
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
        turned, source = turn(side, self.grid), _relation(self.adapted["sources"], tensor)
        assert source is not None, "the tensor arrives"
        lanes = taken.range().apply(turned)
        adapters = not taken.is_subset(flow.straight)
        if adapters:
            feeds = feeding(flow.chosen, taken, turned)
            self._add(f"{name}_source", spread_routes(feeds, side, turned))
            border = isl.Map("{ [lane, depth] -> [lane, 0] }")
            self.objects[f"{name}_adapters"] = lanes.apply(border).apply(turned.reverse())
        self._add(name, column_routes(lanes, side, turned, spread=adapters))
        self.objects[f"{name}_taken"] = taken
        if self._is_sparse(tensor):
            self._filter(name, taken, flow, adapters)
        self.objects[f"{name}_ports"] = ports_of(flow, taken, turned, adapters)
        return {
            "tensor": tensor,
            "side": side,
            "sparse": self._is_sparse(tensor),
            "colour": name,
            "source": f"{name}_source" if adapters else name,
            "spread": adapters,
            "outer": outer_box(source),
        }

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
            self.objects[f"{colour}_filter"] = interval

    def _is_sparse(self, tensor: str) -> bool:
        given = self.mapping.tensors.get(tensor)
        return given is not None and given.sparse

    def _departures(self, tensor: str) -> typing.Iterator[tuple[str, dict[str, object]]]:
        relation = _relation(self.adapted["departures"], tensor)
        if relation is None:
            return
        computed = isl.Map.from_union_map(from_domain(self.computed, tensor))
        sides = [s for s in SIDES if not on_side(relation, s, self.core).is_empty()]
        for side in sides:
            name = tensor if len(sides) == 1 else f"{tensor}_{SIDES[side].word}"
            here = on_side(relation, side, self.core)
            yield (
                name,
                self._departure(name, tensor, side, computed.intersect_domain(here.domain())),
            )

    def _departure(self, name: str, tensor: str, side: str, sums: isl.Map) -> dict[str, object]:
        turned = turn(side, self.grid)
        first = 1 if self._is_peeled(side) else 0
        ports = self._collected(tensor, side)
        collect = ports is not None
        chain = chain_routes(sums.range().apply(turned), side, turned, first, collect=collect)
        self._add(f"{name}_even", chain.even)
        self._add(f"{name}_odd", chain.odd)
        self.objects[f"{name}_chain"] = chain.members
        self.objects[f"{name}_first"] = chain.starts
        statement = self._writer(tensor)
        described: dict[str, object] = {
            "tensor": tensor,
            "side": side,
            "colours": [f"{name}_even", f"{name}_odd"],
            "by": COMBINE[statement.op],
            "parity": parity(turned),
        }
        if ports is not None:
            self._collect(name, described, ports, sums)
            described["collected"] = True
        elif self._is_sparse(tensor):
            order = _relation(self.adapted["departures"], tensor)
            assert order is not None, "the tensor leaves"
            self.objects[f"{name}_last"] = chain.ends
            return described | {"sparse": True, "outer": outer_box(order)}
        order = leaving(self.adapted, tensor, side, chain.members)
        return described | gathering(order, sums, side, self.adapted)

    def _collected(self, tensor: str, side: str) -> isl.Map | None:
        """Return { t[e] -> [port -> index] } of what adapters on a side collect, if anything."""
        order = _relation(self.adapted.get("collected", isl.UnionMap("{ }")), tensor)
        here = None if order is None else on_side(order, side, self.grid)
        return None if here is None or here.is_empty() else here

    def _collect(
        self, name: str, departure: dict[str, object], ports: isl.Map, sums: isl.Map
    ) -> None:
        """Route the sums of a departure from adapter to adapter to its ports."""
        side, tensor = str(departure["side"]), str(departure["tensor"])
        turned = turn(side, self.grid)
        border = isl.Map("{ [lane, depth] -> [lane, 0] }").apply_range(turned.reverse())
        self.objects[f"{name}_adapters"] = sums.range().apply(turned).apply(border)
        sparse = {"sparse": True, "outer": outer_box(ports)} if self._is_sparse(tensor) else {}
        met = feeding(ports.range_factor_domain(), sums, turned)
        parts = ports_apart(tensor, met, self.profile, self.mapping)
        for along, part in named_along(name, parts):
            chain = border_chain(part, side, turned)
            for colour, routes in (("even", chain.even), ("odd", chain.odd), ("out", chain.out)):
                self._add(f"{along}_{colour}", routes)
            self.objects |= chain_objects(along, chain)
            self.collections[along] = departure | collection(name, along, turned) | sparse

    def _is_peeled(self, side: str) -> bool:
        return {
            "N": self.grid.top < self.core.top,
            "S": self.grid.bottom > self.core.bottom,
            "W": self.grid.left < self.core.left,
            "E": self.grid.right > self.core.right,
        }[side]

    def _add(self, colour: str, routes: Routes) -> None:
        """Keep the routes of a colour; its routers must each listen to one side."""
        listens = routes.domain().unwrap()
        assert listens.is_single_valued(), f"{colour} enters a router from two sides"
        self.objects[colour] = self.colours[colour] = routes

    def _writer(self, tensor: str) -> Statement:
        return next(s for s in self.layer.statements if s.target.tensor == tensor)

    def _tensor(self, name: str) -> dict[str, object]:
        tensor = self.layer.tensors[name]
        described: dict[str, object] = {"type": tensor.type, "shape": list(tensor.shape)}
        if name in self.written:
            kept = "result" if tensor in self.layer.outputs else "internal"
            held = {"in": self.held[name]} if name in self.held else {}
            return {**described, "kept": kept, "initial": NEUTRAL[self._writer(name).op], **held}
        if name not in {a["tensor"] for a in self.arrivals.values()}:
            return {**described, "kept": "resident" if tensor in self.layer.inputs else "delayed"}
        stored = any(not self._reacts(s, name) for s in self._readers(name))
        stored |= any(carry.source == name for carry in self.layer.carries)
        return {**described, "kept": "stored" if stored else "never"}

    def _read_by(self, statement: Statement, tensor: str) -> isl.Map:
        """Return { tensor[e] -> PE } of the PEs on which a statement reads an element."""
        reads = from_domain(self.reads, statement.name)
        needed = to_range(reads, tensor).reverse().apply_range(self.placement)
        return isl.Map.from_union_map(needed)

    def _readers(self, tensor: str) -> list[Statement]:
        return [s for s in self.layer.statements if any(a.tensor == tensor for a in s.reads)]

    def _arriving(self, statement: Statement) -> list[str]:
        arriving = {a["tensor"] for a in self.arrivals.values()}
        return [a.tensor for a in statement.reads if a.tensor in arriving]

    def _reacting(self, statement: Statement) -> bool:
        return any(self._reacts(statement, tensor) for tensor in self._arriving(statement))

    def _reacts(self, statement: Statement, tensor: str) -> bool:
        """Say whether a statement may run element by element: a zero of the tensor adds nothing."""
        return (
            self._is_sparse(tensor)
            and self._arriving(statement) == [tensor]
            and not any(a.tensor in self.written for a in statement.reads)
            and statement.op in ("+=", "=")
            and is_zero_at(statement.expr, tensor)
        )

    def _tasks(self) -> typing.Iterator[tuple[str, dict[str, object]]]:
        """Yield the tasks in the order in which a PE runs them."""
        for tensor in filter(self._starts, (*self.layer.outputs, *self.layer.internals)):
            yield (
                f"init_{tensor.name}",
                {
                    "kind": "initialise",
                    "tensor": tensor.name,
                    "value": NEUTRAL[self._writer(tensor.name).op],
                },
            )
        for name, arrival in self.arrivals.items():
            yield from self._arrival_tasks(name, str(arrival["tensor"]))
        for statement in self.layer.statements:
            if not self._reacting(statement):
                yield f"compute_{statement.name}", {"kind": "compute", **running(statement)}
        for name, departure in self.departures.items():
            if "collected" in departure:
                initial = NEUTRAL[self._writer(str(departure["tensor"])).op]
                yield from collecting_tasks(name, departure, initial)
        for name, departure in (self.departures | self.collections).items():
            yield f"send_{name}", {"kind": "send", "departure": name}
            if "sparse" in departure:
                yield f"pack_{name}", {"kind": "pack", "departure": name}
        for carry in self.layer.carries:
            if not from_domain(self.needed, carry.tensor).is_empty():
                yield from self._carry(carry)

    def _starts(self, tensor: Tensor) -> bool:
        """Say whether a tensor gets a value before statements give it theirs.

        Not one that others hold, nor one of which each element on a PE is defined there at once.
        """
        writer = self._writer(tensor.name)
        at_once = writer.op == "=" and not self._reacting(writer)
        summed = summed_elements(tensor.name, self.departures, self.adapted, self.objects)
        at_once = at_once and summed.is_subset(self.computed)
        return not at_once and tensor.name not in self.held

    def _carry(self, carry: Carry) -> typing.Iterator[tuple[str, dict[str, object]]]:
        """Yield the task that makes one tensor of another one, unless they share their memory."""
        if self.held.get(carry.source) != carry.tensor:
            rank = len(self.layer.tensors[carry.tensor].shape)
            described = {"target": carry.tensor, "op": "=", "expression": carry.source}
            iterators = [f"i{k}" for k in range(rank)]
            yield f"carry_{carry.tensor}", {"kind": "carry", "iterators": iterators, **described}

    def _arrival_tasks(
        self, name: str, tensor: str
    ) -> typing.Iterator[tuple[str, dict[str, object]]]:
        sparse = self.arrivals[name]["sparse"]
        if self.arrivals[name]["spread"]:
            for kind in ("relay",) if sparse else ("hear", "spread"):
                yield f"{kind}_{name}", {"kind": kind, "arrival": name}
        if self._tensor(tensor)["kept"] == "stored":
            if sparse:
                yield f"init_{tensor}", {"kind": "initialise", "tensor": tensor, "value": "0"}
            kind = "store" if sparse else "receive"
            yield f"{kind}_{name}", {"kind": kind, "arrival": name}
        taken = typing.cast(isl.Map, self.objects[f"{name}_taken"])
        reacting = [
            s
            for s in self._readers(tensor)
            if self._reacts(s, tensor) and not self._read_by(s, tensor).is_disjoint(taken)
        ]
        for statement in reacting:
            task = f"on_{name}" if len(reacting) == 1 else f"on_{name}_{statement.name}"
            yield task, {"kind": "react", "arrival": name, **running(statement)}


def _relation(union: isl.UnionMap, tensor: str) -> isl.Map | None:
    """Return { tensor[e] -> [PE -> index] } of one tensor; None if there is none."""
    part = from_domain(union, tensor)
    return None if part.is_empty() else isl.Map.from_union_map(part)

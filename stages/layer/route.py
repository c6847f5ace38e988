"""Build the task graph: what moves, what reacts, what computes; and route the colours.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2
Reads    layer.yaml, *.lair, lair.isl, placement.isl, schedule.isl, adapted.isl
Writes   tasks.yaml    tensors, arrivals, departures, tasks, colours
         routes.isl    { [PE[x, y] -> from[]] -> to[] } per colour, and the PEs that take part
Assumes  data flows along rows or columns, or is spread on a peeled border (adapt).
Ensures  every router has one input side per colour.
"""

from __future__ import annotations

import dataclasses
import typing

import islpy as isl

from stages.lair.expressions import is_zero_at
from stages.lair.layer import Carry, Statement, Tensor, writer_of
from stages.layer.routes.collection import collecting_tasks, passed_on
from stages.layer.routes.colours import shared_colours
from stages.layer.routes.leaving import summed_elements
from stages.layer.routes.routing import Streams
from stages.layer.routes.sharing import held_tensors, waits_of
from stages.layer.routes.waiting import waiting_of
from stages.layer.streams.cutting import Cutter, most_together
from stages.layer.streams.leaders import leaders_of
from stages.layer.streams.leads import leads_of
from stages.layer.streams.portions import Flows
from stages.layer.streams.tasks import running
from stages.layer.texts.graph import Graph, graph_text
from stages.machine.types import is_integer
from stages.mapping.records import as_data, from_data
from stages.poly.pieces import from_domain, to_range
from stages.poly.text import spell_object, write_objects

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("layer.yaml", "*.lair", "lair.isl", "placement.isl", "schedule.isl", "adapted.isl")
WRITES = ("tasks.yaml", "routes.isl")
HEADER = """Routes (Sec. 4.2), per colour: { [PE[x, y] -> from side[]] -> to side[] }.
N_taken: which PE takes which element of arrival N; N_adapters: PEs that spread it;
N_ports: where it enters; N_filter: the index from and up to which a router hands it to its PE.
N_chain: PEs that sum departure N on its way out; N_first: those where it starts."""
SPARSE_HEADER = """
N_last: PEs that send the whole sums of a sparse departure N to their ports."""
COLLECT_HEADER = """
N_adapters: PEs that collect departure N. N_chain, N_first, N_last: those that sum collection N;
N_even, N_odd: from one to the next; N_out: from the last to the port; N_reach: { port -> PE }."""
PASSING_HEADER = """
N_line: PEs among which arrival N, or N_source along the border, is passed on; N_passing: those that
send it on; of these N_between take nothing; N_nearest: those that hear it on the colour N_in.
N_copied, N_copied_filter: its routes and its filter if routers copied. N_then, N_then2, N_then3:
where PEs get copies of their own, the further positions of its routers; N_reach: { port -> PE }."""
NEUTRAL = {"=": "0", "+=": "0", "*=": "1", "max=": "-inf", "min=": "inf"}


def run(inputs: Inputs) -> dict[str, str]:
    """Return tasks.yaml and routes.isl."""
    graph = TaskGraph(inputs)
    leaving = graph.departures | graph.streams.collections
    header = HEADER
    if graph.streams.collections:
        header += COLLECT_HEADER
    if any("sparse" in departure for departure in leaving.values()):
        header += SPARSE_HEADER
    if graph.streams.copied:
        header += PASSING_HEADER
    return {
        "tasks.yaml": graph_text(from_data(Graph, as_data(graph.leading()))),
        "routes.isl": write_objects(header, graph.streams.objects),
    }


class TaskGraph:
    """The tasks that the streams of a layer start."""

    def __init__(self, inputs: Inputs) -> None:
        """Find the streams, and the tensors that lie in one memory."""
        self.streams = Streams(inputs)
        self.layer = self.streams.layer
        self.reads = self.streams.lair["reads"]
        self.arrivals, self.departures = self.streams.arrivals, self.streams.departures
        self.written = [s.target.tensor for s in self.layer.statements]
        apart = {str(d["tensor"]) for d in self.departures.values()}
        apart |= {t for t in self.written if self._reacting(writer_of(self.layer, t))}
        self.held = held_tensors(inputs.lair(), self.streams.needed, self.streams.computed, apart)
        self.waits = dict(waits_of(self.layer, self.held))
        self.waiting = waiting_of(self.streams, self.waits)
        for name, before in self.waiting.waits.items():
            self.departures[name]["waits"] = before
        self.cutter = self._cutter()
        self.cuts = self.cutter.cut()

    def tasks(self) -> dict[str, object]:
        """Return the content of tasks.yaml."""
        streams, collections = self.streams, self.streams.collections
        shared = shared_colours(streams.colours, streams.grid, streams.profile, streams.mapping)
        copied = shared_colours(
            streams.as_copied(), streams.grid, streams.profile, streams.mapping
        ) if streams.copied else []
        return {
            "tensors": {name: self._tensor(name) for name in self.layer.tensors},
            "arrivals": {n: a | self._portions(n) for n, a in self.arrivals.items()},
            "departures": self.departures,
            **({"collections": collections} if collections else {}),
            **({"passing": streams.passing} if streams.passing else {}),
            **({"copied": copied} if copied else {}),
            "tasks": dict(self._tasks()),
            **({"waits": self.waits} if self.waits else {}),
            "colours": shared,
        }

    def leading(self) -> dict[str, object]:
        """Return the content of tasks.yaml, with what leaves before the end of a statement."""
        graph: dict[str, typing.Any] = self.tasks()
        writers = {s.target.tensor: s.name for s in self.layer.statements}
        leads = leads_of(graph, self.cutter.flows, writers, self.streams.profile)
        for name, lead in leads.items():
            graph["departures"][name]["lead"] = lead
            if "rows" in lead:
                continue
            graph["tasks"][f"lead_{name}"] = {"kind": "lead", "departure": name}
            if lead["all"]:
                del graph["tasks"][f"send_{name}"]
        return graph

    def _cutter(self) -> Cutter:
        """Return what decides which arrivals are taken in portions."""
        streams, layer = self.streams, self.layer
        flows = Flows(
            arrivals=self.arrivals,
            lair=streams.lair,
            adapted=streams.adapted,
            routes=streams.objects,
        )
        names = [s.name for s in layer.statements if not self._reacting(s)]
        leaders = leaders_of(layer, names, self.waits, self.held, flows)
        flows = dataclasses.replace(flows, follows=leaders.follows)
        chains = {n: typing.cast(isl.Set, streams.objects[f"{n}_chain"]) for n in self.departures}
        waiting = max(most_together(chains), self.waiting.most)
        return Cutter(layer, streams.profile, flows, leaders, self.departures, waiting)

    def _portions(self, arrival: str) -> dict[str, object]:
        """Return what tasks.yaml says of the portions of an arrival."""
        found = self.cuts.get(arrival)
        if found is None:
            why = self.cutter.whole.get(arrival)
            return {} if why is None else {"whole": why}
        cut, why = found.cut, f"some {found.cycles} cycles, {found.whole} as a whole"
        rest = {} if cut.rest == cut.size else {"rest": cut.rest}
        described = {"of": spell_object(cut.of), "counts": list(cut.counts), "size": cut.size}
        return {"portions": {**described, **rest, "why": why}}

    def _steps(self, statement: Statement) -> dict[str, object]:
        """Return which arrivals a statement goes by, if it runs in steps."""
        leaders = self.cutter.leaders
        by = [name for name in leaders.arrivals[statement.name] if name in self.cuts]
        if not by:
            return {}
        follows = list(leaders.follows.get(statement.name, ()))
        return {"portions": by, **({"follows": follows} if follows else {})}

    def _initial(self, tensor: str) -> str:
        """Return what a tensor is before anything is added to it.

        What is assigned keeps the sign of a zero: -0 + -0 is -0 and -0 + 0 is 0 (IEEE 754, 6.3).
        """
        writer = writer_of(self.layer, tensor)
        is_signed = writer.op == "=" and not is_integer(self.layer.tensors[tensor].type)
        return "-0" if is_signed and not self._reacting(writer) else NEUTRAL[writer.op]

    def _tensor(self, name: str) -> dict[str, object]:
        tensor = self.layer.tensors[name]
        described: dict[str, object] = {"type": tensor.type, "shape": list(tensor.shape)}
        if name in self.written:
            kept = "result" if tensor in self.layer.outputs else "internal"
            held = {"in": self.held[name]} if name in self.held else {}
            return described | {"kept": kept, "initial": self._initial(name)} | held
        if name not in {a["tensor"] for a in self.arrivals.values()}:
            return {**described, "kept": "resident" if tensor in self.layer.inputs else "delayed"}
        stored = any(not self._reacts(s, name) for s in self._readers(name))
        stored |= any(carry.source == name for carry in self.layer.carries)
        return {**described, "kept": "stored" if stored else "never"}

    def _read_by(self, statement: Statement, tensor: str) -> isl.Map:
        """Return { tensor[e] -> PE } of the PEs on which a statement reads an element."""
        reads = from_domain(self.reads, statement.name)
        needed = to_range(reads, tensor).reverse().apply_range(self.streams.adapted["placement"])
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
            self.streams.is_sparse(tensor)
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
                    "value": self._initial(tensor.name),
                },
            )
        for name, arrival in self.arrivals.items():
            yield from self._arrival_tasks(name, str(arrival["tensor"]))
        for statement in self.layer.statements:
            if not self._reacting(statement):
                described = {"kind": "compute", **running(statement), **self._steps(statement)}
                yield f"compute_{statement.name}", described
        for name, departure in self.departures.items():
            if "collected" in departure and name not in passed_on(self.streams.collections):
                initial = self._initial(str(departure["tensor"]))
                yield from collecting_tasks(name, departure, initial)
        summed = {n: c for n, c in self.streams.collections.items() if c["by"] != "gather"}
        for name, departure in (self.departures | summed).items():
            yield f"send_{name}", {"kind": "send", "departure": name}
            if "sparse" in departure:
                yield f"pack_{name}", {"kind": "pack", "departure": name}
        for carry in self.layer.carries:
            if not from_domain(self.streams.needed, carry.tensor).is_empty():
                yield from self._carry(carry)

    def _starts(self, tensor: Tensor) -> bool:
        """Say whether a tensor gets a value before statements give it theirs.

        Not one that others hold, nor one of which each element on a PE is defined there at once.
        """
        writer = writer_of(self.layer, tensor.name)
        at_once = writer.op == "=" and not self._reacting(writer)
        streams = self.streams
        summed = summed_elements(tensor.name, self.departures, streams.adapted, streams.objects)
        at_once = at_once and summed.is_subset(streams.computed)
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
        if name in self.cuts and self.cuts[name].cut.rest < self.cuts[name].cut.size:
            yield f"rest_{name}", {"kind": "receive", "arrival": name, "rest": True}
        taken = typing.cast(isl.Map, self.streams.objects[f"{name}_taken"])
        reacting = [
            s
            for s in self._readers(tensor)
            if self._reacts(s, tensor) and not self._read_by(s, tensor).is_disjoint(taken)
        ]
        for statement in reacting:
            task = f"on_{name}" if len(reacting) == 1 else f"on_{name}_{statement.name}"
            yield task, {"kind": "react", "arrival": name, **running(statement)}

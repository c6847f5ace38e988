"""Find what one invocation of each task runs.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5.1, eqs. (11)-(16)
Reads    lair.isl, adapted.isl, tasks.yaml, routes.isl, allocations.isl
Writes   instances.isl    per task T: T, T_known, T_access
Assumes  every element that a PE takes from a stream has one index there.
Ensures  T_known holds all symbolic constants with which T may be invoked.
Differs  index counts from the first element that a column needs, as adapters make it, eq. (5).
"""

from __future__ import annotations

import typing

import islpy as isl

from stages.diagnose import working_on
from stages.layer.routes.leaving import leaving, leaving_name
from stages.layer.routes.returning import after_returns
from stages.layer.streams.leading import Leading, steps_of
from stages.layer.streams.portions import Flows, followed, taken_portions
from stages.poly.bind import PE_NAMES, bind_range, bind_set, index_names
from stages.poly.cuts import of_portion, portions
from stages.poly.local import at_this_pe
from stages.poly.order import (
    at_index,
    at_pe,
    at_places,
    filtered,
    fixed_outer,
    on_side,
    relocated,
    taken_by,
)
from stages.poly.pieces import from_domain, sets_of, to_range
from stages.poly.side import bounding_rectangle
from stages.poly.text import write_objects
from stages.skewing.elements import needed_elements

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("lair.isl", "adapted.isl", "tasks.yaml", "routes.isl", "allocations.isl")
WRITES = ("instances.isl",)
HEADER = """What one invocation of each task runs (Sec. 5.1).
T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
T_known: the symbolic constants with which T is invoked, eq. (15).
T_access: { instance -> element }, where an instance of a stream is the index of its element."""
STEPS_HEADER = """
T_steps: { instance -> [PE[x, y] -> portion[p]] }, the portion after which it runs."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return instances.isl."""
    finder = InstanceFinder(inputs)
    objects = finder.objects()
    in_steps = any(name.endswith("_steps") for name in objects)
    header = HEADER + STEPS_HEADER if in_steps else HEADER
    return {"instances.isl": write_objects(header, objects)}


class InstanceFinder:
    """The files that instance sets are made of."""

    def __init__(self, inputs: Inputs) -> None:
        """Read them."""
        self.graph = inputs.yaml("tasks.yaml")
        self.adapted = inputs.objects("adapted.isl")
        self.lair = after_returns(inputs.objects("lair.isl"), self.adapted)
        self.routes = inputs.objects("routes.isl")
        self.flows = Flows(
            arrivals=self.graph["arrivals"],
            lair=self.lair,
            adapted=self.adapted,
            routes=self.routes,
            follows=followed(self.graph["tasks"]),
        )
        allocations = inputs.objects("allocations.isl")
        self.local = {s.get_tuple_name(): s for s in sets_of(allocations["local"])}
        self.by_tensor = at_this_pe(allocations["to_local"])
        self.placement = self.adapted["placement"]
        self.core = bounding_rectangle(isl.Set.from_union_set(self.adapted["target"]))
        self.grid = bounding_rectangle(isl.Set.from_union_set(self.adapted["grid"]))
        self.leaving = self.graph["departures"] | self.graph.get("collections", {})

    def objects(self) -> dict[str, isl.Set | isl.UnionMap]:
        """Return the content of instances.isl."""
        found: dict[str, isl.Set | isl.UnionMap] = {}
        for name, task in self.graph["tasks"].items():
            find = getattr(self, f"_{task['kind']}")
            with working_on(f"task {name}"):
                found |= {f"{name}{suffix}": obj for suffix, obj in find(task).items()}
        return found

    def _initialise(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """All of a local tensor: { T[e] : 0 <= local index of e < size }."""
        tensor = task["tensor"]
        elements = self.local[f"{tensor}_local"].apply(self.by_tensor[tensor].reverse())
        return {"": elements, "_known": self._pes(), "_access": _identity(elements)}

    def _react(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ S[i] : placed on PE, reads the element that arrives with index }, eq. (12)."""
        arriving, known = self._arriving(task["arrival"])
        accesses = self._accesses(task["statement"])
        reads = isl.Map.from_union_map(to_range(accesses, arriving.get_tuple_name()))
        return {
            "": arriving.apply(reads.reverse()).intersect(self._placed(task["statement"])),
            "_known": known,
            "_access": accesses,
        }

    def _store(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ T[e] : arrives with index at a PE that needs it }."""
        arriving, known = self._arriving(task["arrival"])
        return {"": arriving, "_known": known, "_access": _identity(arriving)}

    def _receive(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ index[i] : T[e] reaches the port of PE with i }, and which T[e]; or of a portion."""
        order = self.flows.passing(task["arrival"])
        cut = self.graph["arrivals"][task["arrival"]].get("portions")
        if cut is None:
            return self._moved(order)
        at = at_pe(order).intersect_domain(of_portion(isl.Map(cut["of"])))
        pes = bind_set(order.range_factor_domain().range(), PE_NAMES)
        known = pes.intersect(taken_portions(cut, rest="rest" in task))
        return {"": at.domain(), "_known": known, "_access": at}

    def _send(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ index[i] : T[e] leaves the port of PE with i }, and which T[e].

        Of what is gathered only what PE computes; with outer indices if it is sent row by row.
        """
        stream, order = self.leaving[task["departure"]], self._leaving(task["departure"], "chain")
        if "sends" in stream.get("lead", ()):
            return self._moved(order) | {"": self._leading(task["departure"]).lead.rest}
        if stream["by"] != "gather":
            return self._moved(order)
        computed = self.lair["writes"].reverse().apply_range(self.placement)
        own = isl.Map.from_union_map(from_domain(computed, stream["tensor"]))
        at = at_pe(taken_by(order, own))
        names = index_names(at.dim(isl.dim_type.in_))
        at = fixed_outer(at, names[: len(stream["rows"])])
        return {"": at.domain(), "_known": at.domain().params(), "_access": at}

    def _lead(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ index[i] : T[e] leaves after a step of its statement, with i }, and which T[e]."""
        leading = self._leading(task["departure"])
        return {
            "": leading.lead.leading(leading.steps.names),
            "_known": bind_set(leading.pes, PE_NAMES).intersect(leading.steps.known),
            "_access": leading.lead.at,
        }

    def _leading(self, name: str) -> Leading:
        """Return what leaves early of a departure."""
        departure = self.graph["departures"][name]
        steps = steps_of(departure["lead"]["statement"], self.graph)
        assert steps is not None, "what leaves early does so after a step"
        chain = isl.Set.from_union_set(self.routes[f"{name}_chain"])
        return Leading(
            flows=self.flows,
            departure=departure,
            chain=chain,
            steps=steps,
            type=self.graph["tensors"][departure["tensor"]]["type"],
        )

    def _pack(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ index[i] : T[e] leaves the port of PE with outer indices and i }, and which T[e]."""
        order = self._leaving(task["departure"], "last")
        at = at_pe(order)
        outer = index_names(at.dim(isl.dim_type.in_))[:-1]
        at = fixed_outer(at, outer)
        known = bind_set(order.range_factor_domain().range(), PE_NAMES)
        for name, (low, high) in zip(outer, self.leaving[task["departure"]]["outer"], strict=True):
            known = known.intersect(isl.Set(f"[{name}] -> {{ : {low} <= {name} <= {high} }}"))
        return {"": at.domain(), "_known": known, "_access": at}

    def _clear(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """All of the memory in which adapters collect: { T[e] : 0 <= local index of e < size }."""
        members = isl.UnionSet("{ }")
        for name, collection in self.graph["collections"].items():
            if collection["departure"] == task["departure"]:
                members = members.union(self.routes[f"{name}_chain"])
        known = bind_set(isl.Set.from_union_set(members), PE_NAMES)
        return self._initialise(task) | {"_known": known}

    def _gather(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ index[i] : T[e] reaches an adapter with i }, and which T[e]."""
        stream = self.graph["departures"][task["departure"]]
        relation = self._relation("departures", leaving_name(stream))
        order = on_side(relation, stream["side"], self.core)
        return self._moved(_renamed(order, f"{leaving_name(stream)}_collected"))

    def _leaving(self, name: str, part: str) -> isl.Map:
        """Return { T[e] -> [PE -> index] } of what leaves, at the PEs of its chain, or the last."""
        stream, side = self.leaving[name], self.leaving[name]["side"]
        pes = isl.Set.from_union_set(self.routes[f"{name}_{part}"])
        if name in self.graph["departures"]:
            return leaving(self.adapted, stream, pes)
        reach = isl.Map.from_union_map(self.routes[f"{name}_reach"])
        relation = self._relation("collected", leaving_name(stream))
        order = relocated(on_side(relation, side, self.grid), reach)
        return _renamed(at_places(order, pes), f"{leaving_name(stream)}_collected")

    def _compute(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ S[i] : placed on PE }, eq. (11); of a step, if it runs in steps, eq. (12)."""
        accesses = self._accesses(task["statement"])
        if "portions" not in task:
            placed = self._placed(task["statement"])
            return {"": placed, "_known": self._pes(), "_access": accesses}
        cuts = {n: self.graph["arrivals"][n]["portions"] for n in task["portions"]}
        by_arrival = {n: isl.Map(cut["of"]) for n, cut in cuts.items()}
        steps = self.flows.steps(task["statement"], by_arrival)
        known = portions(next(iter(cuts.values()))["counts"]).intersect(self._pes())
        return {"": at_index(steps), "_known": known, "_access": accesses, "_steps": steps}

    def _carry(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ T[e] : needed on PE }, and which S[e] it is in the next invocation."""
        tensor = task["target"]
        needed = from_domain(needed_elements(self.lair, self.placement), tensor)
        elements = bind_range(isl.Map.from_union_map(needed), PE_NAMES)
        own = isl.UnionMap.from_map(_identity(elements))
        source = from_domain(self.lair["carried"], tensor)
        return {"": elements, "_known": self._pes(), "_access": own.union(source)}

    def _relay(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ index[new] : the element that reaches an adapter with index is sent on with new }."""
        stream, flow = self.graph["arrivals"][task["arrival"]], self.flows.flow(task["arrival"])
        wanted = taken_by(flow.heard, flow.sent.range_factor_domain())
        renumbered = at_pe(flow.sent).apply_range(at_pe(wanted).reverse())
        names = index_names(renumbered.dim(isl.dim_type.out))
        known = at_index(self._filtered(stream["source"], flow.heard)).params()
        return {"": bind_range(renumbered, names), "_known": known}

    def _hear(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ index[i] : T[e] reaches an adapter with i }, and which T[e]."""
        return self._source(task, self.flows.flow(task["arrival"]).heard)

    def _spread(self, task: dict[str, str]) -> dict[str, typing.Any]:
        """{ index[i] : an adapter sends T[e] on with i }, and which T[e]."""
        return self._source(task, self.flows.flow(task["arrival"]).sent)

    def _source(self, task: dict[str, str], order: isl.Map) -> dict[str, typing.Any]:
        """Return { index[i] } per adapter, the adapters, and { index[i] -> T_source[e] }."""
        tensor = self.graph["arrivals"][task["arrival"]]["tensor"]
        return self._moved(_renamed(order, f"{tensor}_source"))

    def _moved(self, order: isl.Map) -> dict[str, typing.Any]:
        """Return { index[i] } per PE, the PEs that take part, and { index[i] -> T[e] }."""
        at = at_pe(order)
        pes = order.range_factor_domain().range()
        return {"": at.domain(), "_known": bind_set(pes, PE_NAMES), "_access": at}

    def _arriving(self, name: str) -> tuple[isl.Set, isl.Set]:
        """Return [PE_X, PE_Y, index...] -> { t[e] } of what PEs take, and what arrives, eq. (15).

        What enters a row or column reaches all its PEs that take some of it, but for filters.
        """
        stream = self.graph["arrivals"][name]
        taken = isl.Map.from_union_map(self.routes[f"{name}_taken"])
        everywhere = self.flows.flow(name).everywhere
        passing = self._filtered(stream["colour"], at_places(everywhere, taken.range()))
        return at_index(taken_by(everywhere, taken)), at_index(passing).params()

    def _filtered(self, colour: str, order: isl.Map) -> isl.Map:
        """Return what the routers hand to their PEs of an order."""
        interval = self.routes.get(f"{colour}_filter")
        return order if interval is None else filtered(order, isl.Map.from_union_map(interval))

    def _relation(self, which: str, tensor: str) -> isl.Map:
        return isl.Map.from_union_map(from_domain(self.adapted[which], tensor))

    def _placed(self, statement: str) -> isl.Set:
        placement = isl.Map.from_union_map(from_domain(self.placement, statement))
        return bind_range(placement, PE_NAMES)

    def _accesses(self, statement: str) -> isl.UnionMap:
        both = self.lair["reads"].union(self.lair["writes"])
        return from_domain(both, statement)

    def _pes(self) -> isl.Set:
        return bind_set(self.core.as_set(), PE_NAMES)


def _identity(elements: isl.Set) -> isl.Map:
    return isl.Map.identity(elements.get_space().map_from_set())


def _renamed(order: isl.Map, name: str) -> isl.Map:
    """Return { name[e] -> [PE -> index] } of { T[e] -> [PE -> index] }."""
    return order.set_tuple_name(isl.dim_type.in_, name)

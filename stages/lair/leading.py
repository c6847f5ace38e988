"""Which part of a departure leaves while its statement still runs, and after which steps.

A statement runs in steps: the sequences of a sparse tensor, or the portions of dense ones. What
leaves early costs a guard in each step, and an instruction for each send; all that is sent before
the last step is saved at the end.

Nothing comes to a stop by that. An instruction that sends may wait for a PE farther in; as long as
there is room in the queue of instructions, tasks run all the same, and take all that arrives. It
may be full without harm

- where each PE is alone on its lane, for then its sends wait for the port only;
- where all that arrives by tasks is what the steps go by, and all PEs of a lane send the same after
  a step. Of the PEs that have run the fewest steps, m, one could not go on only if its queue were
  full, or if the next portion did not reach it, but waits at another PE with m steps and a full
  queue. What that queue sends first belongs to a step up to m, and all PEs of the lane have run
  these: it is on its way from the deepest one to the port, and there nothing waits for a task.

Else all sends of a PE together leave room in its queue.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2
"""

from __future__ import annotations

import functools
import itertools
import typing
from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from stages.lair.leaving import leaving
from stages.lair.portions import Flows
from stages.poly.ast import c_condition
from stages.poly.bind import PE_NAMES, bind_range, bind_set, index_names, project_names, unbind_set
from stages.poly.bounds import ExactBounds, exact_bounds, fixed_size
from stages.poly.compression import compress, keeps_order
from stages.poly.count import count, most_points
from stages.poly.leading import Lead, is_in_order, lead_of, stops_of
from stages.poly.pieces import from_domain, maps_of
from stages.poly.portions import last_in

if typing.TYPE_CHECKING:
    from stages.fabric.profile import Profile

Description = Mapping[str, typing.Any]
STEP = 5
"""Scalar operations of taking a portion and running a step, roughly."""

RUN_TIME = 4
"""Scalar operations that find the size of a send before it, roughly."""

LANES = {
    "N": "{ PE[x, y] -> PE[x, v] }",
    "S": "{ PE[x, y] -> PE[x, v] }",
    "W": "{ PE[x, y] -> PE[u, y] }",
    "E": "{ PE[x, y] -> PE[u, y] }",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The steps of a statement: its cuts by arrival, and from where to where portions go.

    `names` are the symbolic constants of a portion, `in_sequences` says whether they are the
    sequences of sparse tensors.
    """

    statement: str
    cuts: Mapping[str, isl.Map]
    box: tuple[tuple[int, int], ...]
    names: tuple[str, ...]
    in_sequences: bool = False

    @property
    def known(self) -> isl.Set:
        """Return [names] -> { : there is such a portion }."""
        found = isl.Set(f"[{', '.join(self.names)}] -> {{ : }}")
        for name, (low, high) in zip(self.names, self.box, strict=True):
            found = found.intersect(isl.Set(f"[{name}] -> {{ : {low} <= {name} <= {high} }}"))
        return found

    @property
    def ends(self) -> list[isl.Set]:
        """Return the [names] of which code that ends a step knows that it is one of them.

        All portions; of sequences those before whose last dimension goes on, then those before
        whose last but one does, ..., and the last one.
        """
        if not self.in_sequences:
            return [self.known]
        found, left = [], self.known
        for name, (_, high) in reversed(list(zip(self.names, self.box, strict=True))):
            last = isl.Set(f"[{name}] -> {{ : {name} = {high} }}")
            found.append(left.subtract(last))
            left = left.intersect(last)
        return [*found, left]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many sends may wait in the queue of a PE, and why there may be more.

    `alone`: every PE is alone on its lane. `in_step`: all tasks that take elements are those of
    the steps.
    """

    sends: int
    alone: bool
    in_step: bool


def steps_of(statement: str, graph: Description) -> Steps | None:
    """Return the steps of a statement, given what tasks.yaml says; None if it is one step."""
    tasks = [t for t in graph["tasks"].values() if t.get("statement") == statement]
    arrivals = graph["arrivals"]
    for task in tasks:
        if "portions" in task:
            return _portion_steps(statement, {n: arrivals[n] for n in task["portions"]})
    reacting = [task["arrival"] for task in tasks if task["kind"] == "react"]
    return _sequence_steps(statement, {name: arrivals[name] for name in reacting})


def _portion_steps(statement: str, arrivals: Mapping[str, Description]) -> Steps:
    cuts = {name: arrival["portions"] for name, arrival in arrivals.items()}
    counts = next(iter(cuts.values()))["counts"]
    return Steps(
        statement=statement,
        cuts={name: isl.Map(cut["of"]) for name, cut in cuts.items()},
        box=tuple((0, count - 1) for count in counts),
        names=tuple(index_names(len(counts))),
    )


def _sequence_steps(statement: str, arrivals: Mapping[str, Description]) -> Steps | None:
    """Return steps that are sequences; None if there is one, or if streams have other ones."""
    boxes = {tuple((low, high) for low, high in a["outer"]) for a in arrivals.values()}
    box = boxes.pop() if boxes else ()
    if boxes or all(low == high for low, high in box):
        return None
    listed = [f"i{k}" for k in range(len(box) + 1)]
    cut = isl.Map(f"{{ index[{', '.join(listed)}] -> portion[{', '.join(listed[:-1])}] }}")
    return Steps(
        statement=statement,
        cuts=dict.fromkeys(arrivals, cut),
        box=box,
        names=tuple(index_names(len(listed))[:-1]),
        in_sequences=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading:
    """What leaves of one departure, and the steps of the statement that writes it."""

    flows: Flows
    departure: Description
    chain: isl.Set
    steps: Steps
    type: str

    @property
    def last(self) -> isl.Map:
        """Return { t[e] -> [PE -> portion[p]] }, the last step that adds to an element on a PE."""
        steps = self.flows.steps(self.steps.statement, self.steps.cuts)
        writes = from_domain(self.flows.lair["writes"], self.steps.statement)
        return last_in(steps, isl.Map.from_union_map(writes))

    @property
    def order(self) -> isl.Map:
        """Return { t[e] -> [PE -> index] } of what leaves at the PEs of the chain."""
        departure = self.departure
        return leaving(self.flows.adapted, departure["tensor"], departure["side"], self.chain)

    @property
    def pes(self) -> isl.Set:
        """Return { PE[x, y] }, those of the chain that take what the steps go by."""
        taking = [self.flows.taken(name).range() for name in self.steps.cuts]
        return self.chain.intersect(functools.reduce(isl.Set.union, taking)).coalesce()

    @property
    def is_mixed(self) -> bool:
        """Say whether a PE gets sequences of several streams, which come in no common order."""
        taking = [self.flows.taken(name).range() for name in self.steps.cuts]
        pairs = itertools.combinations(taking, 2)
        return self.steps.in_sequences and not all(a.is_disjoint(b) for a, b in pairs)

    @property
    def lead(self) -> Lead:
        """Return what leaves after which steps, as tasks.yaml says."""
        return lead_of(self.order, self.last, isl.Set(self.departure["lead"]["after"]), self.pes)

    def slack(self, profile: Profile) -> int:
        """Return the cycles in which a PE waits for portions, roughly; none for sequences."""
        if self.steps.in_sequences:
            return 0
        placed = maps_of(self.flows.adapted["placement"])
        instances = sum(most_points(bind_range(each, PE_NAMES)) for each in placed)
        arriving = sum(
            most_points(bind_range(self.flows.taken(name), PE_NAMES)) for name in self.steps.cuts
        )
        taking = STEP * profile.scalar * count(self.steps.known)
        return max(0, arriving - instances // profile.lanes[self.type] - taking)

    def is_alike(self, lead: Lead) -> bool:
        """Say whether all PEs of a lane send the same after the same steps."""
        sent = unbind_set(lead.after.wrap(), "PE", PE_NAMES)
        lane = isl.Map(LANES[self.departure["side"]])
        return lane.intersect_domain(self.pes).apply_range(sent).is_subset(sent)


def leads_of(
    graph: Description, flows: Flows, writers: Mapping[str, str], profile: Profile
) -> dict[str, Description]:
    """Return, by departure, what tasks.yaml says of what leaves early.

    `graph` is what tasks.yaml says otherwise; `writers` gives the statement of a tensor.
    """
    found: dict[str, Description] = {}
    departures = graph["departures"]
    summed = [n for n, d in departures.items() if d["by"] != "gather" and "sparse" not in d]
    for name in summed:
        steps = steps_of(writers[departures[name]["tensor"]], graph)
        if steps is None:
            continue
        chain, first = (flows.routes[f"{name}_{part}"] for part in ("chain", "first"))
        type_ = graph["tensors"][departures[name]["tensor"]]["type"]
        leading = Leading(
            flows=flows, departure=departures[name], chain=chain, steps=steps, type=type_
        )
        room = Room(
            sends=free_instructions(graph, profile) // len(summed),
            alone=chain.is_equal(first),
            in_step=set(steps.cuts) == set(_taking_tasks(graph)),
        )
        chosen = None if leading.is_mixed else _choose(leading, room, profile)
        if chosen is not None:
            found[name] = {"statement": steps.statement, **chosen}
    return found


def free_instructions(graph: Description, profile: Profile) -> int:
    """Return how many more instructions may wait on a PE: with too many, no task starts.

    Besides one for each departure, and what takes what arrives.
    """
    dense = [arrival for arrival in graph["arrivals"].values() if not arrival["sparse"]]
    receives = sum(2 if "portions" in arrival else 1 for arrival in dense)
    return max(0, profile.instruction_queue - 1 - receives - len(graph["departures"]))


def _taking_tasks(graph: Description) -> list[str]:
    """Return the arrivals that a PE takes only as long as its tasks run."""
    arrivals = graph["arrivals"].items()
    return [name for name, a in arrivals if a["sparse"] or "portions" in a]


def _choose(leading: Leading, room: Room, profile: Profile) -> Description | None:
    """Return the steps after which a departure is sent, and why; None if all leaves at the end."""
    last, order, pes = leading.last, leading.order, leading.pes
    found = [
        {"after": str(stops), **gain}
        for stops in stops_of(last, leading.steps.box)
        if (gain := _gain(lead_of(order, last, stops, pes), leading, room, profile))
    ]
    best = max(found, key=lambda gain: (gain["saved"], -gain["spent"]), default=None)
    if best is None or best["saved"] <= 0:
        return None
    why = f"some {best.pop('saved')} cycles saved, {best.pop('spent')} of a PE more"
    return best | {"why": why}


def _gain(
    lead: Lead, leading: Leading, room: Room, profile: Profile
) -> dict[str, typing.Any] | None:
    """Return whether all leaves early, in how many sends, and the cycles that are saved.

    None if it is out of order, or no boxes, or if there would be too many sends.
    """
    if lead.after.is_empty() or not is_in_order(lead):
        return None
    names, elements = leading.steps.names, lead.leading(leading.steps.names)
    whole = lead.rest.is_empty()
    members = bind_set(leading.chain, PE_NAMES)
    if not (whole or members.is_subset(lead.rest.params())):
        return None
    early, rest = _bounds(elements), _bounds(lead.rest)
    if early is None or rest is None or fixed_size(rest, ()) is None:
        return None
    stops = project_names(elements.params(), PE_NAMES)
    sends = _count(stops, names)
    if sends > room.sends and not (room.alone or (room.in_step and leading.is_alike(lead))):
        return None
    each = profile.address + (0 if room.alone else profile.scalar)
    if fixed_size(early, names) is None:
        each += profile.configuration + RUN_TIME * profile.scalar
    spent = sends * each + profile.scalar * _tests(stops, leading.steps)
    hidden = leading.slack(profile) * (sends - 1) // sends
    elements_sent = count(elements) // count(elements.params()) * (sends - whole)
    saved = elements_sent - max(each, spent - hidden)
    return {"all": whole, "sends": sends, "spent": spent, "saved": saved}


def _tests(stops: isl.Set, steps: Steps) -> int:
    """Return the operations that find out after which steps something leaves."""
    found = 0
    for known in steps.ends:
        guard = None if known.is_disjoint(stops) else c_condition(stops, known)
        found += guard.operations * _count(known, steps.names) if guard else 0
    return found


def _count(known: isl.Set, names: tuple[str, ...]) -> int:
    listed = ", ".join(names)
    return count(known.unbind_params(isl.MultiId(f"[{listed}] -> {{ [{listed}] }}")))


def _bounds(elements: isl.Set) -> ExactBounds | None:
    """Return the bounds of a set that is a box, compressed, in order; None if it is none."""
    compressed = compress(elements)
    if not keeps_order(compressed.map, compressed.set):
        return None
    bounds = exact_bounds(compressed.set, elements.params())
    return bounds if bounds.is_box else None

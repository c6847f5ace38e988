"""When what happens on some PEs of a layer: arrivals, statements, departures, in their order.

    restart -> arrivals -> statements, in steps or as a whole -> departures -> fed back -> ...

Each PE runs one task after the other. A statement starts where all is there that it waits for; what
leaves passes from PE to PE, and is there for those that take it back.

Source   stages/layer/pe, whose programs do this in that order
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal, get_args

import islpy as isl

from lairmake.stages.layer.estimate.coming import (
    find_back,
    find_dense,
    find_first,
    find_reactions,
    find_relayed,
    find_unpacked,
)
from lairmake.stages.layer.estimate.facts import (
    Facts,
    count_dense,
    find_cost,
    find_running,
    list_read,
    list_statements,
)
from lairmake.stages.layer.estimate.going import (
    count_sent,
    find_leaving,
    find_ordered,
    find_sent_early,
)
from lairmake.stages.layer.estimate.guess import DIGITS, TAKE
from lairmake.stages.layer.estimate.moves import ON_ARRIVAL, find_relay, find_steps_end
from lairmake.stages.layer.estimate.places import PE
from lairmake.stages.layer.texts.task_graph import Carry, Compute, Initialise, Operate

Why = Literal["arrive", "computes", "fed_back"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The cycles of a layer, and what they went into on the PE that is done last."""

    cycles: float
    spent: Mapping[Why, float]
    leave: float


class Timeline:
    """The times of some PEs: `free` is when each has done what was noted so far.

    `owed` is what it does besides until it is free, or while it waits: elements that streams take
    the datapath for, tasks that end streams. `ordered` are those of its cycles in which
    departures are brought into order that have left since its last statement.
    """

    def __init__(self, facts: Facts) -> None:
        """Begin with cycle 0, at which each PE has started what it takes."""
        self.facts, self.profile = facts, facts.profile
        self.free = dict.fromkeys(facts.places, 0.0)
        self.owed: dict[PE, float] = {}
        self.ordered: dict[PE, int] = {}
        self.spent: dict[tuple[Why, PE], float] = {}
        self.here: dict[tuple[str, PE], float] = {}
        self.ran: dict[tuple[str, PE], float] = {}
        self.away: dict[str, float] = {}
        self.stepped: set[str] = set()
        self.back: dict[str, float] = {}

    def run(self) -> Times:
        """Note all that happens in an invocation, and return the times of all of them."""
        for pe in self.facts.places:
            self.here |= {(name, pe): end for name, end in find_dense(self.facts, pe).items()}
            self._react(pe)
        left = list_statements(self.facts)
        while left:
            name, *left = left
            targets = self._targets(name)
            self._run(name)
            later = {target for other in left for target in self._targets(other)}
            for departure, described in self.facts.graph.departures.items():
                if described.tensor in targets - later:
                    self._leave(departure)
        return self._times()

    def _targets(self, statement: str) -> set[str]:
        return {task.target for task in find_running(self.facts, statement).values()}

    def _advance(self, pe: PE, ready: float, work: float, why: Why) -> None:
        """Let a PE do what it owes, wait until something is ready, and then work."""
        owed = self.owed.pop(pe, 0.0)
        self.ordered.pop(pe, None)
        waited = max(0.0, ready - self.free[pe] - owed)
        self.spent[why, pe] = self.spent.get((why, pe), 0.0) + waited
        self.spent["computes", pe] = self.spent.get(("computes", pe), 0.0) + owed + work
        self.free[pe] += owed + waited + work

    def _react(self, pe: PE) -> None:
        """Note when a PE has reacted to all sparse elements."""
        work = find_reactions(self.facts, pe)
        for name, own in work.items():
            together = sum(min(own, each) for each in work.values())
            first = find_first(self.facts, name, pe)
            arrival = self.facts.graph.arrivals[name]
            relayed = find_relayed(self.facts, arrival.side) if arrival.spread else 0.0
            self.here[name, pe] = first + max(together, relayed + self.profile.dispatch)
        if work:
            last, every = max(self.here[name, pe] for name in work), sum(work.values())
            self._advance(pe, last - every, every, "arrive")

    def _run(self, statement: str) -> None:
        """Note when a statement has run; with the first of those in steps, the others have, too."""
        tasks = find_running(self.facts, statement)
        started = self.profile.dispatch + ON_ARRIVAL * self.profile.scalar
        whole = [n for n, t in tasks.items() if isinstance(t, Compute) and not t.chunks]
        for pe in self.facts.places:
            for name, task in tasks.items():
                if isinstance(task, Compute) and task.chunks and name not in self.stepped:
                    self._step(task, pe)
            ready, why = self._ready(statement, pe)
            sent = [t.arrival for t in tasks.values() if isinstance(t, Operate) and t.departure]
            if sent:
                self._advance(pe, self.here.get((sent[0], pe), 0.0), 0.0, why)
                continue
            work = sum(find_cost(self.facts, name, pe) for name in whole)
            work += self._put_off(pe, ready) if work else 0.0
            self._advance(pe, ready, started + work, why)
            self.ran[statement, pe] = self.free[pe]
        for task in tasks.values():
            if isinstance(task, Compute) and task.chunks:
                self.stepped |= set(self._together(task))

    def _put_off(self, pe: PE, ready: float) -> float:
        """Return for how long streams still keep a PE from work that starts as soon as it can."""
        start = max(ready, self.free[pe])
        elements = 0 if self.stepped else sum(count_dense(self.facts, pe).values())
        ends = [self.here[name, pe] for name in count_dense(self.facts, pe)]
        left = max(ends, default=0.0) - start
        return max(0.0, min(left, elements)) if self.profile.shared_datapath else 0.0

    def _ready(self, statement: str, pe: PE) -> tuple[float, Why]:
        """Return when all is there that a statement waits for, and what that is."""
        why: Why = "arrive"
        before = self.facts.graph.waits.get(statement, ())
        found = max((self.ran[other, pe] for other in before), default=0.0)
        taken = self.profile.dispatch + ON_ARRIVAL * self.profile.scalar
        for name in list_read(self.facts, statement):
            here, sparse = self.here.get((name, pe)), self.facts.graph.arrivals[name].sparse
            if here is not None:
                found = max(found, here + (0 if sparse else taken))
            elif self.back.get(name, 0.0) + taken > found and name in self.back:
                found, why = self.back[name] + taken, "fed_back"
        return found, why

    def _together(self, task: Compute) -> dict[str, Compute]:
        """Return the tasks that go by chunks that a task goes by, too."""
        tasks = self.facts.graph.tasks.items()
        computing = {name: each for name, each in tasks if isinstance(each, Compute)}
        return {n: each for n, each in computing.items() if set(each.chunks) & set(task.chunks)}

    def _step(self, task: Compute, pe: PE) -> None:
        """Let statements run in steps while what they go by arrives."""
        tasks, elements = self._together(task), count_dense(self.facts, pe)
        cut = self.facts.graph.arrivals[task.chunks[0]].chunks
        assert cut is not None, "steps go by chunks"
        steps, arriving = prod(cut.counts), sum(elements.values())
        others = arriving - sum(elements.get(name, 0) for name in task.chunks)
        together = sum(name in elements for name in task.chunks)
        if not together:
            return
        scalars = together * (TAKE + together - 1 + DIGITS * (len(cut.counts) - 1))
        work = sum(find_cost(self.facts, name, pe) for name in tasks)
        work += sum(find_unpacked(self.facts, name, pe) for name in task.chunks)
        end = find_steps_end(
            self.profile,
            arriving=arriving,
            first=max(together * cut.size, min(2 * others, arriving)),
            steps=steps,
            tasks=together,
            work=work + steps * scalars * self.profile.scalar,
            sent=sum(find_sent_early(self.facts, each.target, pe) for each in tasks.values()),
        )
        first = max(find_first(self.facts, n, pe) for n in task.chunks)
        self._advance(pe, max(first, self.profile.vector_start_up), end, "arrive")

    def _leave(self, name: str) -> None:
        """Note when a departure has left, or is back."""
        departure, chain = self.facts.graph.departures[name], self.facts.routes.pes(name, "chain")
        if departure.result_of is not None:
            self.away[name] = self._pass_on(name)
            return
        pes = [pe for pe in self.facts.places if _is_in(chain, pe)]
        before = [self.away[other] for other in departure.waits if other in self.away]
        begun = (self.free[pe] + self._send(name, pe) for pe in pes)
        self.away[name] = max([*begun, *before], default=0.0) + find_leaving(self.facts, name, pes)
        if departure.feedback is not None:
            back = find_back(self.facts, departure.feedback) + self.profile.dispatch
            self.back[departure.feedback] = self.away[name] + back

    def _send(self, name: str, pe: PE) -> int:
        """Note what a PE sends, and return when it has that in order, once it is free.

        It brings one departure into order after the other.
        """
        ordered = find_ordered(self.facts, name, pe)
        self.ordered[pe] = self.ordered.get(pe, 0) + ordered
        moved = count_sent(self.facts, name, pe) * int(self.profile.shared_datapath)
        self.owed[pe] = self.owed.get(pe, 0.0) + self.profile.dispatch + ordered + moved
        return self.ordered[pe]

    def _pass_on(self, name: str) -> float:
        """Return when the results have left that do so as they are computed."""
        operated = (t for t in self.facts.graph.tasks.values() if isinstance(t, Operate))
        arrivals = {task.arrival for task in operated if task.departure == name}
        here = [end for (arrival, _), end in self.here.items() if arrival in arrivals]
        return max(here, default=0.0) + find_relay(self.facts.profile, 1)

    def _times(self) -> Times:
        """Return the times of all invocations.

        What later ones take has arrived by then; they begin with what main does at first.
        """
        last = max(self.free, key=self.free.__getitem__)
        spent = {why: self.spent.get((why, last), 0.0) for why in get_args(Why)}
        end = max([self.free[last], *self.away.values()])
        tasks, more = self.facts.graph.tasks.items(), self.facts.invocations - 1
        begin = sum(
            find_cost(self.facts, name, last)
            for name, task in tasks
            if isinstance(task, Initialise | Carry)
        )
        done = max(self.free[last] + self.owed.get(last, 0.0), *self.back.values(), 0.0)
        again = done + begin + self.profile.dispatch - spent["arrive"]
        spent["fed_back"] *= 1 + more
        leave = end - self.free[last]
        spent["computes"] = end + again * more - leave - spent["arrive"] - spent["fed_back"]
        return Times(cycles=end + again * more, spent=spent, leave=leave)


def _is_in(pes: isl.Set, pe: PE) -> bool:
    return not pes.is_disjoint(isl.Set(f"{{ PE[{pe[0]}, {pe[1]}] }}"))

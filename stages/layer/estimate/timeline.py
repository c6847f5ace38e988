"""The timeline of some PEs of a layer: arrivals, statements, departures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, get_args

import islpy as isl

from lairmake.stages.layer.estimate.facts import (
    AXIS,
    PE,
    Facts,
    count_at_adapters,
    count_dense,
    find_at_adapters,
    find_cost,
    find_order,
    find_order_at,
    find_running,
    find_widths,
    list_amounts,
    list_read,
    list_statements,
)
from lairmake.stages.layer.estimate.guess import (
    DIGITS,
    ON_ARRIVAL,
    RELAYED,
    ROW,
    STORED,
    TAKE,
    count_most,
    find_packed,
    find_react,
    find_relay,
    find_sequences,
    find_steps_end,
    find_taken,
    find_travel,
    guess_send,
)
from lairmake.stages.layer.routes.exchanges import list_meanwhile, name_task
from lairmake.stages.layer.routes.lines import count_most_rows
from lairmake.stages.layer.routes.resources import is_exchanged_in_turn
from lairmake.stages.layer.texts.task_graph import (
    Carry,
    Compute,
    Departure,
    Hear,
    Initialise,
    InTurn,
    Operate,
    React,
    ReceiveTask,
    Relay,
    Spread,
    StoreTask,
)
from lairmake.stages.machine.banks import PAIR
from lairmake.stages.movement.cost import SideLoad, find_round_cycles
from lairmake.stages.poly.canonical import list_sets
from lairmake.stages.poly.cardinality import count
from lairmake.stages.poly.functions import PE_NAMES, bind_set, greatest_value

# --- Times of departures --------------------------------------------------------------------------
#
# They leave their PEs for the ports.

def find_sent_early(facts: Facts, target: str, pe: PE) -> float:
    """Return the cycles that a PE spends on what leaves of a tensor while its statement runs.

    If all leaves so, the last step's part is left out: it leaves afterwards.
    """
    found = 0.0
    for name, departure in facts.graph.departures.items():
        task, early = f"early_send_{name}", departure.early
        if departure.tensor == target and early is not None and task in facts.amounts:
            amount = facts.amounts[task][pe]
            last = amount.instances / max(1, amount.runs) if early.all else 0
            found += (amount.instances - last) * int(facts.profile.shared_datapath)
            found += amount.runs * guess_send(facts.profile, alone=False, varies=False)
            found += find_order_at(facts, task, pe)
    return found


def find_leaving(facts: Facts, name: str, pes: Sequence[PE]) -> float:
    """Return the cycles until a departure has left, since some PEs had it in order."""
    departure, chain = facts.graph.departures[name], facts.routes.pes(name, "chain")
    lane = find_widths(chain)[AXIS[departure.side]]
    alone = chain.is_equal(facts.routes.pes(name, "first"))
    sent = _send(facts, name, departure, pes) + find_relay(facts.profile, 1 if alone else lane)
    return sent + _collect(facts, name, departure) + _pack(facts, name)


def find_ordered(facts: Facts, name: str, pe: PE) -> int:
    """Return the cycles of loops that bring what leaves last of a departure on a PE into order."""
    departure = facts.graph.departures[name]
    if departure.in_turn is not None and departure.early is not None:
        return 0
    return -(-find_order_at(facts, _find_task(facts, name), pe) // _count_sends(departure))


def count_sent(facts: Facts, name: str, pe: PE) -> int:
    """Return how many elements of a departure a PE sends once its statement has run."""
    task = f"send_{name}"
    return facts.amounts[task][pe].instances if task in facts.amounts else 0


def _send(facts: Facts, name: str, departure: Departure, pes: Sequence[PE]) -> float:
    """Return the cycles until the last element of a PE leaves, since some had them in order."""
    profile = facts.profile
    start = profile.vector_start_up + guess_send(profile, alone=False, varies=False)
    if departure.in_turn is not None:
        return start + _pass_on(facts, name, departure, departure.in_turn)
    task = _find_task(facts, name)
    elements = max((facts.amounts[task][pe].instances for pe in pes), default=0)
    return start - (-elements // _count_sends(departure))


def _find_task(facts: Facts, name: str) -> str:
    """Return the task that sends what leaves last."""
    return f"send_{name}" if f"send_{name}" in facts.amounts else f"early_send_{name}"


def _count_sends(departure: Departure) -> int:
    """Return in how many parts that leaves which the last task sends."""
    early = departure.early
    return (early.sends or 1) if early is not None and early.all else 1


def _pass_on(facts: Facts, name: str, departure: Departure, in_turn: InTurn) -> float:
    """Return the cycles of the PE that forwards most, of its own elements and of others.

    Each row but the last is followed by a task that sends another one, unless rows leave early.
    """
    pes = bind_set(facts.routes.pes(name, "chain"), PE_NAMES)
    parts = [isl.PwAff(text) for text in (in_turn.before, in_turn.own, in_turn.after)]
    together = parts[0].add(parts[1]).add(parts[2])
    sizes = [together, *map(isl.PwAff, in_turn.rows)]
    here = (size.intersect_params(pes).floor() for size in sizes)
    row, *numbers = (greatest_value(size).to_python() for size in here)
    rows = prod(numbers)
    if departure.early is not None:
        return float(rows * row)
    return rows * row + max(0, rows - 1) * _find_pause(facts, row)


def _find_pause(facts: Facts, row: int) -> float:
    """Return the cycles in which nothing moves between rows of so many elements.

    Of the tasks of the rows that are ahead, one finds the PE idle, and the others follow it.
    """
    profile, ahead = facts.profile, count_most_rows(facts.graph, facts.profile)
    dispatch = (profile.dispatch + (ahead - 1) * profile.find_dispatch_next()) / ahead
    task = dispatch + ROW * profile.scalar + profile.address
    each = max(task, row, (task + profile.vector_start_up + row) / ahead)
    return each - row


def _collect(facts: Facts, name: str, departure: Departure) -> float:
    """Return the cycles more in which adapters collect a departure."""
    profile, found = facts.profile, 0.0
    for other, collection in facts.graph.collections.items():
        if collection.departure == name:
            task = f"send_{other}"
            sent = max((each.instances for each in list_amounts(facts, [task])), default=0)
            found += sent + find_order(facts, task) + _pack(facts, other)
    for other, collection in facts.graph.collections.items():
        if collection.departure == name:
            border = find_widths(facts.routes.pes(other, "chain"))[1 - AXIS[departure.side]]
            found += find_relay(profile, border)
            return found if collection.by == "gather" else found + _take(facts, name)
    return found


def _take(facts: Facts, name: str) -> float:
    """Return the cycles in which an adapter has taken a departure, and begins to send its sums."""
    task = f"gather_{name}"
    return facts.profile.dispatch + facts.profile.vector_start_up + find_order(facts, task)


def _pack(facts: Facts, name: str) -> float:
    """Return the cycles in which the last PE leaves the zeros of all sequences out, if it does."""
    stream, profile = facts.graph.leaving[name], facts.profile
    if stream.sequences is None:
        return 0.0
    sequences = prod(high - low + 1 for low, high in stream.sequences.outer)
    packed = list_amounts(facts, [f"pack_{name}"])
    elements = max((each.instances / max(1, each.invoked) for each in packed), default=0.0)
    return sequences * find_packed(profile, elements, facts.density)

# --- Times of arrivals, and sparse reactions ------------------------------------------------------

def find_first(facts: Facts, name: str, pe: PE) -> float:
    """Return when the first element of an arrival from a port may be at a PE."""
    arrival, profile, target = facts.graph.arrivals[name], facts.profile, facts.adapted.target
    edges = {"N": target.top, "S": target.bottom, "W": target.left, "E": target.right}
    axis = AXIS[arrival.side]
    hops = 1 + abs(pe[axis] - edges[arrival.side])
    found: float = profile.ramp + hops * profile.hop
    if arrival.spread:
        border = find_widths(facts.routes.pes(name, "adapters"))[1 - axis]
        found += find_travel(profile, border) + profile.dispatch
        found += 0 if arrival.sparse else _hear(facts, name, arrival.side)
    return found


def _hear(facts: Facts, name: str, side: str) -> float:
    """Return the cycles in which adapters take all of a dense arrival, and begin to send it on.

    Each does so with all that it takes, and brings one stream into order after the other; of the
    adapters it is the one that is done last.
    """
    heard, found = find_at_adapters(facts, side, Hear), [0.0]
    for pe, own in heard.get(name, {}).items():
        together = [each for each in heard if heard[each].get(pe)]
        taken = find_taken(facts.profile, own, [heard[each][pe] for each in together])
        first = together[: together.index(name) + 1] if own else []
        found.append(taken + sum(_order_at(facts, each, pe) for each in first))
    return max(found) + 2 * facts.profile.vector_start_up


def _order_at(facts: Facts, name: str, pe: PE) -> int:
    """Return the cycles of loops that bring an arrival into order at an adapter, and out of it."""
    return sum(find_order_at(facts, f"{task}_{name}", pe) for task in ("hear", "spread"))


def find_dense(facts: Facts, pe: PE) -> dict[str, float]:
    """Return when all of each dense arrival from a port is at a PE, and in order."""
    taken, found, profile = count_dense(facts, pe), {}, facts.profile
    done = 0.0
    for name, own in taken.items():
        first = find_first(facts, name, pe)
        started = max(first, profile.vector_start_up)
        last = started + find_taken(profile, own, taken.values())
        there = max(last, first + _find_sent(facts, name, own))
        ordered = find_unpacked(facts, name, pe)
        found[name] = max(there, done) + ordered if ordered else there
        done = found[name] if ordered else done
    return found


def _find_sent(facts: Facts, name: str, own: int) -> float:
    """Return the cycles in which all of a dense arrival comes from its port, or its adapters.

    These send what they take in turns, unless they bring one stream after the other into order.
    """
    side = facts.graph.arrivals[name].side
    if not facts.graph.arrivals[name].spread:
        return own
    sent = count_at_adapters(facts, side, Spread)
    tasks = [f"{task}_{each}" for each in sent for task in ("hear", "spread")]
    ordered = any(find_order(facts, task) for task in tasks)
    together = [sent.get(name, own)] if ordered else sent.values()
    return find_taken(facts.profile, sent.get(name, own), together)


def find_unpacked(facts: Facts, name: str, pe: PE) -> int:
    """Return the cycles of loops that bring an arrival into order at a PE."""
    tasks = facts.graph.tasks.items()
    mine = [n for n, t in tasks if isinstance(t, ReceiveTask) and t.arrival == name]
    return sum(find_order_at(facts, each, pe) for each in mine)


def find_reactions(facts: Facts, pe: PE) -> dict[str, float]:
    """Return the cycles of the tasks of a PE that react to each sparse arrival, if it has some."""
    work = {name: _react(facts, name, pe) for name in facts.graph.arrivals}
    return {name: cycles for name, cycles in work.items() if cycles}


def find_relayed(facts: Facts, side: str) -> float:
    """Return the cycles in which adapters of a side send sparse arrivals on, element by element."""
    profile, found = facts.profile, 0.0
    for name, heard in count_at_adapters(facts, side, Relay).items():
        outer = facts.graph.arrivals[name].outer
        elements = heard * facts.density
        sequences = prod(high - low + 1 for low, high in outer)
        work = elements * RELAYED * profile.scalar
        found += find_react(profile, elements, work, waits=True)
        found += find_sequences(profile, sequences, len(outer), waits=True)
    return found


def _react(facts: Facts, name: str, pe: PE) -> float:
    """Return the cycles of all tasks that react to a sparse arrival; 0 if there are none."""
    arrival, profile = facts.graph.arrivals[name], facts.profile
    tasks = facts.graph.tasks.items()
    mine = {n: t for n, t in tasks if isinstance(t, React | StoreTask) and t.arrival == name}
    elements = max((facts.amounts[n][pe].invoked for n in mine), default=0)
    if not elements:
        return 0.0
    some = count_most(elements, facts.density, _count_groups(facts, name, elements))
    work = sum(_find_work(facts, n, t, pe) for n, t in mine.items()) * some / elements
    idle = any(facts.amounts[n][pe].runs < elements for n in mine)
    waits = idle or facts.routes.has(arrival.colour, "filter")
    sequences = prod(high - low + 1 for low, high in arrival.outer)
    targets = [task.target for task in mine.values() if isinstance(task, React)]
    return (
        find_react(profile, some, work, waits=waits)
        + find_sequences(profile, sequences, len(arrival.outer), waits=waits)
        + sum(find_sent_early(facts, target, pe) for target in targets)
    )


def _find_work(facts: Facts, name: str, task: React | StoreTask, pe: PE) -> float:
    """Return the cycles of what reacts to all elements of a stream, dispatch left out."""
    if isinstance(task, React):
        return find_cost(facts, name, pe)
    return STORED * facts.amounts[name][pe].runs


def _count_groups(facts: Facts, name: str, elements: int) -> int:
    """Return how many rows or columns get elements of their own, of which each gets so many."""
    arrival = facts.graph.arrivals[name]
    lanes = find_widths(facts.routes.pes(name, "taken"))[1 - AXIS[arrival.side]]
    arriving = facts.adapted.arrivals.domain()
    every = sum(count(s) for s in list_sets(arriving) if s.get_tuple_name() == arrival.tensor)
    return max(1, min(lanes, every // elements))


def find_back(facts: Facts, name: str) -> float:
    """Return the cycles in which what has left is back, over adapters if need be."""
    arrival, profile = facts.graph.arrivals[name], facts.profile
    axis = AXIS[arrival.side]
    lane = find_widths(facts.routes.pes(name, "taken"))[axis]
    found: float = profile.ramp + lane * profile.hop
    if arrival.spread:
        border = find_widths(facts.routes.pes(name, "adapters"))[1 - axis]
        found += find_travel(profile, border) + profile.dispatch + profile.vector_start_up
        sent = count_at_adapters(facts, arrival.side, Spread)
        found += sent[name] + find_order(facts, f"spread_{name}")
    return found


def find_exchange(facts: Facts, pe: PE) -> float:
    """Return the cycles between two invocations in which a PE exchanges halos with neighbours."""
    found, in_turn = 0.0, is_exchanged_in_turn(facts.graph)
    meanwhile = sum(find_cost(facts, name, pe) for name in list_meanwhile(facts.graph))
    for name, move in facts.graph.moves.items():
        for sides in move.rounds:
            loads: dict[str, SideLoad] = {}
            for side in sides:
                send, receive = (name_task(verb, name, side) for verb in ("send", "receive"))
                each = PAIR if send in facts.paired else 1
                loads[side] = SideLoad(
                    sent=facts.amounts[send][pe].instances // each,
                    taken=facts.amounts[receive][pe].instances // each,
                )
                found += find_order_at(facts, send, pe) + find_order_at(facts, receive, pe)
            found += find_round_cycles(
                facts.profile, loads, in_turn=in_turn, meanwhile=round(meanwhile))
            meanwhile = 0
    return found

# --- Timeline of some PEs -------------------------------------------------------------------------
#
#     restart -> arrivals -> statements, in steps or as a whole -> departures -> fed back -> ...
#             -> exchange
#
# Each PE runs one task after the other. A statement starts where all is there that it waits for;
# what leaves passes from PE to PE, and is there for those that take it back.
#
# Source   stages/layer/codegen, whose programs do this in that order

Why = Literal["arrive", "computes", "fed_back"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineTimes:
    """The cycles of a layer, and what they went into on the PE that is done last."""

    cycles: float
    spent: Mapping[Why, float]
    leave: float


class Timeline:
    """The times of some PEs: `free` is when each has done what was noted so far.

    `owed` are cycles of further work until a PE is free, or while it waits: elements that streams
    take the datapath for, tasks that end streams. `ordered` are its cycles that brought those
    departures into order that have left since its last statement.
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

    def run(self) -> TimelineTimes:
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
        started = self.profile.find_dispatch_next() + ON_ARRIVAL * self.profile.scalar
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

    def _times(self) -> TimelineTimes:
        """Return the times of all invocations.

        What later ones take has arrived by then; they begin with what main does at first.
        """
        last = max(self.free, key=self.free.__getitem__)
        spent = {why: self.spent.get((why, last), 0.0) for why in get_args(Why)}
        end = max([self.free[last], *self.away.values()])
        tasks, more = self.facts.graph.tasks.items(), self.facts.invocations - 1
        meanwhile = list_meanwhile(self.facts.graph) if self.facts.graph.moves else ()
        begin = sum(
            find_cost(self.facts, name, last)
            for name, task in tasks
            if isinstance(task, Initialise | Carry) and name not in meanwhile
        )
        swapped = (len(names) for names in self.facts.graph.swaps.values())
        begin += sum(1 if n == 2 else n + 1 for n in swapped) * self.profile.scalar
        done = max(self.free[last] + self.owed.get(last, 0.0), *self.back.values(), 0.0)
        exchange = max((find_exchange(self.facts, pe) for pe in self.facts.places), default=0.0)
        restart = exchange if self.facts.graph.moves else self.profile.dispatch
        again = done + begin + restart - spent["arrive"]
        spent["fed_back"] = spent["fed_back"] * (1 + more) + exchange * more
        leave = end - self.free[last]
        spent["computes"] = end + again * more - leave - spent["arrive"] - spent["fed_back"]
        return TimelineTimes(cycles=end + again * more, spent=spent, leave=leave)


def _is_in(pes: isl.Set, pe: PE) -> bool:
    return not pes.is_disjoint(isl.Set(f"{{ PE[{pe[0]}, {pe[1]}] }}"))

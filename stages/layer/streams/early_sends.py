"""Which part of a departure leaves while its statement still runs, and after which steps.

A statement runs in steps: the sequences of a sparse tensor, or the chunks of dense ones. What
leaves early costs a guard in each step, and an instruction for each send; all that is sent before
the last step is saved at the end.

Nothing comes to a stop by that. An instruction that sends may wait for a PE farther in; as long as
there is room in the queue of instructions, tasks run all the same, and take all that arrives. It
may be full without harm

- where each PE is alone on its lane, for then its sends wait for the port only;
- where all that arrives by tasks is what the steps go by, and all PEs of a lane send the same after
  a step. Of the PEs that have run the fewest steps, m, one could not go on only if its queue were
  full, or if the next chunk did not reach it, but waits at another PE with m steps and a full
  queue. What that queue sends first belongs to a step up to m, and all PEs of the lane have run
  these: it is on its way from the deepest one to the port, and there nothing waits for a task.
  So it is where PEs forward chunks, but not where replicas come for one PE after another.

Else all sends of a PE together leave room in its queue, and where adapters let lanes pass in turn.
What is fed back does not leave early, nor what waits for other departures; and where something is
fed back, only what waits for the port does, or for adapters that wait for no other.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.estimate.guess import guess_send
from lairmake.stages.layer.routes.lines import find_forwarded
from lairmake.stages.layer.routes.resources import count_free_threads
from lairmake.stages.layer.streams.chunks import Flows
from lairmake.stages.layer.streams.rows import choose_rows
from lairmake.stages.layer.streams.stepped import Room, SteppedDeparture, Steps, find_steps
from lairmake.stages.layer.texts.task_graph import Early, Graph
from lairmake.stages.machine.scarcity import note_shortage
from lairmake.stages.poly.box import ExactBounds, exact_bounds, find_fixed_size
from lairmake.stages.poly.cardinality import count
from lairmake.stages.poly.chunks import Completed, find_completed, is_in_order, list_stops
from lairmake.stages.poly.compression import compress, keeps_order
from lairmake.stages.poly.expression import count_operations, express_condition
from lairmake.stages.poly.functions import PE_NAMES, bind_set, project_names
from lairmake.stages.poly.text import spell_object

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What leaves after which chunks: `all` of it or some, and the number of `sends`.

    `spent` are cycles of a PE, `saved` those of the whole. It is `crowded` where a PE has too few
    threads for so many sends.
    """

    after: str
    all: bool
    sends: int
    spent: int
    saved: int
    crowded: bool = False


def choose_early_sends(
    graph: Graph, flows: Flows, writers: Mapping[str, str], profile: Profile
) -> dict[str, Early]:
    """Return, by departure, what tasks.yaml says of what leaves early.

    `graph` is what tasks.yaml says otherwise; `writers` gives the statement of a tensor.
    """
    found: dict[str, Early] = {}
    dense = {name: each for name, each in graph.departures.items() if each.sequences is None}
    feedback = any(departure.feedback is not None for departure in graph.departures.values())
    in_turn = find_forwarded(graph.collections)
    replicas = any(arrival.replicas for arrival in graph.arrivals.values())
    for name, departure in dense.items():
        steps = find_steps(writers[departure.tensor], graph)
        if steps is None:
            continue
        chain, first = flows.routes.pes(name, "chain"), flows.routes.pes(name, "first")
        type_ = graph.tensors[departure.tensor].type
        stepped = SteppedDeparture(
            flows=flows, departure=departure, chain=chain, steps=steps, type=type_
        )
        in_step = set(steps.cuts) == set(_taking_tasks(graph)) and not replicas
        room = Room(
            sends=free_instructions(graph, profile) // len(dense),
            alone=chain.is_equal(first) and name not in in_turn,
            in_step=in_step and name not in in_turn,
        )
        chosen = None
        takes_turns = departure.feedback is not None or bool(departure.waits)
        waits = takes_turns or (feedback and not room.alone)
        if not stepped.is_mixed and not waits:
            summed = departure.in_turn is None
            chosen = _choose(stepped, room, profile) if summed else choose_rows(stepped, room)
        if chosen is not None:
            found[name] = chosen
    return found


def free_instructions(graph: Graph, profile: Profile) -> int:
    """Return how many more instructions may wait on a PE: with too many, no task starts.

    Besides one for each departure, and what takes what arrives.
    """
    dense = [arrival for arrival in graph.arrivals.values() if not arrival.sparse]
    receives = sum(1 if arrival.chunks is None else 2 for arrival in dense)
    threads = count_free_threads(profile, len(graph.arrivals) - len(dense))
    return max(0, threads - 1 - receives - len(graph.departures))


def _taking_tasks(graph: Graph) -> list[str]:
    """Return the arrivals that a PE takes only as long as its tasks run."""
    arrivals = graph.arrivals.items()
    return [name for name, each in arrivals if each.sparse or each.chunks is not None]


def _choose(stepped: SteppedDeparture, room: Room, profile: Profile) -> Early | None:
    """Return the steps after which a departure is sent, and why; None if all leaves at the end."""
    last, order, pes = stepped.last, stepped.order, stepped.pes
    found = [
        gain
        for stops in list_stops(last, stepped.steps.box)
        if (gain := _gain(stops, find_completed(order, last, stops, pes), stepped, room, profile))
    ]
    best = choose_best(found)
    if best is not None and best.crowded:
        note_shortage("threads")
        best = choose_best([gain for gain in found if not gain.crowded])
    if best is None:
        return None
    return Early(
        statement=stepped.steps.statement,
        after=best.after,
        all=best.all,
        sends=best.sends,
        why=f"some {best.saved} cycles saved, {best.spent} of a PE more",
    )


def choose_best(found: Sequence[Gain]) -> Gain | None:
    """Return what saves most, and costs least; None if nothing saves anything."""
    best = max(found, key=lambda gain: (gain.saved, -gain.spent), default=None)
    return best if best is not None and best.saved > 0 else None


def _gain(
    stops: isl.Set, completed: Completed, stepped: SteppedDeparture, room: Room, profile: Profile
) -> Gain | None:
    """Return whether all leaves early, in how many sends, and the cycles that are saved.

    None if it is out of order, or no boxes; too many sends are crowded, and save at most so much.
    """
    if completed.after.is_empty() or not is_in_order(completed):
        return None
    names, elements = stepped.steps.names, completed.sent(stepped.steps.names)
    whole = completed.rest.is_empty()
    members = bind_set(stepped.chain, PE_NAMES)
    if not (whole or members.is_subset(completed.rest.params())):
        return None
    early, rest = _bounds(elements), _bounds(completed.rest)
    if early is None or rest is None or find_fixed_size(rest, ()) is None:
        return None
    sent_after = project_names(elements.params(), PE_NAMES)
    sends = _count(sent_after, names)
    alone = room.alone or (room.in_step and stepped.is_alike(completed))
    crowded = sends > room.sends and not alone
    varies = find_fixed_size(early, names) is None
    each = guess_send(profile, alone=room.alone, varies=varies)
    tests = 0 if crowded else _tests(sent_after, stepped.steps)  # at least
    spent = sends * each + profile.scalar * tests
    hidden = stepped.slack(profile) * (sends - 1) // sends
    elements_sent = count(elements) // count(elements.params()) * (sends - whole)
    saved = elements_sent - max(each, spent - hidden)
    after = spell_object(stops)
    return Gain(
        after=after, all=whole, sends=sends, spent=spent, saved=saved, crowded=crowded
    )


def _tests(stops: isl.Set, steps: Steps) -> int:
    """Return the operations that find out after which steps something leaves."""
    found = 0
    for known in steps.ends:
        guard = None if known.is_disjoint(stops) else express_condition(stops, known)
        found += count_operations(guard) * _count(known, steps.names) if guard else 0
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

"""What is decided of a layer's streams before its tasks are listed: memory, turn-taking, chunks.

Paper    V Sec. 4.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stages.lair.expressions import is_zero_at
from stages.lair.layer import Statement, find_writer
from stages.layer.routes.placed import Streams, is_sparse
from stages.layer.routes.sharing import InPlace, find_in_place, list_waits
from stages.layer.routes.waiting import choose_waiting
from stages.layer.streams.chunks import Flows
from stages.layer.streams.cutting import Chunks, Cutter, count_most_together
from stages.layer.streams.triggers import Triggers, find_triggers


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The streams of a layer, and how its PEs work on them.

    `in_place` are the tensors that lie in the memory of others, `waits` the statements for which
    one waits on its PE. `cuts` are the chunks of arrivals, `whole` says why others are not cut, and
    `cycles` are what is expected of statements that go by streams.
    """

    streams: Streams
    in_place: InPlace
    waits: Mapping[str, Sequence[str]]
    flows: Flows
    triggers: Triggers
    cuts: Mapping[str, Chunks]
    whole: Mapping[str, str]
    cycles: int


def plan_streams(streams: Streams) -> Plan:
    """Return how PEs work on the streams of a layer; departures may wait for others then."""
    placed = streams.placed
    apart = {departure.tensor for departure in streams.departures.values()}
    writers = {t: find_writer(placed.layer, t) for t in find_written(streams)}
    apart |= {t for t, writer in writers.items() if is_reacting(writer, streams)}
    in_place = find_in_place(placed.layer, placed.needed, placed.computed, apart)
    waits = dict(list_waits(placed.layer, in_place))
    waiting = choose_waiting(streams, waits)
    departures = {
        name: replace(departure, waits=tuple(waiting.waits.get(name, ())))
        for name, departure in streams.departures.items()
    }
    return _cut(replace(streams, departures=departures), in_place, waits, waiting.most)


def _cut(
    streams: Streams, in_place: InPlace, waits: Mapping[str, Sequence[str]], waiting: int
) -> Plan:
    """Return the plan with what arrives in chunks; `waiting` streams may wait for other PEs."""
    placed, routes = streams.placed, streams.routed.said
    flows = Flows(
        arrivals=streams.arrivals, lair=placed.lair, adapted=placed.adapted, routes=routes
    )
    names = [s.name for s in placed.layer.statements if not is_reacting(s, streams)]
    chains = {name: routes.pes(name, "chain") for name in streams.departures}
    most = max(count_most_together(chains), waiting)
    plans: list[Plan] = []
    for in_step in (False, True):
        triggers = find_triggers(placed.layer, names, waits, in_place, flows, in_step=in_step)
        if plans and triggers.arrivals == plans[0].triggers.arrivals:
            continue
        own = replace(flows, follows=triggers.follows, known={})
        cutter = Cutter(placed.layer, placed.profile, own, triggers, streams.departures, most)
        cuts = cutter.cut()
        plans.append(Plan(
            streams=streams, in_place=in_place, waits=waits, flows=own, triggers=triggers,
            cuts=cuts, whole=cutter.whole, cycles=cutter.cycles,
        ))
    return min(plans, key=lambda plan: plan.cycles)


def find_written(streams: Streams) -> list[str]:
    """Return the tensors that statements write."""
    return [statement.target.tensor for statement in streams.placed.layer.statements]


def is_reacting(statement: Statement, streams: Streams) -> bool:
    """Say whether a statement runs element by element, as they arrive."""
    return any(reacts(statement, tensor, streams) for tensor in _arriving(statement, streams))


def reacts(statement: Statement, tensor: str, streams: Streams) -> bool:
    """Say whether a statement may run element by element: a zero of the tensor adds nothing."""
    defined = find_written(streams)
    return (
        is_sparse(tensor, streams.placed)
        and _arriving(statement, streams) == [tensor]
        and not any(access.tensor in defined for access in statement.reads)
        and statement.op in ("+=", "=")
        and is_zero_at(statement.expr, tensor)
    )


def _arriving(statement: Statement, streams: Streams) -> list[str]:
    arriving = {arrival.tensor for arrival in streams.arrivals.values()}
    return [access.tensor for access in statement.reads if access.tensor in arriving]

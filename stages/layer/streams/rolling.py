"""Which arrivals may roll: their elements lie in memory only as long as they are used.

A statement that goes by chunks of streams runs a step once a chunk of each is there; what was used
last in this step makes room for a chunk that is received only then. Until then nothing takes it,
and what sends it waits.

That holds nobody up for ever. Let some PEs have run fewer steps than all others, m of them, and let
one of these miss a chunk of step m. On the way of that stream are only PEs that have run m steps or
more, and so have room for this chunk, and for all before it, as the chunks of a stream have one
order everywhere. Nor do their other streams keep them from taking it: each has instructions of its
own. What is else needed for a step is kept as a whole, whenever it comes, and waits for no step. So
there are no rings

- where a statement needs all of a stream before its first step with others, or as a whole;
- where what a statement waits for comes back from other PEs, which may wait for its steps;
- where some elements never arrive, and are `otherwise` what layer.yaml says: no chunk has these;
- where a stream reaches PEs one after another, and the others that it goes with do not.

Paper    V Sec. 4.2
"""

from __future__ import annotations

import typing
from collections.abc import Collection, Iterator, Mapping

from lairmake.stages.layer.texts.task_graph import Held

if typing.TYPE_CHECKING:
    from lairmake.stages.lair.layer import Layer, Statement
    from lairmake.stages.layer.streams.triggers import Triggers
    from lairmake.stages.layer.texts.task_graph import Arrival


def find_obstacle(
    names: Collection[str], layer: Layer, triggers: Triggers, arrivals: Mapping[str, Arrival]
) -> Held | None:
    """Return why arrivals that go together cannot roll; None if they can."""
    return next(_list_obstacles(names, layer, triggers, arrivals), None)


def _list_obstacles(
    names: Collection[str], layer: Layer, triggers: Triggers, arrivals: Mapping[str, Arrival]
) -> Iterator[Held]:
    tensors = {arrivals[name].tensor for name in names}
    for carry in layer.carries:
        if carry.source in tensors:
            yield Held(why=f"a later invocation needs {carry.source}")
    for name, arrival in arrivals.items():
        if name in names and arrival.otherwise is not None:
            yield Held(why=f"some of {arrival.tensor} never arrives, and is there from the start")
        if arrival.tensor in tensors and name not in names:
            yield Held(why=f"{name} brings some of {arrival.tensor} at times of its own")
        if name in names and arrival.replicas and len(names) > 1:
            others = tuple(other for other in names if other != name)
            why = f"{name} reaches one PE after another, and {', '.join(others)} all at a time"
            yield Held(why=why, others=others)
    for statement in layer.statements:
        yield from _list_waits(statement, names, triggers, arrivals)


def _list_waits(
    statement: Statement, names: Collection[str], triggers: Triggers,
    arrivals: Mapping[str, Arrival],
) -> Iterator[Held]:
    """Yield for which arrivals a statement waits that reads some of these."""
    read = {access.tensor for access in statement.reads}
    reading = [name for name, arrival in arrivals.items() if arrival.tensor in read]
    own = triggers.arrivals.get(statement.name, ())
    if not (set(reading) | set(own)) & set(names):
        return
    for name in names:
        if name in reading and name not in own:
            first = f" before it takes {own[0]}" if own else ""
            yield Held(why=f"{statement.name} waits for all of {name}{first}", others=tuple(own))
    for name in reading:
        if name not in own and arrivals[name].feedback is not None:
            why = f"{statement.name} waits for {name}, which comes back from other PEs"
            yield Held(why=why)

"""The program of the computing PEs: take what arrives, compute, sum on the way out.

    restart -> arrivals react or are stored -> arrived_T -> finish_S -> sums leave -> complete

`waiting_S` counts the streams, and the statements, that statement S still needs, `unfinished` the
statements and the departures of an invocation, and the streams that it keeps for later. Nothing of
the next invocation is taken before `restart`, and nothing of what is fed back before the PE has
done its own part: what waits for other PEs must not fill its queue of instructions
(layer/routes/departures.py).

Paper    V Sec. 3, 4.2
"""

from __future__ import annotations

import typing
from collections.abc import Sequence

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.layer.pe.at_once import formula, run_task
from lairmake.stages.layer.pe.chunked import configure_chunks
from lairmake.stages.layer.pe.departures import Departures
from lairmake.stages.layer.pe.in_chunks import begin_chunks, begin_steps, write_chunks
from lairmake.stages.layer.pe.model import Model
from lairmake.stages.layer.pe.needs import has_too_many_tasks
from lairmake.stages.layer.pe.program import Program, find_forwarding_pes
from lairmake.stages.layer.pe.streams import complete_task
from lairmake.stages.layer.pe.taking import (
    Computing,
    count_down,
    find_readers,
    is_carried,
    listen,
    listen_again,
    run_if_ready,
    waiting,
    write_arrival,
)
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.pe.block import Block, Body, total
from lairmake.stages.pe.nodes import Assign, Call, Field, Task
from lairmake.stages.poly.expression import Number, Value
from lairmake.stages.poly.functions import PE_NAMES, bind_set

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile


def computing_pes(model: Model) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : PE runs instances or forwards sums }."""
    placed = isl.Set.from_union_set(model.adapted.placement.range())
    pes = bind_set(placed, PE_NAMES)
    for name in model.graph.departures:
        pes = pes.union(model.pes(name, "chain"))
    return pes.union(find_forwarding_pes(model, model.graph.arrivals)).coalesce()


def compute_program(model: Model, profile: Profile, vectors: bool) -> Program:
    """Return the program of the role `compute`.

    Each statement is a task of its own; where the machine has too few ids for these, what follows
    another statement runs in its task.
    """
    program = _compute_program(model, profile, vectors, in_turn=False)
    if not has_too_many_tasks(program):
        return program
    return _compute_program(model, profile, vectors, in_turn=True)


def _compute_program(model: Model, profile: Profile, vectors: bool, *, in_turn: bool) -> Program:
    """Return the program; with `in_turn` statements run in the tasks of those they wait for.

    Memory has tensors first, then the instructions of what leaves early, of chunks, and others.
    """
    pes = computing_pes(model)
    program = Program(
        role="compute", model=model, profile=profile, vectors=vectors, pes=pes, in_turn=in_turn
    )
    for local, shape in model.shapes.items():
        if local not in model.of_adapters:
            program.keep(local, model.type_of(local), shape)
    departures = Departures(program)
    _write(Computing(program=program, departures=departures, chunks=configure_chunks(program)))
    return program


def _write(computing: Computing) -> None:
    """Write all functions, each before those that call it where that is possible."""
    program, model = computing.program, computing.program.model
    for name, fills in model.of_kind(task_graph.Initialise).items():
        if fills.before is None:
            _write_task(program, name, f"Initialise {fills.tensor}.")
    for name, task in model.tasks.items():
        if isinstance(task, task_graph.Carry) or (
            isinstance(task, task_graph.Compute) and not task.chunks
        ):
            _write_task(program, name, formula(task))
    carried = tuple(Call(program.task(name)) for name in model.of_kind(task_graph.Carry))
    program.add(complete_task("One part of this invocation is complete.", carried))
    computing.departures.write()
    write_chunks(computing.chunks, computing.departures.early_sends)
    for statement in _statements(model):
        _write_finish(computing, statement)
    for name, arrival in model.graph.arrivals.items():
        write_arrival(computing, name, arrival)
    _write_restart(computing)
    for name, arrival in model.graph.arrivals.items():
        listen(program, name, arrival)
    program.main.block.add(Call(Task("restart")))
    program.add(program.main)


def _statements(model: Model) -> list[str]:
    return [s.name for s in model.layer.statements]


def _write_task(program: Program, name: str, comment: str) -> None:
    """Write a task that runs at once: as a vector instruction, or as loops."""
    body = Body(name=program.naming.of(name), comment=comment)
    program.count(name)
    with working_on(f"task {name}"):
        run_task(program, body.block, name, {})
    program.add(body)


def _write_finish(computing: Computing, statement: str) -> None:
    """Write what happens when a statement has all that it needs."""
    program, model = computing.program, computing.program.model
    finish, comment = program.naming.of(f"finish_{statement}"), f"{statement} has all it needs."
    body = Body(name=finish, comment=comment)
    target = next(s.target.tensor for s in model.layer.statements if s.name == statement)
    for name, fills in model.of_kind(task_graph.Initialise).items():
        late = fills.before is None and not model.is_initialised_at_start(fills)
        if late and fills.tensor == target:
            body.block.add(Call(program.task(name)))
    for name, task in model.of_kind(task_graph.Compute).items():
        if task.statement == statement and not task.chunks:
            body.block.add(Call(program.task(name)))
    computing.departures.finish(body.block, target)
    for other, before in model.waits.items():
        if statement in before:
            stepping = computing.chunks.steps.get(other)
            follows = stepping is not None and statement in stepping.follows
            count_down(
                computing, body.block, other, steps=not follows, at_once=program.in_turn
            )
    body.block.add(Call(Task("complete")))
    program.add(body)


def _write_restart(computing: Computing) -> None:
    """Write the start of an invocation."""
    program, model = computing.program, computing.program.model
    body = Body(name="restart", comment="Start an invocation.")
    block, arrivals = body.block, model.graph.arrivals
    for name, fills in model.of_kind(task_graph.Initialise).items():
        if fills.before is None and model.is_initialised_at_start(fills):
            block.add(Call(program.task(name)))
    for statement in _statements(model):
        _wait(computing, block, statement)
    parts = computing.departures.counted()
    parts += [_takes(program, name) for name, a in arrivals.items() if is_carried(model, a)]
    parts += [Number(1)] * len(_statements(model))
    computing.departures.turn_taking.restart(block)
    _set(program, block, Field("unfinished"), parts)
    begin_steps(computing.chunks, block)
    for name, arrival in arrivals.items():
        if arrival.chunks is not None:
            begin_chunks(program, block, computing.chunks.cuts[name])
        if arrival.feedback is None:
            here = program.when(block, model.pes(name, "taken"))
            listen_again(computing, here, name, arrival)
    for statement in _statements(model):
        if Number(1) not in _streams_of(program, statement) and statement not in model.waits:
            run_if_ready(program, block, statement, waiting(program, statement))
    program.add(body)


def _wait(computing: Computing, block: Block, statement: str) -> None:
    """Append for how many things a statement waits, and for how many others its steps do."""
    program = computing.program
    before = len(program.model.waits.get(statement, ()))
    streams = _streams_of(program, statement)
    stepping = computing.chunks.steps.get(statement)
    rooms = () if stepping is None else stepping.rooms
    ends = [program.number(room.pes) for room in rooms[:1]]
    _set(program, block, waiting(program, statement), [*streams, *[Number(1)] * before, *ends])
    if stepping is not None and stepping.waits:
        streams = _streams_of(program, statement, stepping.triggers)
        _set(program, block, stepping.needs, [*streams, *[Number(1)] * stepping.others])


def _set(program: Program, block: Block, field: Field, parts: list[Value]) -> None:
    """Append that a variable in memory is the sum of what is 0 or 1."""
    program.hold(field.name)
    block.add(Assign(field, total(parts)))


def _takes(program: Program, arrival: str) -> Value:
    """Return whether a PE takes some of a stream."""
    return program.number(program.model.pes(arrival, "taken"))


def _streams_of(program: Program, statement: str, but: Sequence[str] = ()) -> list[Value]:
    """Return whether a statement waits on this PE for each of the streams it reads."""
    return [
        _takes(program, name)
        for name, arrival in program.model.graph.arrivals.items()
        if statement in find_readers(program.model, arrival) and name not in but
    ]

"""Program of the computing PEs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.diagnose import UserError, working_on
from lairmake.stages.layer.codegen.chunks import (
    ChunkedArrivals,
    begin_chunks,
    begin_steps,
    configure_chunks,
    receive_first,
    satisfy,
    write_chunks,
)
from lairmake.stages.layer.codegen.departures import Departures
from lairmake.stages.layer.codegen.exchange import write_exchanges
from lairmake.stages.layer.codegen.instruction import (
    find_base_address,
    make_literal,
    transfer_loops,
)
from lairmake.stages.layer.codegen.layout import has_too_many_tasks
from lairmake.stages.layer.codegen.model import Model, value
from lairmake.stages.layer.codegen.program import RoleProgram, find_forwarding_pes, forward_along
from lairmake.stages.layer.codegen.streams import (
    OUT,
    add_odometer,
    alternate_colours,
    begin_data_task,
    begin_sequences,
    complete_task,
    formula,
    give_room,
    react,
    receive,
    run_task,
    unpack,
)
from lairmake.stages.layer.routes.exchanges import list_meanwhile
from lairmake.stages.layer.texts import simd_yaml, task_graph
from lairmake.stages.layer.texts.simd_yaml import Decision, LocalDecision, Streamed
from lairmake.stages.layer.texts.task_graph import Arrival
from lairmake.stages.pe.block import Block, Body, count_kinds, total
from lairmake.stages.pe.nodes import (
    Activate,
    Address,
    Assign,
    BlockColour,
    Call,
    Combine,
    Configure,
    CountCall,
    Element,
    Fabric,
    Field,
    If,
    Less,
    Operand,
    Pass,
    Receive,
    StatementNode,
    Store,
    Task,
    UnblockColour,
    make_operand,
)
from lairmake.stages.poly.expression import Name, Number, Operation, Value, compare
from lairmake.stages.poly.functions import PE_NAMES, bind_set

if TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile

# --- Instructions that take a stream as it comes --------------------------------------------------
#
# The statement may send its results, too:
#
#     restart -> (the stream) -> arrived_N -> finish_S
#
# Nothing waits in memory. The instruction is there from the start of an invocation, as one that
# receives a stream is; elements for which it has no turn wait with the sender.
#
# Paper    V Sec. 4.2, 5

def operate(program: RoleProgram, block: Block, name: str, task: task_graph.Operate) -> None:
    """Append the instruction of a task, and configure it in main. Raises UserError if it has none.
    """
    _check(program.model.simd[name], name)
    program.count(name)
    program.hold(program.naming.of(name), "vector")
    vector = Address(Field(program.naming.of(name)))
    _configure(program, name, vector)
    inner = Block()
    inner.add(CountCall(program.naming.counter(name)), _instruction(program, inner, name, task))
    if task.departure is not None:
        leaving = program.model.graph.departures[task.departure]
        pes = program.model.pes(task.departure, "chain")
        block.declare(alternate_colours(program, leaving, pes), inner, free=True)
    block.absorb(inner)


def _check(decision: Decision, name: str) -> None:
    """Raise UserError if a text was edited so that a task on a stream has no instruction."""
    kinds_of = [LocalDecision | Streamed, Streamed, LocalDecision | simd_yaml.NumberDecision]
    pairs = zip(decision.operands, kinds_of, strict=False)
    fits = 2 <= len(decision.operands) <= len(kinds_of)
    fits = fits and all(isinstance(operand, kind) for operand, kind in pairs)
    if decision.by != "exact" or decision.operation is None or not fits:
        raise UserError(f"{name} takes a stream, and has no instruction of d, the stream and b")


def _instruction(
    program: RoleProgram, block: Block, name: str, task: task_graph.Operate
) -> StatementNode:
    """Return what starts the stream; a block finds the addresses that it needs before."""
    vector = Address(Field(program.naming.of(name)))
    colour = program.listen(program.model.graph.arrivals[task.arrival].colour)
    then = program.task(f"arrived_{task.arrival}")
    to, _, *others = program.model.simd[name].operands
    sources = [_address(program, block, name, other) for other in others]
    if isinstance(to, Streamed):
        if not sources:
            return Pass(vector, OUT, colour, then)
        return Combine(vector, OUT, colour, sources[0], then)
    target = _address(program, block, name, to)
    return Receive(vector, colour, target, then, sources[0] if sources else None)


def _address(
    program: RoleProgram, block: Block, name: str, operand: simd_yaml.OperandDecision
) -> Value:
    """Return where an operand is in memory; a number has a place of its own, for the stream's time.
    """
    if isinstance(operand, LocalDecision):
        return find_base_address(operand, block, program.model.known(name), program.buffers)
    assert isinstance(operand, simd_yaml.NumberDecision), (
        "a stream goes with memory, or with a number"
    )
    field = Element(Field(program.naming.of(f"{name}_number")), (Number(0),))
    return Address(field)


def _configure(program: RoleProgram, name: str, vector: Value) -> None:
    """Append to main the configuration of an instruction, and the number that it needs."""
    decision, known = program.model.simd[name], program.model.known(name)
    block = program.when(program.main.block, program.pes_of(known))
    sizes = tuple(value(size, known) for size in decision.sizes or ())
    assert decision.operation is not None, "it was found before that there is an instruction"
    for operand in decision.operands:
        if isinstance(operand, simd_yaml.NumberDecision):
            field = program.naming.of(f"{name}_number")
            program.keep(field, operand.type, (1,), f"{name}_number")
            literal = make_literal(operand.number, operand.type)
            block.add(Store(Element(Field(field), (Number(0),)), literal, operand.type))
    counter, operands = program.naming.counter(name), _described(decision.operands)
    block.add(Configure(vector, counter, decision.operation, sizes, operands))


def _described(operands: Sequence[simd_yaml.OperandDecision]) -> tuple[Operand | Fabric, ...]:
    """Return the operands as an instruction is configured: on the fabric, or in strides."""
    return tuple(
        Fabric(operand.type)
        if isinstance(operand, Streamed)
        else make_operand(
            operand.type, operand.strides if isinstance(operand, LocalDecision) else ()
        )
        for operand in operands
    )


# --- Reactions of computing PEs to arrivals -------------------------------------------------------
#
# They react, or store what arrives, and count what statements need.
#
# Paper    V Sec. 4.2

@dataclass(frozen=True, slots=True, kw_only=True)
class Computing:
    """The program of the computing PEs, what leaves, and what arrives in chunks."""

    program: RoleProgram
    departures: Departures
    chunks: ChunkedArrivals


def waiting(program: RoleProgram, statement: str) -> Field:
    """Return the field that counts the things for which a statement waits."""
    return Field(program.naming.of(f"waiting_{statement}"))


def run_if_ready(
    program: RoleProgram, block: Block, statement: str, left: Value, *, at_once: bool = False
) -> None:
    """Append that a statement runs if nothing is left that it waits for: as a task, or `at_once`.
    """
    finish = program.task(f"finish_{statement}")
    block.nest(If(compare(left, "==", 0))).add(Call(finish) if at_once else Activate(finish))


def count_down(
    computing: Computing, block: Block, statement: str, *, steps: bool, at_once: bool = False
) -> None:
    """Append that a statement waits for one thing less, and runs if that was the last.

    So do its `steps`, unless they wait for chunks of it only.
    """
    if steps:
        satisfy(computing.chunks, block, statement)
    left = Less(waiting(computing.program, statement))
    run_if_ready(computing.program, block, statement, left, at_once=at_once)


def find_readers(model: Model, arrival: Arrival) -> list[str]:
    """Return the statements that read what arrives."""
    tensor, statements = arrival.tensor, model.layer.statements
    return [s.name for s in statements if any(a.tensor == tensor for a in s.reads)]


def is_carried(model: Model, arrival: Arrival) -> bool:
    """Say whether a later invocation needs what arrives in this one."""
    return any(c.source == arrival.tensor for c in model.layer.carries)


def write_arrival(computing: Computing, name: str, arrival: Arrival) -> None:
    """Write what happens when all of a stream has arrived, and at each element of a sparse one."""
    _write_arrived(computing, name, arrival)
    if arrival.sparse:
        _write_reaction(computing.program, name, arrival)
        _write_end(computing, name, arrival)


def _write_arrived(computing: Computing, name: str, arrival: Arrival) -> None:
    program, model = computing.program, computing.program.model
    body = Body(name=program.naming.of(f"arrived_{name}"), comment=f"All of {name} is here.")
    if arrival.chunks is None:
        for task in model.taking(task_graph.ReceiveTask, name):
            unpack(program, body.block, task)
    for statement in find_readers(model, arrival):
        stepping = computing.chunks.steps.get(statement)
        is_trigger = stepping is not None and name in stepping.triggers
        count_down(computing, body.block, statement, steps=not is_trigger)
    computing.departures.arrived(body.block, name)
    if is_carried(model, arrival):
        body.block.add(Call(Task("complete")))
    program.add(body)


def _write_reaction(program: RoleProgram, name: str, arrival: Arrival) -> None:
    """Write the data task of a sparse stream."""
    tensor, model = arrival.tensor, program.model
    body, variable = begin_data_task(program, name, arrival, f"React to an element of {tensor}.")

    def stored(element: Value) -> StatementNode:
        return Assign(element, Name(variable))

    for task in model.taking(task_graph.StoreTask, name):
        program.count(task)
        body.block.add(CountCall(program.naming.counter(task)))
        transfer_loops(body.block, task, model, program.naming, stored, counts=True)
    reacting = model.taking(task_graph.React, name)
    for task in reacting:
        program.count(task)
        block = body.block if len(reacting) == 1 else body.block.nest()
        run_task(program, block, task, {tensor: variable})
    program.add(body)


def _write_end(computing: Computing, name: str, arrival: Arrival) -> None:
    """Write the control task that counts the sequences of a sparse stream."""
    program, early_sends = computing.program, computing.departures.early_sends
    end, comment = program.naming.of(f"end_{name}"), f"A sequence of {name} has ended."
    body = Body(name=end, comment=comment, kind="control")
    if early_sends.has_sequences(name):
        early_sends.end_sequence(body, name)
    else:
        add_odometer(program, body.block, name, arrival.outer)
    body.block.add(BlockColour(program.listen(arrival.colour)))
    body.block.add(Call(program.task(f"arrived_{name}")))
    program.add(body)


def listen_again(computing: Computing, block: Block, name: str, arrival: Arrival) -> None:
    """Append what makes a PE take a stream again."""
    program = computing.program
    if arrival.sparse:
        begin_sequences(program, block, name, arrival.outer)
        block.add(UnblockColour(program.listen(arrival.colour)))
        return
    if arrival.chunks is not None:
        receive_first(computing.chunks, block, computing.chunks.cuts[name])
        return
    for task in program.model.taking(task_graph.ReceiveTask, name):
        receive(program, block, task, arrival.colour, program.naming.of(f"arrived_{name}"))
    for task, described in program.model.taking(task_graph.Operate, name).items():
        operate(program, block, task, described)


def listen(program: RoleProgram, name: str, arrival: Arrival) -> None:
    """Append to main what a stream does where it is taken, or forwarded."""
    forward_along(program, arrival.colour)
    if arrival.sparse:
        react(program, name, arrival.colour, "taken")
        _give_room(program, name, arrival)


def _give_room(program: RoleProgram, name: str, arrival: Arrival) -> None:
    """Let elements wait where PEs use different ones, so that none waits for another's turn.

    Where all use all that passes by, one is as fast as the other, and room would be of no use.
    """
    model = program.model
    taken = {**model.taking(task_graph.StoreTask, name), **model.taking(task_graph.React, name)}
    tasks = [task for task in model.tasks if task in taken]
    known = model.known(tasks[0])
    idle = any(not known.is_subset(model.instance_set(t).params()) for t in tasks)
    if idle or model.routes.has(arrival.colour, "filter"):
        give_room(program, name, arrival, arrival.colour, known)

# --- Program of the computing PEs -----------------------------------------------------------------
#
#     restart -> arrivals react or are stored -> arrived_T -> finish_S -> sums leave -> complete
#
# A PE takes what arrives, computes, and sums on the way out. `waiting_S` counts the streams, and
# the statements, that statement S still needs. `unfinished` counts the statements and the
# departures of an invocation, and the streams that it keeps for later. Nothing of the next
# invocation is taken before `restart`. Nothing of what is fed back is taken before the PE has done
# its own part: what waits for other PEs must not fill its queue of instructions
# (layer/routes/departures.py).
#
# Paper    V Sec. 3, 4.2

def computing_pes(model: Model) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : PE runs instances or forwards sums }."""
    placed = isl.Set.from_union_set(model.adapted.placement.range())
    pes = bind_set(placed, PE_NAMES)
    for name in model.graph.departures:
        pes = pes.union(model.pes(name, "chain"))
    return pes.union(find_forwarding_pes(model, model.graph.arrivals)).coalesce()


def compute_program(model: Model, profile: Profile, vectors: bool) -> RoleProgram:
    """Return the program of the role `compute`.

    Each statement is a task of its own; where the machine has too few ids for these, what follows
    another statement runs in its task.
    """
    program = _compute_program(model, profile, vectors, in_turn=False)
    if not has_too_many_tasks(program):
        return program
    return _compute_program(model, profile, vectors, in_turn=True)


def _compute_program(
    model: Model, profile: Profile, vectors: bool, *, in_turn: bool
) -> RoleProgram:
    """Return the program; with `in_turn` statements run in the tasks of those they wait for.

    Memory has tensors first, then the instructions of what leaves early, of chunks, and others.
    """
    pes = computing_pes(model)
    program = RoleProgram(
        role="compute", model=model, profile=profile, vectors=vectors, pes=pes, in_turn=in_turn
    )
    for local, shape in model.shapes.items():
        if local not in model.of_adapters:
            program.keep(local, model.type_of(local), shape)
    for (_, number), buffer in program.buffers.items():
        if isinstance(buffer, Name):
            program.hold_buffer(buffer.name, number)
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
    following = tuple(Call(Task(name)) for name in write_exchanges(program))
    program.add(complete_task("One part of this invocation is complete.", following))
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


def _write_task(program: RoleProgram, name: str, comment: str) -> None:
    """Write a task that runs at once: as a vector instruction, or as loops."""
    body = Body(name=program.naming.of(name), comment=comment)
    program.count(name)
    task, block = program.model.tasks[name], body.block
    if isinstance(task, task_graph.Initialise) and task.but is not None:
        block = _fill_once(program, block, name, task)
    with working_on(f"task {name}"):
        run_task(program, block, name, {})
    program.add(body)


def _fill_once(
    program: RoleProgram, block: Block, name: str, task: task_graph.Initialise
) -> Block:
    """Return a block that runs once for each buffer of a tensor, on PEs that have others.

    Elements that no statement computes keep the value that they get then.
    """
    swaps = program.model.graph.swaps.values()
    buffers = next((len(names) for names in swaps if task.tensor in names), 1)
    others = program.number(program.pes_of(program.model.known(name)))
    left = Field(program.naming.of(f"others_{task.tensor}"))
    program.hold(left.name)
    program.main.block.charge(**count_kinds(others))
    program.main.block.add(Assign(left, Operation("*", (Number(buffers), others))))
    block.charge(load=1, branch=1)
    inner = block.nest(If(left))
    inner.charge(scalar=1, store=1)
    inner.add(Assign(left, Operation("-", (left, Number(1)))))
    return inner


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
    block, arrivals, meanwhile = body.block, model.graph.arrivals, list_meanwhile(model.graph)
    for name, fills in model.of_kind(task_graph.Initialise).items():
        if name in meanwhile:
            program.main.block.add(Call(program.task(name)))
        elif fills.before is None and model.is_initialised_at_start(fills):
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


def _set(program: RoleProgram, block: Block, field: Field, parts: list[Value]) -> None:
    """Append that a variable in memory is the sum of what is 0 or 1."""
    program.hold(field.name)
    block.add(Assign(field, total(parts)))


def _takes(program: RoleProgram, arrival: str) -> Value:
    """Return whether a PE takes some of a stream."""
    return program.number(program.model.pes(arrival, "taken"))


def _streams_of(program: RoleProgram, statement: str, but: Sequence[str] = ()) -> list[Value]:
    """Return whether a statement waits on this PE for each of the streams it reads."""
    return [
        _takes(program, name)
        for name, arrival in program.model.graph.arrivals.items()
        if statement in find_readers(program.model, arrival) and name not in but
    ]

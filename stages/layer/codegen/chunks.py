"""Programs of arrivals in chunks, and of statements that run in steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from lairmake.stages.layer.codegen.departures import EarlySends
from lairmake.stages.layer.codegen.instruction import transfer_loops
from lairmake.stages.layer.codegen.model import Model, holds
from lairmake.stages.layer.codegen.program import RoleProgram
from lairmake.stages.layer.codegen.streams import COUNTER, TAKEN, Transfer, run_task
from lairmake.stages.layer.streams.cutting import AHEAD
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.task_graph import Chunks as InChunks
from lairmake.stages.pe.block import Block, Body
from lairmake.stages.pe.nodes import (
    Activate,
    Assign,
    Call,
    Choice,
    Declare,
    Else,
    Field,
    For,
    Gap,
    Group,
    If,
    Later,
    Less,
    Receive,
    Task,
)
from lairmake.stages.poly.expression import Name, Number, Operation, Value, compare, require_all
from lairmake.stages.poly.functions import name_indices

# --- Chunks and steps of a program ----------------------------------------------------------------
#
# Paper    V Sec. 4.2, 5.1

@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCut:
    """An arrival in chunks: how many there are in each dimension, and how many are full.

    `here` counts those that a PE has taken; `transfers` are what receives them, by task. If it
    `rolls`, `used` counts those that the `readers` need no more to go on.
    """

    name: str
    counts: Sequence[int]
    whole: int
    here: Field
    transfers: Mapping[str, Transfer]
    rolls: bool
    used: Field
    readers: Sequence[str]

    @property
    def count(self) -> int:
        """The number of chunks."""
        return prod(self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRoom:
    """A departure that rolls: there has been room for the results of so many `steps` up to now.

    At first that is for `depth` of them. The departure leaves on `pes`.
    """

    name: str
    depth: int
    steps: Field
    pes: isl.Set


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepping:
    """A statement that runs in steps: by chunks of its `triggers`, `count` on each PE.

    It takes the results of those that it `follows` step by step. It waits for so many `others`, and
    for all of some arrivals if it `waits`; `needs` counts both. `at` is the present step, `done` is
    how many have run. There must be `rooms` for its results.
    """

    statement: str
    task: str
    triggers: Sequence[str]
    follows: Sequence[str]
    others: int
    waits: bool
    step: Task
    at: Field
    needs: Field
    done: Field
    rooms: Sequence[ChunkRoom]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkedArrivals:
    """What arrives in chunks, and the statements that run in steps, by name."""

    program: RoleProgram
    cuts: Mapping[str, ProgramCut]
    steps: Mapping[str, Stepping]
    number: Name


def configure_chunks(program: RoleProgram) -> ChunkedArrivals:
    """Return the chunks of a program, the instructions that receive them configured."""
    arrivals, model = program.model.graph.arrivals, program.model
    number = Name(program.naming.of("chunk"))
    computing = model.of_kind(task_graph.Compute).items()
    return ChunkedArrivals(
        program=program,
        cuts={n: _cut(program, n, a.chunks, number) for n, a in arrivals.items() if a.chunks},
        steps={t.statement: _stepping(program, n, t) for n, t in computing if t.chunks},
        number=number,
    )


def _cut(program: RoleProgram, name: str, cut: InChunks, number: Name) -> ProgramCut:
    tasks = program.model.taking(task_graph.ReceiveTask, name)
    return ProgramCut(
        name=name,
        counts=cut.counts,
        whole=prod(cut.counts) - int(cut.rest is not None),
        here=Field(program.naming.of(f"{name}_chunks")),
        transfers={
            task: _transfer(program, task, cut.rest if last.rest else cut.size, number)
            for task, last in tasks.items()
        },
        rolls=cut.ring is not None,
        used=Field(program.naming.of(f"{name}_used")),
        readers=[t.statement for t in _stepping_tasks(program) if name in t.chunks],
    )


def _stepping_tasks(program: RoleProgram) -> Sequence[task_graph.Compute]:
    return [task for task in program.model.of_kind(task_graph.Compute).values() if task.chunks]


def _transfer(program: RoleProgram, task: str, size: int | None, number: Name) -> Transfer:
    """Configure the instruction that receives a chunk, or the last one if that is smaller."""
    transfer = Transfer(program, task, count=f"{{ [({size})] }}", slots=AHEAD, slot=number)
    transfer.configure("COPY", TAKEN, program.pes_of(program.model.known(task)))
    return transfer


def _stepping(program: RoleProgram, task: str, described: task_graph.Compute) -> Stepping:
    naming, statement = program.naming, described.statement
    others = len(program.model.waits.get(statement, ())) - len(described.follows)
    cut = program.model.graph.arrivals[described.chunks[0]].chunks
    assert cut is not None, "steps go by chunks"
    return Stepping(
        statement=statement,
        task=task,
        triggers=described.chunks,
        follows=described.follows,
        others=others,
        waits=others > 0 or _reads_whole(program.model, statement, described.chunks),
        step=program.task(f"step_{statement}"),
        at=Field(naming.of(f"{statement}_step")),
        needs=Field(naming.of(f"{statement}_needs")),
        done=Field(naming.of(f"{statement}_done")),
        rooms=list(_rooms(program, statement)),
        count=prod(cut.counts),
    )


def _rooms(program: RoleProgram, statement: str) -> Iterator[ChunkRoom]:
    """Yield the departures that roll, of what a statement writes."""
    for name, departure in program.model.graph.departures.items():
        early = departure.early
        if early is not None and early.ring is not None and early.statement == statement:
            yield ChunkRoom(
                name=name,
                depth=early.ring,
                steps=Field(program.naming.of(f"{name}_room")),
                pes=program.model.pes(name, "chain"),
            )


def _reads_whole(model: Model, statement: str, triggers: Sequence[str]) -> bool:
    """Say whether a statement reads an arrival that is not among its triggers."""
    reads = next(s.reads for s in model.layer.statements if s.name == statement)
    tensors = {access.tensor for access in reads}
    arrivals = model.graph.arrivals.items()
    return any(a.tensor in tensors and name not in triggers for name, a in arrivals)

# --- Statements that run while chunks arrive ------------------------------------------------------
#
#     restart -> receive two chunks -> chunk_N -> step_S, receive the next but one -> arrived_N
#
# Receives stay ahead of the steps, and wait for nothing that leaves: what a chunk starts runs at
# once, and sends are queued apart from it, never so many that no task starts. So all elements of an
# invocation arrive on every PE, in any order, whatever its neighbours do. Streams that wait for
# each other come to no stop that they would not come to if each arrived as a whole.
#
# An arrival that rolls is received again where step_S has used a chunk of it. Why that brings
# nothing to a stop is said in layer/streams/rings.py.
#
# Paper    V Sec. 4.2, 5.1

def write_chunks(chunks: ChunkedArrivals, early_sends: EarlySends) -> None:
    """Write the step of each statement, and the task that takes a chunk of each arrival."""
    for cut in chunks.cuts.values():
        if cut.rolls:
            _write_next(chunks, cut)
    for stepping in chunks.steps.values():
        _write_step(chunks, stepping, early_sends)
        for room in stepping.rooms:
            _write_left(chunks, stepping, room)
    for cut in chunks.cuts.values():
        _write_chunk(chunks, cut)


def satisfy(chunks: ChunkedArrivals, block: Block, statement: str) -> None:
    """Append that the steps of a statement, if it has some, wait for one thing less.

    If that was the last one, the steps run whose chunks are here.
    """
    stepping = chunks.steps.get(statement)
    if stepping is None:
        return
    block.charge(scalar=1)
    tests = [compare(stepping.at, "<", chunks.cuts[name].here) for name in stepping.triggers]
    tests += [compare(stepping.at, "<", room.steps) for room in stepping.rooms]
    ready = block.nest(If(compare(Less(stepping.needs), "==", 0)))
    ready.charge(scalar=len(tests))
    loop = ready.nest(For(stepping.at, Number(0), require_all(tests)), loop=1)
    loop.charge(scalar=len(tests) + 1)
    loop.add(Call(stepping.step))


def begin_chunks(program: RoleProgram, block: Block, cut: ProgramCut) -> None:
    """Append that no chunk of an arrival is here; on PEs that take none, all are."""
    taken = program.model.pes(cut.name, "taken").intersect(program.pes)
    here, none = holds(taken, program.pes), Number(0)
    program.hold(cut.here.name)
    value = none if here is None else Choice(Group(here), none, Number(cut.count))
    block.add(Assign(cut.here, value))
    if cut.rolls:
        program.hold(cut.used.name)
        block.add(Assign(cut.used, Number(0)))


def begin_steps(chunks: ChunkedArrivals, block: Block) -> None:
    """Append that no step of statements that share a ring has run, and for how many is room."""
    for room in (room for stepping in chunks.steps.values() for room in stepping.rooms):
        chunks.program.hold(room.steps.name)
        block.add(Assign(room.steps, Number(room.depth)))
    for stepping in chunks.steps.values():
        if _shares_ring(chunks, stepping):
            chunks.program.hold(stepping.done.name)
            block.add(Assign(stepping.done, Number(0)))


def _shares_ring(chunks: ChunkedArrivals, stepping: Stepping) -> bool:
    cuts = (chunks.cuts[name] for name in stepping.triggers)
    return any(cut.rolls and len(cut.readers) > 1 for cut in cuts)


def receive_first(chunks: ChunkedArrivals, block: Block, cut: ProgramCut) -> None:
    """Append the receives of the first chunks."""
    number, first = chunks.number, Number(min(AHEAD, cut.whole))
    loop = block.nest(For(number, Number(0), compare(number, "<", first)))
    _receive(chunks, loop, cut, f"receive_{cut.name}", number)
    if cut.whole < AHEAD:
        rest = block.nest(For(number, Number(cut.whole), compare(number, "<=", cut.whole)))
        _receive(chunks, rest, cut, f"rest_{cut.name}", number)


def _write_chunk(chunks: ChunkedArrivals, cut: ProgramCut) -> None:
    """Write the task that takes a chunk."""
    program, number = chunks.program, chunks.number
    tensor = program.model.graph.arrivals[cut.name].tensor
    body = Body(
        name=program.naming.of(f"chunk_{cut.name}"), comment=f"A chunk of {tensor} is here."
    )
    block = body.block
    block.add(Declare(number.name, "int", cut.here), Gap())
    _unpack(chunks, block, cut)
    _repeat(chunks, block, cut)
    block.charge(scalar=2)
    block.add(Assign(cut.here, Operation("+", (number, Number(1)))))
    for stepping in chunks.steps.values():
        if cut.name in stepping.triggers:
            _run(chunks, block, cut, stepping)
    last = block if cut.rolls else _go_on(chunks, block, cut)
    arrived = program.task(f"arrived_{cut.name}")
    last.nest(If(compare(number, "==", cut.count - 1))).add(Call(arrived))
    program.add(body)


def _write_next(chunks: ChunkedArrivals, cut: ProgramCut) -> None:
    """Write what receives the chunk that takes the place of one of a ring.

    Where several statements use it, all have run that step, and the last one finds that.
    """
    program, number = chunks.program, chunks.number
    tensor = program.model.graph.arrivals[cut.name].tensor
    body = Body(
        name=program.naming.of(f"next_{cut.name}"), comment=f"A chunk of {tensor} is used."
    )
    block = body.block
    block.add(Declare(number.name, "int", cut.used), Gap())
    if len(cut.readers) > 1:
        tests = [compare(chunks.steps[name].done, ">", number) for name in cut.readers]
        block.charge(scalar=len(tests))
        block = block.nest(If(require_all(tests)))
    block.charge(scalar=2)
    block.add(Assign(cut.used, Operation("+", (number, Number(1)))))
    _go_on(chunks, block, cut)
    program.add(body)


def _go_on(chunks: ChunkedArrivals, block: Block, cut: ProgramCut) -> Block:
    """Append the receive of the next chunk but one; return the block where there is none."""
    number, following = chunks.number, Later(chunks.number, AHEAD)
    if cut.whole > AHEAD:
        more = block.nest(If(compare(number, "<", cut.whole - AHEAD)))
        _receive(chunks, more, cut, f"receive_{cut.name}", following)
        if cut.rolls and cut.whole == cut.count:
            return block
        block = block.nest(Else())
    if AHEAD <= cut.whole < cut.count:
        rest = block.nest(If(compare(number, "==", cut.whole - AHEAD)))
        _receive(chunks, rest, cut, f"rest_{cut.name}", following)
    return block


def _run(chunks: ChunkedArrivals, block: Block, cut: ProgramCut, stepping: Stepping) -> None:
    """Append the step of a chunk, if those of other arrivals with its number are here.

    What comes last finds all of them, and all steps before this one have run.
    """
    model = chunks.program.model
    taken = model.pes(cut.name, "taken")
    tests = [
        compare(chunks.cuts[other].here, ">", chunks.number)
        for other in stepping.triggers
        if other != cut.name and not taken.is_disjoint(model.pes(other, "taken"))
    ]
    tests += [compare(room.steps, ">", chunks.number) for room in stepping.rooms]
    if stepping.waits:
        tests.append(compare(stepping.needs, "==", 0))
    block.charge(scalar=len(tests))
    inner = block.nest(If(require_all(tests))) if tests else block
    inner.add(Assign(stepping.at, chunks.number), Call(stepping.step))


def _receive(
    chunks: ChunkedArrivals, block: Block, cut: ProgramCut, task: str, number: Value
) -> None:
    """Append the instruction of a task that receives a chunk, given its number."""
    program, transfer, inner = chunks.program, cut.transfers[task], Block()
    where = transfer.where(inner)
    colour = program.listen(program.model.graph.arrivals[cut.name].colour)
    inner.add(Receive(transfer.vector, colour, where, program.task(f"chunk_{cut.name}")))
    _given(block, cut, number, inner)


def _unpack(chunks: ChunkedArrivals, block: Block, cut: ProgramCut) -> None:
    """Append loops that bring a chunk to where it belongs, if need be."""
    program, number = chunks.program, chunks.number
    for task, transfer in cut.transfers.items():
        if transfer.packed:
            sign = "==" if task == f"rest_{cut.name}" else "<"
            test = If(compare(number, sign, cut.whole)) if cut.whole < cut.count else None
            inner, loops = block.nest(test), Block()
            inner.add(COUNTER)
            transfer_loops(loops, task, program.model, program.naming, transfer.taken)
            _given(inner, cut, number, loops)


def _repeat(chunks: ChunkedArrivals, block: Block, cut: ProgramCut) -> None:
    """Append what copies the end of a ring to its front, if windows reach over it."""
    program = chunks.program
    for task, described in program.model.of_kind(task_graph.Halo).items():
        if described.arrival == cut.name:
            program.count(task)
            inner = Block()
            run_task(program, inner, task, {})
            _given(block, cut, chunks.number, inner)


def _write_step(chunks: ChunkedArrivals, stepping: Stepping, early_sends: EarlySends) -> None:
    """Write what runs the instances of a step."""
    program, inner = chunks.program, Block()
    body = Body(name=stepping.step.name, comment=f"{stepping.statement} runs on what is here.")
    program.count(stepping.task)
    program.hold(stepping.at.name)
    for name, fills in program.model.of_kind(task_graph.Initialise).items():
        if fills.before == stepping.statement:
            program.count(name)
            run_task(program, inner.nest(), name, {})
    run_task(program, inner, stepping.task, {})
    early_sends.progress(inner, stepping.statement, program.model.known(stepping.task))
    if _shares_ring(chunks, stepping):
        inner.charge(scalar=1)
        inner.add(Assign(stepping.done, Operation("+", (stepping.at, Number(1)))))
    for name in stepping.triggers:
        if chunks.cuts[name].rolls:
            here = program.when(inner, program.model.pes(name, "taken"))
            here.add(Call(program.task(f"next_{name}")))
    if stepping.rooms:
        inner.charge(scalar=1)
        last = program.when(inner, stepping.rooms[0].pes)
        last = last.nest(If(compare(stepping.at, "==", stepping.count - 1)))
        _end_steps(program, last, stepping.statement)
    _given(body.block, chunks.cuts[stepping.triggers[0]], stepping.at, inner)
    program.add(body)


def _end_steps(program: RoleProgram, block: Block, statement: str) -> None:
    """Append that all steps of a statement have run, which waits for that, too."""
    left = Less(Field(program.naming.of(f"waiting_{statement}")))
    finish = program.task(f"finish_{statement}")
    block.nest(If(compare(left, "==", 0))).add(Activate(finish))


def _write_left(chunks: ChunkedArrivals, stepping: Stepping, room: ChunkRoom) -> None:
    """Write the task that follows when results have left, with the step for which there is room.

    It runs if its chunks are here.
    """
    program, number = chunks.program, chunks.number
    tensor = program.model.graph.departures[room.name].tensor
    body = Body(name=program.naming.of(f"left_{room.name}"), comment=f"Some of {tensor} has left.")
    block = body.block
    block.add(Declare(number.name, "int", room.steps), Gap())
    tests = [compare(number, "<", chunks.cuts[name].here) for name in stepping.triggers]
    tests += [compare(number, "<", r.steps) for r in stepping.rooms if r is not room]
    if stepping.waits:
        tests.append(compare(stepping.needs, "==", 0))
    block.charge(scalar=2 + len(tests))
    block.add(Assign(room.steps, Operation("+", (number, Number(1)))))
    inner = block.nest(If(require_all(tests)))
    inner.add(Assign(stepping.at, number), Call(stepping.step))
    program.add(body)


def _given(block: Block, cut: ProgramCut, number: Value, inner: Block) -> None:
    """Append a block, with the symbolic constants of a chunk: the digits of its number."""
    constants: dict[str, Value] = {}
    for k, constant in enumerate(name_indices(len(cut.counts))):
        below, digit = prod(cut.counts[k + 1 :]), number
        if below > 1:
            digit = Operation("/", (Group(number), Number(below)))
        if k > 0:
            high = digit if below > 1 else Group(number)
            digit = Operation("%", (high, Number(cut.counts[k])))
        constants[constant] = digit
    block.declare(constants, inner)
    block.absorb(inner)

"""What a program has of arrivals in chunks, and of the statements that run in steps by them.

Paper    V Sec. 4.2, 5.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import islpy as isl

from lairmake.stages.layer.pe.model import Model
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.transfer import TAKEN, Transfer
from lairmake.stages.layer.streams.cutting import AHEAD
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.task_graph import Chunks as InChunks
from lairmake.stages.pe.nodes import Field, Task
from lairmake.stages.poly.expression import Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
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
        """How many chunks there are."""
        return prod(self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A departure that rolls: for the results of how many steps there has been room, up to now.

    At first these are `depth` ones. It leaves on `pes`.
    """

    name: str
    depth: int
    steps: Field
    pes: isl.Set


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepping:
    """A statement that runs in steps: by chunks of its `triggers`, `count` on each PE.

    It takes the results of those that it `follows` step by step. What else it waits for are so many
    `others`, and all of some arrivals if it `waits`, counted by `needs`. `at` is the present step,
    `done` how many have run. There must be `rooms` for its results.
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
    rooms: Sequence[Room]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    """What arrives in chunks, and the statements that run in steps, by name."""

    program: Program
    cuts: Mapping[str, Cut]
    steps: Mapping[str, Stepping]
    number: Name


def configure_chunks(program: Program) -> Chunks:
    """Return the chunks of a program, the instructions that receive them configured."""
    arrivals, model = program.model.graph.arrivals, program.model
    number = Name(program.naming.of("chunk"))
    computing = model.of_kind(task_graph.Compute).items()
    return Chunks(
        program=program,
        cuts={n: _cut(program, n, a.chunks, number) for n, a in arrivals.items() if a.chunks},
        steps={t.statement: _stepping(program, n, t) for n, t in computing if t.chunks},
        number=number,
    )


def _cut(program: Program, name: str, cut: InChunks, number: Name) -> Cut:
    tasks = program.model.taking(task_graph.Receive, name)
    return Cut(
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


def _stepping_tasks(program: Program) -> Sequence[task_graph.Compute]:
    return [task for task in program.model.of_kind(task_graph.Compute).values() if task.chunks]


def _transfer(program: Program, task: str, size: int | None, number: Name) -> Transfer:
    """Configure the instruction that receives a chunk, or the last one if that is smaller."""
    transfer = Transfer(program, task, count=f"{{ [({size})] }}", slots=AHEAD, slot=number)
    transfer.configure("COPY", TAKEN, program.pes_of(program.model.known(task)))
    return transfer


def _stepping(program: Program, task: str, described: task_graph.Compute) -> Stepping:
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


def _rooms(program: Program, statement: str) -> Iterator[Room]:
    """Yield the departures that roll, of what a statement writes."""
    for name, departure in program.model.graph.departures.items():
        early = departure.early
        if early is not None and early.ring is not None and early.statement == statement:
            yield Room(
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

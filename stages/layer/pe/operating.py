"""A statement whose instruction takes a stream as it comes, and may send what it gives.

    restart -> (the stream) -> arrived_N -> finish_S

Nothing waits in memory: the instruction is there from the start of an invocation, as that which
receives a stream is, and what it has no turn for waits with the sender.

Paper    V Sec. 4.2, 5
"""

from __future__ import annotations

from collections.abc import Sequence

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.pe.computing import make_literal
from lairmake.stages.layer.pe.model import value
from lairmake.stages.layer.pe.operands import find_base_address
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.streams import alternate_colours
from lairmake.stages.layer.pe.transfer import OUT
from lairmake.stages.layer.texts import task_graph, yaml_files
from lairmake.stages.layer.texts.yaml_files import Decision, Local, Streamed
from lairmake.stages.pe.block import Block
from lairmake.stages.pe.nodes import (
    Address,
    Combine,
    Configure,
    CountCall,
    Element,
    Fabric,
    Field,
    Operand,
    Pass,
    Receive,
    Statement,
    Store,
    make_operand,
)
from lairmake.stages.poly.expression import Number, Value


def operate(program: Program, block: Block, name: str, task: task_graph.Operate) -> None:
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
    kinds_of = [Local | Streamed, Streamed, Local | yaml_files.Number]
    pairs = zip(decision.operands, kinds_of, strict=False)
    fits = 2 <= len(decision.operands) <= len(kinds_of)
    fits = fits and all(isinstance(operand, kind) for operand, kind in pairs)
    if decision.by != "exact" or decision.operation is None or not fits:
        raise UserError(f"{name} takes a stream, and has no instruction of d, the stream and b")


def _instruction(program: Program, block: Block, name: str, task: task_graph.Operate) -> Statement:
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
    program: Program, block: Block, name: str, operand: yaml_files.OperandDecision
) -> Value:
    """Return where an operand is in memory; a number has a place of its own, for the stream's time.
    """
    if isinstance(operand, Local):
        return find_base_address(operand, block, program.model.known(name))
    assert isinstance(operand, yaml_files.Number), "a stream goes with memory, or with a number"
    field = Element(Field(program.naming.of(f"{name}_number")), (Number(0),))
    return Address(field)


def _configure(program: Program, name: str, vector: Value) -> None:
    """Append to main the configuration of an instruction, and the number that it needs."""
    decision, known = program.model.simd[name], program.model.known(name)
    block = program.when(program.main.block, program.pes_of(known))
    sizes = tuple(value(size, known) for size in decision.sizes or ())
    assert decision.operation is not None, "it was found before that there is an instruction"
    for operand in decision.operands:
        if isinstance(operand, yaml_files.Number):
            field = program.naming.of(f"{name}_number")
            program.keep(field, operand.type, (1,), f"{name}_number")
            literal = make_literal(operand.number, operand.type)
            block.add(Store(Element(Field(field), (Number(0),)), literal, operand.type))
    counter, operands = program.naming.counter(name), _described(decision.operands)
    block.add(Configure(vector, counter, decision.operation, sizes, operands))


def _described(operands: Sequence[yaml_files.OperandDecision]) -> tuple[Operand | Fabric, ...]:
    """Return the operands as an instruction is configured: on the fabric, or in strides."""
    return tuple(
        Fabric(operand.type)
        if isinstance(operand, Streamed)
        else make_operand(operand.type, operand.strides if isinstance(operand, Local) else ())
        for operand in operands
    )

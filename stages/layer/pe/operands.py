"""The steps of a task, and the addresses of their operands.

Paper    V Sec. 5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.pe.computing import make_literal
from lairmake.stages.layer.pe.model import value
from lairmake.stages.layer.texts import yaml_files
from lairmake.stages.layer.texts.yaml_files import Decision
from lairmake.stages.pe.block import Block
from lairmake.stages.pe.names import Naming
from lairmake.stages.pe.nodes import Address, Declare, Element, Field, Nothing
from lairmake.stages.poly.expression import Name, Value, count_operations
from lairmake.stages.poly.functions import is_affine_function


@dataclass(frozen=True, slots=True, kw_only=True)
class InField:
    """What an earlier step gave, in a field of memory."""

    field: str
    type: str
    strides: tuple[int, ...]


Given = yaml_files.Local | yaml_files.Arriving | yaml_files.Streamed | yaml_files.Number | InField
"""An operand, with the field of memory of a part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One of a task's vector instructions: its field of memory and its counter.

    `first` is the number of its first operand among those of all steps; `over` are the dimensions
    of the box that it runs over. `looped` says that it is a loop instead.
    """

    field: str
    counter: Name | None
    operation: str
    operands: tuple[Given, ...]
    first: int
    over: tuple[int, ...]
    looped: bool


def find_steps(name: str, decision: Decision, naming: Naming) -> list[Step]:
    """Return the vector instructions of a task, and its loops; the last one counts."""
    listed = decision.steps or (_only_step(decision),)
    every = tuple(range(len(decision.sizes or ())))
    last = len(listed) - 1
    return [
        Step(
            field=naming.of(name) if k == last else naming.of(f"{name} {k}", f"{name}_{k}"),
            counter=naming.counter(name) if k == last else None,
            operation=step.operation,
            operands=tuple(_spelled(o, name, naming) for o in step.operands),
            first=3 * k,
            over=every if step.over is None else step.over,
            looped=step.by == "loops",
        )
        for k, step in enumerate(listed)
    ]


def _only_step(decision: Decision) -> yaml_files.StepDecision:
    assert decision.operation is not None, "a vector instruction has an operation"
    return yaml_files.StepDecision(
        operation=decision.operation,
        by=decision.by,
        over=decision.over,
        operands=decision.operands,
    )


def find_part_field(name: str, number: int, naming: Naming) -> str:
    """Return the field of memory for a part of a task's statement."""
    return naming.of(f"{name} part {number}", f"{name}_part{number}")


def _spelled(operand: yaml_files.OperandDecision, name: str, naming: Naming) -> Given:
    """Return an operand, a part as the field that it lies in."""
    if not isinstance(operand, yaml_files.Given):
        return operand
    field = find_part_field(name, operand.part, naming)
    return InField(field=field, type=operand.type, strides=operand.strides)


def find_strides(operand: Given) -> tuple[int, ...]:
    """Return over how many elements each dimension steps; nothing for what is one value."""
    return operand.strides if isinstance(operand, yaml_files.Local | InField) else ()


def find_vectors(name: str, decision: Decision, naming: Naming) -> list[Step]:
    """Return the vector instructions of a task."""
    return [step for step in find_steps(name, decision, naming) if not step.looped]


def find_operand_address(
    operand: Given,
    position: int,
    block: Block,
    context: isl.Set,
    elements: Mapping[str, str],
) -> Value:
    """Return the address of an operand; a number gets a variable of its own."""
    match operand:
        case yaml_files.Streamed():
            return Nothing()
        case yaml_files.Arriving():
            return Address(Name(elements[operand.element]))
        case InField():
            return Field(operand.field)
        case yaml_files.Number():
            name = f"number{position}"
            block.add(Declare(name, operand.type, make_literal(operand.number, operand.type)))
            return Address(Name(name))
        case yaml_files.Local():
            return find_base_address(operand, block, context)


def find_base_address(operand: yaml_files.Local, block: Block, context: isl.Set) -> Value:
    """Return the address of the first element of an operand in memory.

    Affine indices are part of the address, as they are in loops; others take their operations.
    """
    indices = [value(b, context) for b in operand.base]
    listed = zip(operand.base, indices, strict=True)
    costly = (count_operations(i) for b, i in listed if not _is_free(b, context))
    block.charge(address=1, scalar=sum(costly))
    return Address(Element(Field(operand.local), tuple(indices)))


def _is_free(index: int | str, context: isl.Set) -> bool:
    return isinstance(index, int) or is_affine_function(isl.PwAff(index), context)

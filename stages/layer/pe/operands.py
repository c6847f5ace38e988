"""The steps of a task, and the addresses of their operands.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from stages.layer.pe.block import Block
from stages.layer.pe.computing import literal
from stages.layer.pe.identifiers import Naming
from stages.layer.pe.model import Description, value
from stages.layer.pe.statement_nodes import Declare
from stages.layer.pe.value_nodes import Address, Element, Field
from stages.poly.expression import Name, Value, operations
from stages.poly.function import is_affine


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One of a task's vector instructions: its field of memory and its counter.

    `first` is the number of its first operand among those of all steps; `over` are the dimensions
    of the box that it runs over. `looped` says that it is a loop instead.
    """

    field: str
    counter: str | None
    operation: str
    operands: tuple[Description, ...]
    first: int
    over: tuple[int, ...]
    looped: bool


def steps_of(name: str, decision: Description, naming: Naming) -> list[Step]:
    """Return the vector instructions of a task, and its loops; the last one counts."""
    listed = decision.get("steps", [decision])
    every = range(len(decision["sizes"]))
    last = len(listed) - 1
    return [
        Step(
            field=naming.of(name) if k == last else naming.of(f"{name} {k}", f"{name}_{k}"),
            counter=naming.counter(name) if k == last else None,
            operation=step["operation"],
            operands=tuple(_spelled(o, name, naming) for o in step["operands"]),
            first=3 * k,
            over=tuple(step.get("over", every)),
            looped=step.get("by") == "loops",
        )
        for k, step in enumerate(listed)
    ]


def part_field(name: str, number: int, naming: Naming) -> str:
    """Return the field of memory for a part of a task's statement."""
    return naming.of(f"{name} part {number}", f"{name}_part{number}")


def _spelled(operand: Description, name: str, naming: Naming) -> Description:
    """Return an operand, the field of a part with it."""
    if "part" not in operand:
        return operand
    return operand | {"field": part_field(name, operand["part"], naming)}


def vectors_of(name: str, decision: Description, naming: Naming) -> list[Step]:
    """Return the vector instructions of a task."""
    return [step for step in steps_of(name, decision, naming) if not step.looped]


def operand_address(
    operand: Description,
    position: int,
    block: Block,
    context: isl.Set,
    elements: Mapping[str, str],
) -> Value:
    """Return the address of an operand; a number gets a variable of its own."""
    if "element" in operand:
        return Address(Name(elements[operand["element"]]))
    if "part" in operand:
        return Field(operand["field"])
    if "number" in operand:
        type_, name = operand["type"], f"number{position}"
        block.add(Declare(name, type_, literal(operand["number"], type_)))
        return Address(Name(name))
    return base_address(operand, block, context)


def base_address(operand: Description, block: Block, context: isl.Set) -> Value:
    """Return the address of the first element of an operand in memory.

    Affine indices are part of the address, as they are in loops; others take their operations.
    """
    indices = [value(b, context) for b in operand["base"]]
    listed = zip(operand["base"], indices, strict=True)
    costly = (operations(i) for b, i in listed if not _is_free(b, context))
    block.charge(address=1, scalar=sum(costly))
    return Address(Element(Field(operand["local"]), tuple(indices)))


def _is_free(index: int | str, context: isl.Set) -> bool:
    return isinstance(index, int) or is_affine(isl.PwAff(index), context)

"""The steps of a task in C, and the addresses of their operands.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from stages.layer.pe.code import C_TYPES, Block, literal
from stages.layer.pe.model import Description, value
from stages.layer.pe.work import Spelling
from stages.poly.function import is_affine


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One of a task's vector instructions, in C: its field of memory and its counter.

    `first` is the number of its first operand among those of all steps; `over` are the dimensions
    of the box that it runs over. `looped` says that it is a loop instead.
    """

    field: str
    counter: str
    operation: str
    operands: tuple[Description, ...]
    first: int
    over: tuple[int, ...]
    looped: bool


def steps_of(name: str, decision: Description, spelling: Spelling) -> list[Step]:
    """Return the vector instructions of a task, and its loops; the last one counts."""
    listed = decision.get("steps", [decision])
    every = range(len(decision["sizes"]))
    last = len(listed) - 1
    return [
        Step(
            field=spelling.of(name) if k == last else spelling.of(f"{name} {k}", f"{name}_{k}"),
            counter=spelling.counter(name) if k == last else "NO_COUNTER",
            operation=step["operation"],
            operands=tuple(_spelled(o, name, spelling) for o in step["operands"]),
            first=3 * k,
            over=tuple(step.get("over", every)),
            looped=step.get("by") == "loops",
        )
        for k, step in enumerate(listed)
    ]


def part_field(name: str, number: int, spelling: Spelling) -> str:
    """Return the field of memory for a part of a task's statement."""
    return spelling.of(f"{name} part {number}", f"{name}_part{number}")


def _spelled(operand: Description, name: str, spelling: Spelling) -> Description:
    """Return an operand, the field of a part with it."""
    if "part" not in operand:
        return operand
    return operand | {"field": part_field(name, operand["part"], spelling)}


def vectors_of(name: str, decision: Description, spelling: Spelling) -> list[Step]:
    """Return the vector instructions of a task."""
    return [step for step in steps_of(name, decision, spelling) if not step.looped]


def operand_text(
    operand: Description,
    position: int,
    block: Block,
    context: isl.Set,
    elements: Mapping[str, str],
) -> str:
    """Return the address of an operand; a number gets a variable of its own."""
    if "element" in operand:
        return f"&{elements[operand['element']]}"
    if "part" in operand:
        return f"my->{operand['field']}"
    if "number" in operand:
        type_, name = operand["type"], f"number{position}"
        block.add(f"const {C_TYPES[type_]} {name} = {literal(operand['number'], type_)};")
        return f"&{name}"
    return base_text(operand, block, context)


def base_text(operand: Description, block: Block, context: isl.Set) -> str:
    """Return the address of the first element of an operand in memory.

    Affine indices are part of the address, as they are in loops; others take their operations.
    """
    indices = [value(b, context) for b in operand["base"]]
    listed = zip(operand["base"], indices, strict=True)
    costly = (i.operations for b, i in listed if not _is_free(b, context))
    block.charge(address=1, scalar=sum(costly))
    return f"&my->{operand['local']}{''.join(f'[{i.text}]' for i in indices)}"


def _is_free(index: int | str, context: isl.Set) -> bool:
    return isinstance(index, int) or is_affine(isl.PwAff(index), context)

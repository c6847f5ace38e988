"""A step that is a loop: a function that no vector instruction computes, for each element of a box.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5, condition 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from stages.layer.pe.code import C_TYPES, Block, called, literal, load, store, write_nest
from stages.layer.pe.model import Description
from stages.layer.pe.operands import Step, base_text
from stages.layer.pe.work import Spelling
from stages.machine.types import is_integer
from stages.poly.ast import Expression, Instance, element_loops

POINTERS = ("to", "from", "from1", "from2")
"""Names in C of where the operands of a step start."""


def call_loops(
    block: Block,
    step: Step,
    sizes: Sequence[int | str],
    context: isl.Set,
    elements: Mapping[str, str],
    spelling: Spelling,
) -> None:
    """Append the loops of a step; `sizes` are those of the whole box.

    `elements` gives the C variable of each tensor whose element arrives.
    """
    dimensions = _merged(step, [_function(sizes[k]) for k in step.over])
    names = [spelling.own(f"i{k}") for k in range(len(dimensions))]
    around = block.nest("") if any("local" in operand for operand in step.operands) else block
    arrays = _arrays(around, step, context, spelling)
    to, *sources = (
        _element(operand, array, _index([steps[k] for _, steps in dimensions], names), elements)
        for k, (operand, array) in enumerate(zip(step.operands, arrays, strict=True))
    )
    lines = [_stored(step, to, sources)]
    if step.counter != "NO_COUNTER":
        lines.insert(0, f"COUNT_INSTANCES(pe, {step.counter}, 1);")

    def instance(inner: Block, at: Instance) -> None:
        inner.charge(scalar=1, address=len(set(arrays) - {""}))
        inner.declare(dict(zip(names, at.arguments, strict=True)), lines)
        inner.add(*lines)

    box = _box([size for size, _ in dimensions])
    write_nest(around, element_loops(box, context, names), instance)


def _stored(step: Step, to: str, sources: Sequence[str]) -> str:
    """Return the statement that computes an element of a step in float32, or in integers."""
    type_, *types = (operand["type"] for operand in step.operands)
    integral = type_ if is_integer(type_) else None
    values = [
        Expression(text=s if integral else load(s, t), operations=0)
        for s, t in zip(sources, types, strict=True)
    ]
    return store(to, called(step.operation, values, integral), type_)


Dimension = tuple[isl.PwAff, tuple[int, ...]]
"""The size of a dimension, and over how many elements of each operand it steps."""


def _merged(step: Step, sizes: Sequence[isl.PwAff]) -> list[Dimension]:
    """Return the dimensions of a step, one for those that are like one in all operands."""
    strides = [tuple(o.get("strides", [0] * len(sizes))) for o in step.operands]
    found: list[Dimension] = []
    for size, *steps in zip(sizes, *strides, strict=True):
        whole = size.max_val()
        outer = found[-1] if found and size.is_cst() else None
        if outer is not None and all(
            o == s * whole.to_python() for o, s in zip(outer[1], steps, strict=True)
        ):
            found[-1] = (outer[0].scale_val(whole), tuple(steps))
        else:
            found.append((size, tuple(steps)))
    return found


def _box(sizes: Sequence[isl.PwAff]) -> isl.Set:
    """Return [p] -> { [i] : 0 <= i < size(p) }."""
    found, below = isl.Set("{ [] }"), isl.Map("{ [n] -> [i] : 0 <= i < n }")
    for size in sizes:
        found = found.flat_product(isl.Set.from_pw_aff(size).apply(below))
    return found


def _function(size: int | str) -> isl.PwAff:
    return isl.PwAff(f"{{ [({size})] }}" if isinstance(size, int) else size)


def _arrays(block: Block, step: Step, context: isl.Set, spelling: Spelling) -> list[str]:
    """Return where the operands start in C, "" for values; what tensors hold gets a pointer."""
    found: list[str] = []
    for at, operand in enumerate(step.operands):
        known = step.operands.index(operand)
        if known < at:
            found.append(found[known])
        elif "local" in operand:
            base, name = base_text(operand, block, context), POINTERS[at]
            found.append(spelling.of(f"pointer {name}", name))
            block.add(f"{C_TYPES[operand['type']]} *const {found[-1]} = {base};")
        else:
            found.append(f"my->{operand['field']}" if "part" in operand else "")
    return found


def _element(
    operand: Description, array: str, index: str, elements: Mapping[str, str]
) -> str:
    """Return an element of an array in C, or a value."""
    if "number" in operand:
        return literal(operand["number"], operand["type"])
    return elements[operand["element"]] if "element" in operand else f"{array}[{index}]"


def _index(strides: Sequence[int], names: Sequence[str]) -> str:
    """Return strides * names in C."""
    terms = [n if s == 1 else f"{s} * {n}" for s, n in zip(strides, names, strict=True) if s]
    return " + ".join(terms) or "0"

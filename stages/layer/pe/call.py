"""A step that is a loop: a function that no vector instruction computes, for each element of a box.

Paper    V Sec. 5, condition 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from lairmake.stages.layer.pe.computing import load, make_literal
from lairmake.stages.layer.pe.operands import Given, InField, Step, find_base_address, find_strides
from lairmake.stages.layer.texts.yaml_files import Arriving, Local, Number as Numeral
from lairmake.stages.machine.types import is_integer
from lairmake.stages.pe.block import Block, write_nest
from lairmake.stages.pe.names import Naming
from lairmake.stages.pe.nodes import (
    Computed,
    CountInstance,
    Element,
    Field,
    Multiple,
    Offset,
    Point,
    Store,
)
from lairmake.stages.poly.expression import Instance, Name, Value, make_element_loops
from lairmake.stages.poly.functions import find_same

OPERATORS = {"divide": "/"}
"""Steps that are an operator of LAIR, not a function."""

POINTERS = ("to", "from", "from1", "from2")
"""Names of variables that say where the operands of a step start."""


def call_loops(
    block: Block,
    step: Step,
    sizes: Sequence[int | str],
    context: isl.Set,
    elements: Mapping[str, str],
    naming: Naming,
) -> None:
    """Append the loops of a step; `sizes` are those of the whole box.

    `elements` gives the variable of each tensor whose element arrives.
    """
    dimensions = _merged(step, [_function(sizes[k]) for k in step.over])
    names = [naming.own(f"i{k}") for k in range(len(dimensions))]
    around = block.nest() if any(isinstance(operand, Local) for operand in step.operands) else block
    arrays = _arrays(around, step, context, naming)
    to, *sources = (
        _element(operand, array, _offset([steps[k] for _, steps in dimensions], names), elements)
        for k, (operand, array) in enumerate(zip(step.operands, arrays, strict=True))
    )
    run = Block()
    if step.counter is not None:
        run.add(CountInstance(step.counter))
    run.add(_stored(step, to, sources))

    def instance(inner: Block, at: Instance) -> None:
        inner.charge(scalar=1, address=len(set(arrays) - {None}))
        inner.declare(dict(zip(names, at.arguments, strict=True)), run)
        inner.absorb(run)

    box = _box([size for size, _ in dimensions])
    write_nest(around, make_element_loops(box, context, names), instance)


def _stored(step: Step, to: Value, sources: Sequence[Value]) -> Store:
    """Return the statement that computes an element of a step in float32, or in integers."""
    type_, *types = (operand.type for operand in step.operands)
    computed = type_ if is_integer(type_) else "float32"
    values = tuple(load(s, t, computed) for s, t in zip(sources, types, strict=True))
    operation = OPERATORS.get(step.operation, step.operation)
    return Store(to, Computed(operation, values, computed), type_)


Dimension = tuple[isl.PwAff, tuple[int, ...]]
"""The size of a dimension, and over how many elements of each operand it steps."""


def _merged(step: Step, sizes: Sequence[isl.PwAff]) -> list[Dimension]:
    """Return the dimensions of a step, one for those that are like one in all operands."""
    strides = [find_strides(o) or (0,) * len(sizes) for o in step.operands]
    found: list[Dimension] = []
    for size, *steps in zip(sizes, *strides, strict=True):
        whole = find_same(size)
        outer = found[-1] if found else None
        if outer is not None and whole is not None and all(
            o == s * whole for o, s in zip(outer[1], steps, strict=True)
        ):
            found[-1] = (outer[0].scale_val(isl.Val(whole)), tuple(steps))
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


def _arrays(block: Block, step: Step, context: isl.Set, naming: Naming) -> list[Value | None]:
    """Return where the operands start, None for values; what tensors hold gets a pointer."""
    found: list[Value | None] = []
    for at, operand in enumerate(step.operands):
        known = step.operands.index(operand)
        if known < at:
            found.append(found[known])
        elif isinstance(operand, Local):
            base, name = find_base_address(operand, block, context), POINTERS[at]
            pointer = naming.of(f"pointer {name}", name)
            block.add(Point(pointer, operand.type, base))
            found.append(Name(pointer))
        else:
            found.append(Field(operand.field) if isinstance(operand, InField) else None)
    return found


def _element(
    operand: Given, array: Value | None, index: Value, elements: Mapping[str, str]
) -> Value:
    """Return an element of an array, or a value."""
    if isinstance(operand, Numeral):
        return make_literal(operand.number, operand.type)
    if isinstance(operand, Arriving):
        return Name(elements[operand.element])
    assert array is not None, "what lies in memory has a place"
    return Element(array, (index,))


def _offset(strides: Sequence[int], names: Sequence[str]) -> Offset:
    """Return strides * names."""
    pairs = zip(strides, names, strict=True)
    return Offset(tuple(Multiple(stride, Name(name)) for stride, name in pairs if stride))

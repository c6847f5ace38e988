"""Evaluation of operations on volumes with NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl
import numpy as np

from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.lair.tree import Expr
from lairmake.stages.machine.types import find_integers, is_integer
from lairmake.stages.poly.arrays import evaluate_set
from lairmake.stages.poly.box import find_shape
from lairmake.stages.poly.functions import depends_on
from lairmake.stages.reference.evaluate import TermMeaning, value
from lairmake.stages.reference.strided import (
    REDUCTIONS,
    Array,
    Read,
    Values,
    blocks,
    elements,
    grid_of,
    move,
    neutral,
)
from lairmake.stages.volumes.operation import (
    OperationResult,
    VolumeOperation,
    VolumeProgram,
    make_domains,
)

PARAM, IN, OUT = isl.dim_type.param, isl.dim_type.in_, isl.dim_type.out

# --- Expected results of parts --------------------------------------------------------------------
#
# The results of parts are compared with this evaluation. Floats are computed in float64, and
# rounded once to the type of the volume; every call and quotient is a float32. Integers wrap.
# Layers compute in the same way (design, Arithmetic).

BLOCK = 2**20
"""Instances, or elements, that are computed at once."""


def evaluate(
    program: VolumeProgram, volumes: isl.UnionSet, inputs: Mapping[str, Array],
    sizes: Mapping[str, int] | None = None,
) -> dict[str, Array]:
    """Return every volume, computed from the inputs, in its type and shape.

    `sizes` has the values of symbolic constants. Volumes without values, tensor.empty, are zero.
    """
    known = dict(sizes or {})
    shapes = {name: extents(d, known) for name, d in make_domains(volumes).items()}
    found: dict[str, Array] = {}
    with np.errstate(all="ignore"):
        for operation in program.operations:
            if operation.kind == "input":
                given = inputs[operation.name]
                found[operation.name] = given.astype(program.types[operation.name])
            else:
                found |= _evaluated(operation, program.types, shapes, found, known)
    return found


def _evaluated(
    operation: VolumeOperation, types: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]],
    found: Mapping[str, Array], sizes: Values,
) -> dict[str, Array]:
    """Return the volumes that an operation defines."""
    name = operation.name
    if operation.kind == "compute":
        return {
            result.volume: _reduced(operation, result, types, shapes, found, sizes)
            for result in operation.results
        }
    array = np.zeros(shapes[name], types[name])
    if operation.kind == "constant":
        given = np.asarray(operation.constant)
        array[...] = given.reshape(shapes[name]) if given.ndim else given
    if operation.kind == "index":
        array[...] = np.arange(array.size)
    for copy in operation.copies:
        move(copy, array, found[copy.get_tuple_name(OUT) or ""], sizes)
    return {name: array}


def _reduced(
    operation: VolumeOperation, result: OperationResult, types: Mapping[str, str],
    shapes: Mapping[str, tuple[int, ...]], found: Mapping[str, Array], sizes: Values,
) -> Array:
    """Return a result of a computation: the values of all instances, reduced into its elements."""
    type_ = types[result.volume]
    wide = np.int64 if is_integer(type_) else np.float64
    array = _start(result, shapes[result.volume], found, wide)
    whole = find_integers(types[name] for name in (*operation.volumes, *operation.operands))

    def meaning(expr: Expr, read: Read) -> Array:
        return value(expr, read, whole)

    reduce_into(array, operation, result, found, meaning, sizes)
    return array.astype(type_)


def reduce_into(
    array: Array, operation: VolumeOperation, result: OperationResult, found: Mapping[str, Array],
    meaning: TermMeaning, sizes: Values,
) -> None:
    """Reduce the values of all instances into the elements that they write, in the array's type.

    The value of an instance is `meaning` of the result's expression, with the elements that it
    reads of the volumes in `found`.
    """
    assert operation.loops is not None
    box, inner = extents(operation.loops, sizes), find_inner(result)
    expression, wide = parse_expression(result.value), array.dtype.type
    for block in blocks(box, inner, BLOCK):
        grid = grid_of(block)
        given = {
            label: _gathered(by, found, grid, sizes).astype(wide)
            for label, by in operation.reads.items()
        }
        worth = np.broadcast_to(_worth(meaning, expression, given), tuple(map(len, block)))
        if operation.loops.n_basic_set() != 1 or not operation.loops.is_box():
            start = neutral(result.operator, wide)
            worth = np.where(_inside(operation.loops, grid, sizes), worth, start)
        _put(result, array, worth, inner, grid, sizes)


def _inside(loops: isl.Set, grid: Sequence[Array], sizes: Values) -> Array:
    """Return whether each instance of a block is in the loops, for reductions under conditions."""
    names = [f"at{k}" for k in range(len(grid))]
    own = loops.get_tuple_name() or ""
    instance = isl.MultiId(f"[{', '.join(names)}] -> {{ {own}[{', '.join(names)}] }}")
    return evaluate_set(loops.bind(instance), {**sizes, **dict(zip(names, grid, strict=True))})


def _worth(meaning: TermMeaning, expression: Expr, given: Mapping[str, Array]) -> Array:
    return meaning(expression, lambda access: given[access.tensor])


def _gathered(
    by: isl.Map, found: Mapping[str, Array], grid: Sequence[Array], sizes: Values
) -> Array:
    """Return the elements that instances read; they broadcast to the block."""
    where, _ = elements(by, grid, sizes)
    return np.asarray(found[by.get_tuple_name(OUT) or ""][tuple(where)])


def _put(
    result: OperationResult,
    array: Array,
    worth: Array,
    inner: tuple[int, ...],
    grid: Sequence[Array],
    sizes: Values,
) -> None:
    """Reduce the values of a block of instances into the elements that they write."""
    kept = [axis.take([0], axis=k) if k in inner else axis for k, axis in enumerate(grid)]
    where, _ = elements(result.writes, kept, sizes)
    if result.operator == "=":
        array[tuple(where)] = worth
        return
    ufunc = REDUCTIONS[result.operator]
    partial = ufunc.reduce(worth, axis=inner, keepdims=True)
    shape = partial.shape
    if not where:
        array[...] = ufunc(array, partial.reshape(()))
        return
    ufunc.at(array, tuple(np.broadcast_to(each, shape) for each in where), partial)


def _start(
    result: OperationResult, shape: tuple[int, ...], found: Mapping[str, Array], wide: type
) -> Array:
    """Return the array with which a reduction starts."""
    if result.init is not None:
        return found[result.init].astype(wide)
    return np.full(shape, neutral(result.operator, wide), wide)


def extents(box: isl.Set, sizes: Values) -> tuple[int, ...]:
    """Return the sizes of a box from zero."""
    for name in box.get_var_names_not_none(PARAM):
        box = box.fix_val(PARAM, box.find_dim_by_name(PARAM, name), isl.Val(sizes[name]))
    return find_shape(box)


def find_inner(result: OperationResult) -> tuple[int, ...]:
    """Return the dimensions of instances that do not determine the element that they write."""
    used = set[int]().union(*depends_on(result.writes))
    return tuple(k for k in range(result.writes.dim(IN)) if k not in used)


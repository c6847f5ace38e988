"""Forms of values: kind, type, shape, and the region of a subscript."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, TypeAlias

from lairmake.stages.machine.types import TYPES, find_largest_integer, is_integer

# --- Errors of a program without a place ----------------------------------------------------------

class ProgramError(Exception):
    """One thing that a program may not do, with a remedy; callers add the place in the source."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\nhint: {hint}")
        self.message = message
        self.hint = hint

# --- Kind, type, shape and place of values --------------------------------------------------------
#
# The source on x86 and the graph follow these rules alike, so what one refuses the other does, too.
#
# Paper    E Sec. 5.1; rules for mixed kinds are ours

GLOBAL_SCALAR, GLOBAL_ARRAY = "GlobalScalar", "GlobalArray"
UNIFORM, LOCAL_SCALAR, LOCAL_ARRAY = "UniformLocalScalar", "LocalScalar", "LocalArray"
KINDS = (GLOBAL_SCALAR, GLOBAL_ARRAY, UNIFORM, LOCAL_SCALAR, LOCAL_ARRAY)
ON_WORKERS = (UNIFORM, LOCAL_SCALAR, LOCAL_ARRAY)
ON_PES = (LOCAL_SCALAR, LOCAL_ARRAY)
"""Kinds whose axes 0 and 1 are PEs."""

Number: TypeAlias = int | float

ARITHMETIC = ("add", "sub", "mul", "div", "neg", "abs", "maximum", "minimum")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
FUNCTIONS = ("sqrt", "exp", "log")
BITS = ("and", "or", "xor", "shl", "shr", "shr_logical")
OF_REALS = ("div", *FUNCTIONS)
OPERATIONS = (*ARITHMETIC, *COMPARISONS, *FUNCTIONS, *BITS, "where")
REDUCTIONS = ("sum", "max", "min")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The form of a value, known before the value is computed.

    `shape` is () for scalars of the system, (W, H) for a LocalScalar, (W, H, ...) for a LocalArray.
    A value on PEs has its first element on PE `origin`.
    """

    kind: str
    type: str
    shape: tuple[int, ...] = ()
    origin: tuple[int, int] = (0, 0)

    @property
    def is_on_pes(self) -> bool:
        """Return whether axes 0 and 1 are PEs."""
        return self.kind in ON_PES

    @property
    def memory(self) -> tuple[int, ...]:
        """Return the axes in the memory of one processing element."""
        return self.shape[2:] if self.is_on_pes else self.shape


def make_form(kind: str, type_: str, shape: Sequence[int]) -> Form:
    """Return the form of an object that a program makes. Raises ProgramError."""
    found = tuple(int(size) for size in shape)
    if type_ not in TYPES:
        hint = f"one of {', '.join(TYPES)}: `dtype=np.float32`, or `.astype(\"float32\")`"
        raise ProgramError(f"elements of {type_} are none that PEs have", hint)
    if any(size < 1 for size in found):
        raise ProgramError(f"a shape of {found}: every size is at least 1")
    _check_rank(kind, found)
    return Form(kind=kind, type=type_, shape=found)


def _check_rank(kind: str, shape: tuple[int, ...]) -> None:
    rank = len(shape)
    if kind in (GLOBAL_SCALAR, UNIFORM) and rank:
        raise ProgramError(f"a {kind} is one number, not an array of rank {rank}")
    if kind == GLOBAL_ARRAY and not rank:
        raise ProgramError("a GlobalArray has at least one axis", "one number is a GlobalScalar")
    if kind == LOCAL_SCALAR and rank != 2:
        said = f"a LocalScalar has rank 2, a number on each PE; this has rank {rank}"
        raise ProgramError(said, "with axes in memory it is a LocalArray" if rank > 2 else None)
    if kind == LOCAL_ARRAY and not 3 <= rank <= 6:
        hint = "rank 2 is a LocalScalar" if rank == 2 else (
            "axes 0 and 1 are PEs, and descriptors have at most four dimensions in memory")
        raise ProgramError(f"a LocalArray has rank 3 to 6, this has rank {rank}", hint)


def check_number(number: Number, type_: str) -> None:
    """Raise ProgramError for a number that has no value in a type."""
    if not is_integer(type_):
        return
    if not isinstance(number, int):
        said = f"{number} beside elements of {type_}: types are not mixed"
        raise ProgramError(said, f'`x.astype("float32")`, or an integer for {type_}')
    most = find_largest_integer(type_)
    if not -most - 1 <= number <= most:
        raise ProgramError(f"{number} is no {type_}", f"from {-most - 1} to {most}")


def combine_forms(op: str, operands: Sequence[Form | Number]) -> Form:
    """Return the form of the result of an operation on elements.

    Numbers take the type of the objects beside them. A scalar of any kind meets every element, and
    a LocalScalar every element of its PE; other shapes must be equal. The result lies where its
    leftmost operand on PEs lies. Raises ProgramError.
    """
    forms = [each for each in operands if isinstance(each, Form)]
    assert forms, "an operation on numbers alone is one of Python"
    type_ = _common_type(op, operands)
    result = "int16" if op in COMPARISONS else type_
    kinds = [form.kind for form in forms]
    if GLOBAL_ARRAY in kinds and any(kind in ON_WORKERS for kind in kinds):
        other = next(kind for kind in kinds if kind in ON_WORKERS)
        hint = "take an element of it: `a[3]`, or loop over it"
        raise ProgramError(f"a GlobalArray beside a {other}: workers have no part of it", hint)
    kind = max(kinds, key=(GLOBAL_SCALAR, GLOBAL_ARRAY, *ON_WORKERS).index)
    if kind == GLOBAL_ARRAY:
        return Form(kind=kind, type=result, shape=_equal([f for f in forms if f.shape]))
    placed = [form for form in forms if form.is_on_pes]
    if not placed:
        return Form(kind=kind, type=result)
    sizes = _equal([replace(form, shape=form.shape[:2]) for form in placed])
    memory = [form for form in placed if form.kind == LOCAL_ARRAY]
    shape = _equal(memory) if memory else sizes
    return Form(kind=kind, type=result, shape=shape, origin=placed[0].origin)


def _equal(forms: Sequence[Form]) -> tuple[int, ...]:
    """Return the shape that all forms have. Raises ProgramError where they differ."""
    shapes = list(dict.fromkeys(form.shape for form in forms))
    if len(shapes) > 1:
        raise ProgramError(f"shapes differ: {shapes[0]} and {shapes[1]}",
                           "slices of both sides have the same sizes; nothing is repeated")
    return shapes[0]


def _common_type(op: str, operands: Sequence[Form | Number]) -> str:
    """Return the type in which an operation computes. Raises ProgramError."""
    valued = operands[1:] if op == "where" else operands
    types = list(dict.fromkeys(each.type for each in valued if isinstance(each, Form)))
    if op == "where":
        _check_mask(operands[0])
        if not types:
            raise ProgramError(
                "where between two numbers: they have no type yet",
                'make one of them an object, or write `mask.astype("float32") * x`')
    if len(types) > 1:
        said = f"{types[0]} and {types[1]} in one operation: types are not mixed"
        raise ProgramError(said, f'`x.astype("{types[0]}")` makes one of the other')
    for each in valued:
        if not isinstance(each, Form):
            check_number(each, types[0])
    if op in OF_REALS and is_integer(types[0]):
        said = f"{'/' if op == 'div' else op} of {types[0]}: quotients and functions are of reals"
        raise ProgramError(said, '`x.astype("float32")` first')
    if op in BITS and not is_integer(types[0]):
        hint = '`x.astype("int32")` first'
        raise ProgramError(f"bits of {types[0]}: `{op}` is of integers", hint)
    return types[0]


def _check_mask(mask: Form | Number) -> None:
    if not isinstance(mask, Form) or not is_integer(mask.type):
        raise ProgramError("the first argument of where is no comparison of objects",
                           "`np.where(a > 0.0, x, y)`")


def convert_form(form: Form, type_: str) -> Form:
    """Return the form of a value in another type. Raises ProgramError."""
    if type_ not in TYPES:
        raise ProgramError(f"elements of {type_} are none that PEs have",
                           f"one of {', '.join(TYPES)}")
    return replace(form, type=type_)


def read_flag(name: str, given: object) -> bool:
    """Return an argument as true or false. Raises ProgramError for other values."""
    import numpy as np  # here: who translates a source reads forms, and needs none of it

    if not isinstance(given, bool | np.bool_):
        raise ProgramError(f"{name} is a {type(given).__name__}", f"`{name}=True`")
    return bool(given)


def reduce_form(
    form: Form, axis: int | None = None, controller: bool = False
) -> tuple[Form, tuple[int, ...]]:
    """Return the form of a sum, largest or least value, and the axes that are reduced.

    Without `axis` the result is uniform on all workers, or global with `controller`; for a
    GlobalArray it is always global. A reduction over an axis in memory moves nothing. Raises
    ProgramError.
    """
    if not form.shape:
        raise ProgramError(f"a {form.kind} is one number: nothing to reduce")
    is_global = read_flag("controller", controller)
    if axis is None:
        kind = GLOBAL_SCALAR if is_global or form.kind == GLOBAL_ARRAY else UNIFORM
        return Form(kind=kind, type=form.type), tuple(range(len(form.shape)))
    if type(axis) is not int:
        raise ProgramError(f"axis={axis!r}", "one integer: the axes are reduced one by one")
    if form.kind != LOCAL_ARRAY:
        raise ProgramError(f"axis={axis} of a {form.kind}", "only axes in memory are kept apart")
    at = axis + len(form.shape) if axis < 0 else axis
    if not 2 <= at < len(form.shape):
        raise ProgramError(
            f"axis={axis}: sums over PEs to an array are not there yet" if at in (0, 1)
            else f"axis={axis} of an array of rank {len(form.shape)}",
            "without `axis` all is added up; `axis=2` adds up what a PE holds",
        )
    if controller:
        raise ProgramError(f"controller=True with axis={axis}: such a result stays on its PEs")
    shape = form.shape[:at] + form.shape[at + 1 :]
    kind = LOCAL_ARRAY if len(shape) > 2 else LOCAL_SCALAR
    return Form(kind=kind, type=form.type, shape=shape, origin=form.origin), (at,)


TAKES = {
    GLOBAL_SCALAR: (GLOBAL_SCALAR,),
    GLOBAL_ARRAY: (GLOBAL_ARRAY, GLOBAL_SCALAR),
    UNIFORM: (UNIFORM, GLOBAL_SCALAR),
    LOCAL_SCALAR: (LOCAL_SCALAR, UNIFORM, GLOBAL_SCALAR),
    LOCAL_ARRAY: (LOCAL_ARRAY, LOCAL_SCALAR, UNIFORM, GLOBAL_SCALAR),
}
"""Kinds that may be assigned to an object of a kind, besides numbers."""


def check_assignment(target: Form, value: Form | Number) -> None:
    """Raise ProgramError for a value that an object, or a slice of it, does not take."""
    if not isinstance(value, Form):
        return check_number(value, target.type)
    if value.kind not in TAKES[target.kind]:
        hint = None
        if target.kind == GLOBAL_SCALAR and value.kind == UNIFORM:
            hint = "a sum with `controller=True` is global"
        raise ProgramError(f"a {value.kind} assigned to a {target.kind}", hint)
    if value.type != target.type:
        said = f"{value.type} assigned to {target.type}: types are not mixed"
        raise ProgramError(said, f'`x.astype("{target.type}")`')
    wanted = target.shape[: len(value.shape)] if value.kind == LOCAL_SCALAR else target.shape
    if value.shape and value.shape != wanted:
        raise ProgramError(f"shapes differ: {value.shape} assigned to {target.shape}",
                           "slices of both sides have the same sizes")
    return None


def count_elements(shape: Sequence[int]) -> int:
    """Return the number of elements of an array."""
    return math.prod(shape)


def check_iteration(form: Form) -> None:
    """Raise ProgramError for a loop over anything but a GlobalArray of rank 1."""
    if form.kind != GLOBAL_ARRAY:
        raise ProgramError(f"a loop over a {form.kind}", "loops run over a GlobalArray, "
                           "`global_range(n)`, or what Python has, which is unrolled")
    if len(form.shape) > 1:
        said = f"a loop over a GlobalArray of rank {len(form.shape)}"
        raise ProgramError(said, "a slice of rank 1: `for g in a[0, :]`")


def check_condition(form: Form) -> None:
    """Raise ProgramError for a value that no loop or branch may depend on."""
    if form.kind != GLOBAL_SCALAR:
        said = f"a condition on a {form.kind}: only a GlobalScalar decides for all"
        raise ProgramError(said, "`np.max(x, controller=True)` is global; "
                           "`np.where(mask, a, b)` decides for each element")


def check_fresh(name: str, is_view: bool) -> None:
    """Raise ProgramError where `name: LocalArray = x[1:]` would be a second name of elements.

    On x86 both names would mean the same elements, so the value of a new name must be computed.
    """
    if is_view:
        hint = "`np.copy(...)` gives it values of its own"
        raise ProgramError(f"{name} would be another name of what an object holds", hint)

# --- Regions of subscripts ------------------------------------------------------------------------
#
# Paper    E Sec. 5.3: slices of axes 0 and 1 say which PEs take part

@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The elements of one axis: `size` of them from `start` on. An index `drops` its axis."""

    start: int
    size: int
    step: int = 1
    drops: bool = False

    @property
    def key(self) -> slice | int:
        """Return the subscript of NumPy for these elements."""
        if self.drops:
            return self.start
        stop = self.start + self.size * self.step
        return slice(self.start, stop if stop >= 0 else None, self.step)


Region = tuple[Axis, ...]
"""A region of an object: one Axis for each axis."""


def whole_region(shape: Sequence[int]) -> Region:
    """Return the region of all elements."""
    return tuple(Axis(start=0, size=size) for size in shape)


def find_region(form: Form, key: Any) -> tuple[Form, Region]:
    """Return the form of `x[key]`, and its region. Raises ProgramError."""
    given = key if isinstance(key, tuple) else (key,)
    keys = _spread(form, given)
    axes = tuple(_axis(form, n, each) for n, each in enumerate(keys))
    kept = tuple(axis.size for axis in axes if not axis.drops)
    if form.kind == GLOBAL_ARRAY and not kept:
        return Form(kind=GLOBAL_SCALAR, type=form.type), axes
    if not form.is_on_pes:
        return replace(form, shape=kept), axes
    origin = (form.origin[0] + axes[0].start, form.origin[1] + axes[1].start)
    kind = LOCAL_ARRAY if len(kept) > 2 else LOCAL_SCALAR
    return Form(kind=kind, type=form.type, shape=kept, origin=origin), axes


def take_region(region: Region, inner: Region) -> Region:
    """Return the region of a subscript of a slice; `inner` counts only the axes that are kept."""
    given = iter(inner)
    return tuple(axis if axis.drops else _within(axis, next(given)) for axis in region)


def _within(axis: Axis, inner: Axis) -> Axis:
    return Axis(
        start=axis.start + axis.step * inner.start, size=inner.size,
        step=axis.step * inner.step, drops=inner.drops,
    )


def _spread(form: Form, given: tuple[Any, ...]) -> list[Any]:
    """Return a subscript for each axis: `...` and missing subscripts stand for whole axes."""
    for each in given:
        if each is None:
            raise ProgramError("np.newaxis: objects get no further axes")
        if not isinstance(each, (slice, EllipsisType)) and not _is_index(each):
            raise ProgramError("a subscript that is neither a slice nor an integer",
                               "masks and lists of indices are not there: `np.where(mask, a, b)`")
    dots = [n for n, each in enumerate(given) if each is Ellipsis]
    rank = len(form.shape)
    if len(dots) > 1 or len(given) - len(dots) > rank:
        raise ProgramError(f"{len(given)} subscripts for a {form.kind} of rank {rank}")
    at = dots[0] if dots else len(given)
    before, after = list(given[:at]), list(given[at + 1 :])
    return [*before, *[slice(None)] * (rank - len(before) - len(after)), *after]


def _is_index(key: Any) -> bool:
    try:
        operator.index(key)
    except TypeError:
        return False
    return not isinstance(key, bool)


def _axis(form: Form, n: int, key: Any) -> Axis:
    size, is_pe = form.shape[n], form.is_on_pes and n < 2
    if not isinstance(key, slice):
        at = operator.index(key)
        if is_pe:
            said = f"index {at} of axis {n}: axes 0 and 1 are PEs, which stay apart"
            stop = at + 1 if at != -1 else None
            raise ProgramError(said, f"write {at}:{'' if stop is None else stop}")
        if not -size <= at < size:
            raise ProgramError(f"index {at} of axis {n}, which has {size} elements")
        return Axis(start=at % size, size=1, drops=True)
    try:
        start, stop, step = key.indices(size)
    except TypeError:
        said = f"slice of axis {n} has an end that is no integer"
        raise ProgramError(said, "`x[1:-1]`; a quotient of integers is `n // 2`") from None
    except ValueError:
        raise ProgramError(f"slice of axis {n} has a step of 0") from None
    count = len(range(start, stop, step))
    if is_pe and step != 1:
        raise ProgramError(f"a step of {step} in axis {n}, which is one of PEs",
                           "slices of PEs have no steps yet; those in memory have")
    if not count:
        raise ProgramError(f"slice {_spell(key)} of axis {n} is empty: it has {size} elements")
    return Axis(start=start, size=count, step=step)


def _spell(key: slice) -> str:
    parts = ["" if each is None else str(each) for each in (key.start, key.stop)]
    return ":".join([*parts, *([] if key.step is None else [str(key.step)])])

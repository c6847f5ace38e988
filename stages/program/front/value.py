"""Values and objects of a program on x86."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import TracebackType
from typing import Any, ClassVar, Literal, NoReturn, TypeAlias

import numpy as np

from lairmake.stages.program.values.api import TYPE, WorkerField, find_range, make_alone
from lairmake.stages.program.values.arithmetic import Array, cast, compute, match_rank, round_number
from lairmake.stages.program.values.forms import (
    GLOBAL_ARRAY,
    GLOBAL_SCALAR,
    LOCAL_ARRAY,
    LOCAL_SCALAR,
    UNIFORM,
    Form,
    Number,
    ProgramError,
    check_assignment,
    check_condition,
    check_iteration,
    check_number,
    combine_forms,
    convert_form,
    find_region,
    read_flag,
)
from lairmake.stages.program.values.operators import (
    SCALARS,
    Initial,
    Operators,
    check_name,
    find_initial,
    make_index,
    make_missing,
    make_rebound,
    name_type,
    read_number,
)

# --- State of a run on x86 ------------------------------------------------------------------------
#
# Paper    E Sec. 5.2: Run_On_Host and MACH_Compiler_Ignore; their rules are ours

Mode: TypeAlias = Literal["program", "host", "ignored"]


class World:
    """The run of a program: objects by name, field and mode.

    `expected` are the first values of its objects, if they are known.
    """

    def __init__(self) -> None:
        self.mode: Mode = "program"
        self.begin()

    def begin(self, expected: Mapping[str, Initial] | None = None) -> None:
        """Forget the earlier program, before another one begins."""
        self.mode = "program"
        self.objects: dict[str, Any] = {}
        self.field = WorkerField()
        self.expected = expected

    def take(self, name: str, form: Form, initial: Initial) -> None:
        """Add a new object to the program. Raises ProgramError."""
        if self.mode != "program":
            where = "Run_On_Host" if self.mode == "host" else "MACH_Compiler_Ignore"
            raise ProgramError(f"object {name} is made in {where}", "make it outside of the block")
        self.field.include(name, form)
        expected = initial if self.expected is None else self.expected.get(name, "none")
        if not _is_same(form, initial, expected):
            said = f"the first values of {name} differ between two runs of the program"
            raise ProgramError(said, "seed the generator: `numpy.random.default_rng(0)`")


def _is_same(form: Form, initial: Initial, expected: Initial | str) -> bool:
    """Return whether first values are the same, bit for bit; a number stands for all elements."""
    if initial is None or expected is None or isinstance(expected, str):
        return initial is expected
    a, b = (each if isinstance(each, np.ndarray) else round_number(each, form.type)
            for each in (initial, expected))
    if a.ndim and b.ndim and a.shape != b.shape:
        return False
    a, b = np.broadcast_arrays(a, b)
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


WORLD = World()
"""The run of this process: a process has only one at a time."""


class HostBlock:
    """A `with` block in which the program is in another mode."""

    MODE: Mode = "program"

    def __enter__(self) -> None:
        self._before, WORLD.mode = WORLD.mode, self.MODE

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        WORLD.mode = self._before


class Run_On_Host(HostBlock):  # noqa: N801
    """A block that prepares data: it runs when the program is compiled, and is not part of it."""

    MODE = "host"


class MACH_Compiler_Ignore(HostBlock):  # noqa: N801
    """A block that only `python` runs: objects are read-only arrays of NumPy in it."""

    MODE = "ignored"

# --- Objects as arrays of NumPy -------------------------------------------------------------------
#
# Objects are arrays in MACH_Compiler_Ignore; elsewhere NumPy gets an error with a hint.
#
# Paper    ours; E Sec. 5.2 has the block

class Readable(Operators):
    """A form with an array of NumPy, which only blocks of MACH_Compiler_Ignore see."""

    __slots__ = ("_array", "form", "is_view")

    def __init__(self, form: Form, array: Array, is_view: bool = False) -> None:
        self.form, self._array, self.is_view = form, array, is_view

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the sizes of all axes."""
        return self.form.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of the elements."""
        return self._array.dtype

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return self._array.size

    def __len__(self) -> int:
        if not self.form.shape:
            raise TypeError(f"a {self.form.kind} has no length")
        return self.form.shape[0]

    def __repr__(self) -> str:
        if WORLD.mode == "ignored":
            return repr(self._array[()])
        sizes = "".join(f" {size}" for size in self.form.shape)
        return f"<{self.form.kind} {self.form.type}{sizes}>"

    def __str__(self) -> str:
        return str(self._array[()]) if WORLD.mode == "ignored" else repr(self)

    def __format__(self, how: str) -> str:
        return format(self._array[()], how) if WORLD.mode == "ignored" else format(str(self), how)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.read("an array"), dtype=dtype, copy=copy)

    def __float__(self) -> float:
        return float(self.read("a float"))

    def __int__(self) -> int:
        return int(self.read("an int"))

    def __index__(self) -> int:
        if WORLD.mode != "ignored":
            raise make_index(self.form)
        return int(self._array.item())

    def read(self, wanted: str) -> Any:
        """Return the values as a read-only array of NumPy. Raises ProgramError."""
        if WORLD.mode != "ignored":
            raise ProgramError(f"a {self.form.kind} as {wanted}: its values are not known here",
                               "in `with MACH_Compiler_Ignore():` it is an array of NumPy")
        array = self._array.view()
        array.flags.writeable = False
        return array[()]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if WORLD.mode == "ignored":
            return getattr(self.read("an array"), name)
        raise make_missing(self.form, name)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **how: Any) -> Any:
        if WORLD.mode == "ignored":
            return getattr(ufunc, method)(*read_operands(inputs), **how)
        return super().__array_ufunc__(ufunc, method, *inputs, **how)

    def __array_function__(self, function: Any, types: Any, args: Any, how: Any) -> Any:
        if WORLD.mode == "ignored":
            return function(*_read_all(args), **how)
        return super().__array_function__(function)


def _read_all(given: Any) -> list[Any]:
    """Return arguments with arrays in place of objects, also in lists and tuples."""
    return [
        each.read("an array") if isinstance(each, Readable)
        else type(each)(_read_all(each)) if type(each) in (list, tuple) else each
        for each in given
    ]


def read_operands(given: Any) -> list[Any]:
    """Return operands for NumPy in MACH_Compiler_Ignore. Raises ProgramError elsewhere."""
    if WORLD.mode == "host":
        raise ProgramError("an object in Run_On_Host, where there are only values of Python",
                           "leave it out, or let the program compute it")
    return _read_all(given)

# --- Values with operators ------------------------------------------------------------------------
#
# A value has a form, for the rules of values/forms.py, and an array of NumPy of its shape.
#
# Paper    E Sec. 5.1 and 5.2

PYTHON: dict[str, Any] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor, "shl": operator.lshift, "shr": operator.rshift, "neg": operator.neg,
    "abs": abs, "//": operator.floordiv, "%": operator.mod, "@": operator.matmul,
    "**": operator.pow, "divmod": divmod, "~": operator.invert,
}
"""Operators of Python for arrays of NumPy, in MACH_Compiler_Ignore."""


def _in_place(op: str) -> Any:
    def change(self: HostValue, other: Any) -> HostValue:
        if WORLD.mode == "ignored":
            raise make_written()
        if not self.is_view:
            raise make_rebound(self.form, op)
        self.assign(apply(op, self, other))
        return self
    return change


class HostValue(Readable):
    """A value of a program, on x86."""

    __slots__ = ()
    __iadd__, __isub__, __imul__ = _in_place("add"), _in_place("sub"), _in_place("mul")
    __itruediv__, __iand__, __ior__ = _in_place("div"), _in_place("and"), _in_place("or")
    __ixor__, __ilshift__, __irshift__ = _in_place("xor"), _in_place("shl"), _in_place("shr")

    def __ipow__(self, exponent: Any) -> HostValue:
        self ** exponent
        return _in_place("mul")(self, self)  # type: ignore[no-any-return]

    def compute(self, op: str, *operands: Any) -> Any:
        """Return the result of an operation that has this object as an operand."""
        return apply(op, *operands)

    def refuse(self, sign: str, *operands: Any) -> Any:
        """Raise ProgramError, except where arrays of NumPy have the operator."""
        if WORLD.mode == "ignored":
            return PYTHON[sign](*read_operands(operands))
        return super().refuse(sign, *operands)

    def __bool__(self) -> bool:
        if WORLD.mode == "ignored":
            return bool(self.read("a condition"))
        check_condition(self.form)
        return bool(self._array)

    def __getitem__(self, key: Any) -> Any:
        if WORLD.mode != "program":
            return read_operands([self])[0][key]
        form, region = find_region(self.form, key)
        part = self._array[(*[axis.key for axis in region], ...)]
        return HostValue(form, part, is_view=True)

    def __setitem__(self, key: Any, value: Any) -> None:
        if WORLD.mode == "program":
            self[key].assign(value)
        else:
            read_operands([self])
            raise make_written()

    def assign(self, value: Any) -> None:
        """Assign new values to all elements; a scalar is assigned to each of them."""
        given = settle(value, self)
        check_assignment(self.form, given.form if isinstance(given, HostValue) else given)
        if not self._array.flags.writeable:
            raise ProgramError("the value of a loop is not changed",
                               "a GlobalScalar of its own: `g = GlobalScalar(\"g\", 0.0)`")
        if isinstance(given, HostValue):
            self._array[...] = match_rank(given._array, given.form, self.form)
        else:
            compute("copy", self.form.type, given, out=self._array)

    def __iter__(self) -> Iterator[Any]:
        if WORLD.mode != "program":
            return iter(read_operands([self])[0])
        check_iteration(self.form)
        return (make_fixed(self.form.type, self._array[n]) for n in range(len(self)))

    def __contains__(self, value: object) -> bool:
        return value in self.read("what Python looks into")

    def astype(self, type_: Any) -> Any:
        """Return the values in another type."""
        if WORLD.mode != "program":
            return read_operands([self])[0].astype(type_)
        name = name_type(type_)
        return HostValue(convert_form(self.form, name), cast(self._array, name))


def make_fixed(type_: str, value: Any) -> HostValue:
    """Return the value of a loop, as a GlobalScalar that is only read."""
    array = np.array(value, type_)
    array.flags.writeable = False
    return HostValue(Form(kind=GLOBAL_SCALAR, type=type_), array)


def make_written() -> ProgramError:
    """Return the error for a change of the program in a block that only `python` runs."""
    return ProgramError("an object is written in MACH_Compiler_Ignore",
                        "only `python` runs such a block: write it outside")


def settle(operand: Any, beside: HostValue | None = None) -> HostValue | Number:
    """Return an operand as a value, or as a number of Python. Raises ProgramError."""
    if isinstance(operand, HostValue):
        return operand
    return read_number(operand, None if beside is None else beside.form)


@lru_cache(maxsize=4096, typed=True)
def _combine(op: str, *operands: Form | Number) -> Form:
    return combine_forms(op, operands)


def apply(op: str, *operands: Any) -> Any:
    """Return the result of an operation, element by element; of arrays in MACH_Compiler_Ignore."""
    if WORLD.mode != "program":
        return PYTHON[op](*read_operands(operands))
    beside = next((each for each in operands if isinstance(each, HostValue)), None)
    given = [settle(each, beside) for each in operands]
    if beside is None:
        raise make_alone(op)
    form = _find_form(op, given)
    valued = given[1:] if op == "where" else given
    type_ = next(each.form.type for each in valued if isinstance(each, HostValue))
    arrays: list[Array | Number] = []
    for each in given:
        if isinstance(each, HostValue):
            arrays.append(match_rank(each._array, each.form, form))
        else:
            check_number(each, type_)
            arrays.append(each)
    return HostValue(form, compute(op, type_, *arrays))


def _find_form(op: str, given: list[HostValue | Number]) -> Form:
    """Return the form of a result, cached by the types of numbers; errors name the real numbers."""
    try:
        return _combine(op, *[each.form if isinstance(each, HostValue) else type(each)(0)
                              for each in given])
    except ProgramError:
        combine_forms(op, [each.form if isinstance(each, HostValue) else each for each in given])
        raise


def take_array(value: HostValue) -> Array:
    """Return the array of an object, for computation."""
    return value._array

# --- Objects and loops of a program ---------------------------------------------------------------
#
# Paper    E Sec. 5.1

class _Object(HostValue):
    """An object with a name. `init_data` is an array of NumPy, or a number for all elements.

    An object without data must first be written whole. An `output` is a result of the program.
    """

    __slots__ = ("name", "output")
    KIND: ClassVar[str] = ""

    def __init__(
        self, name: str, init_data: Any = None, shape: Sequence[int] | None = None,
        dtype: Any = None, output: bool = False,
    ) -> None:
        check_name(name, tuple(WORLD.objects))
        form, initial = find_initial(self.KIND, init_data, shape, dtype)
        WORLD.take(name, form, initial)
        super().__init__(form, _fill(form, initial))
        self.name, self.output = name, read_flag("output", output)
        WORLD.objects[name] = self


def _fill(form: Form, initial: Initial) -> Array:
    return np.array(np.broadcast_to(0 if initial is None else initial, form.shape), form.type)


class _OneNumber(_Object):
    """A scalar of the system: it has no shape."""

    __slots__ = ()

    def __init__(
        self, name: str, init_data: Any = None, dtype: Any = None, output: bool = False
    ) -> None:
        super().__init__(name, init_data, None, dtype, output)


class GlobalScalar(_OneNumber):
    """One number on the executive, which decides loops and conditions."""

    __slots__ = ()
    KIND = GLOBAL_SCALAR


class UniformLocalScalar(_OneNumber):
    """One number that all workers have."""

    __slots__ = ()
    KIND = UNIFORM


class GlobalArray(_Object):
    """An array on the executive, which a loop may run over."""

    __slots__ = ()
    KIND = GLOBAL_ARRAY


class LocalScalar(_Object):
    """A number on each worker: axes 0 and 1 are its column and row."""

    __slots__ = ()
    KIND = LOCAL_SCALAR


class LocalArray(_Object):
    """An array on workers: axes 0 and 1 are columns and rows of PEs, up to four are in memory."""

    __slots__ = ()
    KIND = LOCAL_ARRAY


class MACHScalar:
    """The hint for a new scalar of any kind: `total: MACHScalar = np.sum(x)`."""

    KIND: ClassVar[str] = SCALARS

    def __new__(cls, *given: Any) -> NoReturn:
        """Raise ProgramError: the class is only a hint."""
        raise ProgramError("MACHScalar is a hint: `total: MACHScalar = np.sum(x)`",
                           "a scalar that stands for itself is a GlobalScalar or LocalScalar")


def global_range(*limits: Any) -> Iterator[Any]:
    """Return the integers of a loop of the graph, as global scalars of int32."""
    return (make_fixed(TYPE, each) for each in range(*find_range(*limits)))


def field(width: int, height: int) -> None:
    """Set the columns and rows of the field of workers. Raises ProgramError."""
    WORLD.field.declare(width, height)

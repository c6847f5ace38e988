"""Values on x86: what an object or an expression is, with the operators of Python.

A value has a form, for the rules of values/forms.py, and an array of NumPy of its shape.

Paper    E Sec. 5.1 and 5.2
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from lairmake.stages.program.front.readable import Readable, read_operands
from lairmake.stages.program.front.world import WORLD
from lairmake.stages.program.values.api import make_alone
from lairmake.stages.program.values.arithmetic import Array, cast, compute, match_rank
from lairmake.stages.program.values.forms import (
    GLOBAL_SCALAR,
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
)
from lairmake.stages.program.values.operators import make_rebound, name_type, read_number

PYTHON: dict[str, Any] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor, "shl": operator.lshift, "shr": operator.rshift, "neg": operator.neg,
    "abs": abs, "//": operator.floordiv, "%": operator.mod, "@": operator.matmul,
    "**": operator.pow, "divmod": divmod, "~": operator.invert,
}
"""What Python does with arrays of NumPy, in MACH_Compiler_Ignore."""


def _in_place(op: str) -> Any:
    def change(self: Value, other: Any) -> Value:
        if WORLD.mode == "ignored":
            raise make_written()
        if not self.is_view:
            raise make_rebound(self.form, op)
        self.assign(apply(op, self, other))
        return self
    return change


class Value(Readable):
    """A value of a program, on x86."""

    __slots__ = ()
    __iadd__, __isub__, __imul__ = _in_place("add"), _in_place("sub"), _in_place("mul")
    __itruediv__, __iand__, __ior__ = _in_place("div"), _in_place("and"), _in_place("or")
    __ixor__, __ilshift__, __irshift__ = _in_place("xor"), _in_place("shl"), _in_place("shr")

    def __ipow__(self, exponent: Any) -> Value:
        self ** exponent
        return _in_place("mul")(self, self)  # type: ignore[no-any-return]

    def compute(self, op: str, *operands: Any) -> Any:
        """Return what an operation gives, of which this object is an operand."""
        return apply(op, *operands)

    def refuse(self, sign: str, *operands: Any) -> Any:
        """Raise ProgramError, but where arrays of NumPy have the operator."""
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
        return Value(form, part, is_view=True)

    def __setitem__(self, key: Any, value: Any) -> None:
        if WORLD.mode == "program":
            self[key].assign(value)
        else:
            read_operands([self])
            raise make_written()

    def assign(self, value: Any) -> None:
        """Give all elements other values, of which a scalar is for each of them."""
        given = settle(value, self)
        check_assignment(self.form, given.form if isinstance(given, Value) else given)
        if not self._array.flags.writeable:
            raise ProgramError("the value of a loop is not changed",
                               "a GlobalScalar of its own: `g = GlobalScalar(\"g\", 0.0)`")
        if isinstance(given, Value):
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
        return Value(convert_form(self.form, name), cast(self._array, name))


def make_fixed(type_: str, value: Any) -> Value:
    """Return the value of a loop, a GlobalScalar that is only read."""
    array = np.array(value, type_)
    array.flags.writeable = False
    return Value(Form(kind=GLOBAL_SCALAR, type=type_), array)


def make_written() -> ProgramError:
    """Return the error for what would change the program where only `python` runs it."""
    return ProgramError("an object is written in MACH_Compiler_Ignore",
                        "only `python` runs such a block: write it outside")


def settle(operand: Any, beside: Value | None = None) -> Value | Number:
    """Return an operand as a value, or as a number of Python's. Raises ProgramError."""
    if isinstance(operand, Value):
        return operand
    return read_number(operand, None if beside is None else beside.form)


@lru_cache(maxsize=4096, typed=True)
def _combine(op: str, *operands: Form | Number) -> Form:
    return combine_forms(op, operands)


def apply(op: str, *operands: Any) -> Any:
    """Return what an operation gives, element by element; of arrays in MACH_Compiler_Ignore."""
    if WORLD.mode != "program":
        return PYTHON[op](*read_operands(operands))
    beside = next((each for each in operands if isinstance(each, Value)), None)
    given = [settle(each, beside) for each in operands]
    if beside is None:
        raise make_alone(op)
    form = _find_form(op, given)
    valued = given[1:] if op == "where" else given
    type_ = next(each.form.type for each in valued if isinstance(each, Value))
    arrays: list[Array | Number] = []
    for each in given:
        if isinstance(each, Value):
            arrays.append(match_rank(each._array, each.form, form))
        else:
            check_number(each, type_)
            arrays.append(each)
    return Value(form, compute(op, type_, *arrays))


def _find_form(op: str, given: list[Value | Number]) -> Form:
    """Return the form of a result; numbers of one type are alike, but for what is said of them."""
    try:
        return _combine(op, *[each.form if isinstance(each, Value) else type(each)(0)
                              for each in given])
    except ProgramError:
        combine_forms(op, [each.form if isinstance(each, Value) else each for each in given])
        raise


def take_array(value: Value) -> Array:
    """Return the values of an object, for those who compute with them."""
    return value._array

"""Objects as what NumPy reads: in MACH_Compiler_Ignore arrays, elsewhere an error with a hint.

Paper    ours; E Sec. 5.2 has the block
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lairmake.stages.program.front.world import WORLD
from lairmake.stages.program.values.arithmetic import Array
from lairmake.stages.program.values.forms import Form, ProgramError
from lairmake.stages.program.values.operators import Operators, make_index, make_missing


class Readable(Operators):
    """A form with an array of NumPy, which only blocks of MACH_Compiler_Ignore see."""

    __slots__ = ("_array", "form", "is_view")

    def __init__(self, form: Form, array: Array, is_view: bool = False) -> None:
        self.form, self._array, self.is_view = form, array, is_view

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of all axes."""
        return self.form.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._array.dtype

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """How many elements there are."""
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
        """Return the values as NumPy has them, to be read. Raises ProgramError."""
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
    """Return arguments with arrays in place of objects, in lists and tuples too."""
    return [
        each.read("an array") if isinstance(each, Readable)
        else type(each)(_read_all(each)) if type(each) in (list, tuple) else each
        for each in given
    ]


def read_operands(given: Any) -> list[Any]:
    """Return operands of an expression in MACH_Compiler_Ignore. Raises ProgramError elsewhere."""
    if WORLD.mode == "host":
        raise ProgramError("an object in Run_On_Host, where there are only values of Python",
                           "leave it out, or let the program compute it")
    return _read_all(given)

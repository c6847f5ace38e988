"""The operators of objects, the same for the source on x86 and for the graph.

Paper    E Sec. 5.1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lairmake.stages.diagnose import nearest
from lairmake.stages.program.values.errors import ProgramError
from lairmake.stages.program.values.forms import Form
from lairmake.stages.program.values.instead import INSTEAD, suggest_instead
from lairmake.stages.program.values.names import NAMES

UFUNCS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "true_divide": "div", "divide": "div",
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
    "left_shift": "shl", "right_shift": "shr",
}
"""What NumPy calls for an operator between a number of its own and an object."""


HINTS = {
    "//": "of reals, what `np.floor` says is done to `x / y`; `>>` of integers",
    "%": "`&` of integers, for powers of two",
    "**": "`x * x * x`, or `np.sqrt(x)`", "@": "`np.sum(a * b)`",
    "~": "`x ^ -1`; of a mask, `mask == 0`",
}
"""What to write in place of operators that objects do not have."""


SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^", "shl": "<<",
    "shr": ">>",
}

METHODS = {"sum": "np.sum(x)", "max": "np.max(x)", "min": "np.min(x)", "copy": "np.copy(x)"}
"""What is a function here, and a method of arrays."""
KNOWN = ("shape", "dtype", "ndim", "size", "astype")
"""The attributes that objects have."""


class MissingError(ProgramError, AttributeError):
    """An attribute that objects do not have, for `hasattr` and for users alike."""


def make_missing(form: Form, name: str) -> AttributeError:
    """Return the error for an attribute that objects do not have."""
    hint = f"`{METHODS[name]}`" if name in METHODS else INSTEAD.get(name)
    near = nearest(name, KNOWN)
    hint = hint or (f"did you mean .{near}?" if near else None)
    return MissingError(f"a {form.kind} has no .{name}", hint)


def make_rebound(form: Form, op: str) -> ProgramError:
    """Return the error for `x += 1`, which would not change the elements that `x` means."""
    said = f"`{SYMBOLS[op]}=` would bind the name of a {form.kind} anew"
    return ProgramError(said, f"`x[...] {SYMBOLS[op]}= ` changes its values")


def make_index(form: Form) -> ProgramError:
    """Return the error for an object in a subscript."""
    if form.shape:
        return ProgramError(f"a {form.kind} as a subscript",
                            "masks and lists of indices are not there: `np.where(mask, a, b)`")
    said = f"a {form.kind} as an index: which elements are meant is known beforehand"
    return ProgramError(said, "`np.where(i == 3, a, b)` chooses between values")


class Operators:
    """Operators that call `compute` with the operation, as values/forms.py names it."""

    __slots__ = ()

    def compute(self, op: str, *operands: Any) -> Any:
        """Return what an operation gives, of which this object is an operand."""
        raise ProgramError(f"{op} of {type(self).__name__}")

    def refuse(self, sign: str, *operands: Any) -> Any:
        """Raise ProgramError for an operator that objects do not have."""
        if sign == "**":
            raise ProgramError("a power: only `x ** 2` is there, which is `x * x`", HINTS[sign])
        raise ProgramError(f"`{sign}` of objects is not there", HINTS.get(sign))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        op = UFUNCS.get(ufunc.__name__)
        if method != "__call__" or kwargs or op is None:
            raise make_foreign(ufunc.__name__)
        return self.compute(op, *inputs)

    def __array_function__(self, function: Any, *args: Any) -> Any:
        raise make_foreign(function.__name__)

    __hash__ = object.__hash__

    def __add__(self, other: Any) -> Any:
        return self.compute("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self.compute("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self.compute("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.compute("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return self.compute("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.compute("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self.compute("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.compute("div", other, self)

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, int | float | np.number) and other == 2:
            return self.compute("mul", self, self)
        return self.refuse("**", self, other)

    def __neg__(self) -> Any:
        return self.compute("neg", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.compute("abs", self)

    def __eq__(self, other: object) -> Any:
        return self.compute("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return self.compute("ne", self, other)

    def __lt__(self, other: Any) -> Any:
        return self.compute("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return self.compute("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return self.compute("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return self.compute("ge", self, other)

    def __and__(self, other: Any) -> Any:
        return self.compute("and", self, other)

    def __rand__(self, other: Any) -> Any:
        return self.compute("and", other, self)

    def __or__(self, other: Any) -> Any:
        return self.compute("or", self, other)

    def __ror__(self, other: Any) -> Any:
        return self.compute("or", other, self)

    def __xor__(self, other: Any) -> Any:
        return self.compute("xor", self, other)

    def __rxor__(self, other: Any) -> Any:
        return self.compute("xor", other, self)

    def __lshift__(self, other: Any) -> Any:
        return self.compute("shl", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self.compute("shl", other, self)

    def __rshift__(self, other: Any) -> Any:
        return self.compute("shr", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self.compute("shr", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self.refuse("//", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self.refuse("//", other, self)

    def __mod__(self, other: Any) -> Any:
        return self.refuse("%", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self.refuse("%", other, self)

    def __rpow__(self, other: Any) -> Any:
        return self.refuse("**", other, self)

    def __divmod__(self, other: Any) -> Any:
        return self.refuse("divmod", self, other)

    def __matmul__(self, other: Any) -> Any:
        return self.refuse("@", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self.refuse("@", other, self)

    def __invert__(self) -> Any:
        return self.refuse("~", self)


def make_foreign(name: str) -> ProgramError:
    """Return the error for a function of NumPy's own that is called with objects."""
    hint = "what is there for objects: `from lairmake import numpy as np`"
    return ProgramError(f"NumPy's own {name} is called with an object",
                        hint if name in NAMES else suggest_instead(name, NAMES))

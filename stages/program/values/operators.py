"""Operators, decorators and constructors of objects."""

from __future__ import annotations

import functools
import inspect
import keyword
import operator
import types
import typing
from collections.abc import Callable, Container, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from lairmake.stages.diagnose import nearest
from lairmake.stages.machine.types import TYPES, is_integer
from lairmake.stages.program.values.api import INSTEAD, NAMES, suggest_instead
from lairmake.stages.program.values.arithmetic import Array, round_number
from lairmake.stages.program.values.forms import (
    GLOBAL_SCALAR,
    KINDS,
    LOCAL_SCALAR,
    UNIFORM,
    Form,
    Number,
    ProgramError,
    make_form,
)

# --- Operators of objects -------------------------------------------------------------------------
#
# Paper    E Sec. 5.1

UFUNCS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "true_divide": "div", "divide": "div",
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
    "left_shift": "shl", "right_shift": "shr",
}
"""Operations by the functions that NumPy calls for an operator between its number and an object."""


HINTS = {
    "//": "of reals, what `np.floor` says is done to `x / y`; `>>` of integers",
    "%": "`&` of integers, for powers of two",
    "**": "`x * x * x`, or `np.sqrt(x)`", "@": "`np.sum(a * b)`",
    "~": "`x ^ -1`; of a mask, `mask == 0`",
}
"""Replacements for operators that objects do not have."""


SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^", "shl": "<<",
    "shr": ">>",
}

METHODS = {"sum": "np.sum(x)", "max": "np.max(x)", "min": "np.min(x)", "copy": "np.copy(x)"}
"""Functions of programs that are methods of NumPy's arrays."""
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
    """Operators of Python, each as a call of `compute` with an operation of values/forms.py."""

    __slots__ = ()

    def compute(self, op: str, *operands: Any) -> Any:
        """Return the result of an operation that has this object as an operand."""
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
    """Return the error for a function of NumPy itself that is called with objects."""
    hint = "what is there for objects: `from lairmake import numpy as np`"
    return ProgramError(f"NumPy's own {name} is called with an object",
                        hint if name in NAMES else suggest_instead(name, NAMES))

# --- Decorators of classes and functions ----------------------------------------------------------
#
# They check that members and arguments are of the kinds that they declare. They find the `form` of
# an object, and the `KIND` of a hint, so they serve the source on x86 and the intermediate
# language.
#
# Paper    E Sec. 5.1: three decorators for strict typing; their names are ours

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])

SCALARS = "MACHScalar"
"""The `KIND` of a hint that means every kind of scalar."""

KINDS_OF_SCALARS = (GLOBAL_SCALAR, UNIFORM, LOCAL_SCALAR)
DEFINED = 1 << 9
"""Flag of classes defined in Python, whose members may be set: Py_TPFLAGS_HEAPTYPE."""


def holds_objects(class_: Class) -> Class:
    """Let a class hold objects: its members become `strict`, its methods `typed`."""
    _check_class("holds_objects", class_)
    for name, member in list(vars(class_).items()):
        if inspect.isfunction(member):
            setattr(class_, name, typed(member))
    return strict(class_)


def strict(class_: Class) -> Class:
    """Let members of a class keep their types; a member that is an object stays that object."""
    _check_class("strict", class_)
    assign: Any = class_.__setattr__

    def assign_checked(self: object, name: str, value: object) -> None:
        _check_member(class_.__name__, name, getattr(self, name, value), value)
        assign(self, name, value)

    type.__setattr__(class_, "__setattr__", assign_checked)
    return class_


def _check_class(decorator: str, given: object) -> None:
    """Raise ProgramError for anything but a class that a program defines."""
    if not isinstance(given, type) or not given.__flags__ & DEFINED:
        raise ProgramError(f"`{decorator}` of what is no class of the program",
                           f"it stands above one: `@{decorator}`")


def _check_member(class_: str, name: str, before: object, value: object) -> None:
    if before is value:
        return
    if _find_form(before) is not None:
        said = f"member {name} of {class_} holds a {_spell(before)}, and would hold another object"
        raise ProgramError(said, f"`self.{name}[...] = ` gives it other values")
    if type(before) is not type(value):
        said = f"member {name} of {class_} was of type {_spell(before)}, and would be"
        raise ProgramError(f"{said} {_spell(value)}", "members keep their type: another name")


def typed(function: Function) -> Function:
    """Return a function that checks its arguments against their hints."""
    signature = inspect.signature(function)
    hints: dict[str, Any] = {}

    @functools.wraps(function)
    def call_checked(*args: Any, **kwargs: Any) -> Any:
        if not hints:
            hints.update(typing.get_type_hints(function), **{"return": None})
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            _check_argument(function.__name__, signature.parameters[name], hints.get(name), value)
        return function(*args, **kwargs)

    return typing.cast(Function, call_checked)


def _check_argument(function: str, taken: inspect.Parameter, hint: Any, value: object) -> None:
    if hint is None:
        return
    several: tuple[object, ...] = (value,)
    if taken.kind is inspect.Parameter.VAR_POSITIONAL:
        several = typing.cast("tuple[object, ...]", value)
    elif taken.kind is inspect.Parameter.VAR_KEYWORD:
        several = tuple(typing.cast("dict[str, object]", value).values())
    for each in several:
        if not _fits(each, hint):
            said = f"argument {taken.name} of {function} is of type {_spell(each)}"
            raise ProgramError(f"{said}, its hint says {_spell_hint(hint)}")


def _fits(value: object, hint: Any) -> bool:
    """Return whether a value suits a hint; of `list[int]` only `list` is checked."""
    if hint is Any or isinstance(hint, TypeVar):
        return True
    origin = typing.get_origin(hint)
    if origin is typing.Union or origin is types.UnionType:
        return any(_fits(value, each) for each in typing.get_args(hint))
    kind, form = getattr(hint, "KIND", None), _find_form(value)
    if kind is not None:
        return form is not None and (
            form.kind in KINDS_OF_SCALARS if kind == SCALARS else form.kind == kind)
    class_ = origin if origin is not None else hint
    if not isinstance(class_, type):
        return True
    if class_ is float and type(value) is int:
        return True
    return isinstance(value, class_) and not (class_ is int and isinstance(value, bool))


def _find_form(value: object) -> Form | None:
    form = getattr(value, "form", None)
    return form if isinstance(form, Form) else None


def _spell(value: object) -> str:
    form = _find_form(value)
    return type(value).__name__ if form is None else form.kind


def _spell_hint(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)

# --- Form and first values of objects -------------------------------------------------------------
#
# The source on x86 and the intermediate language take them alike.
#
# Paper    E Sec. 5.1: objects with a name, data, and whether they are outputs

Initial: TypeAlias = Array | Number | None
"""The first values of an object: an array of its type and shape, one number for all, or none."""


def find_initial(
    kind: str, init_data: Any, shape: Sequence[int] | None, dtype: Any
) -> tuple[Form, Initial]:
    """Return the form of an object and its first values. Raises ProgramError.

    An array must have one of the four types, unless `dtype` converts it. A number fills the shape;
    its type is `dtype`, else that of NumPy's number if PEs have it, else int32 or float32.
    """
    wanted = None if dtype is None else name_type(dtype)
    data = settle_number(init_data)
    if isinstance(data, np.ndarray):
        return _take_array(kind, data, shape, wanted)
    if data is not None and type(data) not in (int, float):
        said = f"init_data is of type {type(init_data).__name__}"
        raise ProgramError(said, "an array of NumPy's own, made in Run_On_Host, or a number")
    if shape is None and kind not in (GLOBAL_SCALAR, UNIFORM):
        raise ProgramError(f"a {kind} without a shape", "give `shape=(...)`, or an array as data")
    if data is None and wanted is None:
        raise ProgramError("neither init_data nor dtype: of which type is it?",
                           "`dtype=np.float32`")
    own = init_data.dtype.name if isinstance(init_data, (np.generic, np.ndarray)) else None
    type_ = wanted or ("int32" if isinstance(data, int) else "float32")
    if wanted is None and own in TYPES:
        type_ = own
    form = make_form(kind, type_, _as_shape(shape))
    return form, None if data is None else round_number(data, type_).item()


def _take_array(
    kind: str, data: Array, shape: Sequence[int] | None, wanted: str | None
) -> tuple[Form, Array]:
    if shape is not None and _as_shape(shape) != data.shape:
        said = f"init_data has the shape {data.shape}, `shape` says {_as_shape(shape)}"
        raise ProgramError(said, "leave `shape` out")
    if wanted is None and data.dtype.name not in TYPES:
        type_ = "float32" if data.dtype.kind == "f" else "int32"
        hint = f'`.astype("{type_}")`, or `dtype=np.{type_}`'
        said = f"init_data has elements of {data.dtype}: PEs have {', '.join(TYPES)}"
        raise ProgramError(said, hint)
    type_ = wanted or data.dtype.name
    return make_form(kind, type_, data.shape), _convert(data, type_)


def _convert(data: Array, type_: str) -> Array:
    """Return a copy in another type, with reals rounded. Raises ProgramError for lost integers."""
    if data.dtype.kind not in "fiub":
        said = f"init_data has elements of {data.dtype}, which are no numbers"
        raise ProgramError(said)
    with np.errstate(all="ignore"):
        found = np.array(data, type_, order="C")
    if is_integer(type_) and not np.array_equal(found, data):
        said = f"init_data has values that are no {type_}"
        raise ProgramError(said, f'`.astype("{type_}")` makes them such, if that is meant')
    return found


def settle_number(given: Any) -> Any:
    """Return a number of NumPy, or an array without axes, as one of Python; others as they are."""
    if isinstance(given, np.ndarray) and not given.ndim:
        given = given[()]
    if isinstance(given, np.bool_):
        return int(given)
    if isinstance(given, (np.integer, np.floating)):
        return int(given) if isinstance(given, np.integer) else float(given)
    return int(given) if isinstance(given, bool) else given


def read_number(given: Any, beside: Form | None) -> Number:
    """Return an operand that is a number of Python or NumPy. Raises ProgramError for others."""
    number = settle_number(given)
    if type(number) in (int, float):
        return number  # type: ignore[no-any-return]
    kind = "a value" if beside is None else f"a {beside.kind}"
    if isinstance(number, np.ndarray):
        hint = "make it an object: `b = LocalArray(\"b\", init_data=a)`, or a GlobalArray"
        raise ProgramError(f"an array of NumPy beside {kind}", hint)
    raise ProgramError(f"a {type(given).__name__} beside {kind}", "a number, or an object")


def name_type(dtype: Any) -> str:
    """Return the name of a type that is given as NumPy takes it. Raises ProgramError."""
    try:
        name = str(np.dtype(dtype).name)
    except (TypeError, ValueError):
        name = repr(dtype)
    if name not in TYPES:
        hint = f"one of {', '.join(TYPES)}: `np.float32`, or its name"
        raise ProgramError(f"elements of {name} are none that PEs have", hint)
    return name


def check_name(name: Any, taken: Container[str]) -> None:
    """Raise ProgramError for a name that an object cannot have."""
    is_plain = isinstance(name, str) and name.isascii() and name.isidentifier()
    if not is_plain or keyword.iskeyword(name):
        said = f"an object's name is {name!r}"
        raise ProgramError(said, 'a name of Python in ASCII, as a text: `LocalArray("x", ...)`')
    if name in KINDS:
        raise ProgramError(f"an object's name is {name}, which is that of a kind")
    if name in taken:
        raise ProgramError(f"there is an object {name} already",
                           "every object has a name of its own, and is made once")


def _as_shape(shape: Sequence[int] | None) -> tuple[int, ...]:
    try:
        return () if shape is None else tuple(operator.index(size) for size in shape)
    except TypeError:
        raise ProgramError(f"a shape of {shape!r}", "sizes: `shape=(6, 6, 8)`") from None

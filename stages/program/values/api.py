"""Parameters, ranges, fields and names of NumPy that every program has."""

from __future__ import annotations

import ast
import atexit
import math
import operator
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, TypeVar

from lairmake.stages.diagnose import nearest
from lairmake.stages.machine.types import TYPES, find_largest_integer
from lairmake.stages.program.values.forms import FUNCTIONS, REDUCTIONS, Form, ProgramError

# --- Parameters: `n = parameter("n", 16)` ---------------------------------------------------------
#
# They come from the command line, `python heat.py n=32`, or from program.yaml.
#
# Paper    ours

Value = TypeVar("Value", int, float, str, bool)

_given: dict[str, object] | None = None
_asked: list[str] = []
WORDS = {"true": True, "false": False}


class ParameterError(ProgramError):
    """An error about the parameter `name`, shown at the place that sets it."""

    def __init__(self, name: str, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.name = name


def set_parameters(given: Mapping[str, object]) -> None:
    """Set the parameters of a program, in place of the command line, with none asked for so far."""
    global _given
    _given = dict(given)
    _asked.clear()


def parameter(name: str, default: Value) -> Value:
    """Return the value of a parameter, in the type of its default. Raises ProgramError."""
    if not isinstance(name, str):
        raise ProgramError(f"a parameter's name is {name!r}", '`parameter("n", 16)`')
    if not isinstance(default, (int, float, str)):
        said = f"parameter {name!r}: its default is no int, float, str or bool"
        raise ProgramError(said, f'`parameter("{name}", 16)`')
    _asked.append(name)
    given = _find_given()
    return _convert(name, given[name], default) if name in given else default


def check_parameters() -> None:
    """Raise ProgramError for a parameter that is set, but that the program did not ask for."""
    for name in _find_given():
        if name not in _asked:
            near = nearest(name, _asked)
            known = ", ".join(dict.fromkeys(_asked)) or "none"
            hint = f"did you mean {near}?" if near else f"it asks for {known}"
            raise ParameterError(name, f"the program has no parameter {name!r}", hint)


def _find_given() -> dict[str, object]:
    """Return the parameters that are set; the command line is read at the first call."""
    global _given
    if _given is None:
        pairs = (word.partition("=") for word in sys.argv[1:])
        _given = {name: text for name, sign, text in pairs if sign and name.isidentifier()}
        atexit.register(_check_at_the_end)
    return _given


def _check_at_the_end() -> None:
    try:
        check_parameters()
    except ProgramError as error:
        print(f"ERROR: {error}", file=sys.stderr)


def _convert(name: str, given: object, default: Value) -> Value:
    """Return a value of YAML, or a text, in the type of the default. Raises ParameterError."""
    type_ = type(default)
    said = f"parameter {name}={given}: not of the type of its default, {default!r}"
    if isinstance(given, str) and type_ is bool:
        given = WORDS.get(given.lower(), given)
    if type(given) is type_:
        return given
    if type_ is bool or isinstance(given, bool) or not isinstance(given, (int, float, str)):
        raise ParameterError(name, said)
    if isinstance(given, float) and type_ is int:
        raise ParameterError(name, said)
    try:
        return type_(given)
    except (ValueError, OverflowError):
        raise ParameterError(name, said) from None

# --- Ranges of loops: `global_range(n)` -----------------------------------------------------------
#
# Paper    ours; E Sec. 5.2 has loops over a GlobalArray only

TYPE = "int32"


def find_range(*limits: Any) -> tuple[int, int, int]:
    """Return start, stop and step, from the arguments of Python's `range`. Raises ProgramError."""
    if not 1 <= len(limits) <= 3:
        raise ProgramError(f"global_range of {len(limits)} arguments",
                           "`global_range(n)`, or start, stop and step")
    found = [_integer(each) for each in limits]
    start, stop, step = (0, found[0], 1) if len(found) == 1 else (*found, 1)[:3]
    if not step:
        raise ProgramError("global_range with a step of 0")
    values, most = range(start, stop, step), find_largest_integer(TYPE)
    if values and not all(-most - 1 <= each <= most for each in (values[0], values[-1])):
        raise ProgramError(f"global_range({start}, {stop}, {step}) has integers beyond {TYPE}")
    return start, stop, step


def _integer(given: Any) -> int:
    if getattr(given, "form", None) is not None:
        raise ProgramError("global_range of an object: how often it runs is known beforehand",
                           "a number of Python's, or `while i < n:` on global scalars")
    try:
        return operator.index(given)
    except TypeError:
        said = f"global_range of a {type(given).__name__}"
        raise ProgramError(said, "its limits are integers") from None

# --- Field of workers -----------------------------------------------------------------------------
#
# Paper    ours; E Sec. 4.2 has the field

class WorkerField:
    """Columns and rows: those of `field(W, H)`, else the largest extents of objects so far."""

    def __init__(self) -> None:
        self._size = (1, 1)
        self._settled: str | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Return the columns and rows so far."""
        return self._size

    def declare(self, width: int, height: int) -> None:
        """Set the columns and rows of the field. Raises ProgramError."""
        for each in (width, height):
            if type(each) is not int or each < 1:
                raise ProgramError(f"field({width}, {height}): columns and rows, each at least 1")
        if self._settled is not None:
            said = f"the field is {_spell(self._size)} already: {self._settled}"
            raise ProgramError(said, "`field(W, H)` stands once, before sums")
        wide, high = self._size
        if width < wide or height < high:
            said = f"field({width}, {height}): there are objects on {_spell(self._size)} PEs"
            raise ProgramError(said)
        self._size, self._settled = (width, height), f"field({width}, {height})"

    def include(self, name: str, form: Form) -> None:
        """Put an object on the field. Raises ProgramError where the field has no room."""
        if not form.is_on_pes:
            return
        (wide, high), (width, height) = self._size, form.shape[:2]
        if width <= wide and height <= high:
            return
        if self._settled is not None:
            said = f"{name} needs {width} x {height} PEs, the field is {_spell(self._size)}"
            hint = "`field(W, H)` at the beginning, with room for all objects"
            raise ProgramError(f"{said}: {self._settled}", hint)
        self._size = (max(width, wide), max(height, high))

    def settle(self) -> tuple[int, int]:
        """Return the columns and rows for a sum, and fix them: its order depends on them."""
        self._settled = self._settled or "a sum was taken, whose order depends on it"
        return self._size


def _spell(size: tuple[int, int]) -> str:
    return f"{size[0]} x {size[1]}"

# --- Run of a program as `__main__` ---------------------------------------------------------------
#
# Paper    ours

def execute(
    tree: ast.Module, path: str, given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Run a module as `__main__`, so that its classes are found there, and return its names.

    The module begins with the names that are `given`.
    """
    module, before = ModuleType("__main__"), sys.modules["__main__"]
    module.__file__ = path
    vars(module).update(given or {})
    sys.modules["__main__"] = module
    try:
        exec(compile(tree, path, "exec", dont_inherit=True), vars(module))
    finally:
        sys.modules["__main__"] = before
    return vars(module)

# --- Replacements for functions of NumPy ----------------------------------------------------------
#
# Paper    ours

PRODUCT = "`np.sum(x * y)`"
POWER = "`x ** 2` and `x * x * x` are; `np.sqrt(x)`"
MADE = "an object of its own: `LocalArray(\"y\", 0.0, shape=x.shape)`"
MEAN = "`np.sum(x) / x.size`"
WHOLE = '`t: LocalArray = x.astype("int32").astype("float32")` drops what is behind the point'
NEAR_ZERO = ", about, where `np.abs(x)` is below `1.5`"
SMALL = "; where `np.abs(x)` is below `2.0 ** 31`"
PREPARED = "what prepares data is NumPy's own: `import numpy` in Run_On_Host"

INSTEAD = {
    "roll": "slices of another object: `y[1:] = x[:-1]` and `y[:1] = x[-1:]`",
    "tanh": "`1.0 - 2.0 / (np.exp(2.0 * x) + 1.0)`",
    "sinh": "`(np.exp(x) - np.exp(-x)) * 0.5`", "cosh": "`(np.exp(x) + np.exp(-x)) * 0.5`",
    "sin": "`x * (1.0 - x * x * (0.16666667 - x * x * (0.008333333 - x * x * (0.0001984127 - "
    f"x * x * 0.0000027557))))`{NEAR_ZERO}",
    "cos": "`1.0 - x * x * (0.5 - x * x * (0.041666667 - x * x * (0.0013888889 - "
    f"x * x * 0.000024801587)))`{NEAR_ZERO}",
    "mean": MEAN, "average": MEAN,
    "var": "`np.sum((x - m) * (x - m)) / x.size`, with `m: MACHScalar = np.sum(x) / x.size`",
    "std": "`np.sqrt(np.sum((x - m) * (x - m)) / x.size)`, with "
    "`m: MACHScalar = np.sum(x) / x.size`",
    "dot": PRODUCT, "vdot": PRODUCT, "inner": PRODUCT, "matmul": PRODUCT,
    "linalg": "`np.sqrt(np.sum(x * x))`",
    "clip": "`np.minimum(np.maximum(x, a), b)`",
    "any": "`np.max(mask)`; what `if` asks is `np.max(mask, controller=True) > 0`",
    "all": "`np.min(mask)`; what `if` asks is `np.min(mask, controller=True) > 0`",
    "count_nonzero": '`np.sum((x != 0.0).astype("int32"))`',
    "logical_and": "`mask & other`", "logical_or": "`mask | other`", "logical_not": "`mask == 0`",
    "logical_xor": "`mask ^ other`",
    "bitwise_and": "`x & y`", "bitwise_or": "`x | y`", "bitwise_xor": "`x ^ y`",
    "invert": "`x ^ -1`", "bitwise_not": "`x ^ -1`", "left_shift": "`x << 1`",
    "right_shift": "`x >> 1`",
    "power": POWER, "float_power": POWER, "square": "`x * x`", "negative": "`-x`",
    "reciprocal": "`1.0 / x`", "add": "`x + y`", "subtract": "`x - y`", "multiply": "`x * y`",
    "divide": "`x / y`", "true_divide": "`x / y`",
    "equal": "`x == y`", "not_equal": "`x != y`", "less": "`x < y`", "less_equal": "`x <= y`",
    "greater": "`x > y`", "greater_equal": "`x >= y`",
    "absolute": "`np.abs(x)`", "fabs": "`np.abs(x)`", "fmax": "`np.maximum(x, y)`",
    "fmin": "`np.minimum(x, y)`", "amax": "`np.max(x)`", "amin": "`np.min(x)`",
    "hypot": "`np.sqrt(x * x + y * y)`", "cbrt": "`np.exp(np.log(x) / 3.0)`, where x is positive",
    "sign": '`(x > 0.0).astype("float32") - (x < 0.0).astype("float32")`',
    "log2": "`np.log(x) * 1.442695`", "log10": "`np.log(x) * 0.4342945`",
    "log1p": "`np.log(1.0 + x)`", "exp2": "`np.exp(x * 0.6931472)`", "expm1": "`np.exp(x) - 1.0`",
    "floor": f'`t - (t > x).astype("float32")`: {WHOLE}{SMALL}',
    "ceil": f'`t + (t < x).astype("float32")`: {WHOLE}{SMALL}',
    "trunc": f'`x.astype("int32").astype("float32")`{SMALL}',
    "fix": f'`x.astype("int32").astype("float32")`{SMALL}',
    **dict.fromkeys(("rint", "round", "around"), "`(x + 12582912.0) - 12582912.0` of float32, "
                    "where `np.abs(x)` is below `2.0 ** 22`"),
    "isnan": "`x != x`", "isfinite": "`np.abs(x) < math.inf`", "isinf": "`np.abs(x) == math.inf`",
    "mod": "`x & 1` of integers, for powers of two",
    "remainder": "`x & 1` of integers, for powers of two",
    "floor_divide": "`x >> 1` of integers, for powers of two",
    "cumsum": "a loop: `for k in range(1, x.shape[2]):` with "
    "`x[:, :, k] = x[:, :, k] + x[:, :, k - 1]`",
    "zeros_like": MADE, "ones_like": MADE, "full_like": MADE, "empty_like": MADE,
}
"""Equal expressions; x, y and t are arrays of float32, `mask` is a comparison of objects."""


def suggest_instead(name: str, known: tuple[str, ...]) -> str:
    """Return the replacement of `np.name`, which is none of the `known` names."""
    if name in INSTEAD:
        of_number = f"; of a number `math.{name}`" if hasattr(math, name) else ""
        return f"{INSTEAD[name]}{of_number}"
    if callable(getattr(math, name, None)):
        return f"objects have `+ - * /`, np.sqrt, np.exp and np.log; of a number `math.{name}`"
    if hasattr(math, name):
        return f"for numbers: `math.{name}`"
    near = nearest(name, known)
    return f"did you mean np.{near}?" if near else PREPARED

# --- Names of `np` in a program -------------------------------------------------------------------
#
# Paper    ours

UNARY = ("sqrt", "exp", "log", "abs", "copy")
BINARY = ("maximum", "minimum", "right_shift_logical")
NAMES = (*UNARY, *BINARY, *REDUCTIONS, "where", *TYPES)
"""All names that a program may write behind `np.`."""


def make_alone(op: str) -> ProgramError:
    """Return the error for a function without an object among its arguments."""
    name = {"shr_logical": "right_shift_logical"}.get(op, op)
    of_python = f"`math.{op}`" if op in FUNCTIONS else "Python's own"
    return ProgramError(f"np.{name} of numbers alone",
                        f"{of_python}, or NumPy's own, imported in Run_On_Host")


def make_unknown(name: str) -> ProgramError:
    """Return the error for a name behind `np.` that programs do not have."""
    said = f"np.{name} is none of the functions for objects"
    return ProgramError(said, suggest_instead(name, NAMES))

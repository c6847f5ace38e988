"""Expressions for the functions of NumPy that objects do not have.

Paper    ours
"""

from __future__ import annotations

import math

from lairmake.stages.diagnose import nearest

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
"""What does the same; x, y and t are arrays of float32, `mask` is a comparison of objects."""


def suggest_instead(name: str, known: tuple[str, ...]) -> str:
    """Return what to write in place of `np.name`, which is none of the `known`."""
    if name in INSTEAD:
        of_number = f"; of a number `math.{name}`" if hasattr(math, name) else ""
        return f"{INSTEAD[name]}{of_number}"
    if callable(getattr(math, name, None)):
        return f"objects have `+ - * /`, np.sqrt, np.exp and np.log; of a number `math.{name}`"
    if hasattr(math, name):
        return f"for numbers: `math.{name}`"
    near = nearest(name, known)
    return f"did you mean np.{near}?" if near else PREPARED

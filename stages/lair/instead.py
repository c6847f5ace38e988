"""Functions of other languages, and what LAIR has in their places."""

from __future__ import annotations

INDICES = "for indices as values name an input that holds them, 0, 1, ..."
_LARGEST = f"find the largest value with max=, then select where it is equal; {INDICES}"
_LEAST = f"find the least value with min=, then select where it is equal; {INDICES}"
_SUM = "a sum is a statement: `y[i] += x[i][j]`"
_MEAN = "a mean is a statement: `y[i] += x[i][j] / N`, with N elements"
_PRODUCT = "a product is a statement: `y[i] *= x[i][j]`"
_GREATEST = "that of a row is a statement: `y[i] max= x[i][j]`; of two values `max(a, b)`"
_SMALLEST = "that of a row is a statement: `y[i] min= x[i][j]`; of two values `min(a, b)`"
_SOFTMAX = "statements of one node: `m[i] max= x[i][j]`, `z[i] += exp(x[i][j] - m[i])`, " \
           "`y[i][j] = exp(x[i][j] - m[i]) / z[i]`"
_MATMUL = "a product of a matrix is a statement: `y[i] += W[i][j] * x[j]`"
_CAST = "a value has the type of the tensor that a statement defines: `y[i] = x[i]` rounds to it"
_CHOICE = "`select(c, a, b)`, with c 0 or 1, as `less(a, b)` gives it"

FUNCTIONS_INSTEAD = {
    "rsqrt": "`1 / sqrt(x)`", "reciprocal": "`1 / x`", "inv": "`1 / x`", "recip": "`1 / x`",
    "square": "`x * x`", "sqr": "`x * x`", "cbrt": "`pow(x, 1 / 3)`, where x is positive",
    "fabs": "`abs(x)`", "absolute": "`abs(x)`", "neg": "`-x`", "negative": "`-x`",
    "fmax": "`max(a, b)`", "maximum": "`max(a, b)`",
    "fmin": "`min(a, b)`", "minimum": "`min(a, b)`",
    "add": "`a + b`", "sub": "`a - b`", "subtract": "`a - b`", "mul": "`a * b`",
    "multiply": "`a * b`", "div": "`a / b`", "divide": "`a / b`", "power": "`pow(x, 2)`",
    "fma": "`a * b + c`", "mad": "`a * b + c`",
    "clip": "`max(a, min(x, b))`, from a to b", "clamp": "`max(a, min(x, b))`, from a to b",
    "relu6": "`min(relu(x), 6)`", "leaky_relu": "`max(x, 0.01 * x)`",
    "prelu": "`select(less(x, 0), a * x, x)`",
    "elu": "`select(less(x, 0), exp(min(x, 0)) - 1, x)`",
    "silu": "`x * sigmoid(x)`", "swish": "`x * sigmoid(x)`",
    "gelu": "`x * 0.5 * (1 + erf(x * 0.70710678))`",
    "hardsigmoid": "`min(relu(x + 3), 6) / 6`", "hardswish": "`x * min(relu(x + 3), 6) / 6`",
    "softplus": "`log(1 + exp(x))`", "logistic": "`sigmoid(x)`", "expit": "`sigmoid(x)`",
    "mish": "`x * tanh(log(1 + exp(x)))`", "softsign": "`x / (1 + abs(x))`",
    "exp2": "`exp(x * 0.69314718)`", "exp10": "`exp(x * 2.3025851)`", "expm1": "`exp(x) - 1`",
    "log2": "`log(x) * 1.442695`", "log10": "`log(x) * 0.43429448`", "log1p": "`log(1 + x)`",
    "ln": "`log(x)`", "tan": "`sin(x) / cos(x)`",
    "sinh": "`(exp(x) - exp(-x)) / 2`", "cosh": "`(exp(x) + exp(-x)) / 2`",
    "erfc": "`1 - erf(x)`", "hypot": "`sqrt(a * a + b * b)`",
    "sign": "`less(0, x) - less(x, 0)`", "sgn": "`less(0, x) - less(x, 0)`",
    "trunc": "`select(less(x, 0), ceil(x), floor(x))`", "rint": "`round(x)`",
    "nearbyint": "`round(x)`", "roundeven": "`round(x)`",
    "mod": "`a - b * floor(a / b)`", "remainder": "`a - b * floor(a / b)`",
    "where": _CHOICE, "cond": _CHOICE, "iif": _CHOICE, "ifelse": _CHOICE,
    "greater": "`less(b, a)`", "gt": "`less(b, a)`", "lt": "`less(a, b)`",
    "greater_equal": "`less_equal(b, a)`", "ge": "`less_equal(b, a)`", "le": "`less_equal(a, b)`",
    "not_equal": "`1 - equal(a, b)`", "ne": "`1 - equal(a, b)`", "eq": "`equal(a, b)`",
    "isnan": "`1 - equal(x, x)`",
    "logical_and": "`c * d`, of 1 and 0", "logical_or": "`max(c, d)`, of 1 and 0",
    "logical_not": "`1 - c`, of 1 and 0", "logical_xor": "`1 - equal(c, d)`, of 1 and 0",
    "sum": _SUM, "reduce_sum": _SUM, "mean": _MEAN, "avg": _MEAN, "average": _MEAN,
    "reduce_mean": _MEAN, "prod": _PRODUCT, "amax": _GREATEST, "reduce_max": _GREATEST,
    "amin": _SMALLEST, "reduce_min": _SMALLEST,
    "softmax": _SOFTMAX, "dot": _MATMUL, "matmul": _MATMUL, "einsum": _MATMUL,
    "argmax": _LARGEST, "argmin": _LEAST,
    **dict.fromkeys(("float", "int", "cast", "float16", "float32", "int16", "int32"), _CAST),
}
"""What is written in place of a function that LAIR does not have, by its name in small letters.

x, a and b are values, c and d values that are 1 or 0.
"""

def elsewhere(name: str) -> str | None:
    """Return what to write instead of a function of other languages; None for other names."""
    known = name.lower().removesuffix("=")
    return FUNCTIONS_INSTEAD.get(known) or FUNCTIONS_INSTEAD.get(known.removesuffix("f"))

"""Words that mean something in other languages: whoever writes one does not mean one of ours."""

from __future__ import annotations

TYPES = frozenset((
    "bfloat16", "bf16", "f8", "f16", "f32", "f64", "fp8", "fp16", "fp32", "fp64", "half", "single",
    "float", "double", "real", "float8", "float64", "float128", "tf32", "int", "short", "long",
    "int4", "int8", "int64", "i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "uint",
    "uint8", "uint16", "uint32", "uint64", "bool", "boolean", "char", "byte", "complex",
    "complex64", "complex128",
))
"""Types of elements."""

FUNCTIONS = frozenset((
    "abs", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "celu", "cos", "cosh",
    "elu", "erf", "erfc", "erfinv", "exp", "exp10", "exp2", "expm1", "fabs", "floor", "fmax",
    "fmin", "fmod", "gelu", "hardsigmoid", "hardswish", "hypot", "lgamma", "ln", "log", "log10",
    "log1p", "log2", "logsoftmax", "maximum", "mean", "minimum", "mish", "mod", "not", "pow",
    "prelu", "prod", "reciprocal", "relu", "relu6", "rint", "round", "rsqrt", "selu", "sigmoid",
    "sign", "silu", "sin", "sinh", "softmax", "softplus", "softsign", "sqrt", "square", "sum",
    "swish", "tan", "tanh", "tgamma", "trunc",
))
"""Functions of values."""

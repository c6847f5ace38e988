"""The operations of MLIR that a body may have, and what they are in LAIR."""

from __future__ import annotations

from lairmake.stages.kernel.mlir.comparisons import CmpfOp, CmpiOp

OPERATORS = {
    "arith.addf": "+", "arith.addi": "+", "arith.subf": "-", "arith.subi": "-",
    "arith.mulf": "*", "arith.muli": "*", "arith.divf": "/",
}
FUNCTIONS = {
    "arith.maximumf": "max", "arith.maxnumf": "max", "arith.maxsi": "max",
    "arith.minimumf": "min", "arith.minnumf": "min", "arith.minsi": "min",
    "math.exp": "exp", "math.sqrt": "sqrt", "math.absf": "abs", "math.absi": "abs",
    "math.tanh": "tanh", "math.log": "log", "math.erf": "erf", "math.sin": "sin",
    "math.cos": "cos", "math.floor": "floor", "math.ceil": "ceil", "math.roundeven": "round",
    "math.powf": "pow",
}
NEGATION = "arith.negf"
SELECT = "arith.select"
TRUTHS = frozenset({"arith.andi", "arith.ori", "arith.xori"})
WIDENING = frozenset({"arith.extf", "arith.extsi"})
NARROWING = frozenset({"arith.truncf", "arith.trunci"})
SIGNED = frozenset({"arith.sitofp", "arith.extsi"})
CONVERSIONS = frozenset({"arith.sitofp", "arith.uitofp", "arith.extui", "arith.index_cast"})
COMPOSED = {"math.rsqrt": "1 / sqrt(x0)", "math.fma": "x0 * x1 + x2"}
"""Operations that are several of LAIR, of their operands x0, x1, ..."""

ELEMENTWISE = frozenset({
    *OPERATORS, *FUNCTIONS, *COMPOSED, *TRUTHS, *WIDENING, *NARROWING, *CONVERSIONS, NEGATION,
    SELECT, CmpfOp.name, CmpiOp.name,
})
CAST = "cast it: arith.index_cast, then arith.sitofp"
HINT = (
    "a body has arithmetic, comparisons, arith.select and "
    f"{', '.join(sorted(set(FUNCTIONS.values())))}"
)

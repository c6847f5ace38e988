"""How far right values may lie from what they are compared with: one table, by types.

Each row has the types of a tensor and of what computes it, how both round, and why. A type without
a row is refused: nobody could say whether its values are right. What is rounded how often, and how
large it is, says the rest: stages/reference/magnitude.py of a statement, and
stages/parts/bounding.py of all operations of a network or a kernel.

Integers, and programs in NumPy, are compared bit for bit: they have no bound but 0.

Source   N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, Sec. 2.2:
         each operation is right to within the unit roundoff u, and to half the smallest value;
         IEEE 754-2019, Table 3.5: u is 2^-p, with p = 53, 24 and 11 binary digits. A bfloat16 has
         the exponents of a float32, and p = 8
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lairmake.stages.diagnose import UserError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """How a type rounds: by `unit` of a value at most, and by `smallest` where that is next to 0.

    It is the unit roundoff, half the distance from 1 to the next value; and half the smallest one.
    """

    unit: float
    smallest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """A row: how what computes a tensor rounds, and whoever has its own type computes with that.

    Where worst cases of a deep network add up to nothing that says anything, a value may differ by
    `relative` of itself and `absolute` of the largest one all the same.
    """

    ours: Rounding
    theirs: Rounding
    relative: float
    absolute: float
    why: str


NEVER = Rounding(unit=0.0, smallest=0.0)
DOUBLE = Rounding(unit=2.0**-53, smallest=2.0**-1074)
SINGLE = Rounding(unit=2.0**-24, smallest=2.0**-150)
HALF = Rounding(unit=2.0**-11, smallest=2.0**-25)
BRAIN = Rounding(unit=2.0**-8, smallest=2.0**-134)


def _row(
    ours: Rounding, theirs: Rounding, why: str, relative: float = 0.0, absolute: float = 0.0
) -> Tolerance:
    return Tolerance(ours=ours, theirs=theirs, relative=relative, absolute=absolute, why=why)


TOLERANCES: Mapping[tuple[str, str], Tolerance] = {
    ("float32", "float32"): _row(
        SINGLE, SINGLE, "both round to 24 digits; 2^14 u, as a deep network may", 1e-3, 1e-5),
    ("float16", "float16"): _row(
        HALF, HALF, "both round to 11 digits; 2^5 u, as often as a network is deep", 2**-6, 2**-6),
    ("float64", "float32"): _row(
        SINGLE, DOUBLE, "what computes it rounds weights to 24 digits, too", 1e-3, 1e-5),
    ("float64", "float16"): _row(
        HALF, DOUBLE, "what computes it rounds weights to 11 digits, too", 2**-6, 2**-6),
    ("float32", "float16"): _row(
        HALF, SINGLE, "what computes it rounds weights to 11 digits, too", 2**-6, 2**-6),
    ("float16", "float32"): _row(
        SINGLE, HALF, "who computes in its own type rounds to 11 digits; 2^5 u", 2**-6, 2**-6),
    ("bfloat16", "float32"): _row(
        SINGLE, BRAIN, "who computes in its own type rounds to 8 digits; 2^5 u", 2**-3, 2**-3),
    ("bfloat16", "float16"): _row(
        HALF, BRAIN, "who computes in its own type rounds to 8 digits; 2^5 u", 2**-3, 2**-3),
    ("bool", "float32"): _row(
        SINGLE, NEVER, "truths are 0 and 1, but what is computed of them is not", 1e-3, 1e-5),
    ("bool", "float16"): _row(
        HALF, NEVER, "truths are 0 and 1, but what is computed of them is not", 2**-6, 2**-6),
    ("int16", "int16"): _row(NEVER, NEVER, "integers wrap to the same value in any order"),
    ("int32", "int32"): _row(NEVER, NEVER, "integers wrap to the same value in any order"),
}
"""By the type of a tensor of a graph, a kernel or a layer, and the type that it is computed in."""


def find_tolerance(type_: str, computed: str) -> Tolerance:
    """Return the row of a tensor's type and the type that it is computed in.

    Raises UserError where there is none.
    """
    found = TOLERANCES.get((type_, computed))
    if found is None:
        known = " or ".join(other for one, other in TOLERANCES if one == type_)
        hint = f"let `type` be {known}" if known else f"types that are known: {name_types()}"
        raise UserError(
            f"no bound is known for values of the type {type_} that are computed in {computed}",
            hint=hint,
        )
    return found


def find_rounding(computed: str) -> Rounding:
    """Return how a type rounds in which something is computed. Raises UserError."""
    return find_tolerance(computed, computed).ours


def find_coarsest(types: Iterable[str], computed: str) -> Tolerance:
    """Return the row of the type that rounds most, of those in a graph. Raises UserError."""
    rows = [find_tolerance(type_, computed) for type_ in types]
    return max(rows, key=lambda row: row.theirs.unit, default=find_tolerance(computed, computed))


def list_types() -> list[str]:
    """Return the types of tensors of graphs, whose values are computed in a type of floats."""
    rows = (one for one, other in TOLERANCES if other.startswith("float"))
    return list(dict.fromkeys(rows))


def name_types() -> str:
    """Return the types of tensors of graphs as a text."""
    return ", ".join(list_types())

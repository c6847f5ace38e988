"""The procedures of a program by number, in the order in which they are first called.

Paper    E Sec. 6.1.2: their names
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lairmake.stages.program.sections.program import (
    ACCUMULATE,
    ARRAY,
    COMPUTE,
    HALT,
    REDUCE,
    TAKE_GLOBAL,
    TAKE_SUM,
    Procedure,
)

SPECIAL = {TAKE_SUM: "reduceBroadcast", TAKE_GLOBAL: "globalBroadcast", HALT: "halt"}
WITH_ADDRESSES = (COMPUTE, ACCUMULATE, REDUCE)


@dataclass(slots=True)
class Procedures:
    """The procedures that are called so far; each has its number."""

    numbers: dict[Procedure, int] = field(default_factory=dict)

    def number(self, procedure: Procedure) -> int:
        """Return the number of a procedure; its name and count of arguments are found here."""
        return self.numbers.setdefault(finish_procedure(procedure), len(self.numbers))


def finish_procedure(procedure: Procedure) -> Procedure:
    """Return a procedure with its name and its count of arguments."""
    return replace(
        procedure, name=name_procedure(procedure), count=count_arguments(procedure))


def count_strides(procedure: Procedure) -> int:
    """Return how many operands have strides: those that are arrays; a reduce gives none."""
    return procedure.sources.count(ARRAY) + (procedure.kind != REDUCE)


def count_arguments(procedure: Procedure) -> int:
    """Return how many arguments a procedure has, as Procedure says."""
    if procedure.kind not in WITH_ADDRESSES:
        return 0 if procedure.kind == HALT else 1
    shape = max(procedure.rank, 1) + procedure.rank * count_strides(procedure)
    moves = 0 if procedure.side == "center" else 3
    return 1 + len(procedure.sources) + shape + 1 + moves


def name_procedure(procedure: Procedure) -> str:
    """Return `ar_sc_addiii_float32_east0_2d`: an i for each address, or for what is before it.

    `east0`: source 0 of several comes from the east. `2d`: it has two sizes, and strides.
    """
    types = "_".join(_list_types(procedure.types))
    if procedure.kind in SPECIAL:
        return "_".join(filter(None, ("special", SPECIAL[procedure.kind], types)))
    op = {REDUCE: f"reduceGlobal{procedure.op.title()}",
          ACCUMULATE: f"accumulate{procedure.op.title()}"}.get(procedure.kind, procedure.op)
    place = procedure.side
    if procedure.streamed is not None and len(procedure.sources) > 1:
        place += str(procedure.streamed)
    words = [*procedure.sources, op + "i" * (1 + len(procedure.sources)), types, place]
    return "_".join([*words, *([f"{procedure.rank}d"] if procedure.rank else [])])


def _list_types(types: Sequence[str]) -> list[str]:
    """Return the different types, those of sources before that of the destination."""
    return list(dict.fromkeys([*types[1:], *types[:1]]))

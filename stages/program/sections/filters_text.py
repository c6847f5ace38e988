"""filters.isl: the boxes of PEs that take part in something; a worker has 1 for those it is in.

    filter_2 := { PE[x, y] : 1 <= x <= 4 and 1 <= y <= 4 };

Paper    E Sec. 6.1.4
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import islpy as isl

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.program.irg.graph import spell_box
from lairmake.stages.program.sections.exchanges_text import (
    PE,
    is_inside,
    read_box,
    read_statements,
    span_of,
)
from lairmake.stages.program.sections.hops import Box

FILTERS_HEADER = """\
Which PEs of the field of workers compute, take from neighbours, or send to them.
Each worker has a number for each filter: 1 where it is in the box, else 0."""
FILTERS_HINT = "exchange writes filters.isl anew once it is deleted"


def write_filters(boxes: Sequence[Box]) -> str:
    """Return the text of filters.isl."""
    comments = "".join(f"# {line}\n" for line in FILTERS_HEADER.splitlines())
    spelt = (spell_box(PE, (box[:2], box[2:])) for box in boxes)
    return comments + "".join(f"\nfilter_{n} := {each};\n" for n, each in enumerate(spelt))


def read_filters(source: Source, field: tuple[int, int]) -> tuple[Box, ...]:
    """Return the boxes of filters.isl in order.

    Raises UserError where one is no box of the field, is there twice, or has another number.
    """
    found: dict[Box, str] = {}
    for n, each in enumerate(read_statements(source, FILTERS_HINT)):
        span = span_of(source, each)
        if each.name != f"filter_{n}":
            raise UserError(f"{each.name} where filter_{n} is wanted", span, FILTERS_HINT)
        box = None if each.factor else _find_pes(each.expression)
        if box is None or not is_inside(box, field):
            said = f"{each.name} is no box of PEs of the field, {field[0]} x {field[1]} PEs"
            raise UserError(said, span, FILTERS_HINT)
        if box in found:
            raise UserError(f"{each.name} has the PEs of {found[box]}", span, FILTERS_HINT)
        found[box] = each.name
    return tuple(found)


@lru_cache(maxsize=4096)
def _find_pes(expression: str) -> Box | None:
    try:
        return read_box(isl.Set.from_union_set(isl.UnionSet(expression)))
    except isl.Error:
        return None

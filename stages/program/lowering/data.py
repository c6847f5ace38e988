"""The arrays that a run of the virtual machine begins with: initial data, filters, and tables.

Paper    E Sec. 6.1.1, 6.1.2
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lairmake.stages.program.irg.graph import Graph
from lairmake.stages.program.lowering.lowered import WORKER
from lairmake.stages.program.lowering.response import lay_tables
from lairmake.stages.program.lowering.tensors import ARGUMENTS, CONTROL, FILTERS, SECTIONS
from lairmake.stages.program.sections.program import Sections
from lairmake.stages.program.values.arithmetic import DTYPES, Array, round_number
from lairmake.stages.program.vm.geometry import Geometry


def make_arrays(
    graph: Graph, sections: Sections, geometry: Geometry, data: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the array of each tensor that is in memory before the start.

    `data` are those of entries that are no single number.
    """
    found = {
        entry.name: _fill(entry.initial, entry.type, entry.shape)
        if isinstance(entry.initial, int | float) else data[entry.name]
        for entry in graph.entries.values() if entry.initial is not None
    }
    found |= {f"{WORKER}.{slot.name}": _fill(slot.value, slot.type, ())
              for slot in sections.slots if slot.value is not None}
    tables = lay_tables(sections)
    found |= {SECTIONS: tables.sections, CONTROL: tables.control, ARGUMENTS: tables.arguments}
    if sections.filters:
        found[FILTERS] = _make_filters(sections, geometry)
    return found


def _fill(number: int | float, type_: str, shape: tuple[int, ...]) -> Array:
    return np.full(shape, round_number(number, type_), DTYPES[type_])


def _make_filters(sections: Sections, geometry: Geometry) -> Array:
    """Return [filter][column][row] of the field, 1 inside the box of the filter."""
    found = np.zeros((len(sections.filters), geometry.width, geometry.height), np.int16)
    for number, (left, right, top, bottom) in enumerate(sections.filters):
        found[number, left : right + 1, top : bottom + 1] = 1
    return found

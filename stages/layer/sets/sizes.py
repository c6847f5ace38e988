"""The sizes of instance sets that are boxes, but not of one fixed size.

Paper    V Sec. 5.4
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.layer.texts.isl_files import Compressions, Instances
from lairmake.stages.layer.texts.task_graph import Graph, Runs
from lairmake.stages.poly.box import box, enumerate_sizes, exact_bounds, find_fixed_size, offset_set
from lairmake.stages.poly.functions import find_index_constants
from lairmake.stages.poly.text import write_objects

SIZES_HEADER = """Size enumeration (Sec. 5.4), per task T that is a box, but not of fixed size.
T_sizes: [PE_X, PE_Y] -> { [size] }, index projected out, eq. (42); T_offset: their offset.
T_identifiers: { [size - offset] }, eq. (43), one SIMD configuration each; T_hull: their box."""


def write_sizes(
    graph: Graph, instances: Instances, compressed: Compressions, prefer: str | None
) -> str:
    """Return sizes.isl; instructions that users `prefer` may need none, or fixed ones."""
    found: dict[str, isl.Set] = {}
    for name, task in graph.tasks.items():
        if isinstance(task, Runs) and prefer != "loops":
            known = instances.known(name)
            whole = compressed.of(name)
            with working_on(f"task {name}"):
                sizes = find_sizes(whole, known, prefer == "enumerate")
            found |= {f"{name}_{key}": obj for key, obj in sizes.items()}
    return write_objects(SIZES_HEADER, found)


def find_sizes(compressed: isl.Set, known: isl.Set, fixed: bool = True) -> dict[str, isl.Set]:
    """Return sizes, offset, identifiers and their box; empty if the set is no box.

    Also empty if the box has a fixed size, unless sizes that are `fixed` are asked for.
    """
    bounds = exact_bounds(compressed, known)
    if not fixed and bounds.is_box and find_fixed_size(bounds, find_index_constants(compressed)):
        return {}
    enumeration = enumerate_sizes(bounds, find_index_constants(compressed))
    if enumeration is None:
        return {}
    return {
        "sizes": enumeration.sizes,
        "offset": offset_set(enumeration.hull),
        "identifiers": enumeration.identifiers,
        "hull": box("", enumeration.hull.size),
    }

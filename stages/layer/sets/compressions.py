"""The instance sets of tasks in fewer dimensions.

Paper    V Sec. 5.2
"""

from __future__ import annotations

import contextlib

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.layer.texts.isl_files import Instances, compressed_objects
from lairmake.stages.layer.texts.task_graph import Graph
from lairmake.stages.poly.compression import compress, drop_hidden_equalities, drop_holes
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.text import write_objects

MOST_OPERATIONS = 3_000_000
"""How much isl may work on one task, in its own unit: some seconds. What takes more here, as a
stream of which each PE takes elements of several residues, takes minutes in the next stages."""
COMPRESSIONS_HEADER = """Variable compression of the instance set of each task T (Sec. 5.2).
T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
T_access: { [i] -> element }, eq. (26)."""


def write_compressions(graph: Graph, instances: Instances) -> str:
    """Return compressions.isl. Raises TooManyOperations."""
    found: dict[str, isl.Set | isl.Map | isl.UnionMap] = {}
    for name in graph.tasks:
        with working_on(f"task {name}"):
            found |= _within_bounds(instances, name)
    return write_objects(COMPRESSIONS_HEADER, found)


def _within_bounds(
    instances: Instances, name: str
) -> dict[str, isl.Set | isl.Map | isl.UnionMap]:
    """Return what there is of one task: with its holes where isl needs long without them."""
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        return compressed_task(instances, name)
    with limit_operations(MOST_OPERATIONS):
        return compressed_task(instances, name, keep_holes=True)


def compressed_task(
    instances: Instances, name: str, *, keep_holes: bool = False
) -> dict[str, isl.Set | isl.Map | isl.UnionMap]:
    """Return the compression of one instance set, the compressed set, and its accesses."""
    whole, known = instances.of(name), instances.known(name)
    if not whole.params().is_subset(known):
        whole = whole.intersect_params(known)
    compressed = drop_hidden_equalities(compress(whole))
    compressed = compressed if keep_holes else drop_holes(compressed)
    access = instances.access(name)
    if access is not None:
        access = isl.UnionMap.from_map(compressed.map).apply_range(access)
    return compressed_objects(name, compressed.map, compressed.set, access)

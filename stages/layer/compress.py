"""Compress the instance sets: the same instances in fewer dimensions.

Paper    V Sec. 5.2, (17)-(34)
Reads    tasks.yaml, instances.isl
Writes   compressions.isl    per task T: T_compression, T, T_access
Assumes  T_known holds the symbolic constants with which T is invoked.
Ensures  T_compression is a bijection from the compressed instance set to the instance set.
         Raises TooManyOperations for a task on which isl would work for minutes.
Differs  an equality that is not written in the set, as in V Ex. 5.7, is removed as well. Instances
         in strips, as those of a block-cyclic placement, have dimensions along these.
"""

from __future__ import annotations

import contextlib
import typing

import islpy as isl

from stages.diagnose import working_on
from stages.layer.texts.graph import read_graph
from stages.layer.texts.tasks_text import Instances, compressed_objects
from stages.poly.compact import drop_holes
from stages.poly.compression import compress, drop_hidden_equalities
from stages.poly.quota import TooManyOperations, limit_operations
from stages.poly.text import write_objects

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs

READS = ("tasks.yaml", "instances.isl")
WRITES = ("compressions.isl",)
MOST_OPERATIONS = 3_000_000
"""How much isl may work on one task, in its own unit: some seconds. What takes more here, as a
stream of which each PE takes elements of several residues, takes minutes in the next stages."""
HEADER = """Variable compression of the instance set of each task T (Sec. 5.2).
T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
T_access: { [i] -> element }, eq. (26)."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return compressions.isl."""
    instances = Instances(inputs.objects("instances.isl"))
    found: dict[str, isl.Set | isl.Map | isl.UnionMap] = {}
    for name in read_graph(inputs.source("tasks.yaml")).tasks:
        with working_on(f"task {name}"):
            found |= _within_bounds(instances, name)
    return {"compressions.isl": write_objects(HEADER, found)}


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

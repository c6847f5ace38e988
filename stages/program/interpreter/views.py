"""The operands of nodes as views of arrays, each with the axes of the node's instances."""

from __future__ import annotations

from collections.abc import Mapping

from lairmake.stages.program.interpreter.stores import Store
from lairmake.stages.program.irg.graph import Entry, Node
from lairmake.stages.program.irg.regions import Access
from lairmake.stages.program.values.arithmetic import Array
from lairmake.stages.program.values.forms import ON_PES, UNIFORM


def view_operand(
    store: Store, entries: Mapping[str, Entry], node: Node, name: str, access: Access
) -> Array:
    """Return the elements of an operand: one axis for each axis of the instances, maybe of size 1.

    Where each worker has its own copy of uniform scalars, the PEs that compute take theirs; a node
    that gives such a scalar has all workers as instances.
    """
    entry, array = entries[name], store.arrays[name]
    if entry.kind == UNIFORM and store.replicated:
        if entries[node.dst].kind not in ON_PES:
            return array
        (x, y), (w, h) = access.low[:2], access.sizes[:2]
        return array[x : x + w, y : y + h][(..., *[None] * (len(access.sizes) - 2))]
    return _with_axes(_slice(entry, array, access), access)


def _slice(entry: Entry, array: Array, access: Access) -> Array:
    """Return the elements of an access; axes at one place are dropped."""
    keys: list[int | slice] = []
    for k, axis in enumerate(access.axes):
        start = access.start[k] - (entry.origin[k] if entry.kind in ON_PES and k < 2 else 0)
        if axis is None:
            keys.append(start)
            continue
        stop = start + access.step[k] * access.sizes[axis]
        keys.append(slice(start, stop if stop >= 0 else None, access.step[k]))
    return array[(*keys, ...)]


def _with_axes(array: Array, access: Access) -> Array:
    """Return an array with axes of size 1 for those of the instances that it does not have."""
    used = [axis for axis in access.axes if axis is not None]
    if len(used) == len(access.sizes):
        return array
    return array[tuple(slice(None) if k in used else None for k in range(len(access.sizes)))]


def drop_axes(array: Array, access: Access) -> Array:
    """Return the destination of a reduction with the axes alone that are left."""
    used = [axis for axis in access.axes if axis is not None]
    if not used:
        return array
    return array[tuple(slice(None) if k in used else 0 for k in range(len(access.sizes)))]

"""What a node does to a store, as a function without arguments.

Sources are read before the destination is written, though they may overlap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from lairmake.stages.program.interpreter.stores import Store
from lairmake.stages.program.interpreter.views import drop_axes, view_operand
from lairmake.stages.program.irg.graph import Graph, Node
from lairmake.stages.program.irg.regions import Access, Accesses
from lairmake.stages.program.values.arithmetic import (
    Array,
    add_global,
    add_locally,
    add_up,
    cast,
    compute,
    round_number,
)
from lairmake.stages.program.values.forms import GLOBAL_ARRAY, ON_PES, REDUCTIONS

Step: TypeAlias = Callable[[], object]

SLAB = 2**17
"""How many elements of a large array are computed at a time."""


def prepare_step(node: Node, accesses: Accesses, graph: Graph, store: Store) -> Step:
    """Return a function that runs a node."""
    entries = graph.entries
    dst = view_operand(store, entries, node, node.dst, accesses.dst)
    src = [
        None if access is None else view_operand(store, entries, node, str(name), access)
        for name, access in zip(node.src, accesses.src, strict=True)
    ]
    if node.op in REDUCTIONS:
        assert src[0] is not None and accesses.src[0] is not None
        return _prepare_reduction(node, accesses.dst, accesses.src[0], graph, (dst, src[0]))
    valued = [k for k, each in enumerate(src) if each is not None and (k or node.op != "where")]
    type_ = entries[str(node.src[valued[0]])].type if valued else entries[node.dst].type
    if node.op == "cast":
        only = round_number(node.src[0], type_) if src[0] is None else src[0]  # type: ignore[arg-type]
        return lambda: cast(only, dst.dtype.name, out=dst)
    operands = [
        round_number(number, type_) if array is None else array  # type: ignore[arg-type]
        for number, array in zip(node.src, src, strict=True)
    ]
    op = node.op
    if dst.ndim < 2 or dst.size < 2 * SLAB or _meets(node, accesses):
        return lambda: compute(op, type_, *operands, out=dst)
    return _prepare_slabs(op, type_, operands, dst, store.replicated)


def _prepare_slabs(
    op: str, type_: str, operands: list[Array], dst: Array, is_scattered: bool
) -> Step:
    """Return a function that computes a large array in parts for which caches have room.

    Where PEs lie apart in memory what they get is put together before.
    """
    count = max(SLAB * len(dst) // dst.size, 1)

    def run_slabs() -> None:
        scratch = np.empty((count, *dst.shape[1:]), dst.dtype)
        for n in range(0, len(dst), count):
            sources, out = [_cut(each, dst, n, count) for each in operands], dst[n : n + count]
            if is_scattered:
                out[...] = compute(op, type_, *sources, out=scratch[: len(out)])
            else:
                compute(op, type_, *sources, out=out)

    return run_slabs


def _meets(node: Node, accesses: Accesses) -> bool:
    """Whether a node reads elements of its destination at other places than it writes them."""
    return any(name == node.dst and access != accesses.dst
               for name, access in zip(node.src, accesses.src, strict=True))


def _cut(operand: Array, dst: Array, n: int, count: int) -> Array:
    """Return the part of an operand that gives `count` columns of PEs, from `n` on."""
    if operand.ndim < dst.ndim or len(operand) == 1:
        return operand
    return operand[n : n + count]


def _prepare_reduction(
    node: Node, to: Access, of: Access, graph: Graph, views: tuple[Array, Array]
) -> Step:
    (dst, src), op = views, node.op
    source, result = graph.entries[str(node.src[0])], graph.entries[node.dst]
    if source.kind == GLOBAL_ARRAY:
        return lambda: _write(dst, add_global(op, src))
    if result.kind not in ON_PES:
        origin = of.start[0], of.start[1]
        return lambda: _write(dst, add_up(op, src, origin, graph.field))
    kept = [axis for axis in to.axes if axis is not None]
    dst = drop_axes(dst, to)
    gone = [k for k in range(len(of.sizes)) if k not in kept]
    return lambda: _write(dst, add_locally(op, src, gone))


def _write(dst: Array, values: Array) -> None:
    dst[...] = values

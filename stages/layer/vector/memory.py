"""Local memory with room for what vector instructions access besides what their tasks do.

Paper    V Sec. 5.3, Ex. 5.9
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import prod

import islpy as isl

from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.box import Shape, box, extend_allocation, find_shape, shift


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The shape of every local tensor, and the index of its first element before the extension."""

    shapes: Mapping[str, Shape]
    shifts: Mapping[str, Shape]

    def local(self) -> isl.UnionSet:
        """Return { T_local[l] }."""
        found = isl.UnionSet("{ }")
        for name, shape in self.shapes.items():
            found = found.union(isl.UnionSet.from_set(box(name, shape)))
        return found

    def bytes(self, type_of: Callable[[str], str]) -> int:
        """Return how many bytes they take, given the type of a local tensor by its name."""
        return sum(BYTES[type_of(name)] * prod(shape) for name, shape in self.shapes.items())

    def moved(self, to_local: isl.UnionMap) -> isl.UnionMap:
        """Return { [PE -> T[e]] -> T_local[l] } of the allocation before the extension."""
        return shift(to_local, self.shifts)


def extend(local: Mapping[str, isl.Set], touched: Iterable[isl.Set]) -> Memory:
    """Return memory that holds the local tensors and all that is touched.

    `touched` are sets [PE_X, PE_Y] -> { T_local[l] } in the coordinates of `local`.
    """
    shapes = {name: find_shape(elements) for name, elements in local.items()}
    shifts = {name: (0,) * len(shape) for name, shape in shapes.items()}
    for elements in touched:
        name = elements.get_tuple_name()
        extension = extend_allocation(find_shape(local[name]), elements)
        assert extension is not None, "extra instances access a bounded box"
        shapes[name], shifts[name] = _joined(
            shapes[name], shifts[name], extension.size, extension.shift
        )
    return Memory(shapes=shapes, shifts=shifts)


def _joined(size: Shape, shift: Shape, other: Shape, other_shift: Shape) -> tuple[Shape, Shape]:
    """Return size and shift of the least box that holds two boxes."""
    first = tuple(min(a, b) for a, b in zip(shift, other_shift, strict=True))
    ends = (max(s + n, t + m) for n, s, m, t in zip(size, shift, other, other_shift, strict=True))
    return tuple(e - f for e, f in zip(ends, first, strict=True)), first

"""Products of two vectors in blocks, where memory has no room for all of them at a time.

A machine that multiplies and adds by a scalar only has the products of two vectors in a part, which
is as large as the box. Within a loop over blocks of one dimension it is as large as a block. That
is for a matrix times a vector: of more dimensions one may be the loop, and the others are a matrix.

Paper    V Sec. 5, goes without this
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import islpy as isl

from lairmake.stages.layer.vector.candidate import Candidate, NotPossibleError
from lairmake.stages.layer.vector.memory import extend
from lairmake.stages.layer.vector.nested import find_within
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.box import find_fixed_size
from lairmake.stages.poly.functions import find_index_constants, find_same

WHY_BLOCKS = "within a loop over blocks, for all products have no room in memory"
MOST_BLOCKS = 2
"""So many numbers of blocks are tried of each dimension: the least ones for which there is room."""
MATRIX = 2
"""The dimensions of a matrix."""
PART = 8
"""Which part of the memory of a PE a block of products takes at most: larger ones gain little."""


def by_blocks(situation: Situation) -> Iterator[Candidate]:
    """Yield blocks of a matrix, along each dimension; none if there is room for all products.

    Raises NotPossibleError if the instances are no box of fixed size.
    """
    assert situation.target is not None, "a statement writes its target"
    sizes, bytes_ = _find_sizes(situation), BYTES[situation.type_of(situation.target)]
    free = _find_free(situation)
    if len(sizes) != MATRIX or prod(sizes) * bytes_ <= free:
        return
    room = min(free, situation.profile.memory // PART) // bytes_
    for position, size in enumerate(sizes):
        others = prod(sizes) // size
        fit = (n for n in range(2, size) if size % n == 0 and others * (size // n) <= room)
        for _, count in zip(range(MOST_BLOCKS), fit, strict=False):
            change = _cut(situation, position, size // count, len(sizes))
            elements = situation.elements.apply(change.reverse())
            yield find_within(situation, change, elements, (position,), ("nested", WHY_BLOCKS))


def _find_sizes(situation: Situation) -> list[int]:
    """Return the sizes of the box that the instances are. Raises NotPossibleError."""
    exact, names = situation.exact, find_index_constants(situation.elements)
    sizes = find_fixed_size(exact, names) if exact.is_box else None
    found = [size for size in map(find_same, sizes or ()) if size is not None]
    if not sizes or len(found) < len(sizes):
        raise NotPossibleError("the instances are no box of fixed size")
    return found


def _find_free(situation: Situation) -> int:
    """Return how many bytes a PE has besides its local tensors and its code."""
    files, memory = situation.files, extend(situation.files.local, ())
    used = memory.bytes(situation.local_type) + files.find_code(situation.name) - files.saved
    return situation.profile.memory - used


def _cut(situation: Situation, position: int, block: int, width: int) -> isl.Map:
    """Return { [k] -> [i] }: i = least + block k + k' at a position, k' after k, and else i = k.

    The least value of i may depend on symbolic constants.
    """
    names = [f"k{n}" for n in range(width)]
    within = [*names[: position + 1], "inside", *names[position + 1 :]]
    moved = [f"i{n}" for n in range(width)]
    same = [f"i{n} = k{n}" for n in range(width) if n != position]
    bounds = " and ".join([*same, f"0 <= inside < {block}"])
    offset = f"i{position} - {block} k{position} - inside"
    cut = isl.Map(f"{{ [[{_list(within)}] -> [{_list(moved)}]] -> [{offset}] : {bounds} }}")
    least = isl.Set.from_pw_aff(situation.exact.minimum[position])
    return cut.intersect_range(least).domain().unwrap()


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)

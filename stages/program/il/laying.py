"""The accesses of a node: its instances, and which element of each operand one of them takes.

Instances are counted as what is written: x and y are its PEs, and where its step is 1, so are
elements in memory. With a step s > 1 the node writes s*z + (start mod s), with s < 0 start + s*z
from z = 0. Instances of a reduction are the elements of its source.

Paper    E Sec. 5.4; ours
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lairmake.stages.program.il.locating import Origins
from lairmake.stages.program.il.records import Cell, Part, Record
from lairmake.stages.program.irg.accesses import Access, Bounds, Coordinate
from lairmake.stages.program.values.forms import Axis


def lay_accesses(
    record: Record, node: int, names: dict[Cell, str], origins: Origins
) -> Iterator[Access]:
    """Yield the accesses of a node: what it writes, and what it reads in the order of operands."""
    sources = [(n, each) for n, each in enumerate(record.src) if isinstance(each, Part)]
    leader = record.dst if record.kept is None else sources[0][1]
    axes = [axis for axis in _place(leader, origins) if not axis.drops]
    bounds = tuple(_count(axis) for axis in axes)
    kept = range(len(bounds)) if record.kept is None else record.kept
    every = [("dst", record.dst, kept), *((f"src{n}", each, range(6)) for n, each in sources)]
    for place, part, counted in every:
        element = _follow(_place(part, origins), bounds, counted)
        yield Access(node=node, place=place, entry=names[part.cell], instances=bounds,
                     on_pes=leader.form.is_on_pes, element=element)


def _place(part: Part, origins: Origins) -> list[Axis]:
    """Return the elements of a part, with the PEs of the field in axes 0 and 1."""
    if not part.cell.form.is_on_pes:
        return list(part.region)
    first = origins.get(part.cell, part.cell.form.origin)
    pes = zip(part.region[:2], first, strict=True)
    moved = [Axis(start=axis.start + at, size=axis.size) for axis, at in pes]
    return [*moved, *part.region[2:]]


def _count(axis: Axis) -> Bounds:
    """Return the bounds of the coordinate that counts the elements of an axis that is written."""
    if axis.size == 1 or axis.step == 1:
        first = axis.start
    else:
        first = axis.start // axis.step if axis.step > 1 else 0
    return first, first + axis.size - 1


def _follow(
    region: Sequence[Axis], bounds: Sequence[Bounds], counted: Sequence[int]
) -> tuple[Coordinate, ...]:
    """Return each coordinate of an element; `counted` are the axes of instances that it follows."""
    own = iter(counted)
    found: list[Coordinate] = []
    for axis in region:
        if axis.drops:
            found.append((0, 0, axis.start))
        else:
            at = next(own)
            found.append((at, axis.step, axis.start - axis.step * bounds[at][0]))
    return tuple(found)

"""Which element of an entry each instance of a node takes, as text; isl is not needed for it.

    n4_src1 := { n4[x, y, z] -> a[1 + x, y, z - 1] : 0 <= x <= 4 and 0 <= y <= 5 and 1 <= z <= 7 };

Instances are a box. Each coordinate of an entry is a constant, or a factor times one coordinate of
the instance, and a constant. Of such relations stages/poly/text.py writes the same text.

Paper    E Sec. 5.4
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

HEADER = """What each operand of a node is, for each instance of the node.
x and y are the PE that computes, and that has the element; the others count in memory."""
ON_PES = "xyzuvw"
LETTERS = "ijklmnpqrstuvwabcdfgh"

Bounds: TypeAlias = tuple[int, int]
"""The first and the last coordinate of an axis of instances."""
Coordinate: TypeAlias = tuple[int, int, int]
"""(axis, factor, constant): `factor` times that axis of the instance, and the constant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One operand of a node: `place` is `dst`, `src0`, `src1` ...; `entry` is what it accesses."""

    node: int
    place: str
    entry: str
    instances: tuple[Bounds, ...]
    on_pes: bool
    element: tuple[Coordinate, ...]


def write_accesses(accesses: Iterable[Access]) -> str:
    """Return the text of accesses.isl."""
    comments = "".join(f"# {line}\n" for line in HEADER.splitlines())
    return comments + "".join(f"\n{spell_access(each)}" for each in accesses)


def spell_access(access: Access) -> str:
    """Return the statement of one access, with the end of its line."""
    node = f"n{access.node}"
    relation = spell_relation(
        node, access.entry, access.instances, access.element, access.on_pes)
    return f"{node}_{access.place} := {relation};\n"


def spell_relation(
    source: str, target: str, instances: Sequence[Bounds], element: Sequence[Coordinate],
    on_pes: bool = True,
) -> str:
    """Return `{ source[x, y] -> target[1 + x, y] : 0 <= x <= 4 and 1 <= y <= 2 }`."""
    names = _name_axes(len(instances), on_pes)
    said = ", ".join(_spell(each, names, instances) for each in element)
    tuples = f"{source}[{_spell_axes(names, instances)}] -> {target}[{said}]"
    return f"{{ {tuples}{_spell_ranges(names, instances)} }}"


def spell_box(name: str, bounds: Sequence[Bounds]) -> str:
    """Return `{ name[x, y] : 0 <= x <= 4 and 1 <= y <= 2 }`."""
    names = _name_axes(len(bounds), True)
    return f"{{ {name}[{_spell_axes(names, bounds)}]{_spell_ranges(names, bounds)} }}"


def _spell_axes(names: Sequence[str], bounds: Sequence[Bounds]) -> str:
    return ", ".join(str(first) if first == last else name
                     for name, (first, last) in zip(names, bounds, strict=True))


def _spell_ranges(names: Sequence[str], bounds: Sequence[Bounds]) -> str:
    ranges = " and ".join(f"{first} <= {name} <= {last}"
                          for name, (first, last) in zip(names, bounds, strict=True)
                          if first != last)
    return f" : {ranges}" if ranges else ""


def _name_axes(count: int, on_pes: bool) -> Sequence[str]:
    if on_pes:
        return ON_PES[:count]
    return [LETTERS[k] if k < len(LETTERS) else f"d{k}" for k in range(count)]


def _spell(coordinate: Coordinate, names: Sequence[str], instances: Sequence[Bounds]) -> str:
    """Return `2z - 1`, `1 + x`, `7 - z`; a number where there is one value alone."""
    axis, factor, constant = coordinate
    if not factor:
        return str(constant)
    first, last = instances[axis]
    if first == last:
        return str(factor * first + constant)
    name = names[axis] if abs(factor) == 1 else f"{abs(factor)}{names[axis]}"
    if factor < 0:
        return f"{constant} - {name}" if constant else f"-{name}"
    if constant > 0:
        return f"{constant} + {name}"
    return f"{name} - {-constant}" if constant else name

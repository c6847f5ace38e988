"""Placements from directions only: tiles, and room for the adapters that they need.

Paper    V Sec. 4.1.2, the placement direction (j, i)
"""

from __future__ import annotations

import islpy as isl

from stages.diagnose import UserError
from stages.layer.routes.adaptation import choose_adaptation, find_peeled_sides
from stages.layer.routes.demand import find_demand, peel
from stages.layer.routes.room import check_room
from stages.mapping.layer_yaml import Mapping
from stages.poly.pieces import list_sets
from stages.poly.side import Rectangle
from stages.skewing.elements import Lair

Direction = tuple[str | None, str | None]
"""The iterators that run to the east and to the south; None: one column, one row."""


def choose(mapping: Mapping, lair: Lair, target: Rectangle) -> isl.UnionMap:
    """Return the placement, of all pairs of directions, with the fewest instances on a PE.

    Raises UserError with the reason of the last pair if data cannot flow with any of them.
    """
    names = sorted(set.intersection(*map(set, map(name_iterators, list_sets(lair.instances)))))
    pairs = [(e, s) for e in (*names, None) for s in (*names, None) if e is None or e != s]
    found: list[tuple[int, int, isl.UnionMap]] = []
    refused: list[UserError] = []
    for order, direction in enumerate(pairs):
        try:
            placement = fit(direction, mapping, lair, target)
            check_room(choose_adaptation(find_demand(mapping, lair, placement, target)))
        except UserError as error:
            refused.append(error)
        else:
            found.append((_busiest(direction, lair.instances, placement), order, placement))
    if not found:
        last = refused[-1]
        if any(each.message != last.message for each in refused):
            last.hint = f"{last.hint or ''}; or give a placement".lstrip("; ")
        raise last
    return min(found, key=lambda each: each[:2])[2]


def fit(direction: Direction, mapping: Mapping, lair: Lair, target: Rectangle) -> isl.UnionMap:
    """Return the tiled placement that leaves free the borders on which adapters must stand."""
    sides: set[str] = set()
    while True:
        core = peel(target, sides)
        if core.left > core.right or core.top > core.bottom:
            raise UserError(
                f"the target {mapping.target.text} has no room for adapters",
                mapping.span("target"),
                "make it larger",
            )
        placement = tile(lair.instances.union(lair.idle), direction, core)
        needed = find_peeled_sides(choose_adaptation(find_demand(mapping, lair, placement, target)))
        if needed <= sides:
            return placement
        sides |= needed


def tile(instances: isl.UnionSet, direction: Direction, core: Rectangle) -> isl.UnionMap:
    """Return { S[i] -> PE[left + i_east // t, top + i_south // u] } with the smallest tiles."""
    extents = (core.right - core.left + 1, core.bottom - core.top + 1)
    result = isl.UnionMap("{ }")
    for statement in list_sets(instances):
        names = name_iterators(statement)
        x, y = (
            f"{first} + {_tiled(statement, names, name, extent)}"
            for first, name, extent in zip((core.left, core.top), direction, extents, strict=True)
        )
        pattern = f"{{ {statement.get_tuple_name()}[{', '.join(names)}] -> PE[{x}, {y}] }}"
        result = result.union(isl.UnionMap(pattern))
    return result.intersect_domain(instances)


def _tiled(statement: isl.Set, names: list[str], iterator: str | None, extent: int) -> str:
    """Return `i // t` with t = ceil(size of i / extent); 0 without iterator."""
    if iterator is None:
        return "0"
    size = statement.dim_max_val(names.index(iterator)).to_python() + 1
    return f"{iterator} // {-(-size // extent)}"


def name_iterators(statement: isl.Set) -> list[str]:
    """Return the names of the dimensions of an instance set."""
    dimensions = range(statement.dim(isl.dim_type.set))
    return [statement.get_dim_name(isl.dim_type.set, k) or f"i{k}" for k in dimensions]


def _busiest(direction: Direction, instances: isl.UnionSet, placement: isl.UnionMap) -> int:
    """Return a bound on the instances of one PE: the product of its tiles' extents."""
    most = 0
    for statement in list_sets(instances):
        size = 1
        for k, name in enumerate(name_iterators(statement)):
            extent = statement.dim_max_val(k).to_python() + 1
            used = 1
            if name in direction:
                pes = isl.Set.from_union_set(placement.intersect_domain(statement).range())
                axis = direction.index(name)
                used = (pes.dim_max_val(axis).sub(pes.dim_min_val(axis))).to_python() + 1
            size *= -(-extent // used)
        most = max(most, size)
    return most

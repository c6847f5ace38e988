"""Disjoint hyperrectangles that make up a set, or on which a relation gives the same throughout.

Source   F Alg. 1: disjoint hyperrectangles of a set of elements
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

OUT = isl.dim_type.set
MOST = 64
"""How often what a relation gives may change along one dimension."""


class NotRectangularError(Exception):
    """What a relation gives changes in more places than a few."""


def split_into_rectangles(domain: isl.Set) -> list[isl.Set]:
    """Return disjoint hyperrectangles whose union is a set; sizes may be symbolic.

    Cut along the first dimension where the rest changes, and so on: maximal intervals, so that a
    hyperrectangle is one. Raises NotRectangularError for sets that need more than MOST cuts.
    """
    name = domain.get_tuple_name()
    found = [box for box, fibre in list_slabs(domain, domain.dim(OUT)) if not fibre.is_empty()]
    return [box if name is None else box.set_tuple_name(name) for box in found]


def list_slabs(relation: isl.Set, count: int) -> Iterator[tuple[isl.Set, isl.Set]]:
    """Yield hyperrectangles of the first `count` dimensions with what the others are there.

    That is { box } and F with { [x, y] : x in box } and relation = box x F: the first dimension is
    cut where { rest : [x, rest] } is not that of x - 1, and each interval is cut further. Empty F
    are left out. Raises NotRectangularError where there are more than MOST cuts.
    """
    plain = _plain(relation)
    if count == 0:
        if not plain.is_empty():
            yield isl.Set("{ [] }"), plain
        return
    for interval, fibre in _intervals(plain):
        for box, rest in list_slabs(fibre, count - 1):
            yield interval.flat_product(box).coalesce(), rest


def _plain(domain: isl.Set) -> isl.Set:
    return domain.reset_tuple_id() if domain.has_tuple_id() else domain


def _intervals(relation: isl.Set) -> Iterator[tuple[isl.Set, isl.Set]]:
    """Yield { [x] : c <= x < c' } for the places c where the rest changes, and the rest there."""
    first = _first(relation)
    cuts = list(_points(_changes(relation)))
    for at, cut in enumerate(cuts):
        inside = first.intersect(_from(cut))
        if at + 1 < len(cuts):
            inside = inside.subtract(_from(cuts[at + 1]))
        fibre = relation.intersect(_beside(cut, relation)).project_out(OUT, 0, 1)
        if not inside.is_empty():
            yield inside.coalesce(), fibre.coalesce()


def _first(relation: isl.Set) -> isl.Set:
    return relation.project_out(OUT, 1, relation.dim(OUT) - 1).coalesce()


def _changes(relation: isl.Set) -> isl.Set:
    """Return { [x] : what there is at x is not what there is at x - 1 }."""
    width = relation.dim(OUT)
    names = [f"i{k}" for k in range(width)]
    moved = [f"{names[0]} + 1", *names[1:]]
    step = isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(moved)}] }}")
    after = relation.apply(step)
    return _first(relation.subtract(after).union(after.subtract(relation)))


def _points(places: isl.Set) -> Iterator[isl.Set]:
    """Yield the points of a set of one dimension, the least first.

    Raises NotRectangularError for more than MOST, and where their order depends on symbolic
    constants.
    """
    for _ in range(MOST + 1):
        if places.is_empty():
            return
        least = places.lexmin()
        if least.coalesce().n_basic_set() > 1:
            break
        yield least
        places = places.subtract(least).coalesce()
    raise NotRectangularError


def _from(cut: isl.Set) -> isl.Set:
    """Return { [x] : x >= c } for a point c."""
    return cut.apply(isl.Map("{ [c] -> [x] : x >= c }"))


def _beside(cut: isl.Set, relation: isl.Set) -> isl.Set:
    """Return { [c, rest] } for a point c."""
    rest = isl.Set.universe(relation.space).project_out(OUT, 0, 1)
    return cut.flat_product(rest)

"""Describe a set the same way however it was constructed, as far as that is cheap.

Equal sets may have different descriptions in isl.  Here disjuncts are merged where one conjunction
describes both, redundant ones are dropped, inequalities are tightened until some element attains
them, and symbolic constants on which the set does not depend are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import combinations, compress
from operator import itemgetter
from typing import TypeAlias

import islpy as isl

from stages.poly.bind import PARAM, PE_NAMES
from stages.poly.quota import TooManyOperations, limited

DIV = isl.dim_type.div
MINUS_ONE = isl.Val(-1)
OUTER_INDEX = re.compile(r"index(\d+)")
MOST_MERGED = 12
"""Disjuncts of larger sets are only coalesced and tightened: merging looks at all pairs."""
MOST_OPERATIONS = 1_000_000
"""isl's own unit; less than a second, but for large coefficients."""
MOST_FOR_DIVISIONS = 50_000
"""What finding the divisions of one set may take; existentials that need more stay as they are."""

Needed: TypeAlias = dict[tuple[str, ...], list[bool]]
"""Which constraints of a conjunction are needed, by the texts of the set and of all of them."""


def canonical(elements: isl.Set, known: Needed) -> isl.Set:
    """Return the same set, described anew; its symbolic constants are used and in order.

    Where that takes more than `MOST_OPERATIONS`, the set is only coalesced.
    What is found out of its constraints is added to `known`, and not asked again.
    Ensures that the result is equal to the set.
    """
    ordered = _ordered(elements.drop_unused_params())
    try:
        with limited(MOST_FOR_DIVISIONS):
            plain = _plain(ordered.compute_divs())
    except TooManyOperations:
        return ordered
    try:
        with limited(MOST_OPERATIONS):
            return _rebuild(_plain(_ordered(_drop_free_params(plain)).compute_divs()), known)
    except TooManyOperations:
        return plain


def _ordered(elements: isl.Set) -> isl.Set:
    """Return the same set, its symbolic constants in order."""
    names = ", ".join(sort_names(elements.get_var_names_not_none(PARAM)))
    return elements.align_params(isl.Set(f"[{names}] -> {{ : }}").space)


def _plain(elements: isl.Set) -> isl.Set:
    """Return the same set, coalesced."""
    return elements.detect_equalities().coalesce().remove_redundancies()


def _rebuild(plain: isl.Set, known: Needed) -> isl.Set:
    """Return the same set from merged, relaxed and tightened disjuncts."""
    parts = _sorted_parts(plain)
    if len(parts) <= MOST_MERGED:
        parts = [_relax(part, plain, known) for part in _merge(parts, plain)]
    tight = _union([_tighten(part) for part in parts], plain)
    return tight.drop_unused_params().coalesce().remove_redundancies()


def sort_names(names: Iterable[str]) -> list[str]:
    """Return symbolic constants in the order PE_X, PE_Y, index0, index1, ..., index, others."""
    return sorted(names, key=_rank)


def _rank(name: str) -> tuple[int, int, str]:
    outer = OUTER_INDEX.fullmatch(name)
    if name in PE_NAMES:
        return 0, PE_NAMES.index(name), name
    if outer:
        return 1, int(outer[1]), name
    return (2, 0, name) if name == "index" else (3, 0, name)


def _drop_free_params(elements: isl.Set) -> isl.Set:
    """Return the set without the symbolic constants on which it does not depend."""
    used = elements.drop_unused_params()
    for name in used.get_var_names_not_none(PARAM):
        position = used.find_dim_by_name(PARAM, name)
        if used.eliminate(PARAM, position, 1).is_equal(used):
            used = used.project_out(PARAM, position, 1)
    return used


def _sorted_parts(elements: isl.Set) -> list[isl.Set]:
    parts = [isl.Set.from_basic_set(part) for part in elements.get_basic_sets()]
    return sorted(parts, key=str)


def _merge(parts: list[isl.Set], whole: isl.Set) -> list[isl.Set]:
    """Return fewer disjuncts: a pair is replaced by its hull as long as one lies in the set."""
    hull = _hull(whole)
    if hull.is_subset(whole):
        return [hull]
    for left, right in combinations(parts, 2):
        hull = _hull(left.union(right))
        if hull.is_subset(whole):
            rest = [part for part in parts if not part.is_subset(hull)]
            return _merge(sorted([*rest, hull], key=str), whole)
    return _drop_covered(parts)


def _drop_covered(parts: list[isl.Set]) -> list[isl.Set]:
    """Return the disjuncts without those that the others cover."""
    for position, part in enumerate(parts):
        others = parts[:position] + parts[position + 1 :]
        if others and part.is_subset(_union(others, part)):
            return _drop_covered(others)
    return parts


def _hull(elements: isl.Set) -> isl.Set:
    """Return one conjunction that contains the set: shared constraints, equalities and strides."""
    hull = elements.simple_hull().intersect(elements.affine_hull())
    return isl.Set.from_basic_set(hull).detect_equalities()


def _relax(part: isl.Set, whole: isl.Set, known: Needed) -> isl.Set:
    """Return the conjunction without the constraints that nothing in the set needs."""
    conjunctions = part.compute_divs().get_basic_sets()
    if len(conjunctions) != 1:
        return part
    pairs = [(_roundabout(each), each) for each in conjunctions[0].get_constraints()]
    pairs.sort(key=itemgetter(0))
    constraints = [constraint for _, constraint in pairs]
    others = str(whole) if len(whole.get_basic_sets()) > 1 else ""
    texts = (others, *(text for (_, text), _ in pairs))
    if texts not in known:
        known[texts] = _needed(constraints, part.space, whole)
    if all(known[texts]):
        return part
    return isl.Set.universe(part.space).add_constraints(compress(constraints, known[texts]))


def _needed(constraints: list[isl.Constraint], space: isl.Space, whole: isl.Set) -> list[bool]:
    """Return which constraints keep their conjunction in the set; the first ones go first."""
    universe = isl.BasicSet.universe(space)
    found: list[bool] = []
    needed = universe
    for constraint, later in zip(constraints, _later(constraints, universe), strict=True):
        found.append(_leads_out(constraint, needed.intersect(later), whole))
        needed = needed.add_constraint(constraint) if found[-1] else needed
    return found


def _leads_out(constraint: isl.Constraint, rest: isl.BasicSet, whole: isl.Set) -> bool:
    """Is the rest of a conjunction not in the set, which with the constraint it would be?

    Only what is beyond an inequality can be outside; if the set is one conjunction, all that is.
    """
    if constraint.is_equality():
        return not isl.Set.from_basic_set(rest).is_subset(whole)
    beyond = constraint.get_aff().neg().add_constant_val(MINUS_ONE)
    more = rest.add_constraint(isl.Constraint.inequality_from_aff(beyond))
    several = len(whole.get_basic_sets()) > 1
    return not (more.is_empty() or (several and isl.Set.from_basic_set(more).is_subset(whole)))


def _later(constraints: list[isl.Constraint], universe: isl.BasicSet) -> list[isl.BasicSet]:
    """Return, for each constraint, the conjunction of those that come after it."""
    found: list[isl.BasicSet] = []
    for constraint in reversed(constraints):
        found.append(universe)
        universe = universe.add_constraint(constraint)
    return found[::-1]


def _roundabout(constraint: isl.Constraint) -> tuple[bool, str]:
    """Order constraints so that those with integer divisions are dropped first."""
    return not constraint.involves_dims(DIV, 0, constraint.dim(DIV)), str(constraint)


def _tighten(part: isl.Set) -> isl.Set:
    """Return the same conjunction with `f >= k` for `f >= 0` where k is the minimum of f."""
    result = part
    for conjunction in part.compute_divs().get_basic_sets():
        for constraint in conjunction.get_constraints():
            least = part.min_val(constraint.get_aff())
            if not constraint.is_equality() and least.is_int() and least.is_pos():
                tight = constraint.get_aff().add_constant_val(least.neg())
                result = result.add_constraint(isl.Constraint.inequality_from_aff(tight))
    return result.remove_redundancies()


def _union(parts: list[isl.Set], model: isl.Set) -> isl.Set:
    result = isl.Set.empty(model.space)
    for part in parts:
        result = result.union(part)
    return result

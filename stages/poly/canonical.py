"""Describe a set the same way however it was constructed, as far as that is cheap.

Equal sets may have different descriptions in isl.  Here disjuncts are merged where one conjunction
describes both, redundant ones are dropped, inequalities are tightened until some element attains
them, and symbolic constants on which the set does not depend are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations, compress
from operator import itemgetter
from typing import TypeAlias

import islpy as isl

from lairmake.stages.poly.bind import PARAM, PE_NAMES
from lairmake.stages.poly.extremes import greatest_value, least_value
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.sections import find_hull, split

DIV = isl.dim_type.div
SET = isl.dim_type.set
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


def describe_anew(elements: isl.Set, known: Needed, context: isl.Set | None = None) -> isl.Set:
    """Return the same set, described anew.

    Where that takes more than `MOST_OPERATIONS`, the set is only coalesced.
    What is found out of its constraints is added to `known`, and not asked again.
    Ensures that the result is equal to the set, within the context if one is given: a conjunction
    of symbolic constants in which the set lies.
    """
    plain = elements
    try:
        with limit_operations(MOST_OPERATIONS):
            plain = _plain(_ordered(elements).compute_divs())
            return _rebuild(plain, known, _conjunction(context, plain))
    except TooManyOperations:
        return plain


def gather(elements: isl.Set) -> isl.Set:
    """Return the same set, its disjuncts merged; its symbolic constants are used and in order.

    Where that takes more than `MOST_OPERATIONS`, the set is only coalesced.
    """
    ordered = _ordered(elements.drop_unused_params())
    try:
        with limit_operations(MOST_FOR_DIVISIONS):
            plain = _plain(ordered.compute_divs())
    except TooManyOperations:
        return ordered
    if len(plain.get_basic_sets()) == 1:
        return plain.drop_unused_params()
    try:
        with limit_operations(MOST_OPERATIONS):
            plain = _plain(_drop_free_params(plain).compute_divs())
            parts = _sorted_parts(plain)
            few = 1 < len(parts) <= MOST_MERGED
            return _union(_merge(parts, plain), plain) if few else plain
    except TooManyOperations:
        return plain


def _conjunction(context: isl.Set | None, like: isl.Set) -> isl.BasicSet:
    """Return the context in the space of a set: everything if there is no context."""
    universe = isl.Set.universe(like.space)
    if context is not None:
        universe = universe.intersect_params(context)
    (found,) = universe.get_basic_sets()
    return found


def _ordered(elements: isl.Set) -> isl.Set:
    """Return the same set, its symbolic constants in order."""
    names = elements.get_var_names_not_none(PARAM)
    ordered = sort_names(names)
    return elements if ordered == list(names) else elements.align_params(_constants(*ordered))


@lru_cache
def _constants(*names: str) -> isl.Space:
    """Return the space of symbolic constants in an order."""
    return isl.Set(f"[{', '.join(names)}] -> {{ : }}").space


def _plain(elements: isl.Set) -> isl.Set:
    """Return the same set, coalesced."""
    return elements.detect_equalities().coalesce().remove_redundancies()


def _rebuild(plain: isl.Set, known: Needed, context: isl.BasicSet) -> isl.Set:
    """Return the same set from merged, relaxed and tightened disjuncts."""
    parts = _sorted_parts(plain)
    if len(parts) == 1 and context.is_universe() and not _bound(parts[0]):
        return plain
    if len(parts) <= MOST_MERGED:
        parts = [_relax(_bounded(part), plain, known, context) for part in _fewest(parts, plain)]
    tight = _union([_tighten(part) for part in parts], plain)
    return tight.coalesce().remove_redundancies()


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


def _fewest(parts: list[isl.Set], whole: isl.Set) -> list[isl.Set]:
    """Return conjunctions of which the set is the union, the same for all equal sets if possible.

    Those are what its slabs merge to, unless merging what there is gives fewer.
    """
    merged = _merge(parts, whole) if len(parts) > 1 else parts
    if len(merged) == 1:
        return merged
    slabs = [isl.Set.from_basic_set(each) for s in split(whole) for each in s.get_basic_sets()]
    apart = _merge(sorted(slabs, key=str), whole) if len(slabs) <= MOST_MERGED else slabs
    return apart if len(apart) <= len(merged) else merged


def _merge(parts: list[isl.Set], whole: isl.Set) -> list[isl.Set]:
    """Return fewer disjuncts: a pair is replaced by its hull as long as one lies in the set."""
    hull = find_hull(whole)
    if hull.is_subset(whole):
        return [hull]
    for left, right in combinations(parts, 2):
        hull = find_hull(left.union(right))
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


def _relax(part: isl.Set, whole: isl.Set, known: Needed, context: isl.BasicSet) -> isl.Set:
    """Return the conjunction without the constraints that nothing in the set needs.

    Ensures that the union of the conjunctions is the set, within the context.
    """
    conjunctions = part.compute_divs().get_basic_sets()
    if len(conjunctions) != 1:
        return part
    pairs = [(_roundabout(each), each) for each in conjunctions[0].get_constraints()]
    pairs.sort(key=itemgetter(0))
    constraints = [constraint for _, constraint in pairs]
    others = str(whole) if len(whole.get_basic_sets()) > 1 else ""
    texts = (str(context), others, *(text for *_, text in (key for key, _ in pairs)))
    if texts not in known:
        known[texts] = _needed(constraints, context.align_params(part.space), whole)
    if all(known[texts]):
        return part
    return isl.Set.universe(part.space).add_constraints(compress(constraints, known[texts]))


def _needed(
    constraints: list[isl.Constraint], context: isl.BasicSet, whole: isl.Set
) -> list[bool]:
    """Return which constraints keep their conjunction in the set; the first ones go first."""
    universe = isl.BasicSet.universe(context.space)
    found: list[bool] = []
    needed = context
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


def _roundabout(constraint: isl.Constraint) -> tuple[bool, int, str]:
    """Order constraints so that those with integer divisions, and of last dimensions, go first."""
    last = max(_involved(constraint), default=-1)
    return not constraint.involves_dims(DIV, 0, constraint.dim(DIV)), -last, str(constraint)


def _involved(constraint: isl.Constraint) -> list[int]:
    """Return the positions of what a constraint is about, symbolic constants first."""
    constants = constraint.dim(PARAM)
    found = [k for k in range(constants) if constraint.involves_dims(PARAM, k, 1)]
    count = constraint.dim(SET)
    return found + [constants + k for k in range(count) if constraint.involves_dims(SET, k, 1)]


def _bound(part: isl.Set) -> list[int]:
    """Return the positions of what constraints bind to something else; of a box, nothing."""
    bound: set[int] = set()
    for conjunction in part.get_basic_sets():
        for each in conjunction.get_constraints():
            involved = _involved(each)
            if len(involved) > 1 or each.involves_dims(DIV, 0, each.dim(DIV)):
                bound.update(involved)
    return sorted(bound)


def _bounded(part: isl.Set) -> isl.Set:
    """Return the same conjunction, in which the numbers between which dimensions lie are said.

    So it is for those that constraints bind to others: of such numbers one set may imply another.
    """
    space = isl.LocalSpace.from_space(part.space)
    constants = part.dim(PARAM)
    for k in _bound(part):
        kind, position = (PARAM, k) if k < constants else (SET, k - constants)
        value = isl.Aff.var_on_domain(space, kind, position)
        here = isl.PwAff.from_aff(value).intersect_domain(part)
        least, most = least_value(here), greatest_value(here)
        for end, over in ((least, value), (most.neg(), value.neg())):
            if end.is_int():
                over = over.add_constant_val(end.neg())
                part = part.add_constraint(isl.Constraint.inequality_from_aff(over))
    return part


def _tighten(part: isl.Set) -> isl.Set:
    """Return the same conjunction with `f >= k` for `f >= 0` where k is the minimum of f."""
    result = part
    for conjunction in part.compute_divs().get_basic_sets():
        for constraint in conjunction.get_constraints():
            least = least_value(isl.PwAff.from_aff(constraint.get_aff()).intersect_domain(part))
            if not constraint.is_equality() and least.is_int() and least.is_pos():
                tight = constraint.get_aff().add_constant_val(least.neg())
                result = result.add_constraint(isl.Constraint.inequality_from_aff(tight))
    return result.remove_redundancies()


def _union(parts: list[isl.Set], model: isl.Set) -> isl.Set:
    result = isl.Set.empty(model.space)
    for part in parts:
        result = result.union(part)
    return result

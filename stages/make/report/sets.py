"""What changed in an isl object: a function from what to what, of a set what came and what went."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from lairmake.stages.make.report.change import Change, Part

if TYPE_CHECKING:
    import islpy as isl

    from lairmake.stages.poly.iscc import Union

MOST_OPERATIONS = 5_000_000
"""How much isl may work for one object, in its own unit: a second or two."""
MOST_FOR_COUNT = 500_000
"""How much of that may go into counting points, and finding one."""

Single: TypeAlias = Any
"""A set or a map of isl."""

Within = tuple[Single, Single]
"""A set or a map, and what holds it."""

WRAPPED = re.compile(r"{ \[(.*)\] \}")


def find_change(old: Union, new: Union, known: isl.Set | None = None) -> Change | None:
    """Return what changed from one object to another of its kind; None where they are equal.

    The pieces are those of one pair of tuples each. One that is a function before and after, and
    not the same where both are defined, is among the `functions`. Of the others

        removed = old - new, added = new - old,

    gisted on the inequalities that both state, `known`, within which they are. With `known`
    symbolic constants, { : ... }, only what differs for those is told: the note says if nothing is.
    """
    from lairmake.stages.poly.quota import TooManyOperations, limit_operations

    try:
        with limit_operations(MOST_OPERATIONS):
            if _is_equal(old, new):
                return None
            return _change(singles(old), singles(new), known)
    except TooManyOperations:
        return Change(note="changed; what is added or removed is hard to tell")


def _change(old: Sequence[Single], new: Sequence[Single], known: isl.Set | None) -> Change:
    functions = []
    gone = [_within(single, None) for single in old if _like(single, new) is None]
    come = [_within(single, None) for single in new if _like(single, old) is None]
    for whole, other in [(single, _like(single, new)) for single in old]:
        if other is None:
            continue
        before, after = _for(whole, known), _for(other, known)
        if _is_other_function(before, after):
            functions.append(_as_functions(whole, other))
        elif not before.is_equal(after):
            context = _context(before, after)
            gone.append(_within(before.subtract(after), context))
            come.append(_within(after.subtract(before), context))
    removed, added = _part(gone), _part(come)
    if not (functions or removed or added):
        return Change(note="the same for the symbolic constants that both have")
    contexts = [context for _, context in (*gone, *come)]
    within = "" if all(map(_is_everything, contexts)) else write_text(_union(contexts))
    return Change(functions=tuple(functions), removed=removed, added=added, known=within)


def _within(single: Single, context: Single | None) -> Within:
    """Return a set with what holds it; None is everything."""
    return single, type(single).universe(single.space) if context is None else context


def _is_everything(context: Single) -> bool:
    return bool(context.plain_is_universe())


def _part(found: Sequence[Within]) -> Part | None:
    """Return sets or maps as they are within what holds them; None where they have no element."""
    there = [(single, context) for single, context in found if not single.is_empty()]
    if not there:
        return None
    short = [single.gist(context) for single, context in there]
    for gist, (single, context) in zip(short, there, strict=True):
        if not gist.intersect(context).is_equal(single):
            raise AssertionError(f"{gist} is not {single} in {context}")
    return describe_part(_union([single for single, _ in there]), write_text(_union(short)))


def _is_equal(old: Any, new: Any) -> bool:
    return bool(old.is_equal(new))


def describe_part(union: Union, text: str | None = None) -> Part:
    """Return a set or relation, and where that is cheap how many elements it has, and one."""
    from lairmake.stages.poly.quota import TooManyOperations, limit_operations

    sample, points = None, None
    with suppress(TooManyOperations), limit_operations(MOST_FOR_COUNT):
        sample = None if union.is_empty() else find_sample(union)
        points = count_elements(union)
    return Part(set=write_text(union) if text is None else text, points=points, sample=sample)


def write_text(union: Union | Single) -> str:
    """Return a set or relation as the stages write it; as isl does, where that takes long."""
    from lairmake.stages.poly.quota import TooManyOperations, limit_operations
    from lairmake.stages.poly.text import spell_object

    with suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        return spell_object(union)
    return str(union.coalesce())


def singles(union: Union) -> list[Single]:
    """Return the sets, or maps, of one pair of tuples each."""
    import islpy as isl

    found: list[Single] = []
    if isinstance(union, isl.UnionMap):
        union.foreach_map(found.append)
    else:
        union.foreach_set(found.append)
    return found


def _for(single: Single, known: isl.Set | None) -> Single:
    return single if known is None else single.intersect_params(known)


def _like(single: Single, others: Sequence[Single]) -> Single | None:
    """Return the one of the others that has the same tuples; None if none has."""
    for other in others:
        if type(other) is type(single) and other.space.has_equal_tuples(single.space):
            return other
    return None


def _context(old: Single, new: Single) -> Single:
    """Return what both state; of two functions only what they state of where they are defined."""
    import islpy as isl

    both = isinstance(old, isl.Map) and old.is_single_valued() and new.is_single_valued()
    if not both:
        return _stated_by_both(old, new)
    everything = isl.Map.universe(old.space)
    return everything.intersect_domain(_stated_by_both(old.domain(), new.domain()))


def _is_other_function(old: Single, new: Single) -> bool:
    """Is a function, of symbolic constants too, another one where both are defined?"""
    before, after = _as_map(old), _as_map(new)
    if not (before.is_single_valued() and after.is_single_valued()):
        return False
    there = before.domain().intersect(after.domain())
    return not before.intersect_domain(there).is_equal(after.intersect_domain(there))


def _as_map(single: Single) -> isl.Map:
    """Return { [N] -> A[i] : ... } for the set [N] -> { A[i] : ... }, and a map as it is."""
    import islpy as isl

    if isinstance(single, isl.Map):
        return single
    kind = isl.dim_type
    return isl.Map.from_range(single).move_dims(kind.in_, 0, kind.param, 0, single.dim(kind.param))


def _as_functions(old: Single, new: Single) -> tuple[str, str]:
    """Return the texts of two functions, without what both state of where they are defined."""
    import islpy as isl

    is_map = isinstance(old, isl.Map)
    context = _stated_by_both(*(each.domain() if is_map else each.params() for each in (old, new)))
    texts = []
    for each in (old, new):
        gist = each.gist_domain(context) if is_map else each.gist_params(context)
        back = gist.intersect_domain(context) if is_map else gist.intersect_params(context)
        if not back.is_equal(each):
            raise AssertionError(f"{gist} is not {each} in {context}")
        texts.append(write_text(gist))
    return texts[0], texts[1]


def _stated_by_both(old: Single, new: Single) -> Single:
    """Return the inequalities that the simple hulls of both have in the same words.

    Ensures that both are within the result.
    """
    import islpy as isl

    aligned = new.align_params(old.space)
    model = old.align_params(aligned.space)
    aligned = aligned.align_params(model.space)
    is_map = isinstance(model, isl.Map)
    sides = [each.wrap() if is_map else each for each in (model, aligned)]
    found: Single = _shared(*sides).unwrap() if is_map else _shared(*sides)
    if not (old.is_subset(found) and new.is_subset(found)):
        raise AssertionError(f"{found} does not hold {old} and {new}")
    return found


def _shared(old: isl.Set, new: isl.Set) -> isl.Set:
    """Return the inequalities that both hulls have; equalities say what something is."""
    import islpy as isl

    others = {str(each) for each in _inequalities(new)}
    found = isl.Set.universe(old.space)
    for constraint in _inequalities(old):
        if str(constraint) in others:
            found = found.add_constraint(constraint)
    return found


def _inequalities(elements: isl.Set) -> list[isl.Constraint]:
    constraints = elements.simple_hull().get_constraints()
    return [constraint for constraint in constraints if not constraint.is_equality()]


def _union(singles: Sequence[Single]) -> Union:
    import islpy as isl

    kind: Any = isl.UnionMap if isinstance(singles[0], isl.Map) else isl.UnionSet
    found: Union = functools.reduce(lambda left, right: left.union(right), map(kind, singles))
    return found


def find_sample(union: Union) -> str:
    """Return one element of a set or relation that is not empty, as text.

    Raises TooManyOperations.
    """
    import islpy as isl

    if isinstance(union, isl.UnionMap):
        return WRAPPED.sub(r"{ \1 }", str(union.wrap().sample_point()))
    return str(union.sample_point())


def count_elements(union: Union) -> int | None:
    """Return the number of elements over all values of the symbolic constants; None if infinite.

    isl counts, a point at a time: it raises TooManyOperations where there are many.
    """
    import islpy as isl

    elements = union.wrap() if isinstance(union, isl.UnionMap) else union
    flat = [_without_constants(each) for each in singles(elements)]
    if not all(each.is_bounded() for each in flat):
        return None
    return sum(int(each.count_val().to_python()) for each in flat)


def _without_constants(elements: isl.Set) -> isl.Set:
    """Return { [N, i] : ... } for [N] -> { A[i] : ... }."""
    import islpy as isl

    flat = elements.drop_unused_params().flatten()
    count = flat.dim(isl.dim_type.param)
    return flat.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, count)

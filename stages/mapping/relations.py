"""Relations of instances, as layer.yaml gives them: the placement and the schedule, checked.

Paper    V Sec. 4.1.2
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl

from lairmake.stages.diagnose import Span, UserError, UserErrors, plural
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.mapping.isl_texts import IslText
from lairmake.stages.poly.box import bounding_box
from lairmake.stages.poly.canonical import find_example, list_maps, list_sets
from lairmake.stages.poly.functions import find_greatest

LARGEST_TIME = 2**30
"""The largest time: loops count in 32 bits, and may step once more beyond it."""
EXACT_QUOTIENT = re.compile(r"[^/]/[^/]")


def check_placement(
    placement: isl.UnionMap, instances: isl.UnionSet, target: isl.Set, text: IslText
) -> None:
    """Raise UserErrors unless { S[i] -> PE[x, y] } is total, single-valued and in the target."""
    _raise_all(list(check_form(placement, instances, text, "placement")))
    span, used = text.place, placement.intersect_domain(instances)
    found = [*_check_total(placement, instances, text), *_check_single(used, span)]
    outside = used.subtract_range(isl.UnionSet.from_set(target))
    if not outside.is_empty():
        instance = _first(outside.domain())
        place = find_example(outside.intersect_domain(instance).range())
        message = f"placement leaves the target: {find_example(instance)} runs on {place}"
        width, height = (find_greatest(target, k).to_python() + 1 for k in range(2))
        found.append(UserError(message, span, f"the target is {width} by {height} PEs"))
    _raise_all(found)


def check_schedule(schedule: isl.UnionMap, instances: isl.UnionSet, text: IslText) -> None:
    """Raise UserErrors unless { S[i] -> [time] } is a function on each statement that it names."""
    _raise_all(list(check_form(schedule, instances, text, "schedule")))
    span, used = text.place, schedule.intersect_domain(instances)
    missing = instances.intersect(schedule.domain().universe()).subtract(used.domain())
    found = []
    if not missing.is_empty():
        message = f"schedule gives no time to {find_example(_first(missing))}"
        hint = "give a time to every instance of a statement, or to none"
        found.append(UserError(message, span, hint))
    twice = find_several_values(used)
    if twice is not None:
        instance, first, second = twice
        message = f"schedule gives {find_example(instance)} two times, {first} and {second}"
        found.append(UserError(message, span, "each instance runs once"))
    else:
        found += _check_range(used, span)
    _raise_all(found)


def _raise_all(errors: list[UserError]) -> None:
    if errors:
        raise UserErrors(sorted(errors, key=lambda each: each.span.start if each.span else 0))


def check_form(
    relation: isl.UnionMap, instances: isl.UnionSet, text: IslText, what: str
) -> Iterator[UserError]:
    """Yield an error for all that is no { S[i] -> PE[x, y] } of a placement, or { S[i] -> [time] }
    of a schedule: `what` it is."""
    yield from _check_tuples(relation, instances, text, what)
    check = _check_pes if what == "placement" else _check_times
    yield from check(relation, text)


def _check_tuples(
    relation: isl.UnionMap, instances: isl.UnionSet, text: IslText, what: str
) -> Iterator[UserError]:
    """Yield an error for every domain tuple that is no statement, or has other iterators."""
    known = {s.get_tuple_name(): s.get_space() for s in list_sets(instances)}
    for m in list_maps(relation):
        domain = m.domain()
        name = domain.get_tuple_name() if domain.has_tuple_name() else ""
        span = _name_span(text, name)
        if name not in known:
            message = f"{what} names {name or _text(domain.get_space())}, which is no statement"
            yield UserError(message, span, did_you_mean(name, sorted(known), "statements"))
        elif known[name].dim(isl.dim_type.set) != domain.dim(isl.dim_type.set):
            wanted = plural(known[name].dim(isl.dim_type.set), "iterator")
            message = f"{name} has {wanted}, the {what} gives it {domain.dim(isl.dim_type.set)}"
            yield UserError(message, span, f"write {_text(known[name])}")


def _name_span(text: IslText, name: str) -> Span:
    """Return the place of a tuple's name, or that of all of the text."""
    found = re.search(rf"\b{name}\b\s*\[", text.text) if name else None
    if found is None:
        return text.place
    return text.span(found.start(), found.start() + len(name))


def _text(space: isl.Space) -> str:
    return str(space).strip("{ }")


def _check_pes(placement: isl.UnionMap, text: IslText) -> Iterator[UserError]:
    """Yield an error for every range tuple that is no PE[x, y]."""
    for m in list_maps(placement):
        pes = m.range()
        name = pes.get_tuple_name() if pes.has_tuple_name() else ""
        if (name, pes.dim(isl.dim_type.set)) != ("PE", 2):
            message = f"placement gives {_text(pes.get_space())}, which is no PE"
            yield UserError(message, _name_span(text, name), "write PE[x, y]")


def _check_times(schedule: isl.UnionMap, text: IslText) -> Iterator[UserError]:
    """Yield an error for every statement whose times are not tuples of one length."""
    shapes: dict[str, set[str]] = {}
    for m in list_maps(schedule):
        name = m.domain().get_tuple_name() if m.domain().has_tuple_name() else ""
        shapes.setdefault(name, set()).add(_text(m.range().get_space()))
    for name, found in shapes.items():
        if len(found) > 1 or any("->" in each for each in found):
            message = f"schedule gives {name} the times {' and '.join(sorted(found))}"
            hint = "all times of a statement have one form, [t0, t1, ...]"
            yield UserError(message, _name_span(text, name), hint)


def _check_total(
    placement: isl.UnionMap, instances: isl.UnionSet, text: IslText
) -> Iterator[UserError]:
    missing = instances.subtract(placement.domain())
    if not missing.is_empty():
        message = f"placement is not total: {find_example(_first(missing))} has no PE"
        hint = "every instance of every statement needs one PE"
        if EXACT_QUOTIENT.search(text.text):
            hint += "; `/` gives whole numbers only, `//` rounds down"
        yield UserError(message, text.place, hint)


def _check_single(placement: isl.UnionMap, span: Span) -> Iterator[UserError]:
    twice = find_several_values(placement)
    if twice is not None:
        instance = find_example(twice[0])
        message = f"placement is not single-valued: {instance} runs on {twice[1]} and on {twice[2]}"
        yield UserError(message, span, "each instance runs on one PE")


def _check_range(schedule: isl.UnionMap, span: Span) -> Iterator[UserError]:
    for times in list_sets(schedule.range()):
        for low, high in bounding_box(times):
            if low < -LARGEST_TIME or high > LARGEST_TIME:
                message = f"schedule gives times from {low} to {high}"
                yield UserError(message, span, f"times lie from -{LARGEST_TIME} to {LARGEST_TIME}")


def find_several_values(relation: isl.UnionMap) -> tuple[isl.UnionSet, str, str] | None:
    """Return the first point with two values in a relation, and these; None if there is none.

    The domain must be bounded; the values need not be: they are found by sampling.
    """
    if relation.is_single_valued():
        return None
    pairs = relation.range_product(relation)
    different = pairs.range().unwrap().subtract(relation.range().identity())
    instance = _first(pairs.intersect_range(different.wrap()).domain())
    values = relation.intersect_domain(instance).range()
    one = isl.UnionSet.from_point(values.sample_point())
    first, second = sorted((find_example(one), find_example(values.subtract(one))))
    return instance, first, second


def _first(instances: isl.UnionSet) -> isl.UnionSet:
    """Return the lexicographically first instance of one statement; the set is bounded."""
    return isl.UnionSet.from_set(list_sets(instances)[0].lexmin())

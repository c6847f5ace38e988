"""Say which PE runs every instance.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.1.2, Listing 2
Reads    layer.yaml, lair.isl
Writes   placement.isl    { statement[iterators] -> PE[x, y] }, the target rectangle
Assumes  nothing of the layer's text.
Ensures  the placement is total, single-valued and inside the target.
"""

from __future__ import annotations

import difflib
import re
import typing

import islpy as isl

from stages.diagnose import UserError, UserErrors
from stages.lair.mapping_text import parse_map, parse_target
from stages.lair.tiling import choose, fit, iterators_of
from stages.poly.pieces import example_of, maps_of, sets_of
from stages.poly.side import Rectangle
from stages.poly.text import write_objects

if typing.TYPE_CHECKING:
    from stages.lair.adaptation import Lair
    from stages.lair.mapping import IslText, Mapping
    from stages.make.inputs import Inputs

READS = ("layer.yaml", "lair.isl")
WRITES = ("placement.isl",)
HEADER = """The PE of each instance (Sec. 4.1.2): { statement[iterators] -> PE[x, y] }.
x grows to the east, y to the south, both from 0 in the target rectangle."""
DIRECTION = re.compile(r"\s*\(\s*(\w+)\s*(?:,\s*(\w+)\s*)?\)\s*")


def run(inputs: Inputs) -> dict[str, str]:
    """Return placement.isl."""
    mapping = inputs.mapping()
    lair = inputs.objects("lair.isl")
    instances = lair["instances"]
    width, height = parse_target(mapping.target)
    rectangle = Rectangle(left=0, top=0, right=width - 1, bottom=height - 1)
    target = rectangle.as_set()
    placement = _placement(mapping, lair, rectangle)
    if mapping.placement is not None:
        check_placement(placement, instances, target, mapping)
    placement = placement.intersect_domain(instances)
    return {"placement.isl": write_objects(HEADER, {"target": target, "placement": placement})}


def _placement(mapping: Mapping, lair: Lair, target: Rectangle) -> isl.UnionMap:
    """Return the placement given, tiled from a direction `(j, i)`, or chosen."""
    text = mapping.placement
    if text is None:
        return choose(mapping, lair, target)
    match = DIRECTION.fullmatch(text.text)
    if match is None:
        return parse_map(text)
    for iterator in filter(None, match.groups()):
        _check_iterator(iterator, lair["instances"], text)
    return fit((match.group(1), match.group(2)), mapping, lair, target)


def _check_iterator(iterator: str, instances: isl.UnionSet, text: IslText) -> None:
    """Raise UserError if some statement has no such iterator."""
    for statement in sets_of(instances):
        names = iterators_of(statement)
        if iterator not in names:
            start = text.text.index(iterator)
            raise UserError(
                f"{statement.get_tuple_name()} has no iterator {iterator}",
                text.span(start, start + len(iterator)),
                f"its iterators are {', '.join(names)}",
            )


def check_placement(
    placement: isl.UnionMap, instances: isl.UnionSet, target: isl.Set, mapping: Mapping
) -> None:
    """Raise UserErrors unless the placement is total, single-valued and inside the target."""
    text = typing.cast("IslText", mapping.placement)
    errors = [*_unknown(placement, instances, text)]
    span = mapping.span("placement")
    used = placement.intersect_domain(instances)
    missing = instances.subtract(placement.domain())
    if not missing.is_empty():
        errors.append(
            UserError(
                f"placement is not total: {example_of(missing)} has no PE",
                span,
                "every instance of every statement needs one PE",
            )
        )
    if not used.is_single_valued():
        errors.append(
            UserError(
                f"placement is not single-valued: {_twice(used)}",
                span,
                "each instance runs on one PE",
            )
        )
    outside = used.subtract_range(isl.UnionSet.from_set(target))
    if not outside.is_empty():
        instance = outside.domain()
        errors.append(
            UserError(
                f"placement leaves the target: {_arrow(outside, instance)}",
                span,
                f"the target is {mapping.target.text}",
            )
        )
    if errors:
        raise UserErrors(errors)


def _unknown(
    placement: isl.UnionMap, instances: isl.UnionSet, text: IslText
) -> typing.Iterator[UserError]:
    """Yield an error for every tuple of the placement that is no statement or no PE."""
    known = {s.get_tuple_name(): s.dim(isl.dim_type.set) for s in sets_of(instances)}
    for m in maps_of(placement):
        name, rank = m.get_tuple_name(isl.dim_type.in_) or "", m.dim(isl.dim_type.in_)
        if known.get(name) != rank:
            yield _unknown_statement(name, rank, known, text)
        elif m.get_tuple_name(isl.dim_type.out) != "PE" or m.dim(isl.dim_type.out) != 2:
            yield UserError(
                f"placement maps {name} to {str(m.range().get_space()).strip('{ }')}, not PE[x, y]",
                text.span(0, len(text.text)),
            )


def _unknown_statement(name: str, rank: int, known: dict[str, int], text: IslText) -> UserError:
    start = max(text.text.find(name), 0)
    span = text.span(start, start + len(name))
    if name in known:
        return UserError(f"{name} has {known[name]} iterators, the placement gives {rank}", span)
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else f"the statements are {', '.join(sorted(known))}"
    return UserError(f"placement names {name}, which is no statement of this node", span, hint)


def _twice(placement: isl.UnionMap) -> str:
    """Return an instance that has two PEs, and both."""
    first, last = placement.lexmin(), placement.lexmax()
    differing = first.subtract(last).domain()
    instance = isl.UnionSet.from_point(differing.sample_point())
    a = example_of(first.intersect_domain(instance).range())
    b = example_of(last.intersect_domain(instance).range())
    return f"{example_of(instance)} runs on {a} and on {b}"


def _arrow(outside: isl.UnionMap, instances: isl.UnionSet) -> str:
    instance = isl.UnionSet.from_point(instances.sample_point())
    return (
        f"{example_of(instance)} runs on {example_of(outside.intersect_domain(instance).range())}"
    )

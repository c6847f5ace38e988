"""Feedback of results, and tensors that share memory."""

from __future__ import annotations

import graphlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.lair.tree import AccessSyntax, Expr, rewrite
from lairmake.stages.layer.texts.isl_files import Adapted
from lairmake.stages.poly.canonical import from_domain, list_maps, list_sets, unite
from lairmake.stages.poly.functions import find_greatest
from lairmake.stages.poly.sides import SIDES, Rectangle, turn
from lairmake.stages.skewing.elements import (
    Lair,
    find_computed_elements,
    find_needed_elements,
    find_running,
    resolve,
)

IN, OUT = isl.dim_type.in_, isl.dim_type.out

# --- Results that are fed back --------------------------------------------------------------------
#
# Some tensors are needed on other PEs than the one that computes them. Such a tensor T leaves, as
# an output would, and comes back as T_feedback, as an input would. It comes straight if every
# element is computed and needed on one row or column: there the last PE sends all of it back. Else
# it goes around: adapters of a border collect it, and those of the same border, or of the next one,
# spread it.
#
# Paper    V Sec. 4.2, which has arrivals and departures

@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackWay:
    """The sides towards which a tensor leaves, and from which it comes back: one if straight."""

    leaves: str
    comes: str
    straight: bool


def add_feedback(lair: Lair, placement: isl.UnionMap, moves: Collection[str] = ()) -> Lair:
    """Return the objects of lair.isl in which what is fed back is read by its new name.

    And `feedback`, { T_feedback[e] -> T[e] }, if there is any. Tensors that `moves` names get what
    is carried to them from neighbours.
    """
    needed = find_needed_elements(lair, placement)
    computed = find_computed_elements(lair, placement)
    known = [s.get_tuple_name() for s in list_sets(lair.tensors)]
    moving = unite(m for m in list_maps(lair.carried) if m.get_tuple_name(IN) in moves)
    others = lair.carried.subtract(moving)
    astray = _name_astray(lair.reads, find_running(lair, placement), computed, known)
    carried = _name_astray(others, needed, computed, known)
    accesses = _renamed(lair.accesses, astray)
    views = _renamed(lair.views, {
        (use.get_tuple_name(OUT), tensor): back
        for (user, tensor), back in astray.items() for use in list_maps(from_domain(accesses, user))
    })
    changed = replace(
        lair,
        accesses=accesses,
        reads=resolve(accesses, views),
        views=views,
        carried=_renamed(others, carried).union(moving),
    )
    feedback = isl.UnionMap("{ }")
    for elements in list_sets(find_needed_elements(changed, placement).domain()):
        back = elements.get_tuple_name()
        if back not in known:
            same = elements.identity().set_tuple_name(OUT, back.rpartition("_feedback")[0])
            feedback = feedback.union(isl.UnionMap.from_map(same))
    return replace(changed, feedback=feedback) if not feedback.is_empty() else lair


def _name_astray(
    uses: isl.UnionMap, places: isl.UnionMap, computed: isl.UnionMap, known: list[str]
) -> dict[tuple[str, str], str]:
    """Return T_feedback by S and T of { S[i] -> T[e] } where S[i], at { S[i] -> PE }, needs T fed
    back.

    `computed` is { T[e] -> PE }, `known` are the names that tensors have.
    """
    found = {}
    for use in list_maps(uses):
        user, tensor = use.get_tuple_name(IN), use.get_tuple_name(OUT)
        needed = isl.UnionMap.from_map(use).reverse().apply_range(places)
        if not find_astray(from_domain(computed, tensor), needed).is_empty():
            found[user, tensor] = _feedback_name(tensor, known)
    return found


def _renamed(uses: isl.UnionMap, names: Mapping[tuple[str, str], str]) -> isl.UnionMap:
    """Return { S[i] -> T[e] } with the names that some T have for some S."""
    found = isl.UnionMap("{ }")
    for use in list_maps(uses):
        user, tensor = use.get_tuple_name(IN), use.get_tuple_name(OUT)
        named = use.set_tuple_name(OUT, names.get((user, tensor), tensor))
        found = found.union(isl.UnionMap.from_map(named))
    return found


def find_astray(computed: isl.UnionMap, needed: isl.UnionMap) -> isl.UnionMap:
    """Return { t[e] -> [PE -> PE'] } of what is computed, at least in part, on another PE than PE'.

    Of { t[e] -> PE } that compute it, and { t[e] -> PE' } that need all of it.
    """
    same = isl.UnionSet("{ [PE[x, y] -> PE[x, y]] }")
    return computed.range_product(needed).subtract_range(same)


def _feedback_name(tensor: str, known: list[str]) -> str:
    """Return a name that no tensor has: nor has the departure's."""
    number = ""
    while {f"{tensor}_feedback{number}", f"{tensor}_away{number}"} & set(known):
        number = str(int(number or 1) + 1)
    return f"{tensor}_feedback{number}"


def name_away(back: str) -> str:
    """Return the name of the departure of what comes back."""
    tensor, _, number = back.rpartition("_feedback")
    return f"{tensor}_away{number}"


def find_fed_back(adapted: Adapted) -> dict[str, str]:
    """Return the tensors that return, by the names that they then have."""
    feedback = list_maps(adapted.feedback)
    return {m.get_tuple_name(isl.dim_type.in_): m.get_tuple_name(OUT) for m in feedback}


def apply_feedback(lair: Lair, adapted: Adapted) -> Lair:
    """Return the objects of lair.isl with what adapted.isl has in their place."""
    accesses = lair.accesses if adapted.reads is None else adapted.reads
    views = lair.views if adapted.views is None else adapted.views
    return replace(
        lair,
        accesses=accesses,
        reads=resolve(accesses, views),
        views=views,
        carried=lair.carried if adapted.carried is None else adapted.carried,
    )


def choose_way(
    computed: isl.Map, needed: isl.Map, target: Rectangle, is_free: Callable[[str], bool]
) -> FeedbackWay:
    """Return the way of { T_feedback[e] -> PE } that compute it to those that need it.

    The way is straight, to the side that is nearest to those that need it; or around, where
    adapters need borders without instances, which `is_free` tells of. These are taken, then sides
    on which an element comes from, and goes to, one row or column.
    """
    for sides in ("EW", "SN"):
        lane = _lane(sides[0], target)
        same = lane.apply_range(lane.reverse()).wrap()
        if computed.range_product(needed).range().is_subset(same):
            side = min(sides, key=lambda each: _depth(needed, each, target))
            return FeedbackWay(leaves=side, comes=side, straight=True)

    def cost(way: FeedbackWay) -> tuple[int, int, bool]:
        borders = {way.leaves, way.comes}
        several = [
            not places.apply_range(_lane(side, target)).is_single_valued()
            for places, side in ((computed, way.leaves), (needed, way.comes))
        ]
        return len([b for b in borders if not is_free(b)]), sum(several), len(borders) > 1

    ways = [
        FeedbackWay(leaves=leaves, comes=comes, straight=False)
        for leaves in SIDES
        for comes in (leaves, SIDES[leaves].left, SIDES[leaves].right)
    ]
    return min(ways, key=cost)


def _lane(side: str, target: Rectangle) -> isl.Map:
    """Return { PE -> [lane] } of the rows or columns that end at a side."""
    return turn(side, target).project_out(OUT, 1, 1)


def _depth(places: isl.Map, side: str, target: Rectangle) -> int:
    """Return how deep the { t[e] -> PE } lie, seen from a side."""
    return find_greatest(places.range().apply(turn(side, target)), 1).to_python()


def order_departure(needed: isl.Map, way: FeedbackWay, target: Rectangle) -> isl.Map:
    """Return { T_feedback[e] -> [port -> index[e]] } towards which it leaves, as if it left."""
    return _order(needed, way.leaves, way.comes, way.straight, target)


def order_arrival(needed: isl.Map, way: FeedbackWay, target: Rectangle) -> isl.Map:
    """Return { T_feedback[e] -> [port -> index[e]] } from which it comes, as if it arrived."""
    return _order(needed, way.comes, way.leaves, way.straight, target)


def _order(
    needed: isl.Map, side: str, other: str, straight: bool, target: Rectangle
) -> isl.Map:
    """Return the order, in that of the elements, at a side: at each lane, or in one corner."""
    turned = turn(side, target)
    if straight:
        port = needed.apply_range(turned).apply_range(isl.Map("{ [lane, depth] -> [lane, -1] }"))
    else:
        place = isl.Set(f"{{ [{_corner(side, other, target)}, -1] }}")
        port = isl.Map.from_domain_and_range(needed.domain(), place)
    index = needed.domain().identity()
    if index.dim(OUT) == 0:
        index = index.add_dims(OUT, 1).fix_val(OUT, 0, isl.Val(0))
    return port.apply_range(turned.reverse()).range_product(index.set_tuple_name(OUT, "index"))


def _corner(side: str, other: str, target: Rectangle) -> int:
    """Return the first lane of a side, or the last one if the other side is there."""
    lanes = (target.left, target.right) if side in "NS" else (target.top, target.bottom)
    return lanes[other == SIDES[side].right]


def apply_feedback_to_layer(layer: Layer, lair: Lair, fed_back: Mapping[str, str]) -> Layer:
    """Return a layer whose statements and carries take what is fed back by its new name.

    As `lair` does; `fed_back` are the tensors by their new names.
    """
    if not fed_back:
        return layer

    def names(uses: isl.UnionMap, user: str) -> dict[str, str]:
        used = [m.get_tuple_name(OUT) for m in list_maps(from_domain(uses, user))]
        return {tensor: back for back, tensor in fed_back.items() if back in used}

    return replace(
        layer,
        statements=tuple(_reading(s, names(lair.reads, s.name)) for s in layer.statements),
        carries=tuple(
            replace(c, source=names(lair.carried, c.tensor).get(c.source, c.source))
            for c in layer.carries
        ),
        fed_back=tuple(replace(layer.tensors[t], name=back) for back, t in fed_back.items()),
    )


def _reading(statement: Statement, names: Mapping[str, str]) -> Statement:
    """Return a statement that reads tensors by other names."""
    def named(leaf: Expr) -> Expr:
        if not isinstance(leaf, AccessSyntax):
            return leaf
        return replace(leaf, tensor=names.get(leaf.tensor, leaf.tensor))

    reads = tuple(replace(a, tensor=names.get(a.tensor, a.tensor)) for a in statement.reads)
    return replace(statement, reads=reads, expr=rewrite(statement.expr, named))

# --- Tensors in one memory, and waiting statements ------------------------------------------------
#
# Source   design, A layer folder: `next` takes "one memory if every read precedes the write"

InPlace = dict[str, str]
"""For each tensor that lies in the memory of another one, that one."""


def find_in_place(
    layer: Layer, needed: isl.UnionMap, computed: isl.UnionMap, apart: Collection[str]
) -> InPlace:
    """Return the tensors that may lie in the memory of others at once, and these others.

    `needed` and `computed` are { tensor[e] -> PE[x, y] }, the tensors `apart` need memory of their
    own. Another tensor may lie where it will be carried to if every PE computes the elements that
    it needs there, each by an instance that alone of its statement reads what was there before; if
    nothing else is made of the tensor; and if no statements wait for each other then.
    """
    sources = [carry.source for carry in layer.carries]
    writers = {statement.target.tensor: statement for statement in layer.statements}
    in_place: InPlace = {}
    for carry in layer.carries:
        old, new = carry.tensor, carry.source
        if new in writers and new not in apart and old not in sources and new not in in_place:
            writer = writers[new]
            overwrites = writer.op == "=" and _reads_only_its_own(writer, old)
            same = _same(from_domain(needed, old), from_domain(computed, new), new)
            if overwrites and same and not _has_circle(layer, in_place | {new: old}):
                in_place[new] = old
    return in_place


def list_waits(layer: Layer, in_place: InPlace) -> Iterator[tuple[str, list[str]]]:
    """Yield, for each statement that waits for others on its PE, the names of these.

    They define what it reads, or read what lay before where it writes.
    """
    for statement in layer.statements:
        old = in_place.get(statement.target.tensor)
        before = [
            other.name
            for other in layer.statements
            if _reads(statement, other.target.tensor)
            or (other is not statement and old is not None and _reads(other, old))
        ]
        if before:
            yield statement.name, before


def _reads(statement: Statement, tensor: str) -> bool:
    return any(access.tensor == tensor for access in statement.reads)


def _reads_only_its_own(writer: Statement, old: str) -> bool:
    """Say whether an instance reads no element of a tensor but the one where it writes."""
    return all(a.rows == writer.target.rows for a in writer.reads if a.tensor == old)


def _has_circle(layer: Layer, in_place: InPlace) -> bool:
    """Say whether statements wait for each other."""
    try:
        graphlib.TopologicalSorter(dict(list_waits(layer, in_place))).prepare()
    except graphlib.CycleError:
        return True
    return False


def _same(needed: isl.UnionMap, computed: isl.UnionMap, new: str) -> bool:
    """Say whether the PEs are those of the same elements: { old[e] -> PE } = { new[e] -> PE }."""
    if needed.is_empty():
        return False
    renamed = isl.Map.from_union_map(needed).set_tuple_name(isl.dim_type.in_, new)
    return bool(renamed.is_equal(isl.Map.from_union_map(computed)))

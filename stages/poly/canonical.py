"""Canonical form of sets and relations: pieces, names, order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, compress
from operator import itemgetter
from typing import TypeAlias

import islpy as isl

from lairmake.stages.poly.functions import (
    PE_NAMES,
    find_least,
    greatest_value,
    least_value,
    project_names,
)
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

PARAM, SET, DIV = isl.dim_type.param, isl.dim_type.set, isl.dim_type.div

# --- Names of dimensions --------------------------------------------------------------------------
#
# A dimension has the same name in the tuples and in the constraints. The dimensions of `PE` are x
# and y. Another one has the name that the object gives it. Where there is none, those of a tuple
# are i, j, k, l, m, n, ... by their position within it: letters alone, so that no name looks like a
# symbolic constant (`index0`) or one that isl made (`o0`).
# A name that an earlier dimension, a symbolic constant or the syntax of isl has gets a prime.

LETTERS = "ijklmnpqrstuvwabcdfgh"
SYNTAX = ["and", "or", "not", "implies", "exists", "mod", "floor", "ceil", "floord", "ceild"]
SYNTAX += ["min", "max", "rat", "true", "false", "infty", "infinity", "NaN"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuple:
    """One tuple of a space without tuples within: its name, "" for none, and those it was given."""

    name: str
    given: tuple[str | None, ...]


Usual: TypeAlias = dict[tuple[str, int], list[str]]
"""Names of dimensions, by the name of the tuple and how many it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionNames:
    """Names to take: `always` those of the tuples there, `usual` where an object has none."""

    always: Usual = field(default_factory=dict)
    usual: Usual = field(default_factory=dict)


ALWAYS: Usual = {("PE", 2): ["x", "y"]}

def list_tuples(space: isl.Space) -> Iterator[Tuple]:
    """Yield the tuples of the space of a set or relation from left to right."""
    if space.is_map():
        yield from list_tuples(space.domain())
        yield from list_tuples(space.range())
    elif not space.is_params():
        yield from _tuples_of_set(space)


def _tuples_of_set(space: isl.Space) -> Iterator[Tuple]:
    if space.is_wrapping():
        yield from list_tuples(space.unwrap())
        return
    given = [space.get_dim_name(SET, k) for k in range(space.dim(SET))]
    yield Tuple(name=_tuple_name(space), given=tuple(given))


def name_dimensions(space: isl.Space, constants: Iterable[str], known: DimensionNames) -> list[str]:
    """Return a name for each dimension of a space, all of them different."""
    always = {**known.always, **ALWAYS}
    parts = [
        (always.get((each.name, len(each.given)), each.given), _usual(each, known))
        for each in list_tuples(space)
    ]
    return _unlike(parts, constants)


def find_default_names(
    space: isl.Space, constants: Iterable[str], known: DimensionNames
) -> list[str]:
    """Return the names that the dimensions would have if the object gave them none."""
    parts = [_usual(each, known) for each in list_tuples(space)]
    return _unlike(zip(parts, parts, strict=True), constants)


def _usual(part: Tuple, known: DimensionNames) -> list[str]:
    count = len(part.given)
    return known.usual.get((part.name, count)) or letters(count)


def _unlike(
    parts: Iterable[tuple[Sequence[str | None], Sequence[str]]], constants: Iterable[str]
) -> list[str]:
    """Return the first name of each pair, or else the second one, with primes where taken."""
    taken = {*constants, *SYNTAX}
    names: list[str] = []
    for own, other in (pair for part in parts for pair in zip(*part, strict=True)):
        name = own or other
        while name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    return names


def find_names(objects: Iterable[isl.UnionSet | isl.UnionMap]) -> Usual:
    """Return the names of each tuple where it first has them all."""
    found: Usual = {}
    for union in objects:
        for space in list_spaces(union):
            for part in list_tuples(space):
                key = part.name, len(part.given)
                given = [name for name in part.given if name is not None]
                if part.name and len(set(given)) == len(part.given) and key not in found:
                    found[key] = given
    return found


def list_spaces(union: isl.UnionSet | isl.UnionMap) -> list[isl.Space]:
    """Return the spaces of a union, sorted by their text."""
    spaces: list[isl.Space] = []
    if isinstance(union, isl.UnionSet):
        union.foreach_set(lambda each: spaces.append(each.get_space()))
    else:
        union.foreach_map(lambda each: spaces.append(each.get_space()))
    return sorted(spaces, key=str)


def letters(count: int) -> list[str]:
    """Return the names of so many dimensions that nobody named."""
    return [LETTERS[k] if k < len(LETTERS) else f"d{k}" for k in range(count)]


def dress(space: isl.Space, entries: Sequence[str]) -> str:
    """Return `A[entry, ...] -> B[entry, ...]` of a space; "" for one without tuples."""
    return _dress(space, list(entries))


def _dress(space: isl.Space, rest: list[str]) -> str:
    """Return the text of a space, and take its entries from the front of the rest."""
    if space.is_params():
        return ""
    if space.is_map():
        left = _dress(space.domain(), rest)
        return f"{left} -> {_dress(space.range(), rest)}"
    if space.is_wrapping():
        return f"{_tuple_name(space)}[{_dress(space.unwrap(), rest)}]"
    count = space.dim(SET)
    own, rest[:count] = rest[:count], []
    return f"{_tuple_name(space)}[{', '.join(own)}]"


def _tuple_name(space: isl.Space) -> str:
    return (space.get_tuple_name(SET) or "") if space.has_tuple_name(SET) else ""

# --- Domains that several objects share -----------------------------------------------------------
#
# A file says such a domain of symbolic constants once.

FEWEST = 3
"""The fewest objects that share a domain which is said once."""
SAID = re.compile(r"(?:\w+_)?context\d*")
"""The name of a domain that is said once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedDomains:
    """A set of symbolic constants, its name, and the names of the objects that lie in it."""

    name: str
    elements: isl.Set
    members: tuple[str, ...]


def share(
    objects: Mapping[str, isl.UnionSet | isl.UnionMap], text: Callable[[isl.Set], Sequence[str]]
) -> list[SharedDomains]:
    """Return the domains that at least `FEWEST` of the objects share.

    The domain of an object is where it has elements, `[PE_X, PE_Y, index] -> { : ... }`. Where too
    few share it, the domain of the PEs alone is tried. `text` tells domains apart.
    """
    own = {name: each.params() for name, each in objects.items() if _may_share(name, each)}
    found: list[SharedDomains] = []
    for of_pes in (False, True) if len(own) >= FEWEST else ():
        groups: dict[str, list[str]] = {}
        domains: dict[str, isl.Set] = {}
        for name, elements in own.items():
            domain = _of_pes(elements) if of_pes else elements
            said, *more = text(domain)
            if said != ":" and not more and (of_pes or not _is_of_pes(elements)):
                groups.setdefault(said, []).append(name)
                domains[said] = domain
        for said, members in groups.items():
            if len(members) >= FEWEST:
                elements = _read(said, domains[said])
                name = _name(members, elements, objects, [each.name for each in found])
                found.append(SharedDomains(name=name, elements=elements, members=tuple(members)))
        taken = {member for each in found for member in each.members}
        own = {name: elements for name, elements in own.items() if name not in taken}
    return found


def _may_share(name: str, union: isl.UnionSet | isl.UnionMap) -> bool:
    """Has an object symbolic constants, and is it none of the domains that are said once?"""
    return bool(
        union.space.dim(PARAM)
        and not union.is_empty()
        and not (SAID.fullmatch(name) and isinstance(union, isl.UnionSet) and union.is_params())
    )


def _of_pes(elements: isl.Set) -> isl.Set:
    names = elements.get_var_names_not_none(PARAM)
    return project_names(elements, [name for name in names if name not in PE_NAMES])


def _read(said: str, elements: isl.Set) -> isl.Set:
    """Return the conjunction that a text says, which a set may be from several disjuncts."""
    return isl.Set(f"[{', '.join(elements.get_var_names_not_none(PARAM))}] -> {{ {said} }}")


def _is_of_pes(elements: isl.Set) -> bool:
    used = elements.drop_unused_params().get_var_names_not_none(PARAM)
    return all(name in PE_NAMES for name in used)


def _name(
    members: Sequence[str], elements: isl.Set,
    objects: Mapping[str, isl.UnionSet | isl.UnionMap], taken: Sequence[str],
) -> str:
    """Return what the names of the members begin with, and `context`; a number if that is taken."""
    parts = [name.split("_") for name in members]
    length = next((k for k, each in enumerate(zip(*parts, strict=False)) if len(set(each)) > 1), 0)
    start = "_".join([*parts[0][:length], "context"])
    number, name = 1, start
    while name in taken or (name in objects and not _is_same(objects[name], elements)):
        number += 1
        name = f"{start}{number}"
    return name


def _is_same(union: isl.UnionSet | isl.UnionMap, elements: isl.Set) -> bool:
    return isinstance(union, isl.UnionSet) and bool(union.is_equal(isl.UnionSet.from_set(elements)))

# --- Sets and maps of a union, in order -----------------------------------------------------------

def list_sets(union: isl.UnionSet) -> list[isl.Set]:
    """Return the sets of a union, one a space, sorted by their text."""
    found: list[isl.Set] = []
    union.foreach_set(found.append)
    return sorted(found, key=lambda s: str(s.get_space()))


def list_maps(union: isl.UnionMap) -> list[isl.Map]:
    """Return the maps of a union, one a space, sorted by their text."""
    found: list[isl.Map] = []
    union.foreach_map(found.append)
    return sorted(found, key=lambda m: str(m.get_space()))


def find_set(union: isl.UnionSet, name: str) -> isl.Set | None:
    """Return the set of a union whose tuple has the given name; None if there is none."""
    return next((s for s in list_sets(union) if s.get_tuple_name() == name), None)


def from_domain(union: isl.UnionMap, name: str) -> isl.UnionMap:
    """Return the part of a union of maps whose domain tuple has the given name."""
    return unite(m for m in list_maps(union) if _map_tuple_name(m, isl.dim_type.in_) == name)


def to_range(union: isl.UnionMap, name: str) -> isl.UnionMap:
    """Return the part of a union of maps whose range tuple has the given name."""
    return unite(m for m in list_maps(union) if _map_tuple_name(m, isl.dim_type.out) == name)


def find_example(union: isl.UnionSet | isl.Set) -> str:
    """Return one point of a non-empty union, as `x[3]`."""
    point = union.sample_point()
    text = str(isl.UnionSet.from_point(point))
    body = text[text.index("{") + 1 : text.rindex("}")].strip()
    return _values_only(body)


def map_from(union: isl.UnionMap, name: str) -> isl.Map | None:
    """Return { name[e] -> [...] }, which a union has one of; None if it has none."""
    part = from_domain(union, name)
    return None if part.is_empty() else isl.Map.from_union_map(part)


def unite(maps: Iterable[isl.Map]) -> isl.UnionMap:
    """Return the union of maps."""
    result = isl.UnionMap("{ }")
    for m in maps:
        result = result.union(isl.UnionMap.from_map(m))
    return result


def unite_sets(sets: Iterable[isl.Set]) -> isl.UnionSet:
    """Return the union of sets."""
    found = isl.UnionSetList.alloc(isl.DEFAULT_CONTEXT, 0)
    for each in sets:
        found = found.add(isl.UnionSet.from_set(each))
    return found.union()


def _values_only(text: str) -> str:
    """Turn isl's `x[i = 3]` into `x[3]`."""
    head, _, rest = text.partition("[")
    if not rest or "->" in rest:
        return text
    values = [v.partition("=")[2].strip() or v.strip() for v in rest.rstrip("] ").split(",")]
    return f"{head.strip()}[{', '.join(values)}]"


def _map_tuple_name(m: isl.Map, kind: isl.dim_type) -> str | None:
    return m.get_tuple_name(kind) if m.has_tuple_name(kind) else None


def name_iterators(statement: isl.Set) -> list[str]:
    """Return the names of the dimensions of an instance set; `i1` for the second if it has none."""
    dimensions = range(statement.dim(isl.dim_type.set))
    return [statement.get_dim_name(isl.dim_type.set, k) or f"i{k}" for k in dimensions]

# --- Detached copies of sets ----------------------------------------------------------------------
#
# isl describes a set anew in place where that looks like the same set, and copies share what they
# are made of.  `detect_equalities` of a copy has been seen to drop constraints of the original that
# way (islpy 2026.2.2); it is called on detached copies.

def detach(elements: isl.Set) -> isl.Set:
    """Return an equal set, read from the text of the set."""
    return isl.Set(str(elements))

# --- Slabs of a set -------------------------------------------------------------------------------
#
# The section of a set S at x is S_x = { [y] : [x, y] in S }. Where S_x is the same for all x from a
# to b, and another one at a - 1 and b + 1, the part of S from a to b is one slab, however S was put
# together: staircases of boxes come apart in the same way.

MOST_CHANGES = 12
"""Dimensions along which the section changes more often are not split."""


def split(elements: isl.Set) -> list[isl.Set]:
    """Return the slabs of a set, along the symbolic constants first; each is split in turn.

    Dimensions along which the section changes everywhere, or too often, are left as they are.
    """
    count = elements.dim(PARAM)
    slabs = [elements.move_dims(SET, 0, PARAM, 0, count)]
    for position in range(slabs[0].dim(SET)):
        slabs = [part for slab in slabs for part in _slabs(slab, position)]
    return [slab.move_dims(PARAM, 0, SET, 0, count) for slab in slabs]


def find_hull(elements: isl.Set) -> isl.Set:
    """Return one conjunction that contains the set: shared constraints, equalities and strides."""
    hull = elements.simple_hull().intersect(elements.affine_hull())
    return isl.Set.from_basic_set(hull).detect_equalities()


def _slabs(elements: isl.Set, position: int) -> list[isl.Set]:
    hull = find_hull(elements)
    if hull.is_subset(elements):
        return [hull]
    parts: list[isl.Set] = []
    rest = elements
    for change in _changes(elements, position):
        parts.append(rest.upper_bound_val(SET, position, change))
        rest = rest.lower_bound_val(SET, position, change.add(isl.Val(1)))
    return [part.coalesce() for part in [*parts, rest] if not part.is_empty()]


def _changes(elements: isl.Set, position: int) -> list[isl.Val]:
    """Return the x with S_x != S_{x+1} in their order; nothing if there are more than a few."""
    count = elements.dim(SET)
    follow = elements.apply(_step(count, position))
    differ = elements.subtract(follow).union(follow.subtract(elements))
    line = differ.project_out(SET, position + 1, count - position - 1).project_out(SET, 0, position)
    points = [isl.Set.from_basic_set(point) for point in line.coalesce().get_basic_sets()]
    if len(points) > MOST_CHANGES or not all(point.is_singleton() for point in points):
        return []
    found = {find_least(point, 0).to_python() for point in points}
    return [isl.Val(x) for x in sorted(found)]


@lru_cache
def _step(count: int, position: int) -> isl.Map:
    """Return { [x] -> [x'] } with x' = x but for the dimension at the position: one less."""
    names = [f"x{k}" for k in range(count)]
    values = [f"{name} - 1" if k == position else name for k, name in enumerate(names)]
    return isl.Map(f"{{ [{', '.join(names)}] -> [{', '.join(values)}] }}")

# --- Canonical description of a set ---------------------------------------------------------------
#
# Equal sets may have different descriptions in isl.  Here they get the same one, however they were
# constructed, as far as that is cheap: disjuncts are merged where one conjunction describes both,
# redundant ones are dropped, inequalities are tightened until some element attains them, and
# symbolic constants on which the set does not depend are dropped.

MINUS_ONE = isl.Val(-1)
OUTER_INDEX = re.compile(r"index(\d+)")
MOST_MERGED = 12
"""Disjuncts of larger sets are only coalesced and tightened: merging looks at all pairs."""
MOST_OPERATIONS = 1_000_000
"""Operations that isl may spend on a set: less than a second, but for large coefficients."""
MOST_FOR_DIVISIONS = 50_000
"""Operations that isl may spend on the divisions of one set; harder existentials stay as they are.
"""

Needed: TypeAlias = dict[tuple[str, ...], list[bool]]
"""For each constraint whether it is needed, by the texts of the set and of all its constraints."""


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

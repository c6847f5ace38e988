"""The sets and maps of a union in a fixed order, and one point of a union as text."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl


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

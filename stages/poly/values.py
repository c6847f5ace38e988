"""The dimensions of a set as functions of those before them, piece by piece, as texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.bind import PARAM
from lairmake.stages.poly.function import find_function_in
from lairmake.stages.poly.quota import limit_operations
from lairmake.stages.poly.quotient import read_sum, spell
from lairmake.stages.poly.spelling import spell_constraints

IN, OUT, DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.div
MOST_PIECES = 12
"""What is a function, but of more pieces, is written as a relation."""
MOST_OPERATIONS = 250_000
"""How much isl may work to find a function, in its own unit: seconds, where it meets lattices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Where the free dimensions are, and there the text of each dimension that they determine."""

    domain: isl.Set
    values: tuple[str, ...]


def find_pieces(
    flat: isl.Set, determined: Sequence[bool], names: Sequence[str]
) -> list[Piece] | set[int]:
    """Return the pieces of the function from the free dimensions to the others.

    Where that function cannot be written, return the dimensions that are to be free, too: all if
    there are more than `MOST_PIECES`, else those that no expression of what is before them gives.
    Raises TooManyOperations where isl would need long to find it.
    """
    if not any(determined):
        return [Piece(domain=flat, values=())]
    relation = isl.Map.from_range(flat)
    constants = flat.dim(PARAM)
    free = [k for k, has_value in enumerate(determined) if not has_value]
    for count, position in enumerate(free):
        relation = relation.move_dims(IN, count, OUT, position - count, 1)
    found: list[tuple[isl.Set, isl.MultiAff]] = []
    with limit_operations(MOST_OPERATIONS):
        function = find_function_in(relation).coalesce()
    function.foreach_piece(lambda domain, values: found.append((domain, values)))
    others = [k for k, has_value in enumerate(determined) if has_value]
    if len(found) > MOST_PIECES:
        return set(others)
    known = [*names[:constants], *(names[constants + k] for k in free)]
    before = [sum(k < position for k in free) for position in others]
    merged: dict[tuple[str, ...], isl.Set] = {}
    for domain, values in found:
        texts = tuple(_values(domain, values, known, before))
        if "" in texts:
            return {k for k, text in zip(others, texts, strict=True) if not text}
        merged[texts] = merged[texts].union(domain) if texts in merged else domain
    return [Piece(domain=domain, values=texts) for texts, domain in merged.items()]


def _values(
    domain: isl.Set, values: isl.MultiAff, names: Sequence[str], before: Sequence[int]
) -> Iterator[str]:
    """Yield the text of each value, of as many free dimensions as are before it; "" for none."""
    simple = values.gist(domain)
    for position, count in enumerate(before):
        value = _of_first(simple.get_at(position), domain, count)
        total = None if value is None else read_sum(value, names)
        if value is None:
            yield ""
        else:
            yield _as_isl(value, names) if total is None else spell(total, names)


def _of_first(value: isl.Aff, domain: isl.Set, count: int) -> isl.Aff | None:
    """Return an expression of the first dimensions that is equal in the domain, None for none.

    It has no quotients if there is such a one. Else it is of as few names as possible: the last
    ones go first.
    """
    graph = isl.Map.from_aff(value).intersect_domain(domain)
    later = value.dim(IN) - count
    if value.involves_dims(IN, count, later):
        graph = graph.eliminate(IN, count, later)
        only = _only_value(graph)
        if only is None or only.involves_dims(IN, count, later):
            return None
        value = only
    if _is_affine(value):
        return value
    hull = _only_value(isl.Map.from_basic_map(graph.affine_hull()))
    if hull is not None and _is_affine(hull) and not hull.involves_dims(IN, count, later):
        return hull
    used = [(kind, k) for kind in (IN, PARAM) for k in reversed(range(value.dim(kind)))]
    used = [(kind, k) for kind, k in used if value.involves_dims(kind, k, 1)]
    for kind, position in used if len(used) > 1 else []:
        without = graph.eliminate(kind, position, 1)
        found = _only_value(without)
        if found is not None and not found.involves_dims(IN, count, later):
            value, graph = found, without
    return value


def _is_affine(value: isl.Aff) -> bool:
    return value.dim(DIV) == 0 and bool(value.get_denominator_val().is_one())


def _only_value(graph: isl.Map) -> isl.Aff | None:
    """Return the only expression of a relation to a number; None if there are several."""
    if not graph.is_single_valued():
        return None
    pieces: list[isl.MultiAff] = []
    find_function_in(graph).foreach_piece(lambda _, values: pieces.append(values))
    return pieces[0].get_at(0) if len(pieces) == 1 else None


def _as_isl(value: isl.Aff, names: Sequence[str]) -> str:
    """Return the text of isl, in which constants and dimensions have the names."""
    for position, name in enumerate(names[value.dim(PARAM) :]):
        value = value.set_dim_name(IN, position, name)
    text = str(value if value.get_denominator_val().is_one() else value.floor())
    return spell_constraints(text[text.rindex("-> [(") + 5 : text.rindex(")]")])

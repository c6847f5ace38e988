"""Write one set or relation as disjuncts, with functions where its dimensions are functions.

A dimension that the symbolic constants and the dimensions before it determine is written as an
expression of those that are free, `{ ff[i, j] -> PE[j//4, y] : 0 <= y <= 3 }`. What is left to say
are the constraints of the free ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.bind import PARAM
from lairmake.stages.poly.canonical import Needed, describe_anew, gather
from lairmake.stages.poly.conjunction import Conjunction, write_conjunction
from lairmake.stages.poly.naming import (
    SET,
    Names,
    dress,
    find_default_names,
    list_tuples,
    name_dimensions,
)
from lairmake.stages.poly.spelling import spell_constraints
from lairmake.stages.poly.values import Piece, find_pieces

Single = isl.Set | isl.Map
IN, OUT, DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.div
WORD = re.compile(r"[A-Za-z_]\w*'*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """A space, a name for each dimension, and whether it is to be read beside a value."""

    space: isl.Space
    names: list[str]
    tells: list[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Disjunct:
    """The texts of one disjunct, and the names that they hold."""

    entries: list[str]
    constraints: str
    said: set[str]


def write_disjuncts(
    single: Single, given: Names, known: Needed, context: isl.Set | None = None
) -> list[str]:
    """Return the texts of the disjuncts of a set or relation, without symbolic constants.

    What the context, a set of symbolic constants, implies is not said. What is found out of
    constraints is added to `known`, and not asked again. Raises TooManyOperations.
    """
    flat = gather(_flat(single))
    shape = _shape(single.get_space(), flat, given)
    names = [*flat.get_var_names_not_none(PARAM), *shape.names]
    determined = _determined(flat)
    while not isinstance(pieces := find_pieces(flat, determined, names), list):
        determined = [has_value and k not in pieces for k, has_value in enumerate(determined)]
    free = [name for name, has_value in zip(shape.names, determined, strict=True) if not has_value]
    found: list[_Disjunct] = []
    for piece in pieces:
        for part in describe_anew(_named(piece.domain, free), known, context).get_basic_sets():
            found.append(_disjunct(part, piece, free, shape, determined))
    return _texts(found, shape)


def write_plain_disjuncts(single: Single, given: Names) -> list[str]:
    """Return the texts of the disjuncts as isl has them, with names for the dimensions."""
    flat = _flat(single)
    shape = _shape(single.get_space(), flat, given)
    piece = Piece(domain=flat, values=())
    nothing = [False] * len(shape.names)
    parts = _named(flat, shape.names).get_basic_sets()
    return _texts([_disjunct(part, piece, shape.names, shape, nothing) for part in parts], shape)


def _shape(space: isl.Space, flat: isl.Set, given: Names) -> _Shape:
    constants = flat.get_var_names_not_none(PARAM)
    names = name_dimensions(space, constants, given)
    start = space.domain() if space.is_map() else space
    first = sum(len(each.given) for each in list_tuples(start))
    has_name = [bool(each.name) for each in list_tuples(space) for _ in each.given]
    default = find_default_names(space, constants, given)
    tells = [k < first and (has_name[k] or names[k] != default[k]) for k in range(len(names))]
    return _Shape(space=space, names=names, tells=tells)


def _flat(single: Single) -> isl.Set:
    """Return the set without tuples and names of dimensions, or the relation as such a set."""
    elements = single.wrap() if isinstance(single, isl.Map) else single
    if elements.is_params():
        return elements.from_params()
    flat = elements.flatten()
    return flat.reset_tuple_id() if flat.has_tuple_id() else flat


def _determined(flat: isl.Set) -> list[bool]:
    """Return which dimensions there is at most one value for, given those before them.

    What the equalities of a single conjunction without quotients give is not among them: the
    conjunction itself says it.
    """
    parts = flat.get_basic_sets()
    if len(parts) > 1 or parts[0].dim(DIV):
        equal = _by_equalities(flat.affine_hull())
        return [each or _is_determined(flat, k) for k, each in enumerate(equal)]
    equal = _by_equalities(parts[0])
    alone = _alone(parts[0])
    count = flat.dim(SET)
    found = [not (equal[k] or alone[k]) and _is_determined(flat, k) for k in range(count)]
    return [a or b for a, b in zip(found, equal, strict=True)] if any(found) else found


def _alone(part: isl.BasicSet) -> list[bool]:
    """Return which dimensions no constraint binds to another one: they are intervals."""
    found = [True] * part.dim(SET)
    for each in part.get_constraints():
        bound = [k for k in range(len(found)) if each.involves_dims(SET, k, 1)]
        if len(bound) > 1 or (bound and each.involves_dims(PARAM, 0, each.dim(PARAM))):
            for k in bound:
                found[k] = False
    return found


def _by_equalities(part: isl.BasicSet) -> list[bool]:
    """Return which dimensions equalities without quotients determine."""
    found = [False] * part.dim(SET)
    for each in part.get_constraints():
        if each.is_equality() and not each.involves_dims(DIV, 0, each.dim(DIV)):
            last = max((k for k in range(len(found)) if each.involves_dims(SET, k, 1)), default=-1)
            if last >= 0 and abs(each.get_coefficient_val(SET, last).to_python()) == 1:
                found[last] = True
    return found


def _is_determined(flat: isl.Set, position: int) -> bool:
    head = flat.project_out(SET, position + 1, flat.dim(SET) - position - 1)
    return bool(isl.Map.from_range(head).move_dims(IN, 0, OUT, 0, position).is_single_valued())


def _named(domain: isl.Set, names: Sequence[str]) -> isl.Set:
    for position, name in enumerate(names):
        domain = domain.set_dim_name(SET, position, name)
    return domain


def _disjunct(
    part: isl.BasicSet, piece: Piece, free: Sequence[str], shape: _Shape, determined: Sequence[bool]
) -> _Disjunct:
    """Return the value of each dimension, its name if it has none, and the constraints."""
    constants = part.get_var_names_not_none(PARAM)
    found = write_conjunction(part, [*constants, *free], len(constants)) or _from_isl(part, free)
    values = iter(piece.values)
    entries = [
        next(values) if has_value else found.values.get(name, name)
        for name, has_value in zip(shape.names, determined, strict=True)
    ]
    said = " ".join([found.constraints, *piece.values, *found.values.values()])
    return _Disjunct(entries=entries, constraints=found.constraints, said=set(WORD.findall(said)))


def _texts(disjuncts: Sequence[_Disjunct], shape: _Shape) -> list[str]:
    """Return `A[i, j = 1 + i] -> B[i] : i >= 0`, with the names that somebody needs.

    In a set or the domain of a relation a name stands before its value, too, if it says more than
    the position does. Where all have a number there, or it is in a range, the value is enough.
    """
    rows = zip(*(each.entries for each in disjuncts), strict=True)
    fixed = [all(value.lstrip("-").isdigit() for value in row) for row in rows]
    tells = [told and not is_fixed for told, is_fixed in zip(shape.tells, fixed, strict=True)]
    texts = []
    for each in disjuncts:
        shown = [
            f"{name} = {value}" if value != name and (name in each.said or told) else value
            for name, value, told in zip(shape.names, each.entries, tells, strict=True)
        ]
        text = dress(shape.space, shown)
        texts.append((f"{text} : {each.constraints}" if each.constraints else text).strip() or ":")
    return texts


def _from_isl(part: isl.BasicSet, names: Sequence[str]) -> Conjunction:
    """Return what isl prints of a conjunction of dimensions with the names."""
    head, _, constraints = _body(str(isl.Set.from_basic_set(part))).partition("]")
    texts = _split(spell_constraints(head.strip().removeprefix("[")))
    pairs = zip(names, texts, strict=False)
    values = {name: text.partition(" = ")[2] for name, text in pairs if "=" in text}
    plain = constraints.strip().removeprefix(":").strip()
    return Conjunction(values=values, constraints=spell_constraints(plain))


def _split(text: str) -> list[str]:
    """Return the entries of a tuple."""
    entries, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            entries.append("")
        else:
            entries[-1] += character
    return [entry.strip() for entry in entries]


def _body(text: str) -> str:
    """Return what stands between the braces."""
    return re.sub(r"\s+", " ", text[text.index("{") + 1 : text.rindex("}")]).strip()

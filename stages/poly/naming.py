"""Names of the dimensions of a set or relation, the same in its tuples and in its constraints.

The dimensions of `PE` are x and y. Another one has the name that the object gives it. Where there
is none, those of a tuple are i, j, k, l, m, n, ... by their position within it: letters alone, so
that no name looks like a symbolic constant (`index0`) or one that isl made (`o0`).
A name that an earlier dimension, a symbolic constant or the syntax of isl has gets a prime.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import islpy as isl

SET = isl.dim_type.set
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
class Names:
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


def name_dimensions(space: isl.Space, constants: Iterable[str], known: Names) -> list[str]:
    """Return a name for each dimension of a space, all of them different."""
    always = {**known.always, **ALWAYS}
    parts = [
        (always.get((each.name, len(each.given)), each.given), _usual(each, known))
        for each in list_tuples(space)
    ]
    return _unlike(parts, constants)


def find_default_names(space: isl.Space, constants: Iterable[str], known: Names) -> list[str]:
    """Return the names that the dimensions would have if the object gave them none."""
    parts = [_usual(each, known) for each in list_tuples(space)]
    return _unlike(zip(parts, parts, strict=True), constants)


def _usual(part: Tuple, known: Names) -> list[str]:
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

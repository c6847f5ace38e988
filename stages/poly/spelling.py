"""Spell what isl prints as a person would: quotients as `e//m`, remainders as `e mod m`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lairmake.stages.poly.quotient import spell_linear

NAME = r"[A-Za-z_]\w*'*"
FLOOR = re.compile(r"(?P<times>[*-]?)floor\(\((?P<of>[^()]*)\)/(?P<by>\d+)\)")
CONGRUENCE = re.compile(r"\((?P<of>[^()]*)\) mod (?P<by>\d+) = (?P<rest>\d+)\b(?! *[-+*/])")
REMAINDER = re.compile(r"\((?P<of>[^()]*)\) mod (?P<by>\d+)")
TERM = re.compile(rf"(?P<sign>[+-]?)\s*(?P<factor>\d*)(?P<name>(?:{NAME})?)")


def spell_constraints(text: str) -> str:
    """Return constraints as isl prints them, their quotients and remainders spelled shorter."""
    return REMAINDER.sub(_spell_remainder, CONGRUENCE.sub(_congruence, FLOOR.sub(_quotient, text)))


def _quotient(found: re.Match[str]) -> str:
    """Return `e//m`, in brackets where a factor or a sign stands before it."""
    text = f"{_bracket(found['of'])}//{found['by']}"
    return f"{found['times']}({text})" if found["times"] else text


def _congruence(found: re.Match[str]) -> str:
    """Return `e mod m = c` for `(e') mod m = c'`.

    The first factor of e is positive, the others are in -m/2 < f <= m/2, and e has no constant.
    """
    factors = _factors(found["of"])
    if factors is None:
        return found[0]
    by = int(found["by"])
    rest = int(found["rest"]) - factors.pop("", 0)
    least = _least(factors, by)
    if next(iter(least.values()), 0) < 0:
        least, rest = _least({name: -v for name, v in least.items()}, by), -rest
    return f"({spell_linear(least)}) mod {by} = {rest % by}"


def _least(factors: Mapping[str, int], by: int) -> dict[str, int]:
    """Return the factors modulo `by` that are nearest to 0, those that are 0 left out."""
    least = {name: v - by * -((by - 2 * v) // (2 * by)) for name, v in factors.items()}
    return {name: v for name, v in least.items() if v}


def _factors(text: str) -> dict[str, int] | None:
    """Return the factor of each name of a sum, the constant at ""; None if it is no such sum."""
    factors: dict[str, int] = {}
    position = 0
    while text[position:].strip():
        position += len(text[position:]) - len(text[position:].lstrip())
        term = TERM.match(text, position)
        if term is None or not (term["factor"] or term["name"]):
            return None
        value = int(term["factor"] or 1) * (-1 if term["sign"] == "-" else 1)
        factors[term["name"]] = factors.get(term["name"], 0) + value
        position = term.end()
    return factors


def _spell_remainder(found: re.Match[str]) -> str:
    return f"{_bracket(found['of'])} mod {found['by']}"


def _bracket(text: str) -> str:
    return text if re.fullmatch(NAME, text) else f"({text})"

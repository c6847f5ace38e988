"""Sums of names and quotients, `1 + 4PE_X + 2*(i//4)`, in the shortest spelling.

One sum has many: with m > 0,

    floor((e + m f) / m) = f + floor(e / m)
    floor(e / m) = -floor((m - 1 - e) / m)
    e - m floor(e / m) = e mod m

Of all that these give, the shortest text is taken, and of several the first one in the alphabet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeAlias

import islpy as isl

DIV = isl.dim_type.div
MOST_QUOTIENTS = 3
"""Sums with more quotients are not spelled here."""

Linear: TypeAlias = dict[str, int]
"""`{name: factor}`, the constant at ""; no factor is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotient:
    """`factor * floor(of / by)`."""

    factor: int
    of: Linear
    by: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """The sum of a linear part and quotients."""

    linear: Linear
    quotients: tuple[Quotient, ...] = ()


def read_sum(aff: isl.Aff, names: Sequence[str]) -> Sum | None:
    """Return an expression over the symbolic constants and dimensions with the names.

    Where it is no whole number at some point, its quotient is. None if a quotient is of another
    one, or there are more than `MOST_QUOTIENTS`.
    """
    whole = aff if aff.get_denominator_val().is_one() else aff.floor()
    quotients = []
    for position in range(whole.dim(DIV)):
        factor = whole.get_coefficient_val(DIV, position).to_python()
        div = whole.get_div(position) if factor else None
        if div is not None and div.dim(DIV) and div.involves_dims(DIV, 0, div.dim(DIV)):
            return None
        if div is not None:
            by = div.get_denominator_val().to_python()
            quotients.append(Quotient(factor=factor, of=_linear(div, names, by), by=by))
    found = Sum(linear=_linear(whole, names, 1), quotients=tuple(quotients))
    return found if len(quotients) <= MOST_QUOTIENTS else None


def _linear(aff: isl.Aff, names: Sequence[str], scale: int) -> Linear:
    """Return scale * aff without its quotients."""
    kinds = [isl.dim_type.param, isl.dim_type.in_]
    found = [aff.get_coefficient_val(kind, k) for kind in kinds for k in range(aff.dim(kind))]
    pairs = [("", aff.get_constant_val()), *zip(names, found, strict=True)]
    times = isl.Val(scale)
    return {name: v.mul(times).to_python() for name, v in pairs if not v.is_zero()}


def scale(total: Sum, factor: int, without: str = "") -> Sum:
    """Return factor * total, the term of the name left out if there is one."""
    linear = {n: factor * v for n, v in total.linear.items() if not without or n != without}
    quotients = [
        Quotient(factor=factor * each.factor, of=each.of, by=each.by) for each in total.quotients
    ]
    return Sum(linear=linear, quotients=tuple(quotients))


def spell(total: Sum, names: Sequence[str]) -> str:
    """Return the shortest text of a sum; names stand in the given order."""
    ways = [list(_ways(quotient)) for quotient in total.quotients]
    texts = {_join(total.linear, way, ["", *names]) for way in product(*ways)}
    return min(texts, key=lambda text: (len(text), text))


def _ways(quotient: Quotient) -> Iterator[tuple[Linear, str, int]]:
    """Yield sums `linear + factor * text` that are equal to a quotient; the text may be ""."""
    for each in (quotient, _flip(quotient)):
        outside, inside = _reduce(each)
        if inside.by == 1:
            yield outside, "", 0
            continue
        text = bracket(spell_linear(inside.of))
        yield outside, f"{text}//{inside.by}", inside.factor
        if inside.factor % inside.by == 0:
            times = -inside.factor // inside.by
            more = add(outside, {name: -times * v for name, v in inside.of.items()})
            yield more, f"{text} mod {inside.by}", times


def _flip(quotient: Quotient) -> Quotient:
    """Return the same as -factor * floor((by - 1 - of) / by)."""
    opposite = add({"": quotient.by - 1}, {name: -v for name, v in quotient.of.items()})
    return Quotient(factor=-quotient.factor, of=opposite, by=quotient.by)


def _reduce(quotient: Quotient) -> tuple[Linear, Quotient]:
    """Return a quotient as the sum of what is whole in it and the least quotient.

    Factors of a quotient by m are then in -m/2 < f <= m/2, its constant in 0 <= c < m.
    """
    by = quotient.by
    inner = nearest_to_zero(quotient.of, by)
    common = math.gcd(by, *inner.values())
    constant = quotient.of.get("", 0) // common
    left = add({"": constant % (by // common)}, {n: v // common for n, v in inner.items()})
    outside = {n: (v - inner.get(n, 0)) // by for n, v in quotient.of.items() if n}
    outside[""] = constant // (by // common)
    whole = {name: quotient.factor * v for name, v in outside.items() if v}
    return whole, Quotient(factor=quotient.factor, of=left, by=by // common)


def nearest_to_zero(linear: Linear, by: int) -> Linear:
    """Return the factors f with -by/2 < f <= by/2 of the same remainder, without the constant."""
    near = {name: v - by * -((by - 2 * v) // (2 * by)) for name, v in linear.items() if name}
    return {name: v for name, v in near.items() if v}


def add(left: Linear, right: Linear) -> Linear:
    """Return the sum, without names of factor 0."""
    total = {name: left.get(name, 0) + right.get(name, 0) for name in {**left, **right}}
    return {name: v for name, v in total.items() if v}


def _join(linear: Linear, parts: Sequence[tuple[Linear, str, int]], order: Sequence[str]) -> str:
    """Return the text of a sum, its names in the order; equal quotients are put together."""
    factors: dict[str, int] = {}
    for more, text, factor in parts:
        linear = add(linear, more)
        factors[text] = factors.get(text, 0) + factor
    quotients = sorted((text, v) for text, v in factors.items() if text and v)
    alone = not linear and len(quotients) == 1
    plain = [(linear[name], plain_term(name, linear[name])) for name in order if name in linear]
    return _join_terms([*plain, *((v, _term(v, text, alone)) for text, v in quotients)])


def _term(factor: int, text: str, alone: bool) -> str:
    """Return `text`, `(text)` or `factor*(text)`, without sign."""
    if abs(factor) != 1:
        return f"{abs(factor)}*({text})"
    return text if "mod" not in text or (alone and factor == 1) else f"({text})"


def spell_linear(linear: Linear) -> str:
    """Return `1 + 4PE_X - i`; the constant comes first."""
    ordered = sorted(linear.items(), key=lambda item: bool(item[0]))
    return _join_terms([(v, plain_term(name, v)) for name, v in ordered])


def plain_term(name: str, factor: int) -> str:
    """Return `4PE_X` for 4 or -4, `PE_X` for 1 or -1, and a number if there is no name."""
    return f"{abs(factor) if abs(factor) != 1 or not name else ''}{name}"


def _join_terms(terms: list[tuple[int, str]]) -> str:
    """Return the signed terms as a text, one with + first if there is one; 0 if there are none."""
    if not terms:
        return "0"
    leading = next((term for term in terms if term[0] > 0), terms[0])
    terms = sorted(terms, key=lambda term: term is not leading)
    sign, first = leading
    quotient = "//" in first and "*" not in first
    start = first if sign > 0 else f"-({first})" if quotient else f"-{first}"
    return start + "".join(f" {'+' if v > 0 else '-'} {text}" for v, text in islice(terms, 1, None))


def bracket(text: str) -> str:
    """Return the text of a dividend: a name as it is, anything else in brackets."""
    return text if text.replace("'", "").isidentifier() else f"({text})"

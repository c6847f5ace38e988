"""Write one conjunction as the values and the bounds of its dimensions, one after the other.

Each constraint is solved for the last dimension that is in no quotient of it, or symbolic constant
if there is no such dimension: `8PE_Y <= i <= 7 + 8PE_Y`. Remainders that are fixed come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.poly.quotient import (
    Linear,
    Sum,
    add,
    bracket,
    nearest_to_zero,
    plain_term,
    read_sum,
    scale,
    spell,
    spell_linear,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conjunction:
    """Texts: the values of dimensions, by name, and the constraints."""

    values: dict[str, str]
    constraints: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is not more, and what is not less, than one multiple of a name."""

    lower: list[Sum] = field(default_factory=list)
    upper: list[Sum] = field(default_factory=list)


def write_conjunction(part: isl.BasicSet, names: Sequence[str], first: int) -> Conjunction | None:
    """Return the texts of a conjunction of the symbolic constants and dimensions with the names.

    The names of dimensions come from `first` on. None if there are existential variables that are
    no quotients, or quotients of quotients.
    """
    values: dict[str, str] = {}
    said: list[tuple[int, int, str]] = []
    bounds: dict[tuple[int, int], Bounds] = {}
    for constraint in part.get_constraints():
        if constraint.is_div_constraint():
            continue
        try:
            total = read_sum(constraint.get_aff(), names)
        except isl.Error:
            return None
        if total is None:
            return None
        at = _last(total, names)
        if at is None and constraint.is_equality():
            said.append((0, 0, _remainder(total, names)))
        elif at is None:
            said.append((1, len(names), _bounded_remainder(total, names)))
        elif constraint.is_equality():
            factor = total.linear[names[at]]
            value = spell(scale(total, -1 if factor > 0 else 1, names[at]), names)
            if abs(factor) == 1 and at >= first and _is_last(total, names, at):
                values[names[at]] = value
            else:
                said.append((1, at, f"{plain_term(names[at], factor)} = {value}"))
        else:
            factor = total.linear[names[at]]
            found = bounds.setdefault((at, abs(factor)), Bounds())
            side = found.lower if factor > 0 else found.upper
            side.append(scale(total, -1 if factor > 0 else 1, names[at]))
    for (at, factor), each in bounds.items():
        said += [(1, at, text) for text in _chains(plain_term(names[at], factor), each, names)]
    return Conjunction(values=values, constraints=" and ".join(text for *_, text in sorted(said)))


def _last(total: Sum, names: Sequence[str]) -> int | None:
    """Return the position of the last name that is in no quotient; None if there is none."""
    divided = {name for quotient in total.quotients for name in quotient.of}
    return max((names.index(n) for n in total.linear if n and n not in divided), default=None)


def _is_last(total: Sum, names: Sequence[str], at: int) -> bool:
    """Do only names before a position occur besides the one there?"""
    used = {name for each in (total.linear, *(q.of for q in total.quotients)) for name in each}
    return all(names.index(name) <= at for name in used if name)


def _remainder(total: Sum, names: Sequence[str]) -> str:
    """Return `e mod m = c`, or what is as good, of `total = 0`.

    The first factor of e is positive, the others are in -m/2 < f <= m/2, and e has no constant.
    """
    found = _times_remainder(total)
    if found is None or found[1] % found[0]:
        return _compared(total, names, "=")
    times, constant = found
    (quotient,) = total.quotients
    remainder = -constant // times - quotient.of.get("", 0)
    least = _in_order(nearest_to_zero(quotient.of, quotient.by), names)
    if next(iter(least.values()), 0) < 0:
        least = nearest_to_zero({name: -v for name, v in least.items()}, quotient.by)
        remainder = -remainder
    return f"{bracket(spell_linear(least))} mod {quotient.by} = {remainder % quotient.by}"


def _times_remainder(total: Sum) -> tuple[int, int] | None:
    """Return t and c with total = t (e mod m) + c, where e and m are of its quotient, if so."""
    if len(total.quotients) != 1 or total.quotients[0].factor % total.quotients[0].by:
        return None
    (quotient,) = total.quotients
    times = -quotient.factor // quotient.by
    rest = add(total.linear, {name: -times * v for name, v in quotient.of.items()})
    return (times, rest.get("", 0)) if not rest.keys() - {""} else None


def _bounded_remainder(total: Sum, names: Sequence[str]) -> str:
    """Return `e mod m <= c` or `e mod m >= c`, or what is as good, of `total >= 0`."""
    found = _times_remainder(total)
    if found is None:
        return _compared(total, names, ">=")
    times, constant = found
    (quotient,) = total.quotients
    least = _in_order(nearest_to_zero(quotient.of, quotient.by), names)
    shifted = add({"": quotient.of.get("", 0) % quotient.by}, least)
    end = f"<= {constant // -times}" if times < 0 else f">= {-(constant // times)}"
    return f"{bracket(spell_linear(shifted))} mod {quotient.by} {end}"


def _in_order(linear: Linear, names: Sequence[str]) -> Linear:
    return {name: linear[name] for name in names if name in linear}


def _compared(total: Sum, names: Sequence[str], sign: str) -> str:
    """Return `e = c`, `e >= c` or `e <= c` of `total = 0` or `total >= 0`, the shorter one."""
    constant = total.linear.get("", 0)
    rest = Sum(linear=add(total.linear, {"": -constant}), quotients=total.quotients)
    opposite = f"{spell(scale(rest, -1), names)} {sign.replace('>', '<')} {constant}"
    return min(f"{spell(rest, names)} {sign} {-constant}", opposite, key=len)


def _chains(name: str, bounds: Bounds, names: Sequence[str]) -> list[str]:
    """Return `l <= name <= u` as far as there are lower and upper bounds, then single ones.

    Bounds that differ by a number come together.
    """
    lower = sorted((_bound(each, 1, names), _variable(each)) for each in bounds.lower)
    upper = sorted((_bound(each, -1, names), _variable(each)) for each in bounds.upper)
    pairs = []
    for bound, kind in list(lower):
        same = next((other for other in upper if other[1] == kind), None)
        if same is not None:
            upper.remove(same)
            lower.remove((bound, kind))
            pairs.append((bound, same[0]))
    while lower and upper:
        pairs.append((lower.pop(0)[0], upper.pop(0)[0]))
    found = [f"{low} <{less} {name} <{more} {high}" for (low, less), (high, more) in pairs]
    found += [f"{name} >{equal} {text}" for (text, equal), _ in lower]
    return sorted([*found, *(f"{name} <{equal} {text}" for (text, equal), _ in upper)])


def _bound(total: Sum, open_by: int, names: Sequence[str]) -> tuple[str, str]:
    """Return the text of a bound, and "=" or "", whether it is one of the values.

    `e - 1` as the greatest value is said as less than e, and `1 + e` as the least as more than e.
    """
    constant = total.linear.get("", 0)
    if constant != open_by or (len(total.linear) == 1 and not total.quotients):
        return spell(total, names), "="
    rest = Sum(linear=add(total.linear, {"": -constant}), quotients=total.quotients)
    return spell(rest, names), ""


def _variable(total: Sum) -> str:
    """Return what tells sums apart that do not only differ by a number."""
    linear = sorted((name, v) for name, v in total.linear.items() if name)
    return f"{linear} {[(q.factor, sorted(q.of.items()), q.by) for q in total.quotients]}"

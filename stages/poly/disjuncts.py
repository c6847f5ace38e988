"""Spelling of one set or map: disjuncts, conjunctions, quotients."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import TypeAlias

import islpy as isl

from lairmake.stages.poly.canonical import (
    MOST_MERGED,
    DimensionNames,
    Needed,
    describe_anew,
    dress,
    find_default_names,
    gather,
    list_tuples,
    name_dimensions,
)
from lairmake.stages.poly.functions import find_function_in
from lairmake.stages.poly.quota import limit_operations

PARAM, IN, OUT, SET, DIV = (
    isl.dim_type.param, isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.div,
)

# --- Sums of names and quotients ------------------------------------------------------------------
#
# One sum, as `1 + 4PE_X + 2*(i//4)`, has many spellings: with m > 0,
#
#     floor((e + m f) / m) = f + floor(e / m)
#     floor(e / m) = -floor((m - 1 - e) / m)
#     e - m floor(e / m) = e mod m
#
# Of all that these give, the shortest text is taken, and of several the first one in the alphabet.

MOST_QUOTIENTS = 3
"""The most quotients of a sum that is spelled here."""

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

    An expression that is no whole number at some point is rounded down. None if a quotient is of
    another one, or there are more than `MOST_QUOTIENTS`.
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

# --- Texts of one conjunction ---------------------------------------------------------------------
#
# A conjunction is the values and the bounds of its dimensions, one after the other. Each constraint
# is solved for the last dimension that is in no quotient of it, or symbolic constant if there is no
# such dimension: `8PE_Y <= i <= 7 + 8PE_Y`. Remainders that are fixed come first.

@dataclass(frozen=True, slots=True, kw_only=True)
class Conjunction:
    """Texts: the values of dimensions, by name, and the constraints."""

    values: dict[str, str]
    constraints: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Sums that are not more, and sums that are not less, than one multiple of a name."""

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

# --- Constraints as a person would spell them -----------------------------------------------------
#
# isl's quotients are spelled as `e//m`, its remainders as `e mod m`.

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

# --- Dimensions as functions of earlier ones ------------------------------------------------------

MOST_PIECES = 12
"""The most pieces of a function; one with more pieces is written as a relation."""
MOST_OPERATIONS = 250_000
"""Operations that isl may spend on finding a function: seconds, where it meets lattices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPiece:
    """Where the free dimensions are, and there the text of each dimension that they determine."""

    domain: isl.Set
    values: tuple[str, ...]


def find_pieces(
    flat: isl.Set, determined: Sequence[bool], names: Sequence[str]
) -> list[FunctionPiece] | set[int]:
    """Return the pieces of the function from the free dimensions to the others.

    Where that function cannot be written, return the dimensions that are to be free, too: all if
    there are more than `MOST_PIECES`, else those that no expression of earlier dimensions gives.
    Raises TooManyOperations where isl would need long to find it.
    """
    if not any(determined):
        return [FunctionPiece(domain=flat, values=())]
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
    return [FunctionPiece(domain=domain, values=texts) for texts, domain in merged.items()]


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

# --- Disjuncts of one set or relation -------------------------------------------------------------
#
# A dimension that the symbolic constants and the dimensions before it determine is written as an
# expression of those that are free, `{ ff[i, j] -> PE[j//4, y] : 0 <= y <= 3 }`. What is left to
# say are the constraints of the free ones.

Single = isl.Set | isl.Map
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
    single: Single, given: DimensionNames, known: Needed, context: isl.Set | None = None
) -> list[str]:
    """Return the texts of the disjuncts of a set or relation, without symbolic constants.

    What the context, a set of symbolic constants, implies is not said. What is found out of
    constraints is added to `known`, and not asked again. Raises TooManyOperations.
    """
    return [
        text for part in _list_by_step(single)
        for text in _write_merged(part, given, known, context)
    ]


def _list_by_step(single: Single) -> list[Single]:
    """Return a relation to pairs of points of one space by the step from one to the other.

    Steps to several sides have a conjunction in common, but no simple one. What has more than
    `MOST_MERGED` steps is not parted.
    """
    if not isinstance(single, isl.Map) or not single.range_is_wrapping():
        return [single]
    pairs = single.get_space().range().unwrap()
    if not pairs.domain().is_equal(pairs.range()):
        return [single]
    steps, found = single.range().unwrap().deltas().drop_unused_params(), list[Single]()
    if steps.dim(PARAM) or not steps.is_bounded():
        return [single]
    between = isl.Map.universe(pairs).deltas_map()
    while not steps.is_empty():
        if len(found) == MOST_MERGED:
            return [single]
        step = isl.Set.from_point(steps.sample_point())
        found.append(single.intersect_range(between.intersect_range(step).domain()))
        steps = steps.subtract(step)
    return found if len(found) > 1 else [single]


def _write_merged(
    single: Single, given: DimensionNames, known: Needed, context: isl.Set | None
) -> list[str]:
    """Return the texts of `write_disjuncts`, of as few disjuncts as are found."""
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


def write_plain_disjuncts(single: Single, given: DimensionNames) -> list[str]:
    """Return the texts of the disjuncts as isl has them, with names for the dimensions."""
    flat = _flat(single)
    shape = _shape(single.get_space(), flat, given)
    piece = FunctionPiece(domain=flat, values=())
    nothing = [False] * len(shape.names)
    parts = _named(flat, shape.names).get_basic_sets()
    return _texts([_disjunct(part, piece, shape.names, shape, nothing) for part in parts], shape)


def _shape(space: isl.Space, flat: isl.Set, given: DimensionNames) -> _Shape:
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
    part: isl.BasicSet,
    piece: FunctionPiece,
    free: Sequence[str],
    shape: _Shape,
    determined: Sequence[bool],
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

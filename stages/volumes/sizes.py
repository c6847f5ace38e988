"""Inference of the sizes of volumes, forwards and backwards, and of whether any fit.

Source   F: shape inference through implied context, and feasibility

A size is a symbolic constant, `v_1` for dimension 1 of the volume v. Operations claim equations and
inequalities of sizes; all of them together say which sizes there may be.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.poly.functions import PARAM

NUMBER = re.compile(r"(\w+) = (\d+)")
WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What an operation says of sizes: `text`, a constraint of isl where `factors` are numbers.

    `operation` is how a person calls it, and `span` where it stands.
    """

    text: str
    operation: str
    span: Span
    factors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The sizes of volumes: `context` holds for those that stay symbolic constants.

    `values` gives every other one, as an affine expression of these.
    """

    context: isl.Set
    values: dict[str, str]

    def fill(self, text: str) -> str:
        """Return a text of isl with the sizes that are known in place of their names."""
        return _fill(text, self.values)


def solve(names: Sequence[str], claims: Sequence[Claim]) -> Sizes:
    """Return the sizes `names`, each at least 1, of which all claims hold.

    Of sizes that depend on each other the first ones stay symbolic constants. Numbers are put in
    before isl sees anything.
    Raises UserError where no sizes fit, with the operations that contradict each other; or where a
    factor is no number.
    """
    order = {claim.span: at for at, claim in reversed(list(enumerate(claims)))}
    linear = [claim for claim in claims if not claim.factors]
    waiting = [claim for claim in claims if claim.factors]
    found = _solve(names, linear)
    while waiting:
        ready = [c for c in waiting if all(_is_known(each, found) for each in c.factors)]
        if not ready:
            raise _unknown_factor(waiting[0], found)
        waiting = [claim for claim in waiting if claim not in ready]
        linear += [replace(c, text=_fill(c.text, _factors(c, found)), factors=()) for c in ready]
        found = _solve(names, sorted(linear, key=lambda claim: order[claim.span]))
    return found


def _is_known(size: str, sizes: Sizes) -> bool:
    return sizes.values.get(size, "").isdigit()


def _factors(claim: Claim, sizes: Sizes) -> dict[str, str]:
    return {each: sizes.values[each] for each in claim.factors}


def _unknown_factor(claim: Claim, sizes: Sizes) -> UserError:
    name = next(each for each in claim.factors if not _is_known(each, sizes))
    same = sizes.fill(name)
    fix = same if WORD.fullmatch(same) else name
    hint = f"inner sizes are numbers: fix it in kernel.yaml, `sizes: {{{fix}: 4}}`"
    return UserError(f"{claim.operation} multiplies by the unknown size {name}", claim.span, hint)


def _solve(names: Sequence[str], claims: Sequence[Claim]) -> Sizes:
    """Return the sizes of which all claims, which are linear, hold. Raises UserError."""
    known = {m[1]: m[2] for claim in claims if (m := NUMBER.fullmatch(claim.text))}
    open_ = [name for name in names if name not in known]
    texts = [f"{size} >= 1" for size in (*open_, *known.values())]
    every = _meet(open_, [*texts, *(_fill(claim.text, known) for claim in claims)])
    if every.is_empty():
        raise _contradiction(names, claims)
    values = _solved(open_, every.affine_hull())
    context = _without_set(every, values).coalesce().detect_equalities().remove_redundancies()
    return Sizes(context=context, values={**known, **values})


def _solved(names: Sequence[str], hull: isl.BasicSet) -> dict[str, str]:
    """Return those sizes that equations give, as expressions of the others."""
    found, kept = [], hull
    for name in reversed(names):
        if _equation(name, kept) is not None:
            found.append(name)
            kept = _without(kept, [name])
    return {
        name: _value(name, _without(hull, [other for other in found if other != name]))
        for name in found
    }


def _fill(text: str, values: Mapping[str, str]) -> str:
    return WORD.sub(lambda word: values.get(word[0], word[0]), text)


def _meet(names: Sequence[str], texts: Iterable[str]) -> isl.Set:
    """Return [names] -> { : all of the texts hold }."""
    constraints = " and ".join(f"({text})" for text in dict.fromkeys(texts)) or "true"
    return isl.Set(f"[{', '.join(names)}] -> {{ : {constraints} }}")


def _equation(name: str, hull: isl.BasicSet) -> isl.Constraint | None:
    position = hull.space.find_dim_by_name(PARAM, name)
    found = [
        each for each in hull.get_constraints()
        if each.is_equality() and not each.get_coefficient_val(PARAM, position).is_zero()
        and not each.involves_dims(isl.dim_type.div, 0, each.dim(isl.dim_type.div))
    ]
    return min(found, key=lambda c: abs(c.get_coefficient_val(PARAM, position).to_python()),
               default=None)


def _value(name: str, hull: isl.BasicSet) -> str:
    """Return a size as an expression of the symbolic constants in the equation for it."""
    equation = _equation(name, hull)
    assert equation is not None
    position = hull.space.find_dim_by_name(PARAM, name)
    own = equation.get_coefficient_val(PARAM, position).to_python()
    sign = -1 if own > 0 else 1
    terms = [
        _term(sign * factor.to_python(), str(hull.get_dim_name(PARAM, at)))
        for at in range(hull.dim(PARAM))
        if at != position
        and not (factor := equation.get_coefficient_val(PARAM, at)).is_zero()
    ]
    constant = sign * equation.get_constant_val().to_python()
    text = " + ".join([*terms, *([str(constant)] if constant or not terms else [])])
    if abs(own) != 1:
        return f"(floor(({text})/{abs(own)}))"
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def _term(factor: int, name: str) -> str:
    return name if factor == 1 else f"{factor}*{name}"


def _without(hull: isl.BasicSet, names: Iterable[str]) -> isl.BasicSet:
    for name in names:
        hull = hull.project_out(PARAM, hull.space.find_dim_by_name(PARAM, name), 1)
    return hull


def _without_set(context: isl.Set, names: Iterable[str]) -> isl.Set:
    for name in names:
        context = context.project_out(PARAM, context.find_dim_by_name(PARAM, name), 1)
    return context


def _contradiction(names: Sequence[str], claims: Sequence[Claim]) -> UserError:
    """Return an error with claims that contradict each other, none of which may be left out.

    It stands at the last of them, which is the first that goes wrong.
    """
    least = [f"{name} >= 1" for name in names]

    def is_wrong(some: Sequence[Claim]) -> bool:
        return _meet(names, [*least, *(claim.text for claim in some)]).is_empty()

    end = bisect.bisect_left(range(len(claims)), True, key=lambda n: is_wrong(claims[: n + 1]))
    core = list(claims[: end + 1])
    for claim in reversed(core):
        rest = [each for each in core if each is not claim]
        core = rest if is_wrong(rest) else core
    told = "; ".join(f"{each.operation} on line {each.span.line}: {each.text}" for each in core)
    operations = list(dict.fromkeys(each.operation for each in core))
    be = "contradict each other" if len(operations) > 1 else "contradicts itself"
    hint = "x_1 is the size of x in dimension 1, counted from 0; sizes are at least 1"
    return UserError(f"{' and '.join(operations)} {be}: {told}", core[-1].span, hint)

"""Functions of symbolic constants: bound, least, greatest, over arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

import islpy as isl

PARAM, IN, OUT, SET, DIV = (
    isl.dim_type.param, isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.div,
)

# --- Functions read from sets and relations -------------------------------------------------------

def find_function(point: isl.Set) -> isl.PwMultiAff:
    """Return f of `[n] -> { [x] : x = f(n) }`, everywhere where the set has a point.

    Raises isl.Error if there are several points. isl loses points where equalities with a stride
    meet integer divisions: there the least point is taken, which is the only one.
    """
    function = isl.PwMultiAff.from_set(point)
    if isl.Set.from_pw_multi_aff(function).is_equal(point):
        return function
    return point.lexmin_pw_multi_aff()


def find_function_in(relation: isl.Map) -> isl.PwMultiAff:
    """Return the function that a relation is, as `find_function`. Raises isl.Error for none."""
    function = relation.as_pw_multi_aff()
    if isl.Map.from_pw_multi_aff(function).is_equal(relation):
        return function
    return relation.lexmin_pw_multi_aff()


def is_affine_function(function: isl.PwAff, context: isl.Set) -> bool:
    """Return whether [p] -> { [f(p)] } has one piece in the context, and no division."""
    simple = function.gist(context).coalesce()
    if not simple.isa_aff():
        return False
    found = simple.as_aff()
    return bool(found.get_denominator_val().is_one()) and found.dim(isl.dim_type.div) == 0

# --- Simpler functions on a domain ----------------------------------------------------------------

def simplify(function: isl.PwAff, domain: isl.Set) -> isl.PwAff:
    """Return a function that has the same values on a domain, with simpler pieces; rounded down.

    isl's gist may let pieces overlap off the domain, with several values there: then the function
    is only coalesced. Ensures that `[p] -> { [f(p)] }` has one element for each value of p.
    """
    simple = function.gist(domain).coalesce().floor()
    values = isl.Map.from_range(isl.Set.from_pw_aff(simple))
    return simple if values.is_single_valued() else function.coalesce().floor()

# --- Symbolic constants in place of tuples --------------------------------------------------------
#
# Paper    V Sec. 2, (4); Sec. 4.3, (8), (9)

PE_NAMES = ["PE_X", "PE_Y"]
"""The symbolic constants that stand for the coordinates of a PE."""


Parametric = TypeVar("Parametric", isl.Set, isl.Map)


def name_indices(n: int) -> list[str]:
    """Return the symbolic constants of an order with `n` dimensions, the innermost one last.

    `name_indices(1)` is `["index"]`, `name_indices(3)` is `["index0", "index1", "index"]`.
    """
    return [*(f"index{i}" for i in range(n - 1)), "index"][-n:] if n else []


def find_index_constants(obj: isl.Set | isl.Map) -> list[str]:
    """Return the symbolic constants of a set or map but those of the PE, in their order."""
    return [name for name in obj.get_var_names_not_none(PARAM) if name not in PE_NAMES]


def bind_range(relation: isl.Map, names: Sequence[str]) -> isl.Set:
    """Return `{ a : (a -> names) in relation }`, the range removed.

    Raises ValueError if the range does not have one dimension per name.
    """
    return relation.bind_range(_multi_id(relation.range().space, names))


def bind_domain(relation: isl.Map, names: Sequence[str]) -> isl.Set:
    """Return `{ b : (names -> b) in relation }`, the domain removed.

    Raises ValueError if the domain does not have one dimension per name.
    """
    return bind_range(relation.reverse(), names)


def bind_set(elements: isl.Set, names: Sequence[str]) -> isl.Set:
    """Return the set without tuple `[names] -> { : names in elements }`.

    Raises ValueError if the set does not have one dimension per name.
    """
    return elements.bind(_multi_id(elements.space, names))


def unbind_set(elements: isl.Set, tuple_name: str, names: Sequence[str]) -> isl.Map:
    """Return `{ tuple_name[names] -> a : a in elements }`, the names no longer constants."""
    listed = ", ".join(names)
    identifiers = isl.MultiId(f"[{listed}] -> {{ {tuple_name}[{listed}] }}")
    return elements.unbind_params_insert_domain(identifiers)


def project_names(obj: Parametric, names: Sequence[str]) -> Parametric:
    """Return `{ a : exists names : a in obj }`; names that do not occur are ignored."""
    result = cast("isl.Set | isl.Map", obj)
    for name in names:
        position = result.find_dim_by_name(PARAM, name)
        if position >= 0:
            result = result.project_out(PARAM, position, 1)
    return cast(Parametric, result)


def _multi_id(space: isl.Space, names: Sequence[str]) -> isl.MultiId:
    """Return the tuple of identifiers `{ T[names] }` for a set space with tuple name `T`.

    The identifiers come from parsed text: those made by `isl.Id` differ from parsed ones.
    """
    if space.dim(isl.dim_type.set) != len(names):
        raise ValueError(f"cannot bind {space} to {list(names)}")
    tuple_name = space.get_tuple_name(isl.dim_type.set) or ""
    listed = ", ".join(names)
    return isl.MultiId(f"[{listed}] -> {{ {tuple_name}[{listed}] }}")

# --- Least and greatest values of a dimension -----------------------------------------------------
#
# isl searches for these values by halves, and adds the bounds of each half to the set itself where
# that has room for further constraints (`add_bounds` of isl_ilp.c has no copy of its own; islpy
# 2026.2.2). Of sets that have equalities, such as `c mod 2 = 0`, it has been seen to return a value
# that is there, but is not the last one. So the functions below ask for what lies beyond, until
# nothing does: whether a set is empty is found in another way.
#
# All return a number; isl's infinity where there is no bound, and what isl says of nothing at all.
# Symbolic constants may have any value.

def find_least(elements: isl.Set, position: int) -> isl.Val:
    """Return the least value of the dimension at a position."""
    value = elements.dim_min_val(position)
    while value.is_int():
        elements = elements.upper_bound_val(SET, position, value.sub(1))
        if elements.is_empty():
            break
        value = elements.dim_min_val(position)
    return value


def find_greatest(elements: isl.Set, position: int) -> isl.Val:
    """Return the greatest value of the dimension at a position."""
    value = elements.dim_max_val(position)
    while value.is_int():
        elements = elements.lower_bound_val(SET, position, value.add(1))
        if elements.is_empty():
            break
        value = elements.dim_max_val(position)
    return value


def least_value(function: isl.PwAff) -> isl.Val:
    """Return the least value of an integral function, wherever it has one."""
    return greatest_value(function.neg()).neg()


def greatest_value(function: isl.PwAff) -> isl.Val:
    """Return the greatest value of an integral function, wherever it has one."""
    value = function.max_val()
    while value.is_rat():
        function = _beyond(function, value)
        if function.domain().is_empty():
            break
        value = function.max_val()
    return value


def _beyond(function: isl.PwAff, value: isl.Val) -> isl.PwAff:
    """Return the function where it is greater than a value."""
    space = function.domain().get_space()
    beyond = function.gt_set(isl.PwAff.from_aff(isl.Aff.val_on_domain_space(space, value)))
    if beyond.is_params():
        return function.intersect_params(beyond)
    return function.intersect_domain(beyond)

# --- Functions with one value everywhere ----------------------------------------------------------

def find_same(function: isl.PwAff) -> int | None:
    """Return the number that a function is wherever it has a value; None for other functions.

    isl's `is_cst` holds of functions of which each piece is a constant, one of its own.
    """
    if not function.is_cst():
        return None
    least, most = least_value(function.floor()), greatest_value(function.floor())
    return most.to_python() if least.eq(most) else None

# --- Extreme values of a relation at each point ---------------------------------------------------
#
# isl's lexmin and lexmax lose points of some relations with integer divisions: all that there are
# at a point, or the least of them only. They do so with relations as these were constructed, not as
# read from their text. So what they find is proved, and they are asked again for what they lost.

MOST_TIMES = 4
"""The most times that isl is asked for what it lost before."""


def least(relation: isl.Map) -> isl.Map:
    """Return { a -> b : b the lexicographically least with (a -> b) in the relation }.

    Raises ArithmeticError where isl does not find it.
    """
    return _proved(relation, isl.Map.lexmin, isl.Map.lex_gt(relation.range().space))


def greatest(relation: isl.Map) -> isl.Map:
    """Return { a -> b : b the lexicographically greatest with (a -> b) in the relation }.

    Raises ArithmeticError where isl does not find it.
    """
    return _proved(relation, isl.Map.lexmax, isl.Map.lex_lt(relation.range().space))


def _proved(relation: isl.Map, extreme: Callable[[isl.Map], isl.Map], beyond: isl.Map) -> isl.Map:
    """Return what `extreme` finds: in the relation, of the same domain, with nothing beyond it.

    Where there is something beyond, or nothing was found, `extreme` is asked for that alone.
    """
    for each in (relation, isl.Map(str(relation))):
        found = extreme(each)
        for _ in range(MOST_TIMES):
            if not found.is_subset(relation):
                break
            left = relation.subtract_domain(found.domain())
            left = left.union(relation.intersect(found.apply_range(beyond)))
            if left.is_empty():
                return found
            found = found.subtract_domain(left.domain()).union(extreme(left))
    raise ArithmeticError(f"isl loses points of {relation}")

# --- Arguments on which a function depends --------------------------------------------------------

def functions(relation: isl.Map) -> list[isl.PwAff]:
    """Return the functions { S[i] -> [...] } of a map that is one, a dimension each."""
    whole = relation.as_pw_multi_aff()
    return [whole.get_at(k) for k in range(relation.dim(OUT))]


def arguments(function: isl.PwAff) -> set[int]:
    """Return the dimensions of the argument in the expressions of a function.

    The domain does not count.
    """
    terms = [term for _, term in function.get_pieces()]
    return {k for term in terms for k in range(term.dim(IN)) if term.involves_dims(IN, k, 1)}


def depends_on(relation: isl.Map) -> list[set[int]]:
    """Return the arguments of each dimension of the result. Raises isl.Error for no function."""
    return list(map(arguments, functions(relation)))

"""Is an access a constant plus a linear function of the tuple dimensions?

Paper    V Sec. 3 and Sec. 5, condition 4

For two instances d and d' of one task invocation let delta = d' - d.  An access f is linear with
coefficients A iff f(d') - f(d) = A delta for all pairs.  A follows from a basis of the lattice of
the pairs (d, f(d)).  The constant f(d) - A d then has one value for each value of the symbolic
constants.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.function import find_function
from lairmake.stages.poly.integers import Matrix, solve
from lairmake.stages.poly.lattices import directions
from lairmake.stages.poly.simple import simplify

IN, OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearForm:
    """An access `T[d] -> U[constant(p) + coefficients d]`.

    `coefficients` has one row per dimension of U and one column per dimension of T; `constant`
    has one piecewise quasi-affine function of the symbolic constants per dimension of U.  They
    are simplified with respect to the symbolic constants for which the access is not empty, and
    hold only there.
    """

    coefficients: tuple[tuple[int, ...], ...]
    constant: tuple[isl.PwAff, ...]


def linear_form(access: isl.Map, context: isl.Set) -> LinearForm | None:
    """Return the linear form of a single-valued access within the context; None if it has none.

    A dimension with one value per invocation has coefficient 0.
    Ensures that the form is equal to the access on the access's domain.
    """
    known = access.intersect_params(context)
    width, height = known.dim(IN), known.dim(OUT)
    basis = directions(known.wrap().flatten())
    coefficients = [
        solve([row[:width] for row in basis], [row[width + out] for row in basis], width)
        for out in range(height)
    ]
    found = [row for row in coefficients if row is not None]
    return _with_constant(known, found) if len(found) == height else None


def _with_constant(access: isl.Map, coefficients: Matrix) -> LinearForm | None:
    """Return the form with constant `f(d) - A d`; None if that depends on d."""
    linear = _linear_function(access.space, coefficients)
    rest = access.sum(isl.Map.from_multi_aff(linear.neg())).range()
    if not isl.Map.from_range(rest).is_single_valued():
        return None
    domain = rest.params()
    constants = find_function(rest)
    return LinearForm(
        coefficients=tuple(tuple(row) for row in coefficients),
        constant=tuple(
            simplify(constants.get_pw_aff(position), domain)
            for position in range(access.dim(OUT))
        ),
    )


def _linear_function(space: isl.Space, coefficients: Matrix) -> isl.MultiAff:
    """Return `{ T[d] -> U[A d] }`."""
    result = isl.MultiAff.zero(space)
    for out, row in enumerate(coefficients):
        term = result.get_at(out)
        for position, factor in enumerate(row):
            term = term.set_coefficient_val(IN, position, factor)
        result = result.set_at(out, term)
    return result

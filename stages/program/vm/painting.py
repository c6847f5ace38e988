"""What is painted on the virtual machine, as paint.isl has it.

    role_worker := { PE[x, y] : ... };
    args_dist_0 := { [PE[x, y] -> E[]] -> ramp[] : ...; ... };     in each of its positions
    args_dist_counts, args_dist_ring, args_dist_pop := { PE[x, y] -> [n] : ... };
    geo_even := { PE[x, y] : ... };
    geo_rows := { PE[x, y] -> [8] : ... };

PEs are those of the fabric. Counts, ring and pop say what layouts say by these keys, and nothing
where a PE has all positions, a ring, and never pops.

Geo-vars are what programs know of their PE when they are compiled. Each is there if what it is for
is used by the program: a set for a condition, a relation for a number.

of workers, if there are neighbours (Features.neighbours)
    even         x + y of the field is even: sends on C1, takes on C0
    has_west, has_east, has_north, has_south
                 has that neighbour in the field: the taking switch has the states of these sides,
                 the sending switch those whose opposite side is one of these
of workers and reduction PEs, if there are sums (Features.sums)
    farthest     of workers: sends last in its column (reduction_1); of reduction PEs: sends last in
                 its strip (reduction_2). Sends a quiet [RESET] behind its value; others turn
of reduction PEs, if there are sums
    rows         [n]: how many values it takes on reduction_1. Where there are 0 (the upper strip of
                 a field of one row) it begins with the neutral value, and takes part as all do
    columns      [n]: how many values it takes on reduction_2 beside its own: 0 but for inner PEs
    upper_left, upper_right, lower_left, lower_right
                 the four inner PEs. upper_right takes 3 values on reduction_4: upper_left sends its
                 value and a quiet [ADVANCE], lower_right its value turning its own router,
                 lower_left its value and a quiet [RESET]
of response PEs, always
    part         [n]: which part of each section it has: right 1, left 1, right 2...
    outermost    sends last: [RESET, ADVANCE] behind its part, others [ADVANCE, ADVANCE]

Paper    E Sec. 6.2: geo-vars such as reduction_reset_mask
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

ROLE = "role_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Painted:
    """A colour: where routers send it in each position, and their switches, as layouts say it."""

    positions: tuple[str, ...]
    counts: str | None = None
    ring: str | None = None
    pop: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Painting:
    """What paint.isl says: PEs of each role, colours in the order of their numbers, and geo-vars.

    The names of geo-vars are without `geo_`: a set { PE[x, y] }, or a map { PE[x, y] -> [n] }.
    """

    roles: Mapping[str, isl.Set]
    colours: Mapping[str, Painted]
    variables: Mapping[str, isl.Set | isl.Map]


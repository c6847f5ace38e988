"""The slice of the instances that a task runs when an element with given index values arrives.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5.1, eqs. (11), (12), (17), (27), (32)
"""

from __future__ import annotations

import islpy as isl

from stages.poly.bind import PE_NAMES, bind_range, index_names
from stages.poly.kinds import InstanceSet


def bind_placement(placement: isl.Map, instances: isl.Set) -> InstanceSet:
    """Return `[PE_X, PE_Y] -> { ff[i, j] : (ff[i, j] -> PE[PE_X, PE_Y]) in placement }`, eq. (11).

    Only the given instances of the computation are kept.
    """
    return InstanceSet(bind_range(placement.intersect_domain(instances), PE_NAMES))


def instance_set(
    placement: isl.Map, instances: isl.Set, access: isl.Map, order: isl.Map
) -> InstanceSet:
    """Return the instances that a PE runs on arrival of the element at given index values.

    The placement `{ ff -> PE[x, y] }` is bound to PE_X, PE_Y, the order `{ x -> index[...] }` of
    the arriving tensor to index0, ..., index.  With the access `{ ff -> x }` this is
    `placement^-1(PE) * access^-1(order^-1(index))`, eqs. (12), (17), (27), (32).
    """
    arriving = bind_range(order, index_names(order.range_tuple_dim()))
    reading = arriving.apply(access.reverse())
    return InstanceSet(bind_placement(placement, instances).intersect(reading))

"""Give every instance a time on its PE.

Paper    not in the paper, which runs instances as elements arrive (V Sec. 4.2)
Reads    layer.yaml, chosen.yaml, lair.isl
Writes   schedule.isl    { statement[iterators] -> [time] }
Assumes  nothing of where instances run.
Ensures  every instance has one time; instances at one time of one PE run in lexicographic order.
"""

from __future__ import annotations

import typing

import islpy as isl

from lairmake.stages.mapping.isl_texts import parse_map
from lairmake.stages.mapping.relations import check_schedule
from lairmake.stages.poly.canonical import list_sets
from lairmake.stages.poly.text import write_objects
from lairmake.stages.skewing.elements import read_lair

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import LayerInputs
    from lairmake.stages.mapping.layer_yaml import LayerMapping

READS = ("layer.yaml: schedule, tensors.*.arrives", "chosen.yaml", "lair.isl")
WRITES = ("schedule.isl",)
HEADER = """The time of each instance on its PE: { statement[iterators] -> [time] }.
Where layer.yaml gives none: order of arrival, then lexicographic."""


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return schedule.isl."""
    mapping, lair = inputs.mapping(), read_lair(inputs.objects("lair.isl"))
    instances = lair.instances
    arrivals = _arrival_orders(mapping)
    given = _given(mapping, instances)
    schedule = isl.UnionMap("{ }")
    for statement in list_sets(instances):
        own = given.intersect_domain(statement)
        if own.is_empty():
            own = default_schedule(statement, lair.reads, arrivals)
        schedule = schedule.union(own)
    return {"schedule.isl": write_objects(HEADER, {"schedule": schedule}, like=instances)}


def default_schedule(
    statement: isl.Set, reads: isl.UnionMap, arrivals: typing.Sequence[isl.UnionMap]
) -> isl.UnionMap:
    """Return { S[i] -> [index of the arriving element that S[i] reads, i] }.

    The first tensor whose elements each have one index gives the order; else { S[i] -> [i] }.
    """
    lexicographic = isl.Map.identity(statement.get_space().map_from_set())
    lexicographic = lexicographic.intersect_domain(statement).reset_tuple_id(isl.dim_type.out)
    for order in arrivals:
        at = reads.intersect_domain(statement).apply_range(order)
        if _is_total_function(at, statement):
            time = isl.Map.from_union_map(at).flat_range_product(lexicographic)
            return isl.UnionMap.from_map(time.reset_tuple_id(isl.dim_type.out))
    return isl.UnionMap.from_map(lexicographic)


def _is_total_function(at: isl.UnionMap, statement: isl.Set) -> bool:
    """Say whether { S[i] -> index[...] }, all of one length, gives each instance one index."""
    one_space = at.n_map() == 1
    return one_space and at.is_single_valued() and at.domain().is_equal(statement)


def _arrival_orders(mapping: LayerMapping) -> list[isl.UnionMap]:
    """Return { tensor[element] -> index[i] } of every tensor that arrives, as the YAML has them."""
    return [
        parse_map(tensor.arrives).range_factor_range()
        for tensor in mapping.tensors.values()
        if tensor.arrives is not None
    ]


def _given(mapping: LayerMapping, instances: isl.UnionSet) -> isl.UnionMap:
    """Return the schedule of layer.yaml, empty if there is none; check that it is a function."""
    if mapping.schedule is None:
        return isl.UnionMap("{ }")
    schedule = parse_map(mapping.schedule)
    check_schedule(schedule, instances, mapping.schedule)
    return schedule.intersect_domain(instances)

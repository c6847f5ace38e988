"""How many bytes a computing PE keeps, and how many of them it needs at a time at the least."""

import islpy as isl

from lairmake.stages.layer.codegen.roles import OBJECTS, make_model
from lairmake.stages.layer.memory.arranging import find_late_uses, find_order
from lairmake.stages.layer.memory.arrays import Keeping, find_end, list_computing
from lairmake.stages.machine.types import BYTES
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.poly.functions import find_index_constants, project_names


def bytes_over_live(folder):
    """Return bytes of a built layer over those that are live; None where there are none.

    The bytes are those from the first to the last that an array of a computing PE has, the live
    ones the most that arrays have in which there is something between two events of an invocation,
    without holes and without what only extra instances access.
    """
    inputs = FolderInputs(open_folder(folder), ("*", "*.lair"))
    objects = {name: inputs.objects(name) for name in OBJECTS}
    model = make_model(
        inputs.lair(), inputs.source("tasks.yaml"), inputs.source("simd.yaml"), objects
    )
    profile = read_machine(inputs.mapping(), inputs)
    keeping = Keeping(work=model, routes=model.routes, profile=profile)
    order = find_order(keeping)
    arrays = list_computing(keeping, find_late_uses(model, order))
    filled = find_filled(model, inputs.objects("allocations.isl")["accessed"])
    needed = [(min(a.bytes, filled.get(a.name, a.bytes)), a.uses) for a in arrays]
    live = max(
        sum(size for size, uses in needed if uses is None or is_live(uses, event, order))
        for event in order.later
    )
    return find_end(arrays, model.placed.addresses["compute"]) / live if live else None


def is_live(uses, event, order):
    """Say whether an event is one of the uses, or between two of them."""
    before = any(event == use or event in order.later[use] for use in uses)
    return before and any(event == use or use in order.later[event] for use in uses)


def find_filled(model, accessed):
    """Return, by local tensor, the bytes of the elements of the PE that has most of them."""
    found = {}
    for each in list_maps(accessed):
        elements = isl.UnionSet.from_set(each.wrap())
        for to_local in list_maps(model.allocation.intersect_domain(elements)):
            local = to_local.get_tuple_name(isl.dim_type.out)
            pe = to_local.domain().unwrap().domain_map().intersect_domain(to_local.domain())
            here = pe.reverse().apply_range(to_local)
            here = project_names(here, find_index_constants(here))
            size = BYTES[model.type_of(local)] * count_most(here)
            found[local] = max(size, found.get(local, 0))
    return found


def count_most(here):
    """Return how many local elements { PE -> T_local[l] } the PE has that has most."""
    counts = []
    here.domain().foreach_point(
        lambda pe: counts.append(cardinality(here.intersect_domain(isl.Set.from_point(pe)).range()))
    )
    return max(counts, default=0)

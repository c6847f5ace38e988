"""What must hold of the texts of any layer, whatever the layer is. Each check asserts."""

from dataclasses import dataclass

import islpy as isl

from lairmake.stages.fabric.layout import read_layout, write_layout
from lairmake.stages.layer.texts.simd_yaml import read_decisions, write_decisions
from lairmake.stages.layer.texts.task_graph import read_graph, write_graph
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.poly.canonical import find_set, from_domain, list_maps, to_range
from lairmake.stages.poly.functions import PE_NAMES, bind_range, find_index_constants, project_names
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

RUNS = ("react", "compute")
MOST_OPERATIONS = 1_000_000
"""How much isl may work to compare two sets for all symbolic constants at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The objects of the stages' texts, and the tasks."""

    graph: dict
    simd: dict
    objects: dict

    def tasks(self, *kinds):
        return {n: t for n, t in self.graph["tasks"].items() if not kinds or t["kind"] in kinds}

    def set_of(self, file, name):
        """Return the set, or the first map as a set of pairs, of a name in a file."""
        return isl.Set.from_union_set(self.objects[file][name])

    def known(self, task):
        return self.set_of("instances", f"{task}_known")


def read_texts(folder):
    """Read what the stages wrote for a layer folder."""
    place = open_folder(folder)
    inputs = FolderInputs(place, ("*",))
    objects = {p.stem: inputs.objects(p.name) for p in place.cache.glob("*.isl")}
    return Texts(
        graph=inputs.yaml("tasks.yaml"), simd=inputs.yaml("simd.yaml"), objects=objects
    )


def check_invariants(folder):
    """Assert all that must hold of a built layer."""
    texts = read_texts(folder)
    texts_are_written_as_they_were_read(folder)
    every_instance_has_a_time(texts)
    every_instance_runs_once(texts)
    allocations_are_injective(texts)
    what_shares_memory_is_needed_at_other_times(texts)
    for task in texts.tasks():
        if f"{task}_compression" in texts.objects["compressions"]:
            compression_is_a_bijection(texts, task)
    for task in texts.tasks(*RUNS):
        if f"{task}_hull" in texts.objects["hulls"]:
            hull_contains_the_instances(texts, task)
            if texts.simd[task]["by"] == "hull":
                chosen_hull_does_no_harm(texts, task)


def arrays_at_one_address(texts):
    """Yield the names of two arrays of which elements begin at the same byte."""
    address = texts.objects["memory"]["address"]
    for both in list_maps(address.apply_range(address.reverse())):
        names = [both.get_tuple_name(end) for end in (isl.dim_type.in_, isl.dim_type.out)]
        if names[0] < names[1]:
            yield names
        elif names[0] == names[1]:
            assert both.is_subset(isl.Map.identity(both.get_space()))


def what_shares_memory_is_needed_at_other_times(texts):
    """Nor does anything that lasts share memory; see also tests/layer/test_lifetimes.py."""
    lives = {}
    for each in list_maps(texts.objects["memory"]["lifetime"]):
        name, event = (each.get_tuple_name(end) for end in (isl.dim_type.in_, isl.dim_type.out))
        lives.setdefault(name, set()).add(event)
    for one, other in arrays_at_one_address(texts):
        assert not lives[one] & lives[other], (one, other)
        assert "always" not in lives[one] | lives[other], (one, other)


def texts_are_written_as_they_were_read(folder):
    place = open_folder(folder)
    inputs = FolderInputs(place, ("*", "build/*"))
    written = {
        "tasks.yaml": write_graph(read_graph(inputs.source("tasks.yaml"))),
        "simd.yaml": write_decisions(read_decisions(inputs.source("simd.yaml"))),
        "build/layout.yaml": write_layout(read_layout(inputs.source("build/layout.yaml"))),
    }
    assert written == {name: inputs.text(name) for name in written}


def every_instance_has_a_time(texts):
    schedule = texts.objects["schedule"]["schedule"]
    assert schedule.is_single_valued()
    assert schedule.domain().is_equal(texts.objects["lair"]["instances"])


def every_instance_runs_once(texts):
    """One PE, one task and one index: together the tasks run all instances, each of them once."""
    placement = texts.objects["adapted"]["placement"]
    ran = isl.UnionSet("{ }")
    for name in texts.tasks(*RUNS, "operate"):
        instances = instances_of(texts, name)
        at = invoked(instances.intersect_params(texts.known(name)))
        assert invoked(instances).is_equal(at), f"{name} is not known where it runs"
        assert at.reverse().is_single_valued(), f"{name} runs an instance twice"
        here = isl.UnionMap.from_map(placed(instances))
        assert here.is_subset(placement), f"{name} runs an instance on another PE"
        one = isl.UnionSet.from_set(at.range())
        assert one.intersect(ran).is_empty(), f"{name} runs what another task runs"
        ran = ran.union(one)
    missing = texts.objects["lair"]["instances"].subtract(ran)
    assert missing.is_subset(reading_nothing(texts))


def reading_nothing(texts):
    """Return the instances that read elements which never arrive of tensors without their zeros."""
    lair, sources = texts.objects["lair"], texts.objects["adapted"]["sources"].domain()
    never = isl.UnionSet("{ }")
    for arrival in texts.graph["arrivals"].values():
        if arrival["sparse"] and "feedback" not in arrival:
            elements = isl.UnionSet.from_set(find_set(lair["tensors"], arrival["tensor"]))
            never = never.union(elements.subtract(sources))
    return reads_of(texts).intersect_range(never).domain()


def reads_of(texts):
    """Return { S[i] -> T[e] } of what statements read, also by views."""
    lair = texts.objects["lair"]
    views = lair.get("views", isl.UnionMap("{ }"))
    return lair["reads"].union(lair["reads"].apply_range(views))


def accessed_by_views(texts):
    """Return { PE -> view[e] } of what instances on a PE read by views."""
    lair, placement = texts.objects["lair"], texts.objects["adapted"]["placement"]
    views = lair.get("views", isl.UnionMap("{ }")).domain()
    running = placement.intersect_domain(lair["instances"]).reverse()
    return running.apply_range(lair["reads"].intersect_range(views))


def instances_of(texts, name):
    """Return what a task runs; on a stream, that is what reads its elements on a PE."""
    instances, task = texts.set_of("instances", name), texts.tasks()[name]
    if task["kind"] != "operate":
        return instances
    tensor = texts.graph["arrivals"][task["arrival"]]["tensor"]
    access = to_range(texts.objects["instances"][f"{name}_access"], tensor)
    taken = isl.UnionSet.from_set(instances).apply(access)
    reads = from_domain(to_range(reads_of(texts), tensor), task["statement"])
    here = from_domain(texts.objects["adapted"]["placement"], task["statement"])
    found = isl.Set.from_union_set(taken.apply(reads.reverse()))
    return found.intersect(bind_range(isl.Map.from_union_map(here), PE_NAMES))


def invoked(elements):
    """Return { [symbolic constants] -> element } of [p] -> { element }."""
    names = elements.get_var_names_not_none(isl.dim_type.param)
    listed = ", ".join(names)
    constants = isl.MultiId(f"[{listed}] -> {{ [{listed}] }}")
    return elements.unbind_params_insert_domain(constants)


def placed(elements):
    """Return { element -> PE } of [PE_X, PE_Y, index...] -> { element }."""
    for name in elements.get_var_names_not_none(isl.dim_type.param):
        if name not in PE_NAMES:
            position = elements.find_dim_by_name(isl.dim_type.param, name)
            elements = elements.project_out(isl.dim_type.param, position, 1)
    pe = isl.MultiId("[PE_X, PE_Y] -> { PE[PE_X, PE_Y] }")
    return elements.unbind_params_insert_domain(pe).reverse()


def allocations_are_injective(texts):
    """Two elements that a PE keeps never share an element of local memory, which is inside.

    Those of a ring do, at different times: values tell whether it is long enough. In one with a
    halo none do when some chunk is taken.
    """
    streams = [*texts.graph["arrivals"].values(), *texts.graph["departures"].values()]
    cut = ((s["tensor"], s.get("chunks", s.get("early", {}))) for s in streams)
    rings = {tensor for tensor, found in cut if "ring" in found}
    rings |= {name for name, found in texts.graph["tensors"].items() if "ring" in found}
    tensors = texts.graph["tensors"].items()
    of_views = {name: found["in"] for name, found in tensors if "view" in found}
    rings |= {view for view, tensor in of_views.items() if tensor in rings}
    accessed = texts.objects["allocations"]["accessed"].union(accessed_by_views(texts))
    for name in ("allocations", "memory"):
        for to_local in list_maps(texts.objects[name]["to_local"]):
            every = (m.wrap() for m in list_maps(accessed))
            kept = [each for each in every if same_space(each, to_local.domain())]
            used = to_local.intersect_domain(kept[0])
            chunks = find_index_constants(to_local.drop_unused_params())
            lying = project_names(to_local.domain(), chunks)
            assert kept[0].is_subset(lying), f"{to_local} leaves elements out"
            pe = used.domain().unwrap().domain_map().intersect_domain(used.domain())
            rolls = used.domain().unwrap().get_tuple_name(isl.dim_type.out) in rings
            alone = (rolls and not chunks) or pe.range_product(used).is_injective()
            assert alone, f"{to_local} puts two elements in one"
            local = find_set(texts.objects[name]["local"], used.get_tuple_name(isl.dim_type.out))
            assert used.range().is_subset(local), f"{to_local} leaves local memory"


def same_space(left, right):
    return left.get_space().drop_all_params().is_equal(right.get_space().drop_all_params())


def compression_is_a_bijection(texts, task):
    compressed = texts.set_of("compressions", task)
    relation = isl.Map.from_union_map(texts.objects["compressions"][f"{task}_compression"])
    relation = relation.intersect_domain(compressed)
    assert relation.is_single_valued() and relation.is_injective(), task
    known = texts.known(task)
    instances = texts.set_of("instances", task).intersect_params(known)
    assert are_equal(relation.range().intersect_params(known), instances, known), task


def are_equal(left, right, known):
    """Return whether two sets are equal: for each value of the constants, if all are too hard."""
    try:
        with limit_operations(MOST_OPERATIONS):
            return left.is_equal(right)
    except TooManyOperations:
        return all(at(left, value).is_equal(at(right, value)) for value in values_of(known))


def values_of(known):
    """Return what symbolic constants may be, each time as integers by name."""
    names = known.get_var_names_not_none(isl.dim_type.param)
    listed = ", ".join(names)
    found = []
    known.unbind_params(isl.MultiId(f"[{listed}] -> {{ [{listed}] }}")).foreach_point(found.append)
    return [
        {n: p.get_coordinate_val(isl.dim_type.set, k) for k, n in enumerate(names)} for p in found
    ]


def at(elements, value):
    """Return a set for one value of the symbolic constants."""
    for name, number in value.items():
        position = elements.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            elements = elements.fix_val(isl.dim_type.param, position, number)
    return elements


def hull_contains_the_instances(texts, task):
    known = texts.known(task)
    compressed = texts.set_of("compressions", task).intersect_params(known)
    assert compressed.is_subset(texts.set_of("hulls", f"{task}_hull")), task


def chosen_hull_does_no_harm(texts, task):
    """Extra instances stay in local memory, and write no element that anybody uses."""
    memory = texts.objects["memory"]
    known = texts.known(task)
    whole = texts.set_of("hulls", f"{task}_hull").intersect_params(known)
    proper = texts.set_of("compressions", task)
    extra = whole.subtract(proper)
    for access in list_maps(texts.objects["compressions"][f"{task}_access"]):
        tensor = access.get_tuple_name(isl.dim_type.out)
        if arrives_with(texts, task, tensor):
            continue
        touched = placed(extra.apply(access)).reverse()
        local = isl.UnionMap.from_map(touched).wrap().apply(memory["to_local"])
        assert local.is_subset(memory["local"]), f"{task} leaves local memory of {tensor}"
        if tensor == texts.tasks()[task]["target"]:
            used = texts.objects["allocations"]["accessed"]
            both = isl.UnionMap.from_map(touched).intersect(used)
            assert both.is_empty(), f"extra instances of {task} write {both}"


def arrives_with(texts, task, tensor):
    """Say whether a task reacts to elements of a tensor, which then needs no memory."""
    described = texts.tasks()[task]
    arrivals = texts.graph["arrivals"]
    return described["kind"] == "react" and arrivals[described["arrival"]]["tensor"] == tensor

"""PEs pass elements on in the order of the skewed schedule: to the one that uses them next."""

import shutil

import islpy as isl
import pytest
import yaml

from lairmake.stages import PIPELINE
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.poly.canonical import from_domain, to_range
from lairmake.stages.poly.text import read_objects
from tests.e2e.conftest import ROOT

STEPS = {"E": (1, 0), "W": (-1, 0), "S": (0, 1), "N": (0, -1)}
PASSED = {
    "fc": ("x", (0, 1)),
    "conv2d": ("x", (0, 1)),
    "catalogue/matmul": ("B", (0, 1)),
    "catalogue/matvec_transposed": ("x", (1, 0)),
}


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    return tmp_path_factory.mktemp("order") / "projects"


def routed(projects, name):
    """Return what the stages wrote up to `route`, and `skew`, on a machine without multicast."""
    folder = projects / name
    shutil.copytree(ROOT / "projects" / name, folder, ignore=shutil.ignore_patterns("build"))
    mapping = yaml.safe_load((folder / "layer.yaml").read_text(encoding="utf-8"))
    text = yaml.safe_dump(mapping | {"machine": "systolic"}, sort_keys=False)
    (folder / "layer.yaml").write_text(text, encoding="utf-8")
    for stage in (*PIPELINE[: PIPELINE.index("route") + 1], "skew"):
        run_stage(stage, folder)
    cache = open_folder(folder).cache
    objects = {n: read_objects((cache / f"{n}.isl").read_text(encoding="utf-8"))
               for n in ("lair", "placement", "routes", "skewed")}
    skew, graph = (yaml.safe_load((cache / f"{n}.yaml").read_text(encoding="utf-8"))
                   for n in ("skew", "tasks"))
    return objects, skew, graph["forwarding"]


def ways(routes, tensor):
    """Return the steps that an element takes from PE to PE of the computing ones."""
    found = set()
    for colour in (f"{tensor}_even", f"{tensor}_odd"):
        relations = []
        routes.get(colour, isl.UnionMap("{ }")).foreach_map(relations.append)
        for relation in relations:
            if relation.domain().unwrap().get_tuple_name(isl.dim_type.out) == "ramp":
                found.add(STEPS[relation.get_tuple_name(isl.dim_type.out)])
    return found


def uses(objects, statement, tensor):
    """Return { [tensor[e] -> PE] -> [t] }, the first time at which a PE uses an element."""
    parts = (objects["placement"]["placement"], objects["skewed"]["schedule"])
    place, time = (isl.Map.from_union_map(from_domain(part, statement)) for part in parts)
    reads = to_range(from_domain(objects["lair"]["reads"], statement), tensor)
    used = isl.Map.from_union_map(reads).reverse()
    return used.apply_range(place.range_product(time)).uncurry().lexmin()


def lagging(lag):
    """Return [t0 + F0 p, ...] as tasks.yaml has it."""
    signs = {0: "", 1: " + ", -1: " - "}
    rows = [f"t{k}" + "".join(signs[f] + n if f else "" for f, n in zip(row, "xy", strict=True))
            for k, row in enumerate(lag)]
    return f"[{', '.join(rows)}]"


@pytest.mark.wide
@pytest.mark.parametrize("name", PASSED)
def test_an_element_is_passed_to_the_pe_that_uses_it_next(projects, name):
    objects, skew, passing = routed(projects, name)
    tensor, (dx, dy) = PASSED[name]
    assert passing[tensor]["order"] == {each: lagging(skew[each]["lag"]) for each in skew}
    assert "otherwise" not in passing[tensor]
    assert ways(objects["routes"], tensor) == {(dx, dy)}
    for statement, described in skew.items():
        assert described["tensors"][tensor]["passes"] == [[dx, dy]]
        first = uses(objects, statement, tensor)
        same = isl.Map.identity(first.domain().unwrap().domain().get_space().map_from_set())
        following = same.product(isl.Map(f"{{ PE[x, y] -> PE[x + {dx}, y + {dy}] }}"))
        times = following.apply_domain(first).apply_range(first)
        assert not times.is_empty()
        assert times.is_subset(isl.Map.lex_lt(times.domain().get_space()))

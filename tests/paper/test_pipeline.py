"""The paper's layers through the stages: what adapters change (Sec. 4.2), what simd decides."""

import shutil
from pathlib import Path

import islpy as isl
import pytest
import yaml

from stages import PIPELINE
from stages.make.core.action import run_stage
from stages.poly.pieces import from_domain
from stages.poly.text import read_objects

PROJECTS = Path(__file__).resolve().parents[2] / "projects"
LAYERS = ("fc", "conv1d", "conv2d", "pointwise")
layers = pytest.mark.parametrize("layer", LAYERS)


class Built:
    """What the stages up to `simd` write for a copy of a layer."""

    def __init__(self, layer, root, changes=None):
        self.folder, self.cache = root / "projects" / layer, root / "cache" / layer
        shutil.copytree(PROJECTS / layer, self.folder, ignore=shutil.ignore_patterns("build"))
        given = self.folder / "layer.yaml"
        self.mapping = yaml.safe_load(given.read_text()) | (changes or {})
        given.write_text(yaml.safe_dump(self.mapping))
        for stage in PIPELINE[: PIPELINE.index("render")]:
            run_stage(stage, self.folder)

    def objects(self, name):
        return read_objects((self.cache / name).read_text())

    def simd(self):
        return yaml.safe_load((self.cache / "simd.yaml").read_text())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = tmp_path_factory.mktemp("paper")
    return {layer: Built(layer, root) for layer in LAYERS}


@layers
def test_ports_of_the_layer_are_those_of_the_golden_data(layer, golden, built):
    mapping = built[layer].mapping
    for key, tensor in (("arrives", "x"), ("leaves", "y")):
        expected = isl.UnionMap(golden[layer][key][tensor])
        assert isl.UnionMap(mapping["tensors"][tensor][key]).is_equal(expected)
    assert isl.Set(mapping["target"]).is_equal(isl.Set(golden[layer]["target"]))


def test_eq_5_x_arrives_through_adapters(golden, built):
    arrivals = built["fc"].objects("adapted.isl")["arrivals"]
    assert arrivals.is_equal(isl.UnionMap(golden["fc"]["adjusted"]["x"]["isl"]))


def test_eq_6_y_leaves_one_row_higher(golden, built):
    departures = built["fc"].objects("adapted.isl")["departures"]
    assert departures.is_equal(isl.UnionMap(golden["fc"]["adjusted"]["y"]["isl"]))


def test_eq_10_placement_is_shifted_by_the_peeled_row(golden, built):
    placement = built["fc"].objects("adapted.isl")["placement"]
    instances = built["fc"].objects("lair.isl")["instances"]
    expected = isl.UnionMap(golden["fc"]["adjusted"]["placement_ff"]["isl"])
    assert placement.is_equal(expected.intersect_domain(instances))


def test_sec_4_2_target_is_reduced_by_the_peeled_row(golden, built):
    size = isl.PwMultiAff.from_set(isl.Set(golden["fc"]["adjusted"]["target"]))
    width, height = (size.get_pw_aff(k).max_val().to_python() for k in range(2))
    target = built["fc"].objects("adapted.isl")["target"]
    assert target.is_equal(isl.UnionSet(f"{{ PE[0:{width - 1}, 0:{height - 1}] }}"))


def test_eq_7_elements_of_y_accessed_by_the_stages(golden, built):
    accessed = from_domain(built["fc"].objects("allocations.isl")["accessed"].reverse(), "y")
    expected = isl.UnionMap(golden["fc"]["allocation_y"]["accessed"]["isl"])
    assert accessed.reverse().is_equal(expected)


def test_eq_8_local_memory_of_y_allocated_by_the_stages(golden, built):
    to_local = built["fc"].objects("allocations.isl")["to_local"]
    expected = isl.UnionMap(golden["fc"]["allocation_y"]["to_local"]["isl"])
    assert expected.is_subset(to_local)


@pytest.mark.parametrize("layer", ["conv1d", "conv2d", "pointwise"])
def test_eqs_17_27_32_instance_sets_of_the_stages(layer, golden, built):
    found = built[layer].objects("instances.isl")["on_x"]
    assert found.is_equal(isl.UnionSet(golden[layer]["on_x"]["instances"]["isl"]))


def test_example_5_9_local_memory_extended_by_the_stages(golden, built):
    local = built["conv1d"].objects("memory.isl")["local"]
    assert isl.UnionSet("{ y_local[0, 0:17] }").is_subset(local)
    to_local = built["conv1d"].objects("memory.isl")["to_local"]
    assert isl.UnionMap("{ [PE[0, 0] -> y[0, 0]] -> y_local[0, 2] }").is_subset(to_local)
    assert golden["conv1d"]["on_x"]["extended_allocation"]["shift"] == "{ y_local[0, -2] }"


@layers
def test_vector_instruction_of_on_x(layer, golden, built):
    decision = built[layer].simd()["on_x"]
    assert {key: decision[key] for key in ("by", "sizes")} == golden[layer]["on_x"]["simd"]


def test_pointwise_is_guarded_where_its_columns_meet_no_instance(built):
    guard = isl.Set(built["pointwise"].simd()["on_x"]["guard"])
    known = isl.Set.from_union_set(built["pointwise"].objects("instances.isl")["on_x_known"])
    expected = isl.Set("[PE_X, index1] -> { : index1//4 = PE_X//2 }")
    assert guard.intersect(known).is_equal(expected.intersect(known))


def test_example_5_10_conv1d_with_sizes_enumerated(golden, tmp_path):
    built = Built("conv1d", tmp_path, {"simd": {"prefer": "enumerate"}})
    expected = golden["conv1d"]["on_x"]["enumeration"]
    sizes = built.objects("sizes.isl")
    assert sizes["on_x_sizes"].is_equal(isl.UnionSet(expected["sizes"]["isl"]))
    assert sizes["on_x_identifiers"].is_equal(isl.UnionSet(expected["identifiers"]["isl"]))
    decision = built.simd()["on_x"]
    assert (decision["by"], decision["several"], decision["least"]) == ("enumerate", [3], [1])

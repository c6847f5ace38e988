"""Behind adapters texts and programs count from another PE; a user hears of those of layer.yaml."""

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.mapping.records import as_data
from lairmake.stages.picture.pages import describe_layer
from lairmake.stages.picture.report import READS, read_written
from lairmake.stages.picture.run import read_usage
from tests.layer.built import MV, build
from tests.picture.followed import unpack

PLACED = (
    'target: "{ PE[3, 3] }"\nplacement: "{ mv[i, j] -> PE[1 + j//3, 1 + i//4] }"\ntensors:\n'
    '  x: {arrives: "{ x[j] -> [PE[1, -1] -> index[j]] }", sparse: true}\n'
    '  W: {arrives: "{ W[i, j] -> [PE[-1, 1] -> index[i, j]] }"}\n'
    '  y: {leaves: "{ y[i] -> [PE[3, 1 + i//4] -> index[i mod 4]] }"}\n'
)
PROBES = 'probes: {x: "{ PE[2, 2] }", x_source: "{ PE[1, 0] }"}\n'
"""x comes from the north, W from the west: PE[1, 1] is the first one behind their adapters."""


@pytest.fixture(scope="module")
def built():
    return build(MV, PLACED + PROBES, "simulate")


@pytest.fixture(scope="module")
def page(built):
    inputs = FolderInputs(open_folder(built.folder), READS)
    usage = read_usage(inputs.content("build/usage.npz"))
    return describe_layer("mv", read_written(inputs), usage, None, None)


@pytest.mark.wide
def test_the_text_of_the_rectangle_says_once_which_pe_its_first_one_is(built):
    comment = "\n# PE[0, 0] here, and in all texts that follow, is PE[1, 1] of layer.yaml.\n"
    texts = {path.name: path.read_text(encoding="utf-8") for path in built.cache.glob("*.isl")}
    assert [name for name, text in texts.items() if comment in text] == ["adapted.isl"]
    plain = build(MV, 'target: "{ PE[1, 2] }"\nplacement: "{ mv[i, j] -> PE[0, i//4] }"\n',
                  "adapt")
    assert "layer.yaml" not in (plain.cache / "adapted.isl").read_text(encoding="utf-8")


@pytest.mark.wide
def test_programs_say_once_which_pe_their_first_one_is(built):
    for variant in ("simd", "loops"):
        for path in (built.folder / "build" / variant).glob("pe_*.c"):
            head, _, rest = path.read_text(encoding="utf-8").partition(" */\n")
            assert head.endswith("\n   PE[0, 0] here is PE[1, 1] of layer.yaml.")
            assert "layer.yaml" not in rest


@pytest.mark.wide
def test_programs_count_from_the_first_pe_behind_adapters(built):
    roles = built.yaml("build/layout.yaml")["roles"]
    assert {name: (each["origin"], each["offset"]) for name, each in roles.items()} == {
        name: ([1, 1], [1, 1]) for name in ("compute", "adapter_north", "adapter_west")}
    placement = built.objects("placement.isl")["placement"].range()
    assert isl.UnionSet(roles["compute"]["at"]).is_equal(placement)
    assert built.results()["check"]["y"]["right"]


def test_results_speak_of_the_pes_of_layer_yaml(built):
    results = built.results()
    assert [each["pe"] for each in results["probes"]["simd"]["x"]] == [[2, 2]]
    assert [each["pe"] for each in results["probes"]["simd"]["x_source"]] == [[1, 0]]
    with np.load(built.folder / "build/usage.npz") as used:
        assert used["origin"].tolist() == [0, 0]
        x, y = results["usage"]["busiest_link"]["pe"]
        assert used["link_wavelets"][:4, y, x].max() == used["link_wavelets"][:4].max()


def test_a_page_speaks_of_the_pes_of_layer_yaml(page):
    grid = page.fabric.grid
    assert (grid.west, grid.north, grid.width, grid.height) == (0, 0, 3, 3)
    ports = {port.tensor: list(zip(unpack(as_data(port.x)), unpack(as_data(port.y)), strict=True))
             for port in grid.ports}
    assert ports == {"x": [(1, -1)], "W": [(-1, 1)], "y": [(3, 1), (3, 2)]}
    assert {task.pes for task in page.tasks if task.instances} == {"PE[0, 1]", "PE[1, 1]"}


def test_a_page_says_which_part_of_a_tensor_lies_on_which_pe(page):
    """PE[2, 1] sums y[0:4], and PE[2, 2] y[4:8]."""
    compute = next(role for role in page.fabric.grid.roles if role.name == "compute")
    held = next(each for each in compute.tensors if each.name == "y_local")
    assert unpack(as_data(held.ends))[:, 1:, 2].tolist() == [[0, 4], [3, 7]]

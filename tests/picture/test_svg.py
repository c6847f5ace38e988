"""The grid as a picture for a paper."""

from xml.etree import ElementTree

import numpy as np

from lairmake.stages.diagnose import source_of
from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.picture.svg import draw_grid, list_rectangles, list_runs
from tests.layer.built import MV, build
from tests.picture.test_highlighted import LAYER
from tests.picture.test_wafer import LAYOUT

SVG = "{http://www.w3.org/2000/svg}"


def test_a_set_of_pes_is_cut_into_rectangles():
    here = np.array([[1, 1, 0, 1], [1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 1, 1]], bool)
    assert list(list_rectangles(here)) == [(0, 0, 2, 2), (3, 0, 1, 2), (1, 3, 3, 1)]


def test_runs_of_a_row():
    assert list(list_runs(np.array([0, 1, 1, 0, 1], bool))) == [(1, 3), (4, 5)]
    assert list(list_runs(np.array([0, 1, 1, 0, 1, 0, 0, 1], bool), 1)) == [(1, 5), (7, 8)]
    assert list(list_runs(np.zeros(3, bool))) == []


def test_the_picture_of_a_layer_has_its_roles_streams_and_ports():
    built = build(MV, LAYER, "draw")
    root = ElementTree.parse(built.folder / "build/grid.svg").getroot()
    group = root.find(f"{SVG}g")
    fills = [each.get("fill") for each in group.findall(f"{SVG}rect")]
    assert fills == ["#dfe8f2", "#f6e5c8", "url(#gaps)"]
    assert [each.text for each in group.findall(f"{SVG}text")] == ["x", "y", "y"]
    layout = read_layout(source_of("l", (built.folder / "build/layout.yaml").read_bytes()))
    drawn = group.find(f"{SVG}g").findall(f"{SVG}g")
    assert len(drawn) == len(layout.colours)


def test_a_name_is_text():
    layout = LAYOUT.replace("750", "3").replace("993", "3").replace("992", "2")
    text = draw_grid(read_layout(source_of("l", layout.replace("tensor: x", "tensor: <a&b>")
                                           .encode())))
    names = [each.text for each in ElementTree.fromstring(text).iter(f"{SVG}text")]
    assert names == ["<a&b>"] * 3 + ["y"] * 3


def test_the_picture_of_a_wafer_is_small():
    """Its rows and columns are one line each, for each stream; PEs are too small for names."""
    text = draw_grid(read_layout(source_of("l", LAYOUT.encode())))
    assert len(text) < 100_000 and text.count("<text") == 0
    assert text.count("<rect") == 3

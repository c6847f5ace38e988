"""A text that a layer of somebody else pins: nothing of it becomes code of C."""

import pytest
import yaml

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of
from tests.e2e.conftest import DODO, ROOT

HOSTILE = '({ system("touch harm"); 0; })'
PLACES = {
    "the name of a task": lambda on_x: {HOSTILE: 1},
    "operation": lambda on_x: {"operation": HOSTILE},
    "local": lambda on_x: {"operands": [{**on_x["operands"][0], "local": HOSTILE}]},
    "type": lambda on_x: {"operands": [{**on_x["operands"][0], "type": HOSTILE}]},
    "element": lambda on_x: {"operands": [{"element": HOSTILE, "type": "float16"}]},
    "number": lambda on_x: {"operands": [{"number": HOSTILE, "type": "float16"}]},
    "base": lambda on_x: {"operands": [{**on_x["operands"][0], "base": [HOSTILE]}]},
    "sizes": lambda on_x: {"sizes": [HOSTILE]},
}


@pytest.fixture(scope="module")
def layer(shipped):
    return open_folder(shipped.rendered("fc", "hostile"))


def edited(text, change):
    data = yaml.safe_load(text)
    return yaml.safe_dump({**data, "on_x": {**data["on_x"], **change(data["on_x"])}})


@pytest.mark.wide_after(5)
@pytest.mark.parametrize("place", PLACES)
def test_what_would_be_code_is_refused_wherever_it_stands(layer, place):
    path = file_of(layer, "simd.yaml")
    text = path.read_text(encoding="utf-8")
    before = {p: p.read_bytes() for p in layer.build.rglob("*.c")}
    path.write_text(edited(text, PLACES[place]), encoding="utf-8")
    try:
        with pytest.raises(UserError, match="this is no name, number, or text of isl"):
            run_stage("render", layer)
    finally:
        path.write_text(text, encoding="utf-8")
    assert {p: p.read_bytes() for p in layer.build.rglob("*.c")} == before


def test_what_people_read_of_it_is_no_part_of_a_program(layer):
    path = file_of(layer, "simd.yaml")
    text = path.read_text(encoding="utf-8")
    path.write_text(edited(text, lambda on_x: {"why": f"*/ {HOSTILE} /*"}), encoding="utf-8")
    try:
        run_stage("render", layer)
    finally:
        path.write_text(text, encoding="utf-8")
    programs = "".join(p.read_text(encoding="utf-8") for p in layer.build.rglob("*.c"))
    assert "VECTOR" in programs.upper() and "system" not in programs


@pytest.mark.long
def test_a_build_that_pins_it_ends_with_an_error_at_its_place(space):
    space.write("dodo.py", DODO)
    space.copy(ROOT / "projects/fc", "projects/hostile")
    space.build("hostile")
    mapping = space.read("projects/hostile/layer.yaml")
    pinned = space.read("cache/hostile/simd.yaml")
    space.write("projects/hostile/layer.yaml", f"{mapping}pin: [simd.yaml]\n")
    hostile = pinned.replace("operation: MAC", f"operation: '{HOSTILE}'")
    space.write("cache/hostile/simd.yaml", hostile)
    run = space.run("hostile")
    assert (run.code, HOSTILE in run.err) == (1, True)
    assert "error: this is no name, number, or text of isl" in run.err
    assert space.files("projects/hostile/harm") == []

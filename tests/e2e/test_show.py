"""The command show, by real doit processes."""

import json

import pytest

from lairmake.stages import ANALYSES, PIPELINE
from tests.e2e.conftest import ROOT, printed

HULL = """approximate: Approximate compressed instance sets by boxes of fixed size
paper  Verdoolaege et al., IMPACT 2020, Sec. 5.3, (35)-(41), Ex. 5.8, 5.9
reads  tasks.yaml, compressions.isl, instances.isl, allocations.isl
feeds  simd, report: hulls.isl

cache/fc/hulls.isl
on_x_context := [PE_X, PE_Y, index] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index <= 3 };

on_x_hull := [PE_Y] -> { [i] : 8PE_Y <= i <= 7 + 8PE_Y } * on_x_context;
"""
SIZE = """approximate: Approximate compressed instance sets by boxes of fixed size
paper  Verdoolaege et al., IMPACT 2020, Sec. 5.3, (35)-(41), Ex. 5.8, 5.9
reads  tasks.yaml, compressions.isl, instances.isl, allocations.isl
feeds  simd, report: hulls.isl

cache/fc/hulls.isl
on_x_size := { [8] };
"""
TASK = """route: Build the task graph: what moves, what reacts, what computes; and route the colours
paper  Verdoolaege et al., IMPACT 2020, Sec. 4.2
reads  layer.yaml, *.lair, lair.isl, placement.isl, schedule.isl, adapted.isl
feeds  allocate, instances, compress, approximate, enumerate, simd, render, simulate, report: \
tasks.yaml
feeds  allocate, instances, simd, render, simulate: routes.isl
feeds  simd, render: build/limits/graph/*.yaml
feeds  simd, render: build/limits/graph/*.isl

cache/conv1d/tasks.yaml
  init_y: {kind: initialise, tensor: y, value: '0'}
"""
STAGES = ", ".join([*PIPELINE, *ANALYSES])


@pytest.mark.wide
def test_show_prints_objects_with_their_section_and_readers(paper):
    assert printed(paper.run("show", "fc", "approximate", "on_x_h*")) == HULL
    assert printed(paper.run("show", "fc:hulls.isl", "on_x_size")) == SIZE
    assert printed(paper.run("show", "approximate", "on_x_size", cwd="projects/fc")) == (
        SIZE.replace("cache/fc/hulls.isl", str(paper.root / "cache/fc/hulls.isl"))
    )


def test_show_finds_an_object_without_its_stage(paper):
    out = printed(paper.run("show", "projects/conv1d", "tasks.init_y"))
    assert out == TASK


def test_show_prints_a_whole_file_as_it_is(paper):
    out = printed(paper.run("show", "fc", "simulate"))
    assert f"\nprojects/fc/build/results.json\n{results(paper)}" in out
    assert "\nuntil: int64 []\n146\n" in out
    assert "projects/fc/build/outputs/y.npy\nfloat16 [32]\n[" in out
    text = paper.read("cache/fc/placement.isl")
    shown = printed(paper.run("show", "fc", "place")).partition("\ncache/fc/placement.isl\n")[2]
    assert shown.split() == text.split()


def test_show_tells_a_program_in_words(paper):
    out = printed(paper.run("show", "fc", "program", "arrived_x")).split("build/program.yaml\n")[1]
    words = """task arrived_x: All of x is here.
    if decreased waiting_ff == 0:
        activate finish_ff
"""
    assert out == f"{words}\n{words}"
    name = "projects/conv1d/build/program.yaml"
    written = paper.read(name)
    paper.write(name, "simd: {compute: {functions: [a]}}\n")
    failed = paper.run("show", "conv1d", "program")
    paper.write(name, written)
    assert (failed.code, failed.err) == (1, (
        "error: projects/conv1d/build/program.yaml is not as render wrote it\n"
        "hint: doit conv1d:render\n"
    ))


def results(paper):
    return paper.read("projects/fc/build/results.json")


def test_show_lists_the_stages(paper):
    lines = printed(paper.run("show", cwd="projects/fc")).splitlines()
    assert lines[:3] == [
        "fc",
        "  parse        Turn the statements of a LAIR node into instance sets and access relations",
        "               V Sec. 4.1.1; writes lair.isl",
    ]
    assert [line.split()[0] for line in lines[1::2]] == [*PIPELINE, *ANALYSES]


def test_show_gives_json(paper):
    data = json.loads(printed(paper.run("show", "fc", "approximate", "on_x_size", "--json")))
    assert data == [{
        "layer": "fc",
        "stage": "approximate",
        "title": "Approximate compressed instance sets by boxes of fixed size",
        "paper": (
            "Verdoolaege et al., IMPACT 2020, Sec. 5.3, (35)-(41), Ex. 5.8, 5.9"
        ),
        "reads": ["tasks.yaml", "compressions.isl", "instances.isl", "allocations.isl"],
        "feeds": {"hulls.isl": ["simd", "report"]},
        "files": [{
            "name": "hulls.isl",
            "path": str(paper.root / "cache/fc/hulls.isl"),
            "objects": {"on_x_size": "on_x_size := { [8] };\n"},
        }],
    }]


@pytest.mark.wide_after(7)
@pytest.mark.parametrize(("words", "code", "text"), [
    (("fc", "nonsense"), 3,
     "ERROR: show: nonsense is no stage and no object of fc\n"
     f"hint: the stages are {STAGES}\n"),
    (("fc", "on_x_hul"), 3,
     "ERROR: show: on_x_hul is no stage and no object of fc\nhint: did you mean on_x_hull?\n"),
    (("fc", "aproximate"), 3,
     "ERROR: show: aproximate is no stage and no object of fc\nhint: did you mean approximate?\n"),
    (("fc", "program", "on_xx"), 3,
     "ERROR: show: the programs of fc have no on_xx\nhint: did you mean on_x?\n"),
    (("fc", "place", "targt"), 3,
     "ERROR: show: place has no targt; it has target, placement\nhint: did you mean target?\n"),
    (("fc", "place", "nonsense"), 3,
     "ERROR: show: place has no nonsense; it has target, placement\n"),
    (("fc", "place", "a", "b"), 3, "ERROR: show: say one object, not a b\n"),
    (("place",), 3, "ERROR: show: which layer? "),
])
def test_show_refuses(paper, words, code, text):
    run = paper.run("show", *words)
    assert (run.code, run.out) == (code, "")
    assert run.err == text or (text.endswith("? ") and run.err.startswith(text))


def test_show_names_the_layers_that_there_are(small):
    small.layer("projects/fc")
    run = small.run("show", "fcc")
    assert (run.code, run.out) == (3, "")
    assert run.err == "ERROR: show: which layer? a, fc\nhint: did you mean fc?\n"


def test_show_says_what_is_not_built(space):
    space.copy(ROOT / "projects/fc", "a")
    run = space.run("show", "simd", cwd="a")
    assert (run.code, run.out) == (1, "")
    assert run.err == "error: cache/simd.yaml, cache/memory.isl are not built\nhint: doit a:simd\n"


def test_show_says_that_a_file_may_be_out_of_date(small):
    small.build()
    small.write("projects/a/a.lair", "one\n")
    assert printed(small.run("show", "place", cwd="projects/a")) == (
        "place: Take the words over, but for their case\n"
        "paper  none: a small stage for the tests of the Make\n"
        "reads  layer.yaml, lair.isl\n"
        "feeds  render, count: placement.isl\n"
        "note   parse may be out of date: doit a\n"
        f"\n{small.root}/cache/a/placement.isl\n"
    )

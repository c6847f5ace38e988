"""The commands show, graph, and what all of ours share, by real doit processes."""

import json
import os
import subprocess
import sys

import pytest

from stages import ANALYSES, PIPELINE
from tests.e2e.conftest import DODO, ROOT, printed

FOREIGN = """def task_show():
    "Say so."
    return {"actions": ["echo shown"], "verbosity": 2}


def task_first():
    "Come first."
    return {"actions": ["true"], "task_dep": ["show"]}
"""
HULL = """approximate: Approximate compressed instance sets by boxes of fixed size
paper  Verdoolaege et al., IMPACT 2020, Sec. 5.3, (35)-(41), Ex. 5.8, 5.9
reads  tasks.yaml, compressions.isl, instances.isl, allocations.isl
feeds  simd: hulls.isl

cache/fc/hulls.isl
on_x_context := [PE_X, PE_Y, index] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index <= 3 };

on_x_hull := [PE_Y] -> { [i] : 8PE_Y <= i <= 7 + 8PE_Y } * on_x_context;
"""
SIZE = """approximate: Approximate compressed instance sets by boxes of fixed size
paper  Verdoolaege et al., IMPACT 2020, Sec. 5.3, (35)-(41), Ex. 5.8, 5.9
reads  tasks.yaml, compressions.isl, instances.isl, allocations.isl
feeds  simd: hulls.isl

cache/fc/hulls.isl
on_x_size := { [8] };
"""
TASK = """route: Build the task graph: what moves, what reacts, what computes; and route the colours
paper  Verdoolaege et al., IMPACT 2020, Sec. 4.2
reads  layer.yaml, *.lair, lair.isl, placement.isl, schedule.isl, adapted.isl
feeds  allocate, instances, compress, approximate, enumerate, simd, render, simulate: tasks.yaml
feeds  allocate, instances, simd, render, simulate: routes.isl

cache/conv1d/tasks.yaml
  init_y: {kind: initialise, tensor: y, value: '0'}
"""
STAGES = ", ".join([*PIPELINE, *ANALYSES])
GRAPH = """a
  parse     {0}
  place     {1}  after parse
  render    {2}  after place
  simulate  {3}  after render
"""
DOT = """digraph lairmake {
  node [shape=box, style=filled];
  subgraph "cluster_a" {
    label="a";
    "a:parse" [label="parse\\nup to date", fillcolor=palegreen];
    "a:place" [label="place\\nup to date", fillcolor=palegreen];
    "a:render" [label="render\\nup to date", fillcolor=palegreen];
    "a:simulate" [label="simulate\\nup to date", fillcolor=palegreen];
  }
  "a:parse" -> "a:place";
  "a:place" -> "a:render";
  "a:render" -> "a:simulate";
}
"""
UP, STORE, RUN, MAY = "up to date    ", "from the store", "would run     ", "may run       "
OURS = ("cache", "diff", "dry", "graph", "new", "show", "timing", "why")


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
    assert out.endswith(f"\nprojects/fc/build/results.json\n{results(paper)}")
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
    paper.write("projects/conv1d/build/program.yaml", "simd: {compute: {functions: [a]}}\n")
    failed = paper.run("show", "conv1d", "program")
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
        "feeds": {"hulls.isl": ["simd"]},
        "files": [{
            "name": "hulls.isl",
            "path": str(paper.root / "cache/fc/hulls.isl"),
            "objects": {"on_x_size": "on_x_size := { [8] };\n"},
        }],
    }]


@pytest.mark.parametrize(("words", "code", "text"), [
    (("fc", "nonsense"), 3,
     "ERROR: show: nonsense is no stage and no object of fc\n"
     f"hint: the stages are {STAGES}\n"),
    (("fc", "on_x_hul"), 3,
     "ERROR: show: on_x_hul is no stage and no object of fc\nhint: did you mean on_x_hull?\n"),
    (("fc", "aproximate"), 3,
     "ERROR: show: aproximate is no stage and no object of fc\nhint: did you mean approximate?\n"),
    (("fcc",), 3,
     "ERROR: show: which layer? conv1d, conv2d, fc, pointwise\nhint: did you mean fc?\n"),
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


def test_graph_says_what_a_build_would_do(small):
    assert printed(small.run("graph")) == graph(RUN, MAY, MAY, MAY)
    small.build()
    first = small.read("projects/a/a.lair")
    assert printed(small.run("graph", "a")) == graph(UP, UP, UP, UP)
    small.write("projects/a/a.lair", "one\nthree\n")
    assert printed(small.run("graph", cwd="projects/a")) == graph(RUN, MAY, MAY, MAY)
    small.build()
    small.write("projects/a/a.lair", first)
    assert printed(small.run("graph")) == graph(STORE, STORE, STORE, STORE)
    assert small.hits() == ["a:parse", "a:place", "a:render", "a:simulate"]


def graph(*words):
    return "\n".join(line.rstrip() for line in GRAPH.format(*words).split("\n"))


def test_graph_foresees_files_that_the_store_brings_back(small):
    small.build()
    small.run("clean")
    assert printed(small.run("graph")) == graph(UP, UP, STORE, STORE)
    before = small.files()
    assert small.hits() == ["a:render", "a:simulate"]
    assert before != small.files()


def test_graph_foresees_what_needs_not_run(small):
    """The comment is not in what the parser writes, but who knows before it ran?"""
    small.build()
    small.write("projects/a/a.lair", "One\nTwo  # another word\n")
    assert printed(small.run("graph")) == graph(RUN, MAY, MAY, MAY)
    assert small.build() == ["a:parse"]


def test_graph_gives_dot_and_json(small):
    small.build()
    assert printed(small.run("graph", "--dot")) == DOT
    data = json.loads(printed(small.run("graph", "--json")))
    assert data[1] == {
        "task": "a:place", "layer": "a", "stage": "place", "status": "up to date",
        "after": ["a:parse"],
    }


def test_graph_of_a_stage_is_what_it_needs(small):
    assert printed(small.run("graph", "a:place")) == (
        "a\n  parse  would run\n  place  may run         after parse\n"
    )


def test_graph_refuses_what_is_no_layer(small):
    run = small.run("graph", "b")
    assert (run.code, run.out, run.err) == (3, "", "ERROR: graph: b is no layer and no stage\n")


def test_graph_of_a_network_has_its_parts(network):
    data = json.loads(printed(network.run("graph", "mlp", "--json")))
    after = {each["task"]: each["after"] for each in data}
    assert len(data) == 3 * len(PIPELINE) + 2
    assert {"mlp:connect", "mlp/first:simulate"} <= set(after["mlp/relu:simulate"])
    assert {each["status"] for each in data} == {"up to date"}


def test_help_says_what_each_command_is_for(small):
    listed = printed(small.run("help"))
    for command in OURS:
        text = printed(small.run("help", command))
        assert text.startswith("PURPOSE\n    ")
        assert f" {command} " in text
        assert "DESCRIPTION" in text
        assert f" {command} " in listed


def test_the_shell_completes_our_commands(small):
    line = next(
        line for line in printed(small.run("tabcompletion")).splitlines() if "sub_cmds=" in line
    )
    assert set(OURS) <= set(line.strip().removeprefix('sub_cmds="').rstrip('"').split())


def test_where_the_dodo_file_is_not_ours_we_are_not_there(space):
    space.write("dodo.py", FOREIGN)
    assert printed(space.run()) == ".  show\nshown\n.  first\n"
    assert printed(space.run("show")) == ".  show\nshown\n"
    assert printed(space.run("first", "show")) == ".  show\nshown\n.  first\n"
    assert printed(space.run("list")) == "first   Come first.\nshow    Say so.\n"
    assert printed(space.run("list", "show")) == "show   Say so.\n"
    assert "show" in printed(space.run("info", "--no-status", "show"))
    assert printed(space.run("clean", "show")) == ""
    assert printed(space.run("forget", "show")) == "forgetting show\n"
    assert printed(space.run("reset-dep", "show")) == "processed show\n"
    assert space.run("new", "a").code == 3
    assert not (space.root / "a").exists()


def test_a_dodo_file_above_decides_too_whether_we_are_there(space):
    space.write("dodo.py", FOREIGN)
    (space.root / "below").mkdir()
    assert printed(space.run("show", cwd="below", DOIT_SEEK_FILE="1")) == ".  show\nshown\n"
    assert printed(space.run("-f", "../dodo.py", "show", cwd="below")) == ".  show\nshown\n"


def test_without_a_dodo_file_there_is_nothing_to_show(space):
    run = space.run("show")
    assert run.code == 3
    assert run.err.startswith("ERROR: Could not find dodo file ")


def test_commands_look_for_the_dodo_file_as_doit_does(small):
    small.build()
    (small.root / "projects/a/below").mkdir()
    found = printed(small.run("graph", cwd="projects/a/below", DOIT_SEEK_FILE="1"))
    assert found == graph(UP, UP, UP, UP)
    assert printed(small.run("-f", "dodo.py", "graph")) == found


def test_a_bug_of_ours_exits_with_2(small):
    spoil = "import stages.make.doit.commands.graph as g\ng.forecast = None\n"
    small.write("dodo.py", DODO + spoil)
    run = small.run("graph")
    assert run.code == 2
    assert run.err.startswith("Traceback")


UNREAD = """
import os, subprocess, sys
end, written = os.pipe()
os.close(end)
sys.exit(subprocess.run([sys.executable, "-m", "doit", *sys.argv[1:]], stdout=written).returncode)
"""


@pytest.mark.parametrize("words", [
    "show fc render", "show fc", "list --all", "help", "tabcompletion", "-a fc", "-n 2 -a fc", "fc",
])
def test_nobody_reading_is_no_error(paper, words):
    command = [sys.executable, "-c", UNREAD, *words.split()]
    ended = subprocess.run(command, cwd=paper.root, check=False, stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2)])
def test_without_stdout_or_stderr_nothing_is_printed(small, closed):
    small.build()
    before = {name: small.read(name) for name in small.files()}
    for words in ("-a", "-n 2 -a", "show a", "list", "dry", "why", "help"):
        run = small.run(*words.split(), preexec=lambda: [os.close(number) for number in closed])
        assert (words, run.code, run.err) == (words, 0, "")
        assert {name: small.read(name) for name in small.files()} == before


@pytest.mark.parametrize("words", ["show fc render", "show fc", "list --all", "-a fc"])
def test_no_room_for_what_is_printed_is_said(paper, words):
    command = [sys.executable, "-m", "doit", *words.split()]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            command, cwd=paper.root, check=False, stdout=full, stderr=subprocess.PIPE, text=True
        )
    said = "error: stdout: No space left on device\n"
    assert (ended.returncode, ended.stderr) == (1, said)


def test_info_of_a_name_that_is_none_is_no_crash(small):
    run = small.run("info", "nosuch")
    assert (run.code, run.err) == (3, "ERROR: 'nosuch' is not a task.\n")


def test_dumpdb_says_that_there_is_nothing_to_print(small):
    run = small.run("dumpdb")
    assert run.code == 3
    assert run.err.startswith("ERROR: dumpdb: ")

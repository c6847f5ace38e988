"""The command why: what was rebuilt, and from which edit on."""

import json
import re
import shutil

import pytest

from tests.e2e.conftest import ROOT, Space, state_of_code
from tests.e2e.test_dry import dry

WHEN = re.compile(r"build of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$", re.MULTILINE)
FIRST = """a: build
  parse     ran             first build
  place     ran             first build
  render    ran             first build
  simulate  ran             first build
"""


def printed(run):
    assert (run.code, run.err) == (0, ""), run.out + run.err
    return WHEN.sub("build", run.out)


def why(space, *words, **kwargs):
    return printed(space.run("why", *words, **kwargs))


def test_why_follows_an_edit_to_what_was_rebuilt(small):
    small.build()
    assert why(small) == FIRST
    small.write("projects/a/a.lair", "One\nThree  # a word\nFour\n")
    small.build()
    text = """a: build
  projects/a/a.lair
    line 2: Two # a word -> Three # a word
    line 3: Four is new
  parse     ran             a.lair changed: another lair.isl
  place     ran             lair.isl changed: another placement.isl
  render    ran             placement.isl changed: another simd/pe_four.c, simd/pe_three.c, \
simd/pe_two.c
  simulate  ran             simd/pe_four.c, simd/pe_three.c, simd/pe_two.c changed: another \
outputs/y.npy, results.json
"""
    assert why(small) == text
    assert small.build() == []
    text = text.replace("a: build", "a: nothing changed since the build")
    assert why(small, "a", cwd="projects/a") == text.replace("projects/a/a.lair", "a.lair")
    assert why(small, "a:place") == "".join(text.splitlines(keepends=True)[:6]).replace(
        "parse   ", "parse"
    ).replace("place   ", "place")


def test_why_says_why_a_task_was_not_rebuilt(small):
    small.build()
    small.write("projects/a/a.lair", "One\nTwo  # another word\n")
    assert small.build() == ["a:parse"]
    assert why(small) == """a: build
  projects/a/a.lair
    line 2: Two # a word -> Two # another word
  parse     ran             a.lair changed, but writes what it wrote before
  place     not rebuilt     parse ran, but lair.isl did not change
  render    not rebuilt     nothing that it reads changed
  simulate  not rebuilt     nothing that it reads changed
"""
    assert why(small, "a:render") == """a: build
  render  not rebuilt     nothing that it reads changed
"""


def test_why_names_the_keys_of_layer_yaml(small):
    small.build()
    small.write("projects/a/layer.yaml", "machine: wse2\nsizes: {N: 3}\n")
    small.build()
    lines = why(small, "a:place").splitlines()
    assert lines[1:4] == [
        "  projects/a/layer.yaml",
        "    line 1, machine: ideal -> wse2",
        "    line 2, sizes.N: 3 is new",
    ]
    small.write("projects/a/layer.yaml", "machine: wse2\n")
    small.build()
    assert "    sizes.N: 3 is gone" in why(small).splitlines()


@pytest.mark.wide
def test_why_tells_what_came_from_the_store(small):
    small.build()
    first = small.read("projects/a/a.lair")
    small.write("projects/a/a.lair", "One\n")
    small.build()
    small.write("projects/a/a.lair", first)
    assert small.hits() != []
    assert why(small, "a:place") == """a: build
  projects/a/a.lair
    line 2: Two # a word is new
  parse  from the store  a.lair changed: another lair.isl
  place  from the store  lair.isl changed: another placement.isl
"""
    (small.root / "cache/a/placement.isl").unlink()
    assert small.hits() == ["a:place"]
    assert why(small, "a:place") == """a: build
  place  from the store  what it wrote was not there: as it was before
"""


def test_why_knows_what_was_edited_by_hand(small):
    small.build()
    small.write("cache/a/lair.isl", "edited\n")
    small.hits()
    assert why(small, "a:parse") == """a: build
  parse  from the store  lair.isl was edited by hand: as it was before
"""


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_why_knows_of_changed_code(small):
    small.build()
    path = small.modules / "stages/place.py"
    path.write_text(path.read_text().replace("text.lower()", "text.lower().lower()"))
    small.build()
    assert why(small, "a:place") == """a: build
  place  ran             code stages/place.py: run changed, but writes what it wrote before
"""


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_why_and_dry_name_definitions_of_changed_code(small):
    """One that is edited, one that is new, and what runs when the module is imported."""
    small.build()
    path = small.modules / "stages/poly/quota.py"
    text = path.read_text().replace("class Too", "class New:\n    pass\n\n\nclass Too")
    text = text.replace("    yield\n", "    assert New\n        yield\n", 1)
    path.write_text(text + "assert New\n")
    named = "stages/poly/quota.py: New, "
    assert named in small.run("dry", "a:place").out
    small.build()
    assert named in why(small, "a:place")
    (lines,) = [line for line in why(small, "a:place").splitlines() if "place  ran" in line]
    assert "stages/poly/quota.py: what runs when it is imported" in lines


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_why_names_the_file_of_changed_code_where_the_definitions_are_forgotten(small):
    small.build()
    state_of_code(small).forget("definitions")
    path = small.modules / "stages/place.py"
    path.write_text(path.read_text().replace("text.lower()", "text.lower().lower()"))
    small.build()
    assert "  place  ran             code stages/place.py changed, but" in why(small, "a:place")


def test_why_says_that_a_build_did_nothing(small):
    small.layer("projects/b")
    small.build()
    small.write("projects/b/a.lair", "One\n")
    small.build("b")
    assert why(small, "a") == FIRST
    before = small.log()
    small.build()
    since = FIRST.replace("a: build", "a: nothing changed since the build")
    assert why(small, "a") == since
    (found,) = small.log()[len(before) :]
    assert (found["event"], found["layers"], found["asked"]) == ("same", 2, [])
    (small.root / "projects/a/a.lair").touch()
    small.build("a")
    assert why(small, "a") == since
    assert why(small).startswith("b: nothing changed since the build\n  projects/b/a.lair\n")


def test_why_knows_what_else_makes_tasks_run(small):
    """An order, what was forgotten, and another tool: the latter two as the log would have them."""
    small.build()
    small.build("-a")
    said = "  place  ran             {}, but writes what it wrote before"
    assert why(small, "a:place").splitlines()[1:] == [said.format("-a asked for it")]
    log = "\n".join(map(json.dumps, small.log())).replace('"always": true', '"always": false')
    rewrite(small, log.replace('"stage":', '"forgotten":true,"stage":'))
    assert why(small, "a:place").splitlines()[1:] == [said.format("it was forgotten")]
    news = log.replace('"always": false', '"tools":{"islpy":["2026.2.1","2026.2.2"]}')
    digests = re.compile(r'"packages": "\w+"')
    rewrite(small, digests.sub('"packages":"1"', news, count=4))
    assert why(small, "a:place").splitlines()[1:] == [
        "  tools", "    islpy: 2026.2.1 -> 2026.2.2", said.format("tools changed")
    ]


def rewrite(space, text):
    """Let the log have other lines."""
    state = space.state()
    state.run("delete from log")
    for line in text.splitlines():
        state.add(json.loads(line))
    state.flush()


def test_why_tells_of_a_failure(small):
    small.build()
    small.write("projects/a/a.lair", "wrong\n")
    assert small.run().code == 1
    assert why(small) == """a: build
  projects/a/a.lair
    line 1: One -> wrong
    after line 1: Two # a word is gone
  parse  failed          a.lair changed: projects/a/a.lair:1:1: error: this is wrong
"""
    small.write("projects/a/a.lair", "One\nTwo\n")
    small.build()
    assert why(small).splitlines()[1:3] == [
        "  projects/a/a.lair", "    line 2: Two # a word -> Two"
    ]


def test_why_gives_json(small):
    small.build()
    small.write("projects/a/a.lair", "One\n")
    small.build()
    data = json.loads(printed(small.run("why", "a:place", "--json")))
    assert [each["task"] for each in data] == ["a:parse", "a:place"]
    cause = data[1]["causes"][0]
    assert (cause["name"], cause["kind"], cause["task"]) == ("lair.isl", "task", "a:parse")
    assert data[0]["causes"][0]["kind"] == "source"
    assert (data[0]["how"], data[0]["wrote"]) == ("ran", ["lair.isl"])


def test_without_a_build_there_is_nothing_to_explain(small):
    run = small.run("why")
    assert (run.code, run.err) == (1, "error: the log knows no build of any layer\n")
    run = small.run("why", "b")
    assert (run.code, run.err) == (3, "ERROR: why: b is no layer and no stage\n")


@pytest.mark.wide
def test_why_follows_a_tensor_from_part_to_part(mlp):
    text = mlp.read("projects/mlp/first/layer.yaml")
    mlp.write("projects/mlp/first/layer.yaml", text + "data: {seed: 7}\n")
    mlp.build("mlp")
    lines = why(mlp, "mlp/relu:simulate").splitlines()
    number = text.count("\n") + 1
    assert lines[:3] == [
        "mlp/relu: build",
        "  projects/mlp/first/layer.yaml",
        f"    line {number}, data.seed: 7 is new",
    ]
    assert any(re.match(r"  mlp/first:simulate +ran .*layer.yaml changed: ", x) for x in lines)
    assert re.match(r" +simulate +ran +inputs/x.npy changed: another", lines[-1])


FC = """fc: build
  projects/fc/layer.yaml
    line 14, data.seed: 7 is new
  parse        not rebuilt     nothing that it reads changed
"""


@pytest.mark.wide
def test_a_change_of_the_data_of_a_shipped_layer_reaches_the_simulation_only(paper, tmp_path):
    shutil.copytree(paper.root, tmp_path / "space")
    space = Space(tmp_path / "space", ROOT)
    text = space.read("projects/fc/layer.yaml")
    space.write("projects/fc/layer.yaml", text + "data: {seed: 7}\n")
    plan = dry(space, "fc")
    assert "\n  simulate  would run       layer.yaml changed\n12 tasks up to date\n" in plan
    space.build("fc")
    line = text.count("\n") + 1
    shown = why(space, "fc")
    assert shown.startswith(FC.replace("line 14", f"line {line}"))
    words = dict(line.split()[:2] for line in shown.splitlines()[3:])
    assert {stage for stage, how in words.items() if how != "not"} == {"simulate"}
    assert shown.splitlines()[-1].startswith("  simulate     ran             layer.yaml changed: ")


@pytest.mark.parametrize("command", ["why", "dry", "timing"])
def test_commands_refuse_nonsense(small, command):
    run = small.run(command, "nonsense")
    assert (run.code, run.out) == (3, "")
    assert run.err == f"ERROR: {command}: nonsense is no layer and no stage\n"

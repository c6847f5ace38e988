"""The command sweep: a folder built with each combination of values."""

import csv
import io
import json
import re
import shutil
import signal

import numpy as np
import pytest

from tests.e2e.conftest import DODO, ROOT, Space, printed
from tests.e2e.test_interrupted import noted, start, wait_for

pytestmark = pytest.mark.xdist_group("sweep")
WORDS = ("fc", "--set", "sizes.M=32,64", "--set", "placement=one.isl,two.isl")
ONE, TWO = (f"{{ ff[i,j] -> PE[j//{width}, 1 + i//8] }}\n" for width in (4, 8))
TABLE = """fc: 4 combinations, 2 refused
  * no other of the same M takes fewer cycles on as few PEs, or as few on fewer
     M   placement  cycles  loops  speed-up  bound  memory  PEs
  *  32  one.isl       137    370      2.70     29     7 %   16
  *  32  two.isl       165    477      2.89     29     7 %    8
     64  one.isl    placement leaves the target: ff[32, 0] runs on PE[0, 5]
     64  two.isl    placement leaves the target: ff[32, 0] runs on PE[0, 5]
"""
BASE = "projects/fc/build/sweep/placement-one.isl_sizes.M-32"


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A workspace with fc, built and then swept; one placement lies with it, one beside it."""
    space = Space(tmp_path_factory.mktemp("swept"), ROOT)
    space.write("dodo.py", DODO)
    space.copy(ROOT / "projects/fc", "projects/fc")
    space.write("projects/fc/one.isl", ONE)
    space.write("two.isl", TWO)
    space.build("fc")
    space.first = space.run("sweep", *WORDS)
    return space


def lines_of(run):
    """Return what a sweep says of its builds, in any order."""
    return sorted(run.err.splitlines())


@pytest.mark.wide
def test_a_table_has_a_row_for_each_combination_and_why_one_is_refused(swept):
    assert (swept.first.code, swept.first.out) == (0, TABLE)


@pytest.mark.wide
def test_what_is_as_the_layer_says_comes_from_its_builds(swept):
    assert lines_of(swept.first)[:2] == [
        "fc/build/sweep/placement-one.isl_sizes.M-32: 13 stages from the store",
        "fc/build/sweep/placement-one.isl_sizes.M-64: 1 stage ran",
    ]
    assert swept.read(f"{BASE}/layer.yaml") == swept.read("projects/fc/layer.yaml")
    results = "build/results.json"
    assert swept.read(f"{BASE}/{results}") == swept.read(f"projects/fc/{results}")


@pytest.mark.wide
def test_a_sweep_that_was_built_runs_nothing_that_is_right_again(swept):
    again = swept.run("sweep", *WORDS, "-n", "2")
    assert (again.code, again.out) == (0, TABLE)
    assert lines_of(again) == [
        "fc/build/sweep/placement-one.isl_sizes.M-64: place failed",
        "fc/build/sweep/placement-two.isl_sizes.M-64: place failed",
    ]
    shutil.rmtree(swept.root / "cache/fc/build")
    shutil.rmtree(swept.root / "projects/fc/build/sweep")
    stored = swept.run("sweep", "fc", *WORDS[3:], *WORDS[1:3])
    assert [line for line in lines_of(stored) if "M-32" in line] == [
        f"fc/build/sweep/placement-{way}.isl_sizes.M-32: 13 stages from the store"
        for way in ("one", "two")
    ]
    assert not re.search("stages? ran", stored.err)


@pytest.mark.wide
def test_json_and_csv_have_what_the_results_say(swept):
    found = json.loads(printed_alone(swept.run("sweep", *WORDS, "--json")))
    assert (found["name"], found["keys"]) == ("fc", ["sizes.M", "placement"])
    assert found["work"] == ["sizes.M"]
    row, results = found["rows"][0], json.loads(swept.read(f"{BASE}/build/results.json"))
    assert row == {
        "set": {"sizes.M": "32", "placement": "one.isl"}, "folder": BASE, "right": True,
        "pareto": True, "error": None, "figures": {
            "cycles": results["cycles"]["simd"], "loops": results["cycles"]["loops"],
            "speedup": results["speedup"], "bound": results["bound"]["cycles"],
            "by": results["bound"]["by"], "bytes": results["memory"]["bytes_per_pe"],
            "of": results["memory"]["of"], "pes": results["pes"]["compute"],
        },
    }
    assert found["rows"][2]["error"].startswith(
        "projects/fc/build/sweep/placement-one.isl_sizes.M-64/layer.yaml:10:3: error: placement "
    )
    assert json.loads(swept.read("projects/fc/build/sweep/sweep.json")) == found
    assert "<svg" in swept.read("projects/fc/build/sweep/sweep.svg")
    run = swept.run("sweep", *WORDS, "--csv", "--sort", "pes", "-P", "thread", "-n", "2")
    rows = list(csv.DictReader(io.StringIO(printed_alone(run))))
    assert [(row["cycles"], row["pes"], row["placement"]) for row in rows] == [
        ("165", "8", "two.isl"), ("137", "16", "one.isl"), ("", "", "one.isl"), ("", "", "two.isl"),
    ]


def printed_alone(run):
    assert run.code == 0, run.err
    return run.out


def test_a_combination_is_a_folder_as_any_other(swept):
    assert printed(swept.run("show", f"{BASE}", "placement.isl")).count("ff[i, j]") == 1
    name = BASE.removeprefix("projects/")
    assert printed(swept.run("why", f"{name}:simd")).startswith(f"{name}: ")
    told = printed(swept.run("diff", "fc", "--with", name.replace("one", "two"), "place"))
    assert told == (
        f"fc: {name.replace('one', 'two')} -> fc\nplacement.isl\n"
        "  placement     { ff[i, j] -> PE[j//8, 1 + i//8] } -> { ff[i, j] -> PE[j//4, 1 + i//8] }\n"
    )
    run = swept.plain(cwd=f"{BASE}", DOIT_SEEK_FILE="1")
    assert run.code == 0


def test_nothing_of_a_sweep_is_looked_at_when_its_layer_is_built(swept):
    assert printed(swept.plain()) == "1 layer unchanged\n"
    swept.run("sweep", "fc", "--set", "machine=wse2")
    assert printed(swept.plain()) == "1 layer unchanged\n"
    assert "fc/build/sweep" not in printed(swept.run("list", "--all"))


def test_a_value_that_cannot_be_is_refused_before_anything_is_written(swept):
    before = swept.files()
    run = swept.run("sweep", "fc", "--set", "sizes.M=32,x")
    text = "--set:1:12: error: sizes.M must be an integer\n  sizes.M=32,x\n             ^\n"
    assert (run.code, run.out, run.err) == (1, "", text)
    assert swept.files() == before


@pytest.mark.parametrize(("words", "said"), [
    (["fc"], "nothing is set: LAYER --set KEY=VALUE,VALUE [--set ...]\n"
     "hint: `doit sweep fc --set sizes.M=32,64`"),
    (["fc", "--set", "sizes.M=3", "--sort", "x"],
     "x is no column: cycles, loops, speedup, bound, memory, pes"),
    (["fc", "simd", "--set", "sizes.M=3"], "simd is no layer and no stage\n"
     "hint: simd is a stage: say fc:simd"),
])
def test_a_command_line_that_says_too_little_or_too_much_is_wrong(swept, words, said):
    run = swept.run("sweep", *words)
    assert (run.code, run.out, run.err) == (3, "", f"ERROR: sweep: {said}\n")


def test_where_nothing_is_built_to_the_end_the_exit_code_is_1(swept):
    run = swept.run("sweep", "fc", "--set", "sizes.M=64", "--set", "data.seed=0")
    assert (run.code, run.out) == (1, """fc: 1 combination, 1 refused
     M   seed
     64  0     placement leaves the target: ff[32, 0] runs on PE[0, 5]
""")


@pytest.mark.wide
def test_inputs_of_the_layer_are_those_of_its_combinations(swept, tmp_path):
    space = Space(tmp_path, ROOT)
    space.write("dodo.py", DODO)
    space.copy(ROOT / "projects/fc", "projects/fc")
    (space.root / "projects/fc/inputs").mkdir()
    np.save(space.root / "projects/fc/inputs/x.npy", np.ones(16, dtype=np.float16))
    shutil.copytree(swept.root / ".lairmake/store", space.root / ".lairmake/store")
    found = json.loads(space.run("sweep", "fc", "--set", "sizes.N=16,12", "--json").out)["rows"]
    assert [row["right"] for row in found] == [True, False]
    assert found[1]["error"].splitlines()[0] == (
        "error: projects/fc/build/sweep/sizes.N-12/inputs/x.npy has shape (16,), but x has shape "
        "(12,)"
    )
    results = json.loads(space.read("projects/fc/build/sweep/sizes.N-16/build/results.json"))
    assert results["data"]["x"] == "inputs/x.npy"


def test_what_is_pinned_is_told_for_no_combination_has_it(swept):
    """The routes of fc that a person edited are none of those that are swept."""
    given = swept.read("projects/fc/layer.yaml")
    swept.write("projects/fc/layer.yaml", f"{given}pin: [routes.isl]\n")
    run = swept.run("sweep", "fc", "--set", "sizes.M=64")
    swept.write("projects/fc/layer.yaml", given)
    said = "swept without the edits of cache/fc/routes.isl, which are pinned\n"
    assert run.code == 1 and said in run.err


def test_a_layer_folder_alone_is_swept_with_its_own_store(swept, tmp_path):
    space = Space(tmp_path / "fc", ROOT)
    shutil.copytree(ROOT / "projects/fc", space.root, ignore=shutil.ignore_patterns("build", "__*"))
    shutil.copytree(swept.root / ".lairmake/store", space.root / ".lairmake/store")
    space.write("one.isl", ONE)
    run = space.run("sweep", "--set", "placement=one.isl")
    assert run.err == "fc/build/sweep/placement-one.isl: 13 stages from the store\n"
    assert run.out.splitlines()[-1] == (
        "  *  one.isl       137    370      2.70     29     7 %   16"
    )
    assert space.plain("clean").code == 0
    assert not (space.root / "build").exists()


@pytest.mark.wide
def test_a_sweep_that_is_killed_builds_nothing_twice(small, tmp_path):
    notes = tmp_path / "notes"
    notes.touch()
    words = ("sweep", "a", "--set", "machine=wse1,wse2,wse3", "--set", "data.seed=1,2", "-n", "2")
    build = start(small, *words, NOTED=str(notes), SLOW="0.1")
    wait_for(lambda: len(noted(notes)) > 5)
    build.kill()
    build.communicate()
    before = notes.read_text(encoding="utf-8").splitlines()
    run = small.run(*words, NOTED=str(notes))
    after = notes.read_text(encoding="utf-8").splitlines()[len(before):]
    assert (run.code, len(run.out.splitlines())) == (0, 9)
    assert set(before[:-2]).isdisjoint(after)
    again = small.run(*words, NOTED=str(notes))
    assert (again.out, again.err) == (run.out, "")
    assert len(notes.read_text(encoding="utf-8").splitlines()) == len(before) + len(after)


@pytest.mark.wide
def test_an_interrupted_sweep_keeps_what_is_done(small, tmp_path):
    notes = tmp_path / "notes"
    notes.touch()
    words = ("sweep", "a", "--set", "machine=wse1,wse2", "--json")
    build = start(small, *words, NOTED=str(notes), SLOW="0.1")
    wait_for(lambda: len(noted(notes)) >= 3)
    build.send_signal(signal.SIGINT)
    out, err = build.communicate()
    assert (build.returncode, out) == (130, "")
    assert err.endswith("interrupted: what is done is kept\n")
    before = notes.read_text(encoding="utf-8").splitlines()
    assert small.run(*words, NOTED=str(notes)).code == 0
    after = notes.read_text(encoding="utf-8").splitlines()[len(before):]
    assert after and set(before[:-1]).isdisjoint(after)


def test_a_bug_of_a_stage_is_no_row(small):
    small.write("projects/a/layer.yaml", "crash: 1\n")
    run = small.run("sweep", "a", "--set", "machine=wse1,wse2")
    assert (run.code, run.out) == (2, "")
    assert "RuntimeError: a bug" in run.err


def test_nothing_is_written_through_a_link(small, tmp_path):
    (small.root / "projects/a/build").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (small.root / "projects/a/build/sweep").symlink_to(tmp_path / "elsewhere")
    run = small.run("sweep", "a", "--set", "machine=wse1")
    assert (run.code, run.out, run.err) == (
        1, "", "error: cannot write projects/a/build/sweep/machine-wse1/layer.yaml: "
        "projects/a/build/sweep is a symbolic link\n"
        "hint: what stages write goes into the layer's own folders: remove the link\n",
    )
    assert not list((tmp_path / "elsewhere").iterdir())
    (small.root / "projects/a/build/sweep").unlink()
    (small.root / "projects/a/inputs").symlink_to("/etc")
    assert small.run("sweep", "a", "--set", "machine=wse1").err == (
        "error: projects/a/inputs is a link out of its folder, or to a folder\n"
        "hint: put what it leads to in its place, or remove it\n"
    )


def test_values_that_are_wrong_are_told_and_give_exit_code_1(small):
    spoil = ("from lairmake.stages.make.report import comparison\n"
             "comparison.list_wrong = lambda results: ['y']\n")
    small.write("dodo.py", DODO + spoil)
    run = small.run("sweep", "a", "--set", "machine=wse1")
    assert (run.code, run.out) == (
        1, "a: 1 combination, 1 WRONG\n     machine  cycles  loops  speed-up  bound  memory\n"
        "     wse1     WRONG: y\n",
    )

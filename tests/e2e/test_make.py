"""What the Make builds anew and what it leaves, with small stages in place of the compiler."""

import hashlib
import os
import shutil
import time

import pytest

ALL = ["a:parse", "a:place", "a:render", "a:simulate"]
SUMMARY = """small on ideal
  y       right, bit for bit
  inputs  x generated (integers, seed 0)
  cycles  2 with vector instructions, 4 with loops: 2.00 times as fast
  bound   1 cycles, by operations
  memory  96 of 49152 bytes on the fullest PE
  fabric  3 wavelets, 4 hops, 0 stalls
  on_x  a vector instruction [8] by the box hull; 1 call, 8 instances
"""


@pytest.mark.wide
def test_first_build_runs_every_stage_and_prints_the_summary(small):
    run = small.run("a")
    assert run.ran == ALL
    assert run.out.endswith(SUMMARY)
    assert small.files("cache") == ["cache/a/lair.isl", "cache/a/placement.isl"]
    assert small.files("projects/a/build") == [
        "projects/a/build/layout.yaml",
        "projects/a/build/outputs/y.npy",
        "projects/a/build/results.json",
        "projects/a/build/simd/pe_one.c",
        "projects/a/build/simd/pe_two.c",
    ]


@pytest.mark.wide
def test_second_build_runs_nothing_and_says_so(small):
    small.build()
    run = small.run()
    assert (run.code, run.out, run.err) == (0, "1 layer unchanged\n", "")


def test_a_layer_that_is_named_shows_its_results_whether_built_or_not(small):
    small.build()
    assert small.run("a").out == SUMMARY
    assert small.run(cwd="projects/a").out == SUMMARY


def test_many_layers_have_a_line_each(small):
    for name in "bcdef":
        small.layer(f"projects/{name}")
        small.write(f"projects/{name}/a.lair", f"One\n{name}\n")
    lines = [f"{name}: right, 2 cycles, 4 with loops\n" for name in "abcdef"]
    assert small.plain().out.endswith("".join(lines))


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_a_wrong_value_is_shown_and_exits_1(small):
    stage = small.modules / "stages/simulate.py"
    stage.write_text(stage.read_text().replace('"right": True', '"right": False'))
    run = small.run("a")
    assert run.code == 1
    assert "  y       WRONG, by up to 0\n" in run.out
    again = small.run()
    assert (again.code, again.ran) == (1, [])
    assert "  y       WRONG, by up to 0\n" in again.out


def test_nothing_to_do_imports_no_stage_and_no_package(small):
    small.build()
    small.write("projects/a/dodo.py", small.read("projects/a/dodo.py") + LOADED)
    small.is_cold = True
    loaded = small.run("list", cwd="projects/a").out + small.run(cwd="projects/a").out
    assert "loaded []" in loaded


LOADED = """
import atexit, sys
HEAVY = (
    "islpy", "numpy", "jinja2", "yaml", "pydantic", "lark", "rich", "fsspec",
    "lairmake.stages.layer.parse", "lairmake.stages.layer.simulate",
    "lairmake.stages.mapping.records",
)
atexit.register(lambda: print("loaded", [m for m in HEAVY if m in sys.modules]))
"""


def test_a_comment_runs_only_the_stage_that_reads_it(small):
    small.build()
    small.write("projects/a/a.lair", "One\nTwo  # another word\n")
    assert small.build() == ["a:parse"]
    assert small.build() == []


def test_a_change_stops_where_the_text_is_the_same(small):
    small.build()
    small.write("projects/a/a.lair", "ONE\nTwo\n")
    assert small.build() == ["a:parse", "a:place"]


def test_a_change_of_the_layer_runs_what_depends_on_it(small):
    small.build()
    small.write("projects/a/a.lair", "one\nthree\n")
    assert small.build() == ALL
    assert "projects/a/build/simd/pe_two.c" not in small.files()


def test_a_touched_file_runs_nothing(small):
    small.build()
    os.utime(small.root / "projects/a/a.lair")
    os.utime(small.root / "cache/a/lair.isl")
    assert small.build() == []


def test_an_edit_that_keeps_the_time_is_seen(small):
    small.build()
    path = small.root / "projects/a/a.lair"
    before = path.stat()
    small.write("projects/a/a.lair", "One\nSix  # a word\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    time.sleep(0.1)  # what has just changed is read anyway
    assert small.build() == ALL


def test_an_intermediate_edited_by_hand_is_repaired(small):
    small.build()
    good = small.read("cache/a/lair.isl")
    small.write("cache/a/lair.isl", "edited\n")
    run = small.run()
    assert (run.code, run.ran, run.hits) == (0, [], ["a:parse"])
    assert small.read("cache/a/lair.isl") == good
    digest = hashlib.sha256(b"edited\n").hexdigest()
    kept = f".lairmake/store/edits/{digest[:2]}/{digest}"
    assert run.out == (
        "=  a:parse  from the store\n"
        "repaired cache/a/lair.isl, which was edited by hand: keep such edits with --keep-edits "
        f"or pin: (this one is in {kept})\n" + SUMMARY
    )
    assert small.read(kept) == "edited\n"


def test_an_edit_is_repaired_also_where_the_stage_must_run(small):
    small.build()
    small.write("cache/a/lair.isl", "edited\n")
    small.write("projects/a/a.lair", "One\nSix\n")
    run = small.run()
    assert run.ran == ALL
    assert "repaired cache/a/lair.isl, which was edited by hand" in run.out


def test_what_a_checkout_brings_is_no_edit(small):
    small.write("cache/a/lair.isl", "from an older commit\n")
    assert "edited by hand" not in small.run().out
    old = small.read("cache/a/lair.isl")
    small.write("projects/a/a.lair", "One\nSix\n")
    small.build()
    small.write("cache/a/lair.isl", old)
    assert "edited by hand" not in small.run().out


def test_an_output_edited_by_hand_is_repaired(small):
    small.build()
    good = small.read("projects/a/build/simd/pe_one.c")
    small.write("projects/a/build/simd/pe_one.c", "edited\n")
    assert small.hits() == ["a:render"]
    assert small.read("projects/a/build/simd/pe_one.c") == good


def test_an_output_that_does_not_belong_is_removed(small):
    small.build()
    small.write("projects/a/build/simd/pe_left.c", "left over\n")
    small.write("projects/a/a.lair", "one\nthree\n")
    small.build()
    assert "projects/a/build/simd/pe_left.c" not in small.files()


def test_a_deleted_target_is_made_again(small):
    small.build()
    (small.root / "cache/a/placement.isl").unlink()
    assert small.hits() == ["a:place"]
    (small.root / "projects/a/build/outputs/y.npy").unlink()
    assert small.hits() == ["a:simulate"]


def test_a_cache_without_state_is_not_trusted(small):
    small.build()
    good = small.read("cache/a/placement.isl")
    small.write("cache/a/placement.isl", "damaged\n")
    shutil.rmtree(small.root / ".lairmake")
    assert small.build() == ALL
    assert small.read("cache/a/placement.isl") == good


def test_a_new_input_runs_only_what_reads_inputs(small):
    small.build()
    small.write("projects/a/inputs/x.npy", "an input")
    assert small.build() == ["a:simulate"]
    small.write("projects/a/inputs/x.npy", "another")
    assert small.build() == ["a:simulate"]
    (small.root / "projects/a/inputs/x.npy").unlink()
    assert small.hits() == []


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_changed_code_of_a_stage_runs_that_stage(small):
    small.build()
    module = small.modules / "stages/place.py"
    module.write_text(module.read_text().replace("text.lower()", "text.lower().lower()"))
    assert small.build() == ["a:place"]


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_code_that_no_stage_reaches_runs_nothing(small):
    """A comment, a blank line, what a function says of itself, and a function that none calls."""
    small.build()
    more = "# changed\n\n\ndef nobody():\n    return 1\n"
    for name in ("place", "diagnose"):
        module = small.modules / f"stages/{name}.py"
        said = 'def run(inputs):\n    """It runs."""'
        text = module.read_text().replace("def run(inputs):", said)
        module.write_text(f"# changed\n{text}{more}")
    assert small.build() == []
    assert small.hits() == []


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_changed_code_that_every_stage_uses_runs_all(small):
    small.build()
    with (small.modules / "stages/diagnose.py").open("a") as module:
        module.write("assert UserError\n")
    assert small.build() == ALL


def test_workspace_and_layer_folder_share_one_state(small):
    small.build()
    assert small.build(cwd="projects/a") == []
    small.write("projects/a/a.lair", "one\nthree\n")
    assert small.build(cwd="projects/a") == ALL
    assert small.build("a") == []


def test_below_a_layer_folder_doit_finds_it_with_k(small):
    assert small.build("-k", cwd="projects/a") == ALL
    assert small.build(cwd="projects/a/build", DOIT_SEEK_FILE="1") == []


def test_a_layer_at_any_depth_is_named_by_its_path(small):
    small.layer("projects/deep/er/b")
    assert small.build("deep/er/b")[0] == "deep/er/b:parse"
    assert "cache/deep/er/b/lair.isl" in small.files("cache")


def test_a_folder_of_layers_stands_for_all_below_it(small):
    for name in ("many/b", "many/more/c"):
        small.layer(f"projects/{name}")
    run = small.run("many")
    assert {task.partition(":")[0] for task in run.ran + run.hits} == {"many/b", "many/more/c"}
    assert "\na\n" not in small.run("dry", "many").out
    assert small.run("dry").out.startswith("a\n")


def test_a_layer_folder_outside_a_workspace_keeps_its_own_cache(small):
    small.layer("alone")
    assert small.build(cwd="alone") == [name.replace("a:", "alone:") for name in ALL]
    assert small.build(cwd="alone") == []
    assert "alone/cache/lair.isl" in small.files("alone")
    assert (small.root / "alone/.lairmake/store").is_dir()


def test_clean_removes_the_outputs_and_keeps_the_cache(small):
    small.build()
    assert small.run("clean").code == 0
    assert small.files("projects/a/build") == []
    assert small.files("cache") == ["cache/a/lair.isl", "cache/a/placement.isl"]
    assert small.hits() == ["a:render", "a:simulate"]


def test_clean_without_action_removes_nothing(small):
    small.build()
    before = small.files()
    assert small.run("clean", "--dry-run").code == 0
    assert small.files() == before


def test_one_stage_runs_with_what_it_needs(small):
    assert small.build("a:place") == ["a:parse", "a:place"]


def test_two_processes_build_what_one_builds(small):
    small.layer("projects/b")
    small.write("projects/b/a.lair", "Three\n")
    assert sorted(small.build("-n", "2")) == sorted(ALL + [n.replace("a:", "b:") for n in ALL])
    assert small.hits() == []


def test_list_says_what_each_task_does(small):
    out = small.run("list", "--all").out
    assert "a            build and simulate a\n" in out
    assert "a:parse      Leave the comments of the .lair out\n" in out

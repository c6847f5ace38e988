"""Tasks of a user beside those of layers: how they refer to each other, and what builds what."""

import pytest

from tests.e2e.conftest import DODO, LAYER_DODO, ROOT
from tests.e2e.test_make import ALL

AFTER = """

def task_after():
    return {{"file_dep": [{path!r}], "actions": ["true"]}}
"""
BEFORE_PLACE = ["a:parse", "a:place"]


def after(small, path):
    small.write("dodo.py", DODO + AFTER.format(path=path))


@pytest.mark.wide_after(3)
@pytest.mark.parametrize("spelled", ["./{}", "{root}/{}", "projects/../{}", "linked/{}"])
def test_a_path_may_have_any_spelling(small, spelled):
    (small.root / "linked").symlink_to(small.root)
    after(small, spelled.format("cache/a/placement.isl", root=small.root))
    assert small.build("after") == [*BEFORE_PLACE, "after"]
    small.write("projects/a/a.lair", "Three\n")
    assert small.build("after") == [*BEFORE_PLACE, "after"]


def test_a_file_that_a_stage_finds_out_the_name_of_is_matched_by_its_pattern(small):
    after(small, "projects/a/build/outputs/y.npy")
    assert small.build("after") == [*ALL, "after"]


def test_a_source_of_a_layer_is_no_reason_to_build_it(small):
    after(small, "projects/a/a.lair")
    assert small.build("after") == ["after"]
    assert small.files("cache") == []


def test_the_output_of_a_kernel_and_a_stage_on_demand_may_be_needed(small):
    small.write("projects/k/k.mlir", "one\n")
    after(small, "cache/k/words.isl")
    assert small.build("after") == ["k:gather", "after"]
    after(small, "cache/a/counted.isl")
    assert small.build("after") == [*BEFORE_PLACE, "a:count", "after"]


def test_layers_that_nothing_happened_to_are_built_for_nobody(small):
    small.layer("projects/b")
    after(small, "projects/a/build/results.json")
    small.build("after", "b")
    small.write("dodo.py", small.read("dodo.py").replace("true", "echo a task"))
    assert small.build("after") == []
    assert small.build("-a", "after") == [*ALL, "after"]


def test_a_layer_that_a_task_comes_after_is_built_though_another_is_asked_for(small):
    small.layer("projects/b")
    small.write("projects/b/a.lair", "Three\n")
    task = '\n\ndef task_b_first():\n    return {"task_dep": ["b"], "actions": ["true"]}\n'
    small.write("dodo.py", DODO + task)
    assert small.build("a") == ALL
    assert small.build("b_first") == [*(n.replace("a:", "b:") for n in ALL), "b_first"]


def test_the_target_of_a_task_may_not_be_what_a_stage_writes(small):
    task = '\n\ndef task_x():\n    return {"targets": ["./cache/a/lair.isl"], "actions": []}\n'
    small.write("dodo.py", DODO + task)
    run = small.run()
    assert (run.code, run.out) == (3, "")
    path = small.root / "cache/a/lair.isl"
    assert run.err == (
        f"ERROR: Two different tasks can't have a common target. '{path}' is a target for x and "
        "a:parse.\n"
    )


def test_a_task_may_not_be_called_as_a_layer_is(small):
    small.build()
    small.write("dodo.py", DODO + '\n\ndef task_a():\n    return {"actions": ["true"]}\n')
    run = small.run()
    assert (run.code, run.err) == (
        3, "ERROR: Task names must be unique. a: rename the task, or projects/a\n"
    )


@pytest.mark.wide
def test_a_profile_that_a_task_makes_is_made_before_the_layers_that_name_it(space):
    name = "everything_on_one"
    space.copy(ROOT / "projects" / name, f"projects/{name}")
    given = space.read(f"projects/{name}/layer.yaml")
    space.write(f"projects/{name}/layer.yaml", f"{given}\nmachine: ../../mine.yaml\n")
    space.write("figures", (ROOT / "stages/machine/profiles/paper.yaml").read_text("utf-8"))
    task = """

def task_profile():
    return {"targets": ["mine.yaml"], "file_dep": ["figures"], "actions": ["cp figures mine.yaml"]}
"""
    space.write("dodo.py", DODO + task)
    assert space.build()[0] == "profile"
    assert space.build() == []
    space.write("figures", space.read("figures").replace("hop: {value: 1", "hop: {value: 2"))
    ran = space.build()
    assert ran[0] == "profile" and ran[-1] == f"{name}:simulate"


def test_default_tasks_of_the_user_win(small):
    after(small, "cache/a/placement.isl")
    small.write("dodo.py", small.read("dodo.py") + 'DOIT_CONFIG["default_tasks"] = ["after"]\n')
    assert small.build() == [*BEFORE_PLACE, "after"]
    assert small.build() == []


EDIT = """

def task_edit():
    return {"actions": ["echo Three > projects/a/a.lair"]}


def task_last():
    return {"task_dep": ["edit", "a"], "actions": ["true"]}
"""


@pytest.mark.parametrize("words", [("last",), ("edit", "a")])
def test_what_a_task_changes_without_saying_so_is_built_in_the_same_build(small, words):
    small.build()
    small.build()
    small.write("dodo.py", DODO + EDIT)
    assert small.build(*words)[:5] == ["edit", *ALL]


def test_default_tasks_may_name_layers_and_nothing(small):
    small.write("dodo.py", DODO + 'DOIT_CONFIG["default_tasks"] = ["a"]\n')
    assert small.build() == ALL
    assert small.run().out == "1 layer unchanged\n"
    small.write("dodo.py", DODO + 'DOIT_CONFIG["default_tasks"] = []\n')
    small.write("projects/a/a.lair", "Three\n")
    assert small.run().out == ""


TAKES_WORDS = """

def task_say():
    return {"pos_arg": "words", "actions": [lambda words: print(words)]}
"""


def test_what_follows_a_task_with_words_of_its_own_is_for_that_one(small):
    small.write("dodo.py", DODO + TAKES_WORDS)
    assert "['a', '-v']\n" in small.run("say", "a", "-v").out
    assert small.files("cache") == []


REPORTER = """
from doit.reporter import ConsoleReporter


class Own(ConsoleReporter):
    desc = "one of the user"


DOIT_CONFIG["reporter"] = Own
"""


def test_a_reporter_of_the_user_writes_the_log_too(small):
    small.write("dodo.py", DODO + REPORTER)
    assert small.build() == ALL
    assert "parse     ran             first build" in small.run("why", "a").out


def test_a_task_in_the_folder_of_a_layer_may_need_another_layer(small):
    small.layer("projects/b")
    small.write("projects/b/a.lair", "Three\n")
    for refers in ('"file_dep": ["../b/build/results.json"]', '"task_dep": ["b"]'):
        task = f'\n\ndef task_after():\n    return {{{refers}, "actions": ["true"]}}\n'
        small.write("projects/a/dodo.py", LAYER_DODO + task)
        assert small.build("after", cwd="projects/a")[-1] == "after"
        assert small.build(cwd="projects/a") in (ALL, [])
    assert small.read("projects/b/build/simd/pe_three.c") == "/* three */\n"


RUN_TWICE = """
import sys
from doit.api import run_tasks
from doit.cmd_base import ModuleTaskLoader
from doit.doit_cmd import DoitMain
import dodo

codes = [DoitMain(ModuleTaskLoader(dodo)).run(["a"]) for _ in range(2)]
with open("projects/a/a.lair", "w") as file:
    file.write("Three\\n")
codes.append(run_tasks(ModuleTaskLoader(dodo), {"a": {}}))
codes.append(DoitMain(ModuleTaskLoader(dodo)).run([]))
sys.exit("".join(map(str, codes)))
"""


@pytest.mark.wide
def test_doit_may_run_several_times_in_a_process(small):
    small.write("dodo.py", DODO)
    small.write("twice.py", RUN_TWICE)
    ended = small.python("twice.py")
    assert (ended.code, ended.err) == (1, "0000\n")
    assert ended.out.count("a: 4 stages ran\n") == 2
    assert ended.out.endswith("1 layer unchanged\n")


def test_tasks_of_layers_may_be_made_during_the_build(small):
    late = """
from doit import create_after
from lairmake.stages.make import workspace_config, workspace_tasks

DOIT_CONFIG = {**workspace_config(), "default_tasks": ["b"]}


def task_make():
    return {"actions": ["mkdir -p projects/b", "cp projects/a/a.lair projects/a/*.yaml projects/b"]}


@create_after(executed="make", creates=["b"])
def task_layers():
    yield from workspace_tasks()
"""
    small.write("dodo.py", late)
    assert small.build("b:place") == ["make", "b:parse", "b:place"]
    assert small.build("b") == ["make", "b:render", "b:simulate"]


MLP = """

def task_after():
    names = {"whole": "mlp", "stage": "mlp/first:simd", "parts": "mlp/*:parse"}
    for name, before in names.items():
        yield {"name": name, "task_dep": [before], "actions": ["true"]}
    yield {"name": "file", "file_dep": ["projects/mlp/last/build/results.json"],
           "actions": ["true"], "getargs": {"x": ("mlp/last:simulate", "cycles")}}
"""


@pytest.mark.wide
def test_a_network_and_its_parts_are_tasks(mlp):
    mlp.write("dodo.py", DODO + MLP)
    assert mlp.build("after:whole") == ["after:whole"]
    mlp.run("forget", "mlp/first:parse", "mlp/last:parse")
    assert mlp.build("after:stage") == ["mlp/first:parse", "after:stage"]
    assert mlp.build("after:parts") == ["mlp/last:parse", "after:parts"]
    assert mlp.build("after:file") == ["after:file"]

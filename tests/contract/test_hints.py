"""What commands advise: the program that was typed, and words as it wants them."""

import os
from types import SimpleNamespace

import pytest
from doit.cmd_run import Run
from doit.cmdparse import CmdOption

from lairmake.__main__ import main
from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.layers import lone_folder
from lairmake.stages.make.core.nearest import nearest_task
from lairmake.stages.make.doit.commands import inert, models, new
from lairmake.stages.make.doit.commands.inert import late_option


@pytest.mark.parametrize(("names", "hint"), [
    (("fc",), "simulate is a stage: say fc:simulate"),
    (("conv1d", "fc"), "simulate is a stage: say conv1d:simulate, for example"),
    ((), ""),
])
def test_a_stage_without_its_layer_is_told_how_to_ask_for_it(tmp_path, names, hint):
    folders = [lone_folder(tmp_path / "projects" / name) for name in names]
    assert nearest_task("simulate", folders, ()) == hint


@pytest.mark.parametrize(("words", "at"), [
    ("fc -n 1", 1), ("fc -n1", 1), ("fc conv1d --process=2", 2), ("fc --bad", None), ("fc -v", 1),
    ("fc", None),
])
def test_an_option_behind_a_task_is_found(words, at):
    assert late_option([CmdOption(each) for each in Run.cmd_options], words.split()) == at


@pytest.mark.parametrize(("typed", "program"), [
    ("./do", "./do"), ("lairmake", "lairmake"), ("-m", "doit"), ("__main__.py", "doit"),
])
def test_the_program_is_the_one_that_was_typed(typed, program):
    loader = SimpleNamespace(cmd_names=[], load_doit_config=dict, load_tasks=list)
    assert inert.begin_command(loader, {}, typed).program == program


@pytest.mark.parametrize(("place", "dodo", "program", "said"), [
    ("a", False, "lairmake", "cd a && lairmake"),
    ("a", False, "../do", "cd a && ../../do"),
    ("projects/a", True, "./do", "./do a"),
    ("projects/a", False, "./do", "cd projects/a && ../../do"),
    ("projects/a", False, "lairmake", "lairmake a"),
])
def test_a_new_layer_is_built_by_the_same_program(
    monkeypatch, tmp_path, place, dodo, program, said
):
    monkeypatch.setattr(models, "user_folder", lambda: tmp_path)
    monkeypatch.setattr(models, "shown_path", lambda path: os.path.relpath(path, tmp_path))
    if dodo:
        (tmp_path / "dodo.py").touch()
    assert models.how_to_build(tmp_path / place, program) == said


@pytest.mark.parametrize("target", ["../secret.yaml", "d", "nothing", "/dev/zero"])
def test_a_link_out_of_a_layer_is_not_copied(tmp_path, target):
    (tmp_path / "secret.yaml").write_text("mine\n", encoding="utf-8")
    (tmp_path / "a/d").mkdir(parents=True)
    (tmp_path / "a/layer.yaml").write_text("lair: a.lair\n", encoding="utf-8")
    (tmp_path / "a/b").symlink_to(target)
    with pytest.raises(UserError, match="a/b is a link out of its folder, or to a folder"):
        new.copy_layer(tmp_path / "a", tmp_path / "c", inputs=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "secret.yaml"]


def test_a_link_to_a_file_of_the_layer_becomes_a_file(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/layer.yaml").write_text("machine: ideal\n", encoding="utf-8")
    (tmp_path / "a/b").symlink_to("layer.yaml")
    new.copy_layer(tmp_path / "a", tmp_path / "c", inputs=False)
    assert not (tmp_path / "c/b").is_symlink()
    assert (tmp_path / "c/b").read_text(encoding="utf-8") == "machine: ideal\n"


def test_an_empty_word_is_refused_before_anything_is_loaded(capsys):
    assert main(["fc", ""]) == 3
    assert capsys.readouterr().err == "ERROR: an empty word names no task: leave it out\n"

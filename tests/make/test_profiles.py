"""Profiles as inputs: of who reads them, by their figures; a figure may have a default."""

import shutil
from pathlib import Path

import pytest
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from lairmake.stages.machine import profile, profile as figures
from lairmake.stages.machine.profile import (
    Figure,
    Profile,
    ProfileError,
    load_profile,
    write_figures,
)
from lairmake.stages.make.core import declaration
from lairmake.stages.make.core.action import build, current_key
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store import folders

ROOT = Path(__file__).resolve().parents[2]
READ = ["route", "simd", "render"]
MINE = "# mine\nlike: wse2\nhop: {value: 2, source: measured, grade: A}\n"


@pytest.fixture
def ours(tmp_path, monkeypatch):
    """A copy of our profiles, which a test may edit."""
    copy = Path(shutil.copytree(figures.PROFILES, tmp_path / "profiles"))
    for module in (figures, folders, declaration):
        monkeypatch.setattr(module, "PROFILES", copy)
    return copy


def built(tmp_path, machine="wse2"):
    """Return a layer folder on a machine, built up to its programs."""
    place = tmp_path / "space/projects/dot"
    shutil.copytree(ROOT / "projects/dot", place, ignore=shutil.ignore_patterns("build"))
    (tmp_path / "space/lairmake.yaml").touch()
    (tmp_path / "space/mine.yaml").write_text(MINE)
    text = (place / "layer.yaml").read_text()
    (place / "layer.yaml").write_text(f"machine: {machine}\n{text}")
    folder = open_folder(place)
    for stage in folder.stages[:-1]:
        build(stage, folder)
    return folder


def changed(folder, edit):
    """Return the stages that have another key after an edit."""
    before = {stage: current_key(stage, folder).digest for stage in folder.stages[:-1]}
    edit()
    after = {stage: current_key(stage, folder).digest for stage in folder.stages[:-1]}
    return [stage for stage in after if after[stage] != before[stage]]


def edit(file, old, new):
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_a_profile_is_an_input_of_who_reads_it_by_its_figures(tmp_path, ours):
    folder = built(tmp_path)
    further = {stage: [*current_key(stage, folder).further] for stage in folder.stages[:-1]}
    assert further == {stage: ["figures//wse2"] * (stage in READ) for stage in further}
    toy = ours / "toy.yaml"
    assert changed(folder, lambda: toy.write_text(MINE)) == []
    wse2 = ours / "wse2.yaml"
    assert changed(folder, lambda: edit(wse2, "hop:", "# words\nhop:")) == []
    wse3 = ours / "wse3.yaml"
    assert changed(folder, lambda: edit(wse3, "hop: {value: 1", "hop: {value: 2")) == []
    assert changed(folder, lambda: edit(wse2, "hop: {value: 1", "hop: {value: 2")) == READ


def test_a_profile_of_a_user_is_read_by_its_figures_and_those_of_what_it_is_like(tmp_path, ours):
    folder, mine = built(tmp_path, "../../mine.yaml"), tmp_path / "space/mine.yaml"
    assert current_key("simd", folder).further.keys() == {"figures//../../mine.yaml"}
    assert changed(folder, lambda: edit(mine, "# mine", "# of mine")) == []
    assert changed(folder, lambda: edit(mine, "measured", "measured again")) == []
    assert changed(folder, lambda: edit(mine, "value: 2", "value: 3")) == READ
    wse2 = ours / "wse2.yaml"
    assert changed(folder, lambda: edit(wse2, "hop: {value: 1", "hop: {value: 9")) == []
    assert changed(folder, lambda: edit(wse2, "ramp: {value: ", "ramp: {value: 1")) == READ
    assert changed(folder, lambda: edit(mine, "value: 3", "valu: 3")) == READ  # which is refused
    assert changed(folder, mine.unlink) == READ


@pytest.fixture
def new_figure(monkeypatch):
    """Profiles with a figure more, which no file has."""

    @dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(strict=True))
    class More(Profile):
        turn_around: Figure = 7

    monkeypatch.setattr(profile, "Profile", More)
    monkeypatch.setattr(profile, "KNOWN", (*profile.KNOWN, "turn_around"))
    monkeypatch.setattr(profile, "DEFAULTS", {"turn_around": 7})


def test_a_new_figure_needs_no_edit_of_profiles(new_figure, tmp_path):
    old = tmp_path / "old.yaml"
    text = (figures.PROFILES / "wse2.yaml").read_text("utf-8")
    old.write_text(text, "utf-8")
    assert all(load_profile(name).turn_around == 7 for name in figures.profile_names())
    assert load_profile(str(old)).turn_around == 7
    assert load_profile("wse2", {"turn_around": 9}).turn_around == 9
    with pytest.raises(ProfileError) as caught:
        load_profile("wse2", {"turn_arund": 9})
    assert caught.value.hint == "did you mean turn_around?"


def test_a_figure_at_its_default_is_as_one_that_is_not_given(new_figure, tmp_path):
    text, said = (figures.PROFILES / "wse2.yaml").read_text("utf-8"), []
    for more in ("", "turn_around: {value: 7, source: a, grade: A}\n",
                 "turn_around: {value: 8, source: a, grade: A}\n"):
        (tmp_path / "one.yaml").write_text(text + more, "utf-8")
        name = str(tmp_path / "one.yaml")
        said.append((write_figures(name), load_profile(name)))
    assert said[0] == said[1] and said[0][0] != said[2][0]
    assert "turn_around" not in said[0][0]

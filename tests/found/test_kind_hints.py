"""Hints of commands about a folder are valid for its kind: each names a key and a part it has."""

import shutil

import pytest

from lairmake.stages.make.core import derived
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.doit.commands.command import hint_of_fabric, hint_of_stage, hint_of_sweep
from tests.e2e.conftest import ROOT


@pytest.fixture(autouse=True)
def looks(monkeypatch):
    """As for a command that may not run stages to find out what it is asked."""
    monkeypatch.setattr(derived, "_MAY_RUN", [False])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a function that opens a copy of a folder which is shipped, never built."""
    workspace = tmp_path_factory.mktemp("kinds")

    def copied(name):
        place = workspace / "projects" / name
        if not place.is_dir():
            ignored = shutil.ignore_patterns("build", "__*")
            shutil.copytree(ROOT / "projects" / name, place, ignore=ignored)
        return open_folder(place)

    return copied


@pytest.mark.parametrize(("name", "hint"), [
    ("mlp", "`run: whole` in its network.yaml, or name one of its parts: mlp/first"),
    ("lenet", "`run: whole` in the network.yaml beside its graph, "
     "or name one of its parts, once it was built"),
    ("krnl0", "`tiles:` or `facts:` in its kernel.yaml divide it into layers"),
    pytest.param("krnl0_16", "name one of its parts: krnl0_16/act0_0", marks=pytest.mark.long),
])
def test_what_runs_on_no_fabric_may_run_in_parts_or_as_a_whole(folder, name, hint):
    assert hint_of_fabric(folder(name)) == hint


@pytest.mark.parametrize(("name", "hint"), [
    ("mlp", "simd is a stage of its parts: say mlp/first:simd, for example"), ("heat", ""),
    ("fc", ""),
])
def test_a_stage_of_parts_is_asked_for_there(folder, name, hint):
    assert hint_of_stage(folder(name), "simd") == hint


@pytest.mark.parametrize(("name", "hint"), [
    ("fc", "sizes.M=32,64"), ("everything_on_one", "machine=wse2,wse3"),
    ("mlp", "run=whole,parts"), ("lenet", "machine=wse2,wse3"), ("heat", "machine=wse2,wse3"),
])
def test_a_sweep_is_advised_of_a_key_that_the_folder_has(folder, name, hint):
    assert hint_of_sweep(folder(name)) == hint

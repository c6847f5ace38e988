"""What a stage opens and loads of this project, and what its key is made of."""

import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lairmake.stages import ANALYSES, KERNEL, NETWORK, PIPELINE, TILES
from lairmake.stages.make.core.code import name_of, path_of_unit, reach_of
from lairmake.stages.make.core.declaration import declaration, path_of
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of, names_meant
from tests.e2e.conftest import DODO, ROOT, Space

CODE = (f"{ROOT}/stages/", f"{ROOT}/templates/")


def opened(folder, stages):
    """Run stages of a folder; return every path that each of them opened, and the profiles that it
    asked for."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.opened"], cwd=ROOT, capture_output=True, check=False,
        input=pickle.dumps((folder, stages, str(folder.path))),
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr.decode()
    every = map(json.loads, done.stdout.splitlines())
    return {stage: found for stage, *found in every}


def is_code(path):
    return path.startswith(CODE) and "__pycache__" not in path and Path(path).is_file()


def check(folder, stages):
    """Check that files of this project that stages open are in their keys, profiles as inputs, and
    those of the folder the same as these."""
    every = opened(folder, stages)
    assert list(every) == list(stages)
    for stage, (paths, profiles) in every.items():
        code = {name_of(path) for path in paths if is_code(path) and path not in profiles}
        found = reach_of(stage)
        known = {name_of(f"{ROOT}/{path_of_unit(module)}") for module in found.modules}
        assert code - known - found.data.keys() == set(), stage
        assert name_of(str(path_of(stage))) in code & known
        declared = names_meant(folder, declaration(stage).reads)
        given = {str(path) for name in declared if (path := file_of(folder, name)).is_file()}
        places = (f"{folder.path}/", f"{folder.cache}/")
        assert {p for p in paths if p.startswith(places) and Path(p).is_file()} == given, stage


def copied(tmp_path, name):
    """Return a copy of a folder of this project, for which the engine is compiled already."""
    Space(tmp_path, ROOT).copy(ROOT / "projects" / name, f"projects/{name}")
    return replace(open_folder(tmp_path / "projects" / name), home=ROOT)


@pytest.mark.wide
def test_stages_of_a_layer_open_only_what_their_keys_are_made_of(tmp_path):
    check(copied(tmp_path, "fc"), PIPELINE)


@pytest.mark.long
def test_stages_on_demand_open_only_what_their_keys_are_made_of(tmp_path):
    folder = copied(tmp_path, "conv1d")
    check(folder, (*PIPELINE, *ANALYSES))


@pytest.mark.long
def test_stages_of_a_kernel_open_only_what_their_keys_are_made_of(tmp_path):
    check(copied(tmp_path, "krnl0_16"), (*KERNEL, *TILES[:-1]))


@pytest.mark.long
def test_stages_that_put_parts_together_open_only_what_their_keys_are_made_of(tmp_path):
    space = Space(tmp_path, ROOT)
    space.write("dodo.py", DODO)
    for name, stages in {"mlp": NETWORK, "krnl0_16": TILES[-1:]}.items():
        folder = copied(tmp_path, name)
        space.build(name)
        check(replace(open_folder(folder.path), home=ROOT), stages)

"""What a build takes from the store is what a run gives: edits of values in the YAML of folders.

Stages that have another key after an edit run, and nothing else is compared; every other one is run
as well, and must write what the store has for it. So all is as in a build from nothing.
"""

import shutil
from pathlib import Path

import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.action import build
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.faults import perform_in, try_in
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import needed, orders, tasks_of_folders
from lairmake.stages.make.store.files import digest_of
from lairmake.stages.make.store.folders import folders_of
from tests.property.edited_values import edit, random_of

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    "dot": ["layer.yaml"], "bias_relu": ["layer.yaml"], "recurrent": ["layer.yaml"],
    "chosen": ["layer.yaml"], "mlp": ["network.yaml", "first/layer.yaml"],
    "tiled_matmul": ["kernel.yaml"], "listing1": ["program.yaml"],
}
WITHOUT_RUNS = {"simulate", "execute", "assemble", "conclude", "operate"}
"""What takes long, and reads what others do; in the long tests these run, too."""


def outputs(folder, stage):
    """Return what a run of a stage gives, by name, or what it says is wrong."""
    perform = try_in if folder.is_slot else perform_in
    try:
        found = perform(folder, stage, FolderInputs(folder, declaration(stage).inputs))
    except (UserError, UserErrors) as error:
        return str(error)
    return {name: digest_of(content) for name, content in found.items()}


def check(path, is_long):
    """Build a folder; return how many stages ran, and how many were taken as they had been."""
    folder, ran, known = open_folder(path), 0, 0
    tasks = tasks_of_folders(folders_of(folder))
    for task in needed(orders(tasks), tasks):
        each, stage = tasks[task]
        if stage in WITHOUT_RUNS and not is_long:
            continue
        try:
            found = build(stage, each)
        except (UserError, UserErrors):
            break  # which a run says
        if found.how == "ran":
            ran += 1
        else:
            known += 1
            assert outputs(each, stage) == dict(found.outputs), task
    return ran, known


def walk(name, seeds, place, is_long):
    """Edit the files of a folder again and again; return what `check` counts."""
    path = place / "projects" / name
    shutil.copytree(ROOT / "projects" / name, path, ignore=shutil.ignore_patterns("build"))
    (place / "lairmake.yaml").touch()
    first = {file: (path / file).read_text("utf-8") for file in FOLDERS[name]}
    total = check(path, is_long)
    for seed in seeds:
        rng = random_of(seed)
        file = rng.choice(FOLDERS[name])
        text = first[file] if rng.random() < 0.5 else (path / file).read_text("utf-8")
        new = edit(file.rpartition("/")[2], text, rng)
        (path / file).write_text(new, "utf-8")
        try:
            total = tuple(map(sum, zip(total, check(path, is_long), strict=True)))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {file} is\n{new}") from error
    return total


@pytest.mark.wide
def test_what_is_not_run_again_is_as_a_run_gives_it(tmp_path):
    ran, known = walk("dot", range(3), tmp_path, is_long=False)
    assert ran > 12 and known > 3


@pytest.mark.long
@pytest.mark.parametrize(("name", "seeds"), [
    ("dot", range(100, 160)), ("bias_relu", range(200, 250)), ("recurrent", range(300, 330)),
    ("chosen", range(400, 412)), ("mlp", range(500, 520)), ("tiled_matmul", range(600, 616)),
    ("listing1", range(700, 716)),
])
def test_it_is_so_for_all_kinds_of_folders(name, seeds, tmp_path):
    ran, known = walk(name, seeds, tmp_path, is_long=True)
    assert ran > 10 and known > 10

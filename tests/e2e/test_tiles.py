"""Kernels whose results are made of parts, by real doit processes, on the fabric."""

import json
from pathlib import Path

import numpy as np
import pytest

from lairmake.stages import KERNEL, PIPELINE, TILES
from tests.e2e.conftest import DODO, LAYER_DODO
from tests.kernel.tiled import MATMUL

ROOT = Path(__file__).resolve().parents[2]
SEEN = """\
import atexit, sys
heavy = {
    "xdsl", "yaml", "islpy", "numpy", "pydantic", "lairmake.stages.kernel.mlir",
    "lairmake.stages.volumes.sizes",
}
atexit.register(lambda: print("imported", sorted(heavy & sys.modules.keys()), file=sys.stderr))
"""


@pytest.mark.wide
def test_tiles_of_a_product_are_layers_built_once_and_a_layer_adds_them(space):
    space.write("dodo.py", DODO)
    space.write("projects/mm/matmul.mlir", MATMUL)
    space.write("projects/mm/kernel.yaml", "tiles: {c: [4, 6, 6]}\n")
    ran = space.build()
    parts = ("c_0_p0_t0", "c_0_p0_t1", "c_0")
    first = {f"mm/{part}:{stage}" for part in parts for stage in PIPELINE}
    assert set(ran) <= first | {f"mm:{stage}" for stage in KERNEL + TILES}
    assert len([task for task in ran if task.endswith(":approximate")]) == 2
    assert len([task for task in ran if task.endswith(":simulate")]) == 3
    results = json.loads(space.read("projects/mm/build/results.json"))
    assert list(results["parts"]) == list(parts)
    assert results["check"] == {"c": {"exact": True, "right": True, "max_abs_error": 0.0}}
    assert results["data"] == {"a": "integers, seed 0", "b": "integers, seed 0"}
    assert [part["like"] for part in results["parts"].values()] == [parts[0], parts[0], parts[2]]
    check_that_equal_tiles_are_one_line(space)
    outputs = [
        np.load(space.root / f"projects/mm/build/parts/{part}/build/outputs/c.npy")
        for part in parts
    ]
    whole = np.load(space.root / "projects/mm/build/outputs/c.npy")
    assert np.array_equal(outputs[0] + outputs[1], whole)
    assert np.array_equal(outputs[2], whole)
    space.write("dodo.py", SEEN + DODO)
    space.is_cold = True
    run = space.run()
    assert (run.code, run.out, run.err) == (0, "1 layer unchanged\n", "imported []\n")
    space.write("dodo.py", DODO)
    space.is_cold = False
    check_that_old_parts_go(space)


def check_that_equal_tiles_are_one_line(space):
    """But with `-v` each has one."""
    folded, full = space.plain("mm").out.splitlines(), space.run("mm").out.splitlines()
    assert [line.split()[:3] for line in folded[:4]] == [
        ["mm:", "2", "of"], ["part", "values", "cycles"], ["c_0_p0_t0", "x", "2"],
        ["c_0", "right,", "bit"],
    ]
    assert [line.split()[0] for line in full[2:5]] == ["c_0_p0_t0", "c_0_p0_t1", "c_0"]


def check_that_old_parts_go(space):
    """Take all tiles but c_0 away: only what somebody wrote or edited stays of the others."""
    space.write("projects/mm/build/parts/c_0_p0_t0/mine.txt", "mine")
    space.write("cache/mm/c_0_p0_t1/lair.isl", "edited := { };\n")
    space.write("projects/mm/kernel.yaml", "tiles: {c: [4, 6, 12]}\n")
    assert "mm:emit" in space.build("mm:emit")
    assert files_below(space.root / "cache/mm", "c_0_p0*") == ["c_0_p0_t1/lair.isl"]
    parts = space.root / "projects/mm/build/parts"
    assert files_below(parts, "c_0_p0*") == ["c_0_p0_t0/mine.txt"]
    assert files_below(parts, "c_0/build")
    assert space.run("clean", "mm").code == 0
    assert files_below(parts, "*") == ["c_0_p0_t0/mine.txt"]


def files_below(top, pattern):
    """Return the files in folders that a pattern stands for, none of these empty."""
    found = [each for folder in top.glob(pattern) for each in (folder, *folder.rglob("*"))]
    assert all(any(each.iterdir()) for each in found if each.is_dir())
    return sorted(str(each.relative_to(top)) for each in found if each.is_file())


@pytest.mark.wide
def test_a_border_is_apart_from_the_inside_and_all_is_right(space):
    space.write("dodo.py", DODO)
    space.copy(ROOT / "projects/krnl0_16", "projects/krnl0_16")
    space.build()
    results = json.loads(space.read("projects/krnl0_16/build/results.json"))
    assert len(results["parts"]) == 9
    assert results["check"]["act0"]["right"]
    assert results["check"]["act0"]["max_abs_error"] == 0.0
    inside = space.read("projects/krnl0_16/build/parts/act0_4/krnl0.lair")
    assert "ifm[0][d4][2*d2 + d5][2*d3 + d6] * wgt0[d1][d4][d5][d6]" in inside


@pytest.mark.wide
def test_inputs_of_a_kernel_are_cut_for_its_parts(space):
    space.write("dodo.py", DODO)
    space.write("projects/mm/matmul.mlir", MATMUL)
    space.write("projects/mm/kernel.yaml", "tiles: {c: [4, 6, 6]}\n")
    (space.root / "projects/mm/inputs").mkdir()
    a = np.arange(48, dtype=np.float32).reshape(4, 12)
    np.save(space.root / "projects/mm/inputs/a.npy", a)
    assert "mm:emit" in space.build("mm:emit")
    cut = np.load(space.root / "projects/mm/build/parts/c_0_p0_t1/inputs/a.npy")
    assert np.array_equal(cut, a[:, 6:])


@pytest.mark.wide
def test_in_its_folder_a_kernel_is_meant_and_not_its_tiles(space):
    space.write("dodo.py", DODO)
    space.write("projects/mm/dodo.py", LAYER_DODO)
    space.write("projects/mm/matmul.mlir", MATMUL)
    space.write("projects/mm/kernel.yaml", "tiles: {c: [4, 6, 6]}\n")
    assert "mm:tile" in space.build("mm:tile")
    assert space.run("show", "tile", cwd="projects/mm").out.startswith("tile: Tile the parts")
    listed = [line for line in space.run("graph", "mm").out.splitlines() if line[0] != " "]
    assert listed == ["mm", "mm/c_0_p0_t0", "mm/c_0_p0_t1", "mm/c_0"]


def test_what_is_wrong_in_kernel_yaml_is_said_by_the_stage_that_was_asked_for(space):
    space.write("dodo.py", DODO)
    space.write("projects/mm/matmul.mlir", MATMUL)
    space.write("projects/mm/kernel.yaml", "tiles: {c: [0, 6]}\n")
    run = space.run("mm:tile")
    assert (run.code, run.err.splitlines()[0]) == (
        1, "projects/mm/kernel.yaml:1:13: error: tiles.c.0 must be at least 1"
    )

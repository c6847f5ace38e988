"""The layers of the paper, built by real doit processes: what ran, what stayed, what came out."""

import json
from pathlib import Path

import numpy as np
import pytest

from lairmake.stages import PIPELINE
from lairmake.stages.make.core.declaration import declaration

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("fc", "conv1d", "conv2d", "pointwise")
layers = pytest.mark.parametrize("layer", LAYERS)
NOT_AFFINE = """projects/squared/fc.lair:6:25: error: access to x is not affine
      y[i] += W[i][j] * x[j*j]
                          ^^^
hint: LAIR accesses are sums of iterators times integers
"""


def results(space, layer):
    return json.loads(space.read(f"projects/{layer}/build/results.json"))


@pytest.mark.wide
def test_the_layers_build(paper):
    assert paper.first.code == 0, paper.first.out + paper.first.err
    assert [name for name in paper.first.ran if name.startswith("fc:")] == [
        f"fc:{stage}" for stage in PIPELINE
    ]


@pytest.mark.wide
@layers
def test_values_are_right_bit_for_bit(paper, layer):
    checks = results(paper, layer)["check"]
    assert checks.keys() == {"y"}
    assert (checks["y"]["exact"], checks["y"]["max_abs_error"]) == (True, 0)


@layers
def test_vector_instructions_are_faster_than_loops_and_no_faster_than_the_bound(paper, layer):
    found = results(paper, layer)
    assert found["bound"]["cycles"] <= found["cycles"]["simd"] < found["cycles"]["loops"]
    ratio = found["cycles"]["loops"] / found["cycles"]["simd"]
    assert found["speedup"] == pytest.approx(ratio, rel=1e-3)


@layers
def test_cache_is_the_one_committed(paper, layer):
    built = {p.name: p.read_bytes() for p in (paper.root / "cache" / layer).iterdir()}
    committed = {n: (ROOT / "cache" / layer / n).read_bytes() for n in built}
    assert committed == built


@layers
def test_cache_holds_every_text_that_a_stage_declares(paper, layer):
    declared = {name for stage in PIPELINE for name in declaration(stage).writes}
    texts = {f"cache/{layer}/{name}" for name in declared if not name.startswith("build/")}
    assert set(paper.files(f"cache/{layer}")) == texts


def test_nothing_is_built_twice(paper):
    assert paper.hits(*LAYERS) == []


def test_summary_says_what_a_person_asks(paper):
    out = paper.run("fc").out
    found = results(paper, "fc")
    assert "right, bit for bit" in out
    assert f"{found['cycles']['simd']} with vector instructions" in out
    assert f"{found['memory']['bytes_per_pe']} of 49152 bytes" in out


@pytest.mark.wide
def test_a_comment_in_the_lair_runs_only_what_reads_it(paper):
    paper.copy(paper.root / "projects/conv1d", "projects/comment")
    paper.build("comment")
    text = paper.read("projects/comment/conv1d.lair")
    paper.write("projects/comment/conv1d.lair", text + "# one more comment\n")
    reading = [stage for stage in PIPELINE if "*.lair" in declaration(stage).reads]
    assert paper.build("comment") == [f"comment:{stage}" for stage in reading]


def test_a_renamed_layer_is_the_same_layer(paper):
    paper.copy(paper.root / "projects/conv1d", "projects/deep/renamed")
    assert paper.hits("deep/renamed") == [f"deep/renamed:{stage}" for stage in PIPELINE]
    assert contents(paper, "cache", "deep/renamed") == contents(paper, "cache", "conv1d")
    mine, theirs = (f"{layer}/build" for layer in ("deep/renamed", "conv1d"))
    assert contents(paper, "projects", mine) == contents(paper, "projects", theirs)


def contents(space, top, layer):
    folder = space.root / top / layer
    found = [p for p in folder.rglob("*") if p.is_file()]
    return {p.relative_to(folder): p.read_bytes() for p in found}


@pytest.mark.wide
def test_a_layer_folder_stands_anywhere(paper):
    paper.copy(paper.root / "projects/fc", "alone")
    assert sorted(paper.build(cwd="alone")) == sorted(f"alone:{stage}" for stage in PIPELINE)
    assert contents(paper, "alone", "cache") == contents(paper, "cache", "fc")


@pytest.mark.wide
def test_given_inputs_replace_generated_ones(paper):
    paper.copy(paper.root / "projects/fc", "projects/given")
    rng = np.random.default_rng(0)
    x, weights = rng.integers(-3, 4, 16), rng.integers(-3, 4, (32, 16))
    inputs = paper.root / "projects/given/inputs"
    inputs.mkdir()
    np.save(inputs / "x.npy", x)
    np.save(inputs / "W.npy", weights.astype(np.float64))
    paper.build("given")
    y = np.load(paper.root / "projects/given/build/outputs/y.npy")
    np.testing.assert_array_equal(y, (weights @ x).astype(np.float16))


def test_an_error_has_no_traceback_and_leaves_no_file(paper):
    paper.copy(paper.root / "projects/fc", "projects/squared")
    text = paper.read("projects/squared/fc.lair")
    paper.write("projects/squared/fc.lair", text.replace("x[j]", "x[j*j]"))
    run = paper.run("squared")
    assert (run.code, run.err) == (1, NOT_AFFINE)
    assert run.out == ".  squared:parse\n"
    assert contents(paper, "cache", "squared") == {}


def test_an_edited_intermediate_is_repaired(paper):
    paper.copy(paper.root / "projects/conv1d", "projects/edited")
    paper.hits("edited")
    good = paper.read("cache/edited/allocations.isl")
    paper.write("cache/edited/allocations.isl", good + "# a line by hand\n")
    assert paper.hits("edited") == ["edited:allocate"]
    assert paper.read("cache/edited/allocations.isl") == good


def test_a_stray_program_in_build_is_no_part_of_the_layer(paper):
    paper.copy(paper.root / "projects/fc", "projects/stray")
    paper.build("stray")
    expected = results(paper, "stray")
    paper.write("projects/stray/build/simd/pe_old.c", "this is no C\n")
    paper.write("projects/stray/layer.yaml", paper.read("projects/stray/layer.yaml") + "# more\n")
    paper.build("stray")
    assert results(paper, "stray") == expected

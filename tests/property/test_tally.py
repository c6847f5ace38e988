"""Outcomes of random layers are counted whichever process they come from."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.property.features import DEMANDED, SOMETIMES
from tests.property.quality import BYTES, CYCLES, compare, keep, read_kept
from tests.property.tally import histogram, reasons, shortfalls

ROOT = Path(__file__).resolve().parents[2]
WORKERS = ("-n", "2", "--dist", "loadgroup")
TESTS = """
from types import SimpleNamespace

import pytest
from tests.property.tally import DEMANDED, SOMETIMES, recorded

@pytest.mark.parametrize("seed", range(100))
def test_layer(seed, record_property):
    refusal = "a.lair:1:1: error: refused" if seed < REFUSED else ""
    every = {*DEMANDED, *SOMETIMES}
    record_property(*recorded(seed, SimpleNamespace(
        results={}, refusal=refusal, features=every, over_live=None)))
"""


def run(tmp_path, refused, *options):
    (tmp_path / "test_made_up.py").write_text(TESTS.replace("REFUSED", str(refused)), "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    return subprocess.run(
        [*command, "-p", "tests.property.tally", "test_made_up.py"], cwd=tmp_path, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )


@pytest.mark.parametrize(("refused", "options"), [
    (2, ()), (3, WORKERS),
    *(pytest.param(*each, marks=pytest.mark.long) for each in ((3, ()), (2, WORKERS))),
])
def test_a_run_with_too_many_refusals_fails(tmp_path, refused, options):
    done = run(tmp_path, refused, *options)
    assert f"{100 - refused} compiled, simulated and compared, {refused} refused" in done.stdout
    assert "100 %  sparse arrival" in done.stdout
    assert done.returncode == (refused > 2), done.stdout + done.stderr
    if refused > 2:
        assert "3% of random layers are refused, at most 2% may be" in done.stdout
        assert "1 failed, 100 passed" in done.stdout


def test_too_few_examples_of_a_demanded_feature_fall_short():
    every = (*DEMANDED, *SOMETIMES)
    right = {seed: every[1:] if seed < 71 else every for seed in range(100)}
    line = f"29% of random layers have: {DEMANDED[0]}; at least 30% must"
    assert list(shortfalls({}, right)) == [line]
    assert list(shortfalls({}, dict(list(right.items())[1:]))) == []
    assert next(histogram(right)) == f"   29 %  {DEMANDED[0]}"
    right = {seed: DEMANDED if seed < 96 else every for seed in range(100)}
    lines = [f"4% of random layers have: {name}; at least 5% must" for name in SOMETIMES]
    assert list(shortfalls({}, right)) == lines


def test_refusals_of_one_reason_are_one_line():
    refused = {9: "a:1: error: b\nhint: c", 2: "d:1: error: b"}
    assert list(reasons(refused)) == ["  seed 2, 9: b"]


def test_layers_are_compared_with_what_was_kept_of_a_run_of_as_many(tmp_path):
    keep([{CYCLES: n, BYTES: 1.5} for n in [2.0] * 9 + [8.0]], 12, tmp_path / "quality.yaml")
    kept = read_kept(tmp_path / "quality.yaml")
    assert kept == {
        "examined": 12,
        CYCLES: {"layers": 10, "mean": 2.297, "ninth decile": 2.0},
        BYTES: {"layers": 10, "mean": 1.5, "ninth decile": 1.5},
    }
    line = f"{CYCLES}: 2.378 in the geometric mean"
    now = [{CYCLES: n} for n in [2.0] * 8 + [2.828, 8.0]]
    most = "at most 2.83 for nine of ten"
    assert list(compare(now, 12, kept)) == [(f"{line}, {most} (kept: 2.297, 2.0)", True)]
    assert list(compare(now, 13, kept)) == [(f"{line} of 10 layers", False)]
    assert not any(worse for _, worse in compare([{CYCLES: 2.0, BYTES: 1.5}] * 10, 12, kept))
    found = compare([{CYCLES: 2.0, BYTES: 1.6}] * 10, 12, kept)
    assert [worse for _, worse in found] == [False, True]


def test_where_other_layers_are_right_than_were_that_is_told(tmp_path):
    keep([{CYCLES: 2.0}] * 10, 12, tmp_path / "quality.yaml")
    now = compare([{CYCLES: 2.0}] * 11, 12, read_kept(tmp_path / "quality.yaml"))
    line = f"{CYCLES}: 2.0 in the geometric mean, at most 2.0 for nine of ten"
    assert list(now) == [(f"{line} (kept of 10 layers, now 11 have one)", True)]

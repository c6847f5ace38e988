"""Edits of YAML files that change no value that a stage reads, in real builds: it does not run."""

import shutil

import pytest

from tests.e2e.conftest import ROOT, Space

LAYER = "projects/fc/layer.yaml"


@pytest.fixture(scope="module")
def fc(paper, tmp_path_factory):
    """The layers of the paper, built, for the tests of this module, one after the other."""
    place = tmp_path_factory.mktemp("values") / "space"
    shutil.copytree(paper.root, place)
    return Space(place, ROOT)


def edited(space, old, new, file=LAYER):
    text = space.read(file)
    assert old in text
    space.write(file, text.replace(old, new))
    return space.run("fc")


@pytest.mark.wide
def test_a_comment_and_the_order_of_keys_run_nothing(fc):
    run = edited(fc, "lair: fc.lair\ntop: ff\n", "top: ff  # its top\n# a comment\nlair: fc.lair\n")
    assert (run.code, run.ran, run.hits) == (0, [], [])
    assert fc.run("dry", "fc").out == "13 tasks up to date\n"


def test_a_renamed_iterator_of_a_placement_runs_what_reads_the_placement(fc):
    run = edited(fc, "ff[i,j] -> PE[j//4", "ff[i,k] -> PE[k//4")
    assert (run.code, run.ran, run.hits) == (0, ["fc:parse", "fc:place"], [])


@pytest.mark.wide
def test_a_seed_runs_what_uses_data_and_why_says_which_value_changed(fc):
    edited(fc, "machine: wse2", "data: {seed: 1}\nmachine: wse2")
    run = edited(fc, "seed: 1", "seed: 2")
    assert (run.code, run.ran, run.hits) == (0, ["fc:simulate"], [])
    said, line = fc.run("why", "fc").out, fc.read(LAYER).split("data:")[0].count("\n") + 1
    assert f"\n  {LAYER}\n    line {line}, data.seed: 1 -> 2\n" in said
    assert "\n  simulate     ran             layer.yaml changed: another outputs/y.npy" in said
    shown = fc.run("diff", "fc", "--build", "1").out
    assert f"layer.yaml\n  line {line}, data.seed: 1 -> 2\n" in shown
    back = edited(fc, "data: {seed: 2}\n", "")
    assert (back.ran, back.hits) == ([], ["fc:simulate"])


def test_what_no_stage_reads_is_refused_at_its_place_as_it_is_now(fc):
    before = fc.read(LAYER)
    for lines in range(2):
        run = edited(fc, "top: ff", "# more\ntop: ff" if lines else "dta: {seed: 1}\ntop: ff")
        number = fc.read(LAYER).split("dta:")[0].count("\n") + 1
        assert run.code == 1
        assert f"{LAYER}:{number}:1: error: unknown key dta\n" in run.err
    fc.write(LAYER, before)
    assert fc.run("fc").ran == []


def test_a_stage_that_fails_says_where_the_file_has_it_now(fc):
    before = fc.read(LAYER)
    line = before.split("  { ff[")[0].count("\n") + 1
    run = edited(fc, "PE[4, 5]", "PE[4, 4]")
    assert f"layer.yaml:{line}:3: error: placement leaves the target" in run.err
    run = edited(fc, "placement: |\n", "# a comment\nplacement: |\n")
    assert f"layer.yaml:{line + 1}:3: error: placement leaves the target" in run.err
    fc.write(LAYER, before)
    assert fc.run("fc").ran == []

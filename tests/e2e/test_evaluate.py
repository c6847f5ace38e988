"""`doit evaluate`, on two layers of the catalogue and on all that it is made of."""

import json
import re

import pytest
import yaml

from lairmake.stages.mapping.records import reader_of
from lairmake.stages.skewing.skew_yaml import SkewCounts
from tests.e2e.conftest import DODO, ROOT, Space
from tools.evaluation import sweeps
from tools.evaluation.broadcasts import counted, layers_table
from tools.evaluation.counted import LAYERS
from tools.evaluation.measure import case_of, measure
from tools.evaluation.multicast import layers_table as worth_table, without_multicast
from tools.evaluation.sweeps import SWEEPS

NAMES = ("hadamard", "outer_product")


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    """A workspace with two layers of the catalogue."""
    space = Space(tmp_path_factory.mktemp("evaluate"), ROOT)
    space.write("dodo.py", DODO)
    for name in NAMES:
        space.copy(ROOT / "projects/catalogue" / name, f"projects/catalogue/{name}")
    return space


@pytest.mark.wide
def test_named_layers_are_printed_and_nothing_is_written(space):
    before = space.files()
    run = space.run("evaluate", "catalogue/hadamard", "catalogue/outer_product")
    assert run.code == 0, run.err
    rows = re.findall(r"^\| (\w+) \| (loops|hull.*?) \|.*\| ([\d.]+) \| \d+ \|", run.out, re.M)
    assert [(name, way) for name, way, _ in rows] == [
        ("outer_product", "hull [64, 64]"), ("hadamard", "hull [16, 16]"),
    ]
    assert float(rows[0][2]) > 4 > float(rows[1][2]) > 1
    assert "### Above the lanes" in run.out and "### Below the lanes" in run.out
    assert space.files() == before


@pytest.mark.wide
def test_json_has_the_results_of_a_build(space):
    run = space.run("evaluate", "--json", "catalogue/outer_product")
    space.build("catalogue/outer_product")
    results = json.loads(space.read("projects/catalogue/outer_product/build/results.json"))
    assert json.loads(run.out)["wse2"] == {"outer_product": results}


def test_what_is_no_layer_is_refused(space):
    space.copy(ROOT / "projects/krnl0", "projects/kernel")
    for words in (["nothing"], ["--multicast", "catalogue/hadamard", "kernel"]):
        run = space.run("evaluate", *words)
        assert run.code == 3 and f"evaluate: {words[-1]} is no layer" in run.err


@pytest.mark.parametrize(
    "option", [[], ["--broadcast"], ["--multicast"], ["--programs"], ["--stencils"],
               ["--json"]])
def test_documents_are_written_in_the_repository_of_lairmake_only(space, option):
    before = space.files()
    run = space.run("evaluate", *option)
    assert (run.code, run.out) == (3, "")
    assert run.err == (
        "ERROR: evaluate: only Lairmake's own repository has these documents\n"
        "hint: name layers, and their tables are printed\n"
    )
    assert space.files() == before


@pytest.mark.wide
def test_the_accesses_of_named_layers_are_counted_and_printed(space):
    before = space.files()
    run = space.run("evaluate", "--broadcast", "catalogue/outer_product")
    assert run.code == 0, run.err
    assert space.files() == before
    assert space.run("catalogue/outer_product:count").code == 0
    counts = yaml.safe_load(space.read("cache/catalogue/outer_product/counts.yaml"))
    assert counts["after"]["remote"] < counts["before"]["remote"]
    assert run.out == layers_table({"outer_product": reader_of(SkewCounts)(counts, ())}) + "\n"


@pytest.mark.wide
def test_the_document_on_broadcasts_is_as_the_stages_count(tmp_path):
    """One row of it, and that it has the others; all of it takes as long as writing it."""
    text = (ROOT / "docs/broadcast.md").read_text(encoding="utf-8")
    layer = LAYERS[-1]
    row = layers_table({layer.name: counted(layer.case(), tmp_path)}).splitlines()[-1]
    assert row in text.splitlines()
    assert [name for name in re.findall(r"^\| ([^|]+) \| \d+ \| [\d.]+ % ", text, re.M)] == [
        layer.name for layer in LAYERS
    ]


@pytest.mark.wide
def test_the_document_on_multicast_is_as_a_layer_is_measured(tmp_path):
    """One row of it; all of it takes as long as writing it."""
    text = (ROOT / "docs/multicast.md").read_text(encoding="utf-8")
    case = case_of("outer_product", ROOT / "projects/outer_product")
    pair = [measure(each, tmp_path) for each in without_multicast(case)]
    assert worth_table({case.name: pair}).splitlines()[-1] in text.splitlines()


@pytest.mark.wide
@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda sweep: sweep.name)
def test_the_layers_of_a_sweep_build(sweep, tmp_path):
    """The last value of each sweep, in each series: right, and by the way that it names."""
    for series in sweep.series:
        results = measure(sweep.case(sweep.values[-1], series), tmp_path)
        assert all(check.right for check in results.check.values())
        if sweep.name == "enumeration":
            assert results.tasks["on_x"].by == series


@pytest.mark.wide
def test_a_choice_among_sizes_costs_cycles(tmp_path):
    found = {way: measure(sweeps.conv(4, prefer=way), tmp_path) for way in ("hull", "enumerate")}
    assert float(sweeps.overhead(found)) > 0

"""Figures in sentences of the documents: limits are those of the code, results those of builds."""

import hashlib
import itertools
import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml

from lairmake.stages import PIPELINE, SLOTS
from lairmake.stages.fabric.engine import BINS
from lairmake.stages.layer.outcome import Results
from lairmake.stages.layer.simulate import MOST_RECORDED
from lairmake.stages.layer.texts.results_json import read_results
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.make.core import sweep, workers
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.stage import MOST_OPERATIONS
from lairmake.stages.make.doit import runner
from lairmake.stages.make.doit.commands import trace
from lairmake.stages.make.report import causes, summary
from lairmake.stages.make.store import remote
from lairmake.stages.network.operators import copies, draft
from lairmake.stages.network.parts import part
from lairmake.stages.picture import run as page_run
from lairmake.stages.program.interpreter import run
from lairmake.stages.program.sandbox.limits import LIMITS
from tools import sizes
from tools.evaluation import counted

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = (ROOT / "templates/report/d3.min.js").read_bytes()
PYTHON = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
PAPER = ("fc", "conv1d", "conv2d", "pointwise")
NUMBERS = {4: "four", 5: "five", 8: "eight", 10: "ten", 12: "twelve"}
CATALOGUE = len(list((ROOT / "projects/catalogue").glob("*/layer.yaml")))


def text(name):
    """A document, without the breaks of its lines."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def rows(name, head):
    """The rows of the table of a document that begins like this, each as its cells."""
    lines = (ROOT / name).read_text(encoding="utf-8").partition(f"\n{head}")[2].splitlines()[2:]
    body = itertools.takewhile(lambda line: line.startswith("|"), lines)
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in body]


MINUTES = {60: "a minute"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("README.md", f"Python {PYTHON.removeprefix('>=')} or later"),
        ("docs/own_repository.md", f"Python {PYTHON.removeprefix('>=')} or later"),
        ("CONTRIBUTING.md", f"more than {sizes.MOST_OF_FUNCTION} lines, and files of more "
                            f"than {sizes.MOST_OF_FILE}"),
        ("docs/builds.md", f"If {workers.INTERVAL:.0f} s pass without a line"),
        ("docs/builds.md", f"does not answer for {remote.PATIENCE:.0f} s"),
        ("docs/builds.md", f"isl may do {MOST_OPERATIONS // 10**6} million operations in a stage"),
        ("docs/builds.md", f"is ended after {NUMBERS[round(workers.MOST_SECONDS / 60)]} minutes"),
        ("docs/builds.md", f"`fc/{SLOTS[0]}` to `fc/{SLOTS[-1]}`"),
        ("docs/layers.md", f"The best {NUMBERS[len(SLOTS)]} go through the stages"),
        ("docs/stages.md", f"the best {NUMBERS[len(SLOTS)]}, each in a slot"),
        ("docs/commands.md", f"in at most {causes.MOST_LINES} lines"),
        ("docs/sweeps.md", f"At most {sweep.MOST} combinations are built"),
        ("docs/results.md", f"a run of up to {MOST_RECORDED:,} hops and tasks".replace(",", " ")),
        ("docs/results.md", f"to more than {NUMBERS[runner.MOST_SUMMARIES]} layers, each has one"),
        ("docs/results.md", f"There are at most {BINS} bins"),
        ("docs/report.md", f"of up to {page_run.MOST_PARTS} parts"),
        ("docs/report.md", f"of all of them up to {page_run.EVERY_PE}, else"),
        ("docs/report.md", f"of up to {page_run.MOST_EVENTS:,} events together".replace(",", " ")),
        ("docs/report.md", f"are at most {page_run.MOST_MOVES // 10**6} million"),
        ("docs/report.md", f"Of more than {page_run.MOST_PHASES} names those are shown"),
        ("docs/report.md", f"Of more than {page_run.MOST_LINES:,} journeys".replace(",", " ")),
        ("docs/report.md", f"one file of {len(LIBRARY) / 1000:.0f} kB"),
        ("docs/report.md", f"SHA-256 `{hashlib.sha256(LIBRARY).hexdigest()}`"),
        ("docs/graphs.md", f"copies of more than {copies.MOST_PIECES} pieces"),
        ("docs/graphs.md", f"more than 2^{draft.MOST_ELEMENTS.bit_length() - 1} elements"),
        ("docs/graphs.md", f"at most {part.WIDTH} x {part.HEIGHT} PEs"),
        ("docs/kernels.md", f"Of more than {summary.MOST_ROWS} distinct tiles only the slowest "
                            f"{NUMBERS[summary.SLOWEST]} have lines"),
        ("docs/machines.md", f"as wse3 does for {NUMBERS[len(load_profile('wse3').unswitched)]}:"),
        ("docs/programs.md", f"each time for {run.LONGEST:.0f} s at most"),
        ("docs/skewing.md", f"example of that paper, and {NUMBERS[len(counted.LAYERS) - 1]} more"),
        ("docs/security.md", f"{MINUTES[LIMITS.seconds]} of a processor and "
                             f"{LIMITS.memory >> 30} GiB"),
        ("docs/vector_instructions.md",
         f"An instruction has at most {NUMBERS[load_profile('wse2').dimensions]} dimensions"),
    ],
)
def test_a_limit_in_a_document_is_that_of_the_code(name, said):
    assert said in text(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("docs/catalogue.md", f"{CATALOGUE} layers of `projects/catalogue`"),
        ("docs/chosen.md", f"the {CATALOGUE} layers of the catalogue"),
        ("docs/evaluation.md", f"Layers: {CATALOGUE};"),
    ],
)
def test_a_document_that_is_generated_has_all_layers_of_the_catalogue(name, said):
    assert said in text(name)


def test_the_catalogue_shows_a_picture_of_each_layer_and_no_other():
    page = (ROOT / "docs/catalogue.md").read_text(encoding="utf-8")
    shown = re.findall(r'projects/([\w/]+)"><img src="catalogue/(\w+).svg".*?'
                       r'alt="The grid of (\w+)"></a><br><b>(\w+)</b>', page)
    assert all(folder.rpartition("/")[2] == picture == alt == bold
               for folder, picture, alt, bold in shown)
    assert {each[1] for each in shown} == {
        path.stem for path in (ROOT / "docs/catalogue").glob("*.svg")}
    layers = {path.parent.name for path in (ROOT / "projects/catalogue").glob("*/layer.yaml")}
    assert {each[1] for each in shown if each[0].startswith("catalogue/")} == layers


def test_a_trace_has_as_many_events_as_is_said():
    assert trace.MOST == 10**6
    assert "a trace of more than a million events is refused" in text("docs/commands.md")


def test_the_machines_without_multicast_take_what_their_measurement_says():
    measured = {row[0]: row[1:] for row in rows("docs/multicast.md", "| layer |")}
    found = rows("docs/machines.md", "| layer | with multicast |")
    assert [row[0] for row in found] == ["fc", "matmul", "conv1d", "conv2d", "pointwise"]
    named = {row[0]: measured[row[0]] for row in found}
    assert {row[0]: [*row[1:4], row[5]] for row in found} == {
        name: row[:4] for name, row in named.items()}


def test_the_decision_in_the_page_of_vector_instructions_is_that_of_conv2d():
    page = (ROOT / "docs/vector_instructions.md").read_text(encoding="utf-8")
    shown = yaml.safe_load(re.findall(r"```yaml\n(  by: hull\n.*?)```", page, re.DOTALL)[0])
    kept = yaml.safe_load((ROOT / "cache/conv2d/simd.yaml").read_text(encoding="utf-8"))["on_x"]
    assert list(shown) == ["by", "why", "cycles", "others"]
    assert {**kept, **shown, "others": {**kept["others"], **shown["others"]}} == kept


@pytest.fixture(scope="module", params=PAPER)
def built(request, tmp_path_factory):
    """A layer of V, and the results of its build."""
    folder = tmp_path_factory.mktemp("figures") / request.param
    ignored = shutil.ignore_patterns("build")
    shutil.copytree(ROOT / "projects" / request.param, folder, ignore=ignored)
    for stage in PIPELINE:
        written = run_stage(stage, folder)
    return request.param, read_results(written["build/results.json"].decode())


@pytest.mark.long
def test_the_table_of_results_has_what_builds_give(built):
    name, results = built
    assert isinstance(results, Results)
    (row,) = (row for row in rows("docs/results.md", "| layer | on_x |") if row[0] == name)
    task = results.tasks["on_x"]
    extra = f", {task.extra} extra instances" if task.extra else ""
    assert row[1:] == [
        f"[{', '.join(map(str, task.sizes))}]", f"{task.by}{extra}", str(results.cycles.simd),
        str(results.cycles.loops), f"{results.speedup:.2f}",
        f"{results.bound.cycles}, {results.bound.by}",
    ]


@pytest.mark.long
def test_what_is_said_of_fc_from_python_and_of_its_path_is_what_a_build_gives(built):
    name, results = built
    if name != "fc":
        return
    cycles, path = results.cycles, results.usage.path
    page = text("docs/api.md")
    assert f"# {cycles.simd} {cycles.loops} {results.speedup}" in page
    assert f"# {results.bound.cycles} {results.bound.by}" in page
    assert (f"{path['stream']} of the {cycles.simd} cycles of fc are the elements of y that left "
            f"before the last one, and {path['starting']} start tasks") in text("docs/results.md")


def test_the_layers_that_lack_descriptors_are_those_that_a_limit_binds():
    evaluated = re.findall(r"^- .* descriptors are free: (.*)$",
                           (ROOT / "docs/evaluation.md").read_text("utf-8"), re.MULTILINE)
    lacking = {name for names in evaluated for name in names.split(", ")}
    limited = {row[0]: row[2:] for row in rows("docs/chosen.md", "| layer | figure |")}
    assert lacking and lacking <= set(limited)
    of, enough, cycles, fewer = limited["attention"]
    said = f"{int(cycles) - int(fewer)} cycles on descriptors ({of}; {enough} would do)"
    assert said in text("README.md") and said in text("docs/results.md")

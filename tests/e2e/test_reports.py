"""The command `doit report`, by real doit processes: what it runs, writes, and says."""

import re
import shutil

import pytest

from lairmake.stages import NETWORK, PIPELINE
from tests.e2e.conftest import DODO, ROOT
from tests.picture.browser import needs_browser, started


@pytest.mark.wide
def test_report_draws_a_layer_and_says_where(paper):
    run = paper.run("report", "conv1d")
    assert (run.code, run.out) == (
        0, "conv1d: 1 stage ran\nprojects/conv1d/build/report.html\n")
    again = paper.run("report", cwd="projects/conv1d")
    assert (again.code, again.out) == (0, "build/report.html\n")


def test_report_draws_the_grid_for_a_paper(paper):
    run = paper.run("report", "conv2d", "--svg")
    assert (run.code, run.out) == (0, "conv2d: 1 stage ran\nprojects/conv2d/build/grid.svg\n")
    assert paper.read("projects/conv2d/build/grid.svg").startswith("<svg ")


@pytest.mark.wide
def test_a_report_names_no_folder_and_is_the_same_again(paper):
    paper.run("report", "fc")
    text = paper.read("projects/fc/build/report.html")
    assert str(paper.root) not in text and len(text) < 2_000_000
    (paper.root / "projects/fc/build/report.html").unlink()
    paper.run("--always", "fc:report")
    assert paper.read("projects/fc/build/report.html") == text


@pytest.mark.parametrize("name", ["krnl0", "listing1"])
def test_a_kernel_and_a_program_have_a_report(space, name):
    space.copy(ROOT / "projects" / name, name)
    run = space.run("report", cwd=name)
    assert (run.code, run.out.splitlines()[-1]) == (0, "build/report.html"), run.err
    page = space.read(f"{name}/build/report.html")
    assert name in page and "</html>" in page


def test_what_is_no_layer_is_not_drawn(paper):
    run = paper.run("report", "fd")
    assert (run.code, run.out) == (3, "")
    assert run.err == "ERROR: report: fd is no layer and no stage\nhint: did you mean fc?\n"


def test_a_network_has_a_report_but_no_grid_unless_it_is_on_one_fabric(mlp):
    run = mlp.run("report", "mlp")
    assert (run.code, run.out) == (0, "mlp: 1 stage ran\nprojects/mlp/build/report.html\n")
    run = mlp.run("report", "mlp", "--svg")
    assert (run.code, run.err) == (
        3, "ERROR: report: mlp has no build/grid.svg: its parts do not run on one fabric\n"
        "hint: `doit report mlp` draws all that there is\n")


@pytest.mark.wide
def test_of_one_fabric_of_a_network_it_is_shown_where_parts_lie_and_what_each_pe_did(mlp):
    network = mlp.read("projects/mlp/network.yaml")
    mlp.write("projects/mlp/network.yaml", f"{network}run: whole\n")
    mlp.run("report", "mlp")
    drawn = mlp.run("report", "mlp", "--svg")
    mlp.write("projects/mlp/network.yaml", network)
    assert (drawn.code, drawn.out) == (0, "mlp: 1 stage ran\nprojects/mlp/build/grid.svg\n")
    picture = mlp.read("projects/mlp/build/grid.svg")
    assert [f">{name}</text>" in picture for name in ("first", "relu", "last")] == [True] * 3
    text = mlp.read("projects/mlp/build/report.html").replace(" ", "")
    assert '"part":"relu","x":' in text
    assert '"name":"no_input"' in text and '"name":"link_wavelets.N"' in text


@pytest.mark.wide
def test_with_report_true_each_build_draws(space):
    space.write("dodo.py", DODO)
    space.copy(ROOT / "projects/fc", "projects/fc")
    text = space.read("projects/fc/layer.yaml")
    space.write("projects/fc/layer.yaml", f"{text}report: true\n")
    assert space.build() == [f"fc:{stage}" for stage in (*PIPELINE, "report")]
    assert space.build() == []
    space.write("projects/fc/layer.yaml", f"{text}report: 1\n")
    run = space.run()
    assert run.err.endswith("error: report must be true or false\n  report: 1\n          ^\n")


def test_with_report_true_a_network_is_drawn_and_its_parts_are_not(mlp):
    text = mlp.read("projects/mlp/network.yaml")
    mlp.write("projects/mlp/network.yaml", f"{text}report: true\n")
    ran = mlp.build()
    assert ran == ["mlp:report_network"] or set(ran) <= {f"mlp:{s}" for s in NETWORK} | {
        "mlp:report_network"}
    assert "mlp:report_network" in ran


LISTENS = "[PE[x, y] -> N[]] -> ramp[] : 0 <= x <= 3 and 0 <= y <= 3"
OTHERS = f"{LISTENS} and (x < 1 or x > 1 or y < 2 or y > 2)"
"""In routes.isl of fc, and of a part: who hears x; without PE [1, 2] its row stops."""
PICTURE = "projects/stops/build/report.html"
SHOWN = f"hint: {PICTURE} shows who waits for whom\n"
STOPPED = '"kind":"stop"'


@pytest.fixture
def stops(paper):
    """The workspace with another fc, built and drawn, and a function that lets it stop, and not."""
    shutil.rmtree(paper.root / "projects/stops", ignore_errors=True)
    paper.copy(ROOT / "projects/fc", "projects/stops")
    given = paper.read("projects/stops/layer.yaml")
    paper.run("report", "stops")
    routes = paper.read("cache/stops/routes.isl")
    assert LISTENS in routes

    def edit(stops, more=""):
        paper.write("cache/stops/routes.isl", routes.replace(LISTENS, OTHERS) if stops else routes)
        pin = "pin: [routes.isl]\n" if stops else ""
        paper.write("projects/stops/layer.yaml", f"{given}{pin}{more}")

    yield edit
    edit(False)


@pytest.mark.wide
def test_of_a_fabric_that_stops_who_waits_for_whom_is_drawn(paper, stops):
    """A build says how; the page of the layer is there again as soon as it runs."""
    before = paper.read(PICTURE)
    stops(True)
    run = paper.plain("stops")
    assert run.code == 1 and "the fabric can no longer move after cycle " in run.err
    assert run.err.endswith("hint: `doit report stops` draws who waits for whom\n")
    assert paper.read(PICTURE) == before
    drawn = paper.run("report", "stops")
    assert (drawn.code, drawn.out) == (1, "kept cache/stops/routes.isl, as it was edited by hand\n"
                                       "stops: simulate failed\n")
    assert drawn.err == run.err.rpartition("hint:")[0] + SHOWN
    page = paper.read(PICTURE)
    assert STOPPED in page and '"name":"W_local"' in page and '"recorded":{' in page
    stops(False)
    again = paper.run("report", "stops")
    assert (again.code, again.err) == (0, "")
    assert "repaired" not in again.out and paper.read(PICTURE) == before


@pytest.mark.wide
def test_with_report_true_a_build_that_stops_draws_that(paper, stops):
    stops(True, "report: true\n")
    run = paper.plain("stops")
    assert run.code == 1 and run.err.endswith(SHOWN)
    assert STOPPED in paper.read(PICTURE)


@pytest.mark.wide
def test_a_trace_ends_where_the_fabric_stops(paper, stops):
    stops(True)
    run = paper.run("trace", "stops")
    assert run.code == 1
    said = r" \d+ events, until the fabric stops after cycle \d+; https://ui.perfetto.dev opens it"
    assert re.search(said, run.out)
    assert (paper.root / "projects/stops/build/trace.pftrace").stat().st_size > 10_000


@pytest.mark.wide
def test_of_a_network_the_part_that_stops_is_drawn(paper, stops):
    stops(True)
    for name in ("projects", "cache"):
        shutil.copytree(paper.root / name / "stops", paper.root / name / "net/part")
    paper.write("projects/net/network.yaml", "parts: {part: }\n")
    run = paper.run("report", "net")
    shutil.rmtree(paper.root / "projects/net")
    assert run.code == 1 and run.err.endswith(SHOWN.replace("stops", "net/part"))


@pytest.mark.wide
def test_a_report_shows_the_last_sweep_and_a_combination_has_its_own(paper):
    """What is swept is as the layer itself, or refused: next to nothing runs."""
    paper.copy(ROOT / "projects/fc", "projects/swept")
    page, sweep = "projects/swept/build/report.html", "projects/swept/build/sweep"
    paper.run("report", "swept")
    before = paper.read(page)
    assert paper.run("sweep", "swept", "--set", "sizes.M=32,64").code == 0
    assert paper.run("report", "swept").out == f"swept: 1 stage ran\n{page}\n"
    begins = '"sweep":{"name":"swept","keys":["sizes.M"],"work":["sizes.M"],"rows":[{"set"'
    assert begins in paper.read(page)
    assert paper.run("report", "swept").out == f"{page}\n"
    own = paper.run("report", "swept/build/sweep/sizes.M-32")
    assert own.out.endswith(f"{sweep}/sizes.M-32/build/report.html\n")
    assert paper.read(f"{sweep}/sizes.M-32/build/report.html") == before
    text = paper.read("projects/swept/layer.yaml")
    paper.write("projects/swept/layer.yaml", f"{text}report: true\n")
    assert paper.build("swept")[-1] == "swept:report" and paper.build("swept") == []
    assert paper.run("sweep", "swept", "--set", "sizes.M=64").code == 1
    assert paper.build("swept") == ["swept:report"]
    paper.write(f"{sweep}/sweep.json", "[]")
    wrong = paper.run("swept")
    assert (wrong.code, wrong.err) == (
        1, f"error: {sweep}/sweep.json is not what a sweep writes: the text must be a mapping\n"
        "hint: another sweep writes it anew; without the file no sweep is shown\n")
    shutil.rmtree(paper.root / sweep)
    paper.write("projects/swept/layer.yaml", text)
    assert paper.run("report", "swept").code == 0 and paper.read(page) == before


@pytest.mark.long
@needs_browser
def test_the_reports_of_all_folders_open_without_an_error(space):
    """Each is built here, and opened from the disk."""
    space.write("dodo.py", DODO)
    space.copy(ROOT / "projects", "projects")
    run = space.run("report")
    assert run.code == 0, run.err
    pages = re.findall(r"^(projects/.*report\.html)$", run.out, re.MULTILINE)
    assert len(pages) > 100
    with started() as browser:
        wrong = {}
        for page in pages:
            browser.open(space.root / page)
            if errors := browser.errors():
                wrong[page] = errors
            assert (space.root / page).stat().st_size < 2_000_000
    assert wrong == {}

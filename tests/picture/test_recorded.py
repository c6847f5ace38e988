"""What a page shows of a run, where it is known what each PE did, and of one that was recorded."""

import numpy as np
import pytest

from stages.layer.report import READS, read_written
from stages.make.core.folder_inputs import FolderInputs
from stages.make.core.layers import open_folder
from stages.picture.figures import Event, Recorded, Segment, Usage
from stages.picture.of_layer import report_layer
from tests.layer.built import build
from tests.picture.browser import needs_browser, started
from tests.picture.test_browser import LAIR, LAYER, cell

pytestmark = needs_browser
SHAPE = (5, 4)
UNTIL = 140
PATH = (
    Segment(x=3, y=2, begin=120, end=140, cause="moving", name="send_y", colour="y_even"),
    Segment(x=1, y=2, begin=60, end=120, cause="no_input"),
    Segment(x=0, y=-1, begin=0, end=60, cause="starting", name="relay_x"),
)
EVENTS = (
    Event(x=1, y=2, cycle=30, duration=8, kind="task", name="on_x"),
    Event(x=1, y=2, cycle=38, duration=22, kind="stall", name="x", cause="no_input"),
    Event(x=0, y=0, cycle=0, duration=5, kind="task", name="init_y"),
)


def make_usage():
    """PE number k computes k cycles, waits 100 for input, and is idle for the rest."""
    number = np.arange(20).reshape(SHAPE)
    maps = {
        "computing": number, "no_input": np.full(SHAPE, 100), "idle": UNTIL - 100 - number,
        "received": 3 * number,
    }
    links = {"link_wavelets": np.stack([number, number, number, number + 7, number])}
    return Usage(until=UNTIL, quantities=maps, links=links, bin_width=10, bins={
        "busy": np.array([20, 60, 10]), "no_input": np.array([100, 40, 0])})


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    built = build(LAIR, LAYER.replace("fc.lair", "layer.lair"), "report")
    written = read_written(FolderInputs(open_folder(built.folder), READS))
    page = tmp_path_factory.mktemp("recorded") / "report.html"
    page.write_text(report_layer(written, make_usage(), Recorded(path=PATH, events=EVENTS)),
                    encoding="utf-8")
    with started() as found:
        found.open(page)
        yield found


def choose(browser, name):
    browser.run("const s = document.querySelector('#quantity'); s.value = arguments[0];"
                "s.dispatchEvent(new Event('change'))", name)


def test_each_quantity_of_a_run_may_be_the_colour_of_pes(browser):
    groups = browser.run("return [...document.querySelectorAll('#quantity optgroup')].map("
                         "(g) => [g.label, ...[...g.children].map((o) => o.textContent)])")
    assert groups == [
        ["layout", "memory needed", "colours"], ["work", "computing"],
        ["waits", "no input", "idle"], ["traffic", "received"], ["links", "over links"],
    ]
    choose(browser, "computing")
    assert browser.texts(".legend .ramp b") == ["0", "19 cycles"]
    assert browser.text(".legend span") == "in the lanes of vector instructions"


def test_links_have_one_scale_for_all_sides(browser):
    choose(browser, "link_wavelets")
    assert browser.texts(".legend .ramp b") == ["0", "26 wavelets"]
    browser.wait("view.links.length === 4 && !view.asked")
    choose(browser, "")
    assert browser.errors() == []


def test_a_pe_shows_how_it_spent_its_cycles_and_its_timeline(browser):
    """PE [1, 2] is number 13: row 3 of the grid, which begins at y = -1, column 1."""
    browser.click("canvas", *cell(browser, 1, 2))
    browser.wait("document.querySelector('#pe').dataset.pe === '1,2' && "
                 "document.querySelector('#pe .timeline')")
    assert browser.texts("#pe .part:first-of-type .keys li") == [
        "computing in lanes13", "no input100", "idle27"]
    assert browser.texts("#pe [data-figure=received]") == ["39 wavelets"]
    assert browser.texts("#pe .timeline title") == ["on_x 30 to 38", "x (no input) 38 to 60"]


def test_the_critical_path_is_a_list_from_the_last_output_back(browser):
    assert browser.texts("#time .path td") == [
        "20", "120", "PE 3, 2", "streams move elements", "send_y, on y_even",
        "60", "60", "PE 1, 2", "no input", "",
        "60", "0", "PE 0, -1", "dispatch, start-up, configuration", "relay_x",
    ]
    browser.click(".paths")
    assert browser.run("return [view.showsPath, document.querySelector('.paths').ariaPressed]") == [
        False, "false"]


def test_the_states_of_all_pes_are_drawn_over_time(browser):
    assert browser.texts("#time .bins path title") == ["a task runs", "no input"]
    label = "return document.querySelector('#time .bins').getAttribute('aria-label')"
    assert browser.run(label) == "PEs in the states busy, no_input over time"
    assert browser.errors() == []

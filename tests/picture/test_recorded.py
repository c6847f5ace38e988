"""What a page shows of a run, where it is known what each PE did, and of one that was recorded."""

import numpy as np
import pytest

from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.picture.grid import (
    Events,
    GridLine,
    GridRecording,
    GridUsage,
    PathSegment,
    Phase,
)
from lairmake.stages.picture.page import pack
from lairmake.stages.picture.pages import report_layer
from lairmake.stages.picture.report import READS, read_written
from tests.layer.built import build
from tests.picture.browser import needs_browser
from tests.picture.test_browser import LAIR, LAYER, cell

pytestmark = needs_browser
SHAPE = (5, 4)
UNTIL = 140
LEFT, RIGHT = 230, 1180 - 190
SCALE = (RIGHT - LEFT) / UNTIL
"""Where charts over time begin, and how wide a cycle is."""
PATH = (
    PathSegment(x=3, y=3, begin=120, end=140, cause="moving", name="send_y", colour="y_even"),
    PathSegment(x=1, y=3, begin=60, end=120, cause="no_input"),
    PathSegment(x=0, y=0, begin=0, end=60, cause="starting", name="relay_x"),
)
EVENTS = {"pe": [4, 13, 13], "begin": [0, 30, 38], "duration": [5, 8, 22], "kind": [0, 0, 3],
          "name": [1, 0, -1], "cause": [-1, -1, 2]}
LINE = {"x": [0, 1, 1, 1, 3], "y": [0, 0, 3, 3, 3], "corners": [3, 2], "colour": [1, 0],
        "before": [-1, 1]}
"""From an adapter round a corner to PE [1, 3], and from there to the east."""
PHASES = (
    Phase(name="x", kind="arrives", roles=(), begin=0, end=8, count=8, cycles=0),
    Phase(name="on_x", kind="task", roles=("compute",), begin=10, end=60, count=28, cycles=400),
)
RECORDED = GridRecording(
    path=PATH, left_out=7, sums={"moving": 20, "no_input": 60, "starting": 60}, phases=PHASES,
    shorter=5, line=GridLine(left_out=3, **{
        name: pack(np.array(values)) for name, values in LINE.items()}),
    events=Events(names=("on_x", "init_y", "no_input"), until=90, **{
        name: pack(np.array(values)) for name, values in EVENTS.items()}),
)


def make_usage():
    """PE number k computes k cycles, waits 100 for input, and is idle for the rest."""
    number = np.arange(20).reshape(SHAPE)
    maps = {
        "computing": number, "no_input": np.full(SHAPE, 100), "idle": UNTIL - 100 - number,
        "received": 3 * number,
    }
    links = {
        "link_wavelets": np.stack([number, number, number, number + 7, number]),
        "link_stalls": np.stack([0 * number] * 3 + [number] * 2),
    }
    return GridUsage(until=UNTIL, hops=400, quantities=maps, links=links, bin_width=10, bins={
        "busy": np.array([20, 60, 10]), "no_input": np.array([100, 40, 0])})


@pytest.fixture(scope="module")
def browser(browser, tmp_path_factory):
    built = build(LAIR, LAYER.replace("fc.lair", "layer.lair"), "report")
    written = read_written(FolderInputs(open_folder(built.folder), READS))
    page = tmp_path_factory.mktemp("recorded") / "report.html"
    page.write_text(report_layer(written, make_usage(), RECORDED), encoding="utf-8")
    browser.prefer("light")
    browser.open(page)
    return browser


WIDE_BAR = ("const [a, b] = [...document.querySelectorAll('#pe .timeline .bar')]"
            ".map((r) => r.width.baseVal.value); return a / b")
"""How wide the first bar of a timeline is, as a share of the second one."""


def choose(browser, name):
    browser.run("const s = document.querySelector('#quantity'); s.value = arguments[0];"
                "s.dispatchEvent(new Event('change'))", name)


def test_each_quantity_of_a_run_may_be_the_colour_of_pes(browser):
    groups = browser.run("return [...document.querySelectorAll('#quantity optgroup')].map("
                         "(g) => [g.label, ...[...g.children].map((o) => o.textContent)])")
    assert groups == [
        ["layout", "memory needed", "colours"], ["work", "computing"],
        ["waits", "no input", "idle"], ["traffic", "received"],
        ["links", "over links", "stalls of links"],
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
    """PE [1, 3] is number 13: row 3 of the grid, column 1."""
    browser.click("canvas", *cell(browser, 1, 3))
    browser.wait("document.querySelector('#pe').dataset.pe === '1,3' && "
                 "document.querySelector('#pe .timeline')")
    assert browser.texts("#pe .part:first-of-type .keys li") == [
        "computing in lanes13", "no input100", "idle27"]
    assert browser.texts("#pe [data-figure=received]") == ["39 wavelets"]
    assert browser.texts("#pe .timeline title") == ["on_x 30 to 38", "no input 38 to 60"]
    assert browser.run(WIDE_BAR) == pytest.approx(8 / 22)
    wide = browser.run("return document.querySelector('#pe .timeline .bar').width.baseVal.value")
    browser.click("#pe .timeline")
    browser.run("document.querySelector('#pe .timeline').dispatchEvent(new WheelEvent('wheel', "
                "{deltaY: -500, bubbles: true, cancelable: true}))")
    assert browser.run(WIDE_BAR) == pytest.approx(8 / 22)
    assert browser.run(
        "return document.querySelector('#pe .timeline .bar').width.baseVal.value") > 1.5 * wide


def test_a_figure_has_a_unit_that_reads_well(browser):
    assert browser.run(
        "return [[1, 'wavelets'], [2, 'wavelets'], [1, 'bytes'], [6, 'cycle'], [-1, 'cycle']]"
        ".map(([count, unit]) => asFigure(count, unit))"
    ) == ["1 wavelet", "2 wavelets", "1 byte", "cycle 6", "never"]


def test_a_pe_without_a_timeline_leads_to_those_that_have_one(browser):
    browser.run("choose(view, [0, 0])")
    browser.wait("document.querySelector('#pe .others')")
    assert browser.texts("#pe .others button") == ["PE 0, 1", "PE 1, 3"]
    browser.click("#pe .others button:last-child")
    browser.wait("document.querySelector('#pe').dataset.pe === '1,3' && "
                 "document.querySelector('#pe .timeline')")
    assert "Of what begins after cycle 90 some is missing." in browser.texts("#pe .hint")


def test_the_critical_path_is_a_list_from_the_last_output_back(browser):
    assert browser.texts("#time .path td") == [
        "20", "120", "140", "PE 3, 3", "streams move elements", "send_y, on y_even",
        "60", "60", "120", "PE 1, 3", "no input", "",
        "60", "0", "60", "PE 0, 0", "dispatch, start-up, configuration", "relay_x",
    ]
    assert browser.texts("#time .on-path li") == [
        "no input60", "dispatch, start-up, configuration60", "streams move elements20"]
    assert browser.texts("#time .scroll:has(.path) ~ .says") == [
        "Before that are 7 cycles more.",
        "The line on the grid leaves out 3 journeys of wavelets before those that are drawn."]
    browser.click(".paths")
    assert browser.run("return [view.showsPath, document.querySelector('.paths').ariaPressed]") == [
        False, "false"]


def test_the_critical_path_is_drawn_in_the_lanes_and_the_colours_of_streams(browser):
    """At 100 pixels a PE lanes lie between pixels, and so does the middle of a line."""
    browser.run("if (!view.showsPath) document.querySelector('.paths').click();"
                "moveTo(view, d3.zoomIdentity.translate(50, 50).scale(100))")
    browser.wait("!view.asked")
    found = browser.run("""
        const { canvas, ctx, lines, streams } = view, ratio = devicePixelRatio;
        const { data, width } = ctx.getImageData(0, 0, canvas.width, canvas.height);
        return lines.map(({ colour, corners }) => {
          const stream = streams.find(({ number }) => number === colour);
          const [[ax, ay], [bx, by]] = corners.slice(-2).map((at) => pointOf(view, at, stream));
          const [x, y] = [0.8 * ax + 0.2 * bx, 0.8 * ay + 0.2 * by];
          const from = 4 * (width * Math.round(y * ratio) + Math.round(x * ratio));
          const lane = 100 * laneOf(view, stream);
          return [`rgb(${[...data.slice(from, from + 3)].join(", ")})`,
            d3.rgb(streamColour(stream.at)).toString(), ax - lane, ay - lane];
        });
    """)
    assert [drawn for drawn, *_ in found] == [stream for _, stream, *_ in found]
    assert [each[2:] for each in found] == [
        pytest.approx([200, 100]), pytest.approx([200, 400])]
    browser.run("fitAll(view)")


def test_the_states_of_all_pes_are_drawn_over_time(browser):
    assert browser.texts("#time .bins path title") == ["a task runs", "no input"]
    assert browser.texts("#time .bins .key") == ["no input", "a task runs"]
    label = "return document.querySelector('#time .bins').getAttribute('aria-label')"
    assert browser.run(label) == "PEs in the states busy, no_input over time"
    assert browser.errors() == []


def test_what_happened_when_lies_below_the_states_on_the_same_scale(browser):
    assert browser.texts("#time .phase title") == [
        "x arrives: cycles 0 to 8, 8 wavelets",
        "on_x: cycles 10 to 60, 28 times, 400 cycles of PEs: compute",
    ]
    assert browser.texts("#time .phase .count") == ["8", "", "28", "400"]
    bar = browser.run("const r = document.querySelector('[data-phase=on_x] .track');"
                      "return [r.x.baseVal.value, r.width.baseVal.value]")
    assert bar == pytest.approx([LEFT + 10 * SCALE, 50 * SCALE], rel=1e-5)
    tick = browser.run("return document.querySelectorAll('#time .bins .tick')[1]"
                       ".getAttribute('transform')")
    assert float(tick[len("translate("):-len(",0)")]) == pytest.approx(LEFT + 20 * SCALE, abs=0.6)
    assert "5 more, each shorter than these." in browser.texts("#time .says")


def test_the_busiest_link_is_told_and_marked_where_links_are_looked_at(browser):
    """PE 19, the last one, hears 26 wavelets from the west."""
    said = ("The busiest link to a PE is that of PE 3, 4 from the west: 26 wavelets, and in 19 "
            "cycles one waited at its end.")
    assert browser.text("#time .busiest") == said
    choose(browser, "link_wavelets")
    assert browser.texts(".legend > span") == ["over each link", said]
    browser.wait("!view.asked")
    x, y = cell(browser, 3, 4)
    side = browser.run("return view.transform.k")
    ring = [x - 0.43 * side, y - 0.22 * side]
    pixel = "return [...view.ctx.getImageData(arguments[0] - 1, arguments[1] - 1, 3, 3).data]"
    assert browser.run(pixel, *ring)[16:20] == [11, 98, 168, 255]
    choose(browser, "")

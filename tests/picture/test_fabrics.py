"""Reports of a program and of a network on one fabric, in a browser: what ran there, and when."""

import json
from pathlib import Path

import numpy as np
import pytest

from lairmake.stages.fabric.usage import CYCLES
from tests.picture.browser import LEGIBLE, PHONE, needs_browser
from tests.picture.drawn import draw
from tests.picture.followed import check_lines, lines_of, list_links

pytestmark = needs_browser
ROOT = Path(__file__).resolve().parents[2]
DRAWN = {
    "listing1": ("report_program", "", ""),
    "mlp": ("report_network", "network.yaml", "run: whole\n"),
}
CYCLES_OF = {"listing1": lambda results: results["cycles"],
             "mlp": lambda results: results["fabric"]["cycles"]}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    root = tmp_path_factory.mktemp("fabrics")
    return {name: draw(root, name, *how) for name, how in DRAWN.items()}


@pytest.fixture(params=DRAWN, scope="module")
def shown(request, browser, drawn):
    browser.prefer("light")
    browser.open(drawn[request.param].page)
    return browser, drawn[request.param], CYCLES_OF[request.param]


def spent(browser, place):
    """Return the cycles that the keys of a chart tell, by cause."""
    keys = browser.run(
        "return [...document.querySelectorAll(arguments[0])].map("
        "(li) => [li.dataset.cause, li.querySelector('b').textContent])", f"{place} .keys li")
    return {cause: int(text.replace(",", "")) for cause, text in keys}


def test_no_error_is_on_the_console(shown):
    assert shown[0].errors() == []


def test_it_fits_on_a_phone(shown):
    wide, least = shown[0].on_a_phone()
    assert wide <= PHONE and least >= LEGIBLE


def test_the_legend_has_each_stream_as_it_is_drawn_and_no_two_alike(shown):
    browser, drawn, _ = shown
    found = browser.run("""
        return [...document.querySelectorAll(".streams line")].map((line, k) => {
          const { at } = view.streams[k], dash = line.getAttribute("stroke-dasharray") || "";
          return [getComputedStyle(line).stroke, dash, d3.rgb(streamColour(at)).toString(),
            streamDash(at).join(" ")];
        });
    """)
    assert [each[:2] for each in found] == [each[2:] for each in found]
    streams = drawn.data()["fabric"]["grid"]["streams"]
    assert len({tuple(each) for each in found}) == len(streams)


def test_streams_have_the_names_that_their_parts_give_them(browser, drawn):
    browser.open(drawn["mlp"].page)
    assert browser.texts(".streams button")[:2] == ["first.x and 2 more", "first.y_even and 2 more"]
    assert browser.run("return document.querySelector('.streams button').title") == (
        "colour 0 of the fabric: first.x, relu.x, last.x")
    browser.run("choose(view, [7, 1])")
    browser.wait("document.querySelector('#pe .timeline')")
    assert browser.texts("#pe .routes b") == ["x", "y_even", "y_odd"]
    assert "colour0" not in browser.run("return document.querySelector('#time').textContent")
    assert "x" in browser.texts("#time .path td:last-child")


def test_the_first_line_of_the_critical_path_ends_with_the_last_cycle(shown):
    browser, drawn, cycles_of = shown
    cells = browser.texts("#time .path tbody tr:first-child td")
    assert int(cells[2].replace(",", "")) == cycles_of(drawn.results())
    last = browser.texts("#time .path tbody tr:last-child td")
    assert last[1] == "0"
    assert sum(spent(browser, ".on-path").values()) == cycles_of(drawn.results())


def test_the_critical_path_is_drawn_along_routes(shown):
    """Those of listing1 have switches with several positions."""
    browser, drawn, _ = shown
    fabric = drawn.data()["fabric"]
    assert check_lines(fabric["grid"], fabric["recorded"]) > 10
    assert browser.run("return view.lines.length") == len(lines_of(fabric["recorded"]["line"]))


def test_cycles_on_links_are_those_of_hops_and_ramps(shown):
    """A ramp up takes two cycles, a hop one, and a ramp down three: waiting is not on links."""
    fabric = shown[1].data()["fabric"]
    found = list_links(fabric["grid"], fabric["recorded"])
    assert len(found) >= 8 and {cycles - hops for cycles, hops in found} == {5}


def test_what_all_pes_spent_is_what_usage_npz_has(shown):
    browser, drawn, _ = shown
    usage = drawn.usage()
    ran = np.array(browser.run("return [...view.role]")).reshape(usage["idle"].shape) >= 0
    expected = {name: int(usage[name][ran].sum()) for name in CYCLES}
    assert spent(browser, ".spent") == {name: count for name, count in expected.items() if count}
    wavelets = usage["link_wavelets"][:4]
    assert f" {wavelets.max()} wavelets, and " in browser.text("#time .busiest")


def test_cycles_are_told_by_role_or_by_part(shown):
    browser, drawn, _ = shown
    cycles, usage = drawn.data()["fabric"]["cycles"], drawn.usage()
    roles = np.array(browser.run("return [...view.role]")).reshape(usage["idle"].shape)
    for at, own in enumerate(cycles.values()):
        assert own == {name: int(usage[name][roles == at].sum()) for name in CYCLES}
    groups = ["first", "relu", "last", "bridges"] if "first.compute" in cycles else list(cycles)
    assert browser.texts("#time .by-role > span") == groups


def test_a_section_takes_what_its_calls_take(drawn):
    """By the clocks of workers: listing 1 copies from a neighbour and adds, in section 0."""
    took = drawn["listing1"].results()["procedures"]
    calls = [call for call in drawn["listing1"].data()["calls"] if not call["section"]]
    assert [took[call["procedure"]]["calls"] for call in calls] == [9, 9]
    assert sum(took[call["procedure"]]["cycles"] for call in calls) == pytest.approx(132.7, abs=1)


def test_phases_have_all_that_pes_did(shown):
    browser, drawn, _ = shown
    phases = drawn.data()["fabric"]["recorded"]["phases"]
    assert browser.run("return [...document.querySelectorAll('#time .phase')].map("
                       "(g) => g.dataset.phase)") == [each["name"] for each in phases]
    usage = drawn.usage()
    busy = ("computing", "memory", "starting", "scalars", "datapath")
    assert sum(each["cycles"] for each in phases) == sum(usage[name].sum() for name in busy)
    assert max(each["end"] for each in phases) == usage["last"].max()
    begins = [each["begin"] for each in phases]
    assert begins == sorted(begins)


def test_a_pe_shows_its_timeline(shown):
    browser, drawn, _ = shown
    browser.run("choose(view, [1, 1])")
    browser.wait("document.querySelector('#pe .timeline')")
    titles = browser.texts("#pe .timeline title")
    usage = drawn.usage()
    ends = [int(title.rpartition(" to ")[2]) for title in titles]
    assert max(ends) == usage["last"][1, 1] and len(titles) > 3
    assert browser.errors() == []


def test_tasks_of_a_program_are_sections_and_procedures(drawn):
    page = drawn["listing1"].data()
    names = {each["name"]: each for each in page["fabric"]["recorded"]["phases"]}
    assert names["section 0"]["roles"] == ["executive"]
    called = {call["procedure"] for call in page["calls"]}
    assert called <= set(names) and all("worker" in names[each]["roles"] for each in called)


def test_tasks_of_a_network_go_by_its_parts(drawn):
    page = drawn["mlp"].data()
    names = [each["name"] for each in page["fabric"]["recorded"]["phases"]]
    assert names[0] == "first.x" and names[-1] == "last.y"
    assert {name.partition(".")[0] for name in names} == {"first", "relu", "last"}
    assert json.dumps(page["fabric"]["recorded"]["events"]).count("finish_first") == 1


COLOURED = {
    "#time .bins path": "fill", "#time .bins .key rect": "fill", "#time .phase .track": "fill",
    "#time .spent .stack i": "background-color", "#time .on-path .keys i": "background-color",
    "#time .tick text": "fill", ".legend .keys i": "background-color",
    ".streams line": "stroke", "#pe .role": "background-color",
    "#pe .stack i": "background-color", "#pe .memory i": "background-color",
    "#pe .timeline .bar": "fill", "#pe .routes line": "stroke",
}
FURTHER = {
    "listing1": {"#time .compared .stack i": "background-color", "#memory .life rect": "fill"},
    "mlp": {"#parts td.cycles i": "background-color", "#parts .gutter path": "stroke"},
}


@pytest.mark.parametrize("name", DRAWN)
def test_all_of_an_open_page_becomes_dark_with_the_system(browser, drawn, name):
    """One element of each chart, and a pixel of a PE on the canvas."""
    browser.prefer("light")
    browser.open(drawn[name].page)
    browser.run("choose(view, [1, 1])")
    browser.wait("document.querySelector('#pe .timeline')")
    coloured = {**COLOURED, **FURTHER[name]}
    colours = (
        "return Object.entries(arguments[0]).map(([where, key]) => "
        "getComputedStyle(document.querySelector(where)).getPropertyValue(key))")
    pixel = ("const {k, x, y} = view.transform;"
             "return [...view.ctx.getImageData(x + k * 1.2, y + k * 1.9, 1, 1).data]")
    before = browser.run(colours, coloured), browser.run(pixel)
    browser.prefer("dark")
    browser.wait("cssColour('--panel') === '#1a2027' && !view.asked")
    after = browser.run(colours, coloured), browser.run(pixel)
    browser.prefer("light")
    same = [where for where, a, b in zip(coloured, before[0], after[0], strict=True) if a == b]
    assert same == [] and before[1] != after[1]


def test_a_program_is_called_as_its_source_which_is_shown(browser, drawn):
    browser.open(drawn["listing1"].page)
    assert browser.texts("head title, h1") == ["listing1.py", "listing1.py"]
    summaries = browser.texts("#texts summary")
    assert summaries[:3] == ["listing1.py", "program.yaml", "program.il"]
    source = (ROOT / "projects/listing1/listing1.py").read_text(encoding="utf-8")
    assert browser.texts("#texts pre")[0].strip() == source.strip()

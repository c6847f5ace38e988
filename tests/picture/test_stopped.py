"""The page of a fabric that stopped: its steps, and, in a browser, the arrows that are drawn."""

import dataclasses
import json
import pickle
import re

import pytest
import yaml

from lairmake.stages.diagnose import Source
from lairmake.stages.fabric.deadlock import DeadlockStep, FabricStopped, WaitingPe, error_of
from lairmake.stages.picture import run
from lairmake.stages.picture.pages import find_rest, report_stop
from tests.fabric.planned import stop
from tests.fabric.test_waiting import STOPS, WAYS, sent
from tests.picture.browser import LEGIBLE, PHONE, needs_browser
from tests.picture.followed import unpack


def plant(library, way, **changes):
    """Return the Stop of a way to stop, as one of tests/fabric/test_waiting.py."""
    layout, plans, *figures = WAYS[way]
    error = stop(library, layout, plans, sent(layout), *figures, **changes)
    source = Source(path="build/layout.yaml", text=yaml.safe_dump(layout))
    return error_of(error, source, "loops", "a hint").stop


def record_again(recorded, way):
    """Return what runs a way to stop once more, as stages do."""
    layout, plans, *figures = WAYS[way]

    def record(asked):
        error = stop(recorded, layout, plans, sent(layout), *figures, recorded=True, asked=asked)
        raise error_of(error, Source(path="", text=""), "loops", "a hint") from error

    return record


def draw(stopped, path, record):
    html = report_stop(stopped, "a title", "a layer", {}, {"a.lair": "a text"}, record)
    path.write_text(html, encoding="utf-8")
    return json.loads(re.search(r'type="application/json"[^>]*>(.*?)</script>', html, re.S)[1])


@pytest.mark.wide
@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_stop_has_a_page(library, recorded, way, tmp_path):
    stopped = plant(library, way)
    page = draw(stopped, tmp_path / "report.html", record_again(recorded, way))
    assert page["kind"] == "stop"
    assert [step["number"] for step in page["steps"]] == [*range(1, len(page["steps"]) + 1)]
    assert page["headline"] == stopped.said.splitlines()[0]
    shown = [page["headline"], *(step["says"] for step in page["steps"]), f"so: {page['cause']}"]
    rest = page["else_said"].splitlines()
    assert sorted([*shown, *(line.strip() for line in rest)]) == sorted(
        line.strip() for line in stopped.said.splitlines() if not line.startswith("it waits "))
    assert page["fabric"]["bins"]["width"] > 0
    events = page["fabric"]["recorded"]["events"]
    ends = unpack(events["begin"]) + unpack(events["duration"])
    assert ends.max(initial=0) <= page["fabric"]["bins"]["until"] and "until" not in events
    assert page["fabric"]["recorded"]["path"] == []


def test_of_a_stop_that_took_long_nothing_is_recorded(library, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "MOST_MOVES", 0)
    page = draw(plant(library, "each sends first"), tmp_path / "report.html", None)
    assert "recorded" not in page["fabric"]


def test_what_moved_last_and_what_else_waits_is_the_rest():
    said = (STOPS / "a_ring_turns_and_a_PE_waits.txt").read_text(encoding="utf-8")
    cause = "the external PE beside PE[2, 0] should have sent 1 more element on x"
    lines = said.splitlines()
    waiting = WaitingPe(steps=(), left_out=0, is_circle=False, cause=cause)
    assert find_rest(said, waiting).splitlines() == [*lines[1:6], *lines[-3:]]
    assert find_rest(said, None).splitlines() == lines[1:]


def test_an_error_goes_to_another_process_with_what_is_drawn(library):
    stopped = plant(library, "each sends first")
    error = pickle.loads(pickle.dumps(FabricStopped("said", None, "a hint", stopped)))
    assert (str(error), error.stop) == ("error: said\nhint: a hint\n", stopped)


def test_steps_that_are_left_out_count(library, recorded, tmp_path):
    steps = tuple(DeadlockStep(waits=(x, 0), on=(x + 1, 0), colour=None, kind="behind", said=None)
                  for x in range(4))
    stopped = plant(library, "each sends first")
    waiting = WaitingPe(steps=steps, left_out=7, is_circle=False, cause=stopped.waiting.cause)
    stopped = dataclasses.replace(stopped, waiting=waiting)
    page = draw(stopped, tmp_path / "report.html", record_again(recorded, "each sends first"))
    assert [step["number"] for step in page["steps"]] == [1, 2, 10, 11]
    assert page["left_out"] == 7


@needs_browser
def test_arrows_lead_from_who_waits_to_whom(library, recorded, browser, tmp_path):
    stopped = plant(library, "each sends first")
    draw(stopped, tmp_path / "report.html", record_again(recorded, "each sends first"))
    browser.open(tmp_path / "report.html")
    assert browser.errors() == []
    lines = [line.strip() for line in stopped.said.splitlines()[2:6]]
    wide, least = browser.on_a_phone()
    assert wide <= PHONE and least >= LEGIBLE
    assert browser.texts(".steps button span") == lines
    assert browser.texts(".steps li")[-1] == "… and so on, from 1 …"
    assert browser.text(".stopped")[1:] == stopped.said.splitlines()[0][1:]
    browser.wait("view.canvas.dataset.drawn && !view.asked")
    for number in (0, 2):
        colours = browser.run("""
            const step = page.steps[arguments[0]], { path, tip, middle } = bowOf(view, step, 0);
            const [x, y] = middle, ratio = devicePixelRatio, at = middleOf(view, step.on);
            const pixel = view.ctx.getImageData((x + 7) * ratio, y * ratio, 1, 1).data;
            const { r, g, b } = d3.rgb(stepColour(view, step));
            const near = Math.hypot(tip[0] - at[0], tip[1] - at[1]) < view.transform.k / 4;
            return [[...pixel].slice(0, 3), [r, g, b], near];
        """, number)
        assert colours[0] == colours[1] and colours[2]


@needs_browser
def test_a_line_leads_to_its_pe_and_that_of_a_port_to_the_next(
    library, recorded, browser, tmp_path
):
    way = "a port gets too few"
    draw(plant(library, way), tmp_path / "report.html", record_again(recorded, way))
    browser.open(tmp_path / "report.html")
    assert browser.errors() == []
    browser.run("document.querySelector('[data-step=\"2\"]').focus()")
    assert browser.run("return view.waiting.chosen.number") == 2
    browser.press("ENTER")
    browser.wait("document.querySelector('#pe').dataset.pe === '0,0'")
    browser.run("document.querySelector('#pe').removeAttribute('data-pe')")
    browser.click("[data-step='1']")
    browser.wait("document.querySelector('#pe').dataset.pe === '0,0'")
    ends = browser.run("return page.steps.map(({ on }) => middleOf(view, on)[1])")
    assert ends[1] == ends[2] < browser.run("return view.transform.y") < ends[0]


@needs_browser
def test_what_those_did_that_wait_is_drawn_until_the_stop(library, recorded, browser, tmp_path):
    """The second PE gets three of four elements; the first one has sent them, and is done."""
    way = "a PE sends too few"
    draw(plant(library, way), tmp_path / "report.html", record_again(recorded, way))
    browser.open(tmp_path / "report.html")
    assert browser.errors() == []
    assert browser.texts(".waited .name") == ["PE 1, 0 · planned", "PE 0, 0 · planned"]
    until = browser.run("return view.until")
    waits, sends = browser.texts(".waited .last")
    since = int(waits.removeprefix("no input, since "))
    assert 0 < since < until and sends.startswith("nothing since ")
    assert f"no input {since} to {until}" in browser.texts(".waited title")
    bar = browser.run("""
        const bars = [...document.querySelectorAll(".waited g:first-of-type rect")];
        return d3.max(bars, (bar) => bar.x.baseVal.value + bar.width.baseVal.value)""")
    assert bar == pytest.approx(1180 - 190)
    assert browser.texts(".phases .name") == ["then"]
    browser.click(".waited a")
    browser.wait("document.querySelector('#pe').dataset.pe === '1,0' && "
                 "document.querySelector('#pe .timeline')")

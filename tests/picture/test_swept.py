"""The last sweep on a page: which texts are one, and, in a browser, the plot and the table."""

import json

import pytest

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.mapping.records import as_data
from lairmake.stages.picture.pages import SWEEP, WholeOnPage, read_sweep, report_whole
from tests.picture.browser import LEGIBLE, PHONE, needs_browser

COLUMNS = ("cycles", "loops", "speedup", "bound", "by", "bytes", "of", "pes")
FIGURES = (  # by lanes and unroll
    ("1", "2", (200, 400, 2.0, 50, "datapath", 3000, 48000, 4)),
    ("2", "2", (100, 400, 4.0, 50, "datapath", 3100, 48000, 8)),
    ("4", "2", (120, 400, 3.3, 40, "latency", 2900, 48000, 16)),
    ("8", "2", (90, 450, 5.0, 40, "latency", 6000, 48000, 8)),
)


def make(rows=FIGURES, **more):
    refused = {"set": {"lanes": "9", "unroll": "2"}, "folder": "f/9", "right": False,
               "pareto": False, "figures": None, "error": "layer.yaml:1:2: error: no\n  9\n  ^"}
    return {"name": "fc", "keys": ["lanes", "unroll"], "work": [], "rows": [
        *({"set": {"lanes": lanes, "unroll": unroll}, "folder": f"f/{lanes}", "right": True,
           "pareto": lanes in "18", "error": None,
           "figures": dict(zip(COLUMNS, figures, strict=True))}
          for lanes, unroll, figures in rows), refused]} | more


def read(data):
    text = data if isinstance(data, str) else json.dumps(data)
    return read_sweep([Source(path=f"projects/fc/{SWEEP}", text=text)])


def figures(**changed):
    """Return a sweep of which the first row has other figures."""
    data = make()
    data["rows"][0]["figures"] |= changed
    return data


def test_what_a_sweep_writes_is_what_a_page_has():
    assert as_data(read(make())) == make()
    assert read_sweep([]) is None


WRONG = {
    "no JSON": ("{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    "a list": ("[]", "the text must be a mapping"),
    "a constant": (json.dumps(figures(cycles=float("nan"))), "NaN is no number"),
    "infinite": (json.dumps(figures(speedup=2.5)).replace("2.5", "1e999"),
                 "rows.0.figures.speedup is inf"),
    "negative": (figures(pes=-1), "rows.0.figures.pes is -1"),
    "a text": (figures(cycles="<b>"), "rows.0.figures.cycles must be a whole number"),
    "further": (make(more=1), "more is no key here"),
    "other work": (make(work=["M"]), "work has other keys than keys"),
    "other keys": (make(keys=["lanes"]), "rows.0.set has other keys than keys"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_of_somebody_else_is_refused(name):
    data, said = WRONG[name]
    with pytest.raises(UserError) as raised:
        read(data)
    assert str(raised.value) == (
        f"error: projects/fc/{SWEEP} is not what a sweep writes: {said}\n"
        "hint: another sweep writes it anew; without the file no sweep is shown\n")


def draw(path, sweep):
    page = WholeOnPage(title="t", says="", results={}, texts={}, parts=(), sweep=sweep)
    path.write_text(report_whole(page), encoding="utf-8")
    return path


def test_a_page_without_a_sweep_says_nothing_of_one(tmp_path):
    html = draw(tmp_path / "a.html", None).read_text(encoding="utf-8")
    data = html.partition('id="data">')[2].partition("</script>")[0]
    assert json.loads(data) == {
        "kind": "whole", "title": "t", "says": "", "results": {}, "texts": {}, "parts": []}


def choose(page, axis, name):
    page.run("const s = document.querySelector(`[data-axis='${arguments[0]}']`);"
             "s.value = arguments[1]; s.dispatchEvent(new Event('change'))", axis, name)


@needs_browser
def test_the_plot_has_two_figures_and_the_front_of_these(browser, tmp_path):
    browser.open(draw(tmp_path / "a.html", read(make())))
    wide, least = browser.on_a_phone()
    assert wide <= PHONE and least >= LEGIBLE
    assert browser.errors() == []

    def front():
        return browser.run("return [...document.querySelectorAll('circle.on-front')]"
                           ".map((each) => each.dataset.row)")

    assert front() == ["0", "3"]
    choose(browser, 1, "memory")
    assert front() == ["0", "2"]
    choose(browser, 0, "speedup")
    assert front() == ["2", "1", "3"]
    assert browser.texts("details.refused summary") == ["9, 2 no"]
    assert browser.texts("details.refused pre") == [make()["rows"][-1]["error"]]


@needs_browser
def test_each_work_has_a_front_of_its_own(browser, tmp_path):
    """With as many lanes no row is better than another one; of two rows with one lane, one is."""
    rows = [("1", "2", (200, 400, 2.0, 50, "ports", 3000, 48000, 4)),
            ("1", "4", (100, 400, 2.0, 50, "ports", 3000, 48000, 4)),
            ("2", "2", (300, 400, 2.0, 50, "ports", 3000, 48000, 8))]
    browser.open(draw(tmp_path / "a.html", read(make(rows, work=["lanes"]))))
    front = browser.run("return [...document.querySelectorAll('circle.on-front')]"
                        ".map((each) => each.dataset.row)")
    assert front == ["1", "2"] and browser.errors() == []
    assert "no other one of the same lanes is better" in browser.texts("#sweep .says")[0]
    assert browser.run("return document.querySelectorAll('path.front').length") == 2


@needs_browser
def test_the_marks_of_whole_figures_are_whole_and_the_front_is_on_top(browser, tmp_path):
    rows = [(lanes, "2", (cycles, 400, 2.0, 50, "ports", 3000, 48000, 15))
            for lanes, cycles in (("1", 165), ("2", 168), ("4", 170))]
    browser.open(draw(tmp_path / "a.html", read(make(rows))))
    marks = browser.texts(".sweep-body .tick text")
    assert marks and all(mark.isdecimal() for mark in marks)
    rows = browser.run("return [...document.querySelectorAll('.sweep-body circle')]"
                       ".map((each) => each.dataset.row)")
    assert rows == ["1", "2", "0"]


@needs_browser
def test_keys_go_from_point_to_point_and_heads_sort(browser, tmp_path):
    browser.open(draw(tmp_path / "a.html", read(make())))
    browser.run("document.querySelector('.sweep-body svg').focus()")
    browser.press("ARROW_RIGHT")
    said = browser.texts(".sweep-body dd")
    assert said == ["2", "2", "100", "400", "4.00", "50", "6.5%", "8", "datapath"]
    assert browser.run("return document.querySelector('tr.chosen').dataset.row") == "1"
    order = "return [...document.querySelectorAll('.swept tbody tr')].map((r) => r.dataset.row)"
    for expected in (["3", "1", "2", "0"], ["0", "2", "1", "3"]):
        browser.run("document.querySelectorAll('.swept th button')[2].click()")
        assert browser.run(order) == expected
    assert browser.errors() == []

"""The report of fc, in a browser: what it shows is what a reader finds in the texts."""

import json
from pathlib import Path

import pytest

from tests.layer.built import build
from tests.picture.browser import LEGIBLE, PHONE, needs_browser

pytestmark = needs_browser
ROOT = Path(__file__).resolve().parents[2]
COMMENT = "# </script><script>window.broken = 1</script> & &amp; <!-- \n"
LAIR = COMMENT + (ROOT / "projects/fc/fc.lair").read_text(encoding="utf-8")
LAYER = (ROOT / "projects/fc/layer.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def fc():
    return build(LAIR, LAYER.replace("fc.lair", "layer.lair"), "report")


@pytest.fixture
def page(browser, fc):
    browser.prefer("light")
    browser.open(fc.folder / "build/report.html")
    return browser


def cell(page, x, y):
    """Return where PE [x, y] of fc is drawn on the canvas."""
    place = page.run("return [view.transform.k, view.transform.x, view.transform.y]")
    return place[1] + place[0] * (x + 0.5), place[2] + place[0] * (y + 0.5)


def test_it_opens_from_the_disk_and_no_error_is_on_the_console(page):
    assert page.run("return location.protocol") == "file:"
    assert page.errors() == []
    assert page.texts("h1, h2") == ["ff", "Grid", "Time", "Tasks", "Texts"]
    instructions = page.texts("#tasks .instruction")
    assert any("float16 W_local, from [0, index], strides [5]" in each for each in instructions)
    assert "for PE[0, 1]" in page.texts("#tasks figcaption")
    wide, least = page.on_a_phone()
    assert wide <= PHONE and least >= LEGIBLE


def test_its_figures_are_those_of_results_json(page, fc):
    results = fc.results()
    facts = page.run(
        "return Object.fromEntries([...document.querySelectorAll('[data-fact]')]"
        ".map((e) => [e.dataset.fact, e.textContent]))"
    )
    assert facts == {
        "cycles.simd": str(results["cycles"]["simd"]),
        "speedup": str(results["speedup"]),
        "bound.cycles": str(results["bound"]["cycles"]),
        "right": "right",
        "pes.compute": str(results["pes"]["compute"]),
        "memory.bytes_per_pe": f"{results['memory']['bytes_per_pe']:,}",
        "fabric.wavelets": str(results["fabric"]["wavelets"]),
    }
    counted = page.run(
        "return Object.fromEntries([...document.querySelectorAll('[data-task]')].map((e) => "
        "[e.dataset.task, [...e.querySelectorAll('[data-count]')].map((b) => +b.textContent)]))"
    )
    assert {name: counts for name, counts in counted.items() if counts} == {
        name: [each["calls"], each["instances"], each["extra"]]
        for name, each in results["tasks"].items()
    }
    parts = page.run(
        "return partsOfBusiest(page.results.busiest.simd, restedAt(page.results, 'simd'))"
    )
    assert sum(part["cycles"] for part in parts) == results["cycles"]["simd"]


def test_what_comes_after_the_last_output_is_told_and_fits(page):
    """Of a run of 12 cycles whose busiest PE rests after 30, 20 of them on dispatch, 10 waiting."""
    told = page.run("""
        const results = { cycles: { simd: 12 }, busiest: { simd: { dispatch: 20, rested: 30 } } };
        const end = restedAt(results, "simd"), bound = { cycles: 10, by: "latency" };
        const parts = partsOfBusiest(results.busiest.simd, end), holder = d3.create("div");
        drawWaterfall(holder, bound, parts, 12);
        const all = (name) => [...holder.node().querySelectorAll(name)];
        return [all("svg").map((svg) => svg.getAttribute("aria-label")), all("rect").every((bar) =>
          +bar.getAttribute("x") + +bar.getAttribute("width") <= WIDE)];
    """)
    assert told == [[
        "From the bound to the cycles: bound, by latency 10, dispatch of tasks 20, waiting 10, "
        "all cycles 12, after the last output 18"
    ], True]


def test_what_took_no_cycles_has_no_bar(page):
    """A bar is a pixel wide at least; in a role there are causes without a cycle."""
    assert page.run("""
        const holder = d3.create("div"), of = (name, cycles) => ({ name, cycles, colour: "red" });
        addStack(holder, [of("computing", 3), of("memory", 0), of("idle", 1)], 4);
        return [...holder.node().querySelectorAll("i")].map((bar) => bar.title);
    """) == ["computing: 3", "idle: 1"]


def test_what_took_no_cycles_is_no_line_of_the_critical_path(page):
    """Before a task that begins in cycle 0 is the start of its PE, which takes nothing."""
    assert page.run("""
        const holder = d3.create("div"), at = { x: 0, y: 0, name: null, colour: null };
        addPath(holder, { left_out: 0, line: {}, path: [{ ...at, begin: 0, end: 9, cause: "task" },
          { ...at, begin: 0, end: 0, cause: "started" }] });
        return [...holder.node().querySelectorAll("tbody td:first-child")].map((cell) =>
          cell.textContent);
    """) == ["9"]


def test_a_pe_that_is_clicked_shows_what_a_reader_finds_by_hand(page, fc):
    """PE [1, 3] computes, PE [1, 2] of the texts: the adapters are the row y = 0, theirs -1.

    memory.isl: W_local[i - 8y, j - 4x] and y_local[i - 8y], so rows 16 to 23 and columns 4 to 7 of
    W, whose rows have five places of two bytes, and behind them y. routes.isl: x comes from the
    north and goes on; (PE_X + 1) % 2 == 0 in pe_compute.c, so it sends on y_even, and adds what
    comes on y_odd. Of x[4:8] two are not zero: with their end, and eight sums that come, it takes
    eleven wavelets, and sends eight. No lane is left empty: eight rows are two times four.
    """
    page.click("canvas", *cell(page, 1, 3))
    page.wait("document.querySelector('#pe').dataset.pe === '1,3' && "
              "document.querySelector('#pe .program pre')")
    assert page.texts("#pe h3, #pe .role") == ["PE 1, 3", "compute"]
    assert page.texts("#pe .tensors td") == [
        "0", "W_local[8, 5]", "W[16:24, 4:8]", "float16, 80",
        "80", "y_local[8]", "y[16:24]", "float16, 16",
    ]
    assert page.texts("#pe .routes li") == ["xN → S, ramp", "y_evenramp → E", "y_oddW → ramp"]
    assert page.texts("#pe [data-figure]") == [
        "3,424 bytes", "3 colours", "0 cycles", "11 wavelets", "8 wavelets", "cycle 30",
        "cycle 119",
    ]
    assert page.text("#pe .code") == fc.program("simd/pe_compute.c")
    page.click("#pe .choice button:last-child")
    assert page.text("#pe .code") == fc.program("loops/pe_compute.c")


def test_keys_go_from_pe_to_pe_and_zoom(page):
    page.run("document.querySelector('canvas').focus()")
    page.press("ARROW_RIGHT", "ARROW_DOWN", "ARROW_DOWN")
    assert page.text(".status") == "PE 1, 2 · compute"
    page.press("ARROW_UP", "ARROW_UP", "ENTER")
    page.wait("document.querySelector('#pe').dataset.pe === '1,0'")
    assert page.texts("#pe .role") == ["adapter_north"]
    before = page.run("return view.transform.k")
    page.press("+")
    assert page.run("return view.transform.k") == pytest.approx(before * 1.4)
    page.press("0")
    assert page.run("return view.transform.k") == pytest.approx(before)
    assert page.errors() == []


def test_a_script_in_a_comment_is_text(page, fc):
    assert page.run("return window.broken ?? null") is None
    assert page.texts("#texts pre")[0] == (fc.folder / "layer.lair").read_text(encoding="utf-8")
    html = (fc.folder / "build/report.html").read_text(encoding="utf-8")
    assert html.count("</script>") == 3


def test_the_policy_forbids_the_network_and_further_scripts(page):
    said = page.driver.execute_async_script("""
        const done = arguments[arguments.length - 1], seen = [];
        addEventListener("securitypolicyviolation", (event) => seen.push(event.violatedDirective));
        const script = document.createElement("script");
        script.textContent = "window.broken = 2";
        document.body.append(script);
        new Image().src = "http://127.0.0.1:9/a.png";
        fetch("http://127.0.0.1:9/").catch(() => setTimeout(() => done(
            [window.broken ?? null, ...seen.sort()]), 50));
    """)
    assert said == [None, "connect-src", "img-src", "script-src-elem"]


def test_colours_show_a_quantity_and_its_greatest_number(page):
    page.run("const s = document.querySelector('#quantity'); s.value = 'bytes';"
             "s.dispatchEvent(new Event('change'))")
    assert page.texts(".legend .ramp b") == ["0", "3,424 bytes"]
    x, y = cell(page, 1, 3)
    pixel = "return [...view.ctx.getImageData(arguments[0], arguments[1], 1, 1).data]"
    page.wait("view.quantity !== null && !view.asked")
    assert page.run(pixel, x + 20, y - 30)[:3] == [253, 234, 69]


def test_it_is_dark_where_the_system_is(page):
    light = page.run("return getComputedStyle(document.body).backgroundColor")
    page.prefer("dark")
    page.wait("isDark() && !view.asked")
    assert light == "rgb(246, 245, 241)"
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 27)"
    assert page.errors() == []


def test_both_functions_of_a_task_stand_side_by_side(page, fc):
    page.click("[data-task=on_x] summary")
    page.wait("document.querySelectorAll('[data-task=on_x] .code').length === 2")
    simd, loops = page.texts("[data-task=on_x] .code")
    assert simd.startswith("/* React to an element of x. */\nstatic void on_x(")
    assert simd in fc.program("simd/pe_compute.c") and "vector_run(" in simd
    assert loops in fc.program("loops/pe_compute.c") and "for (" in loops


def test_data_in_the_page_are_json(fc):
    html = (fc.folder / "build/report.html").read_text(encoding="utf-8")
    text = html.partition('id="data">')[2].partition("</script>")[0]
    assert json.loads(text)["results"] == fc.results()

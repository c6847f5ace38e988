"""What the benchmarks print is what was measured."""

from functools import partial

import pytest

from tests.bench import compiling, cycles, fabric, noting, reporting
from tests.bench.__main__ import parser, selected
from tests.bench.figures import Figure, line
from tests.bench.layers import build, conv2d, results, shipped
from tests.bench.probe import probed
from tests.bench.process import run
from tests.bench.program_probe import probe_program
from tests.bench.programs import build_cold
from tools.evaluation.split import split


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """Return the results of a small convolution of a sparse input by its hull, and a run of it."""
    layer = conv2d(tmp_path_factory.mktemp("bench") / "conv2d", 2, 20, "ideal", True)
    with (layer / "layer.yaml").open("a", encoding="utf-8") as text:
        text.write("simd: {prefer: hull}\n")
    build(layer)
    return results(layer), probed(layer)


@pytest.mark.wide
def test_the_parts_add_up_to_the_cycles(sparse):
    found, ran = sparse
    parts = split(found)
    assert sum(parts.values()) == ran["cycles"] == found.cycles.simd
    assert min(parts.values()) >= 0


@pytest.mark.wide
def test_nine_points_leave_lanes_empty_in_the_last_of_three_cycles(sparse):
    found, ran = sparse
    calls = ran["usage"]["points"] // 9
    assert split(found)["rounding"] == calls


@pytest.mark.wide
def test_all_multiply_adds_are_counted(sparse):
    _, ran = sparse
    assert ran["multiply-adds"] == 2 * ran["usage"]["points"]


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (Figure(what="a", value=12963, unit="cycles"), "a 12,963 cycles"),
        (Figure(what="a", value=0.1184, unit="s", limit=0.25), "a 0.118 s at most 0.25 ok"),
        (Figure(what="a", value=24.04, unit="s", limit=20), "a 24.0 s at most 20 over"),
        (Figure(what="a", value=1.35, limit=1.35), "a 1.35 at most 1.35 ok"),
        (Figure(what="a", value=1.02, limit=1.03, between=(1.0181, 1.024)),
         "a 1.02 at most 1.03 ok 1.018 to 1.024"),
    ],
)
def test_line_tells_value_limit_and_verdict(figure, expected):
    assert " ".join(line(figure).split()) == expected


@pytest.mark.wide
def test_a_program_is_timed_in_three_ways(tmp_path):
    program = shipped(tmp_path / "listing1", "listing1")
    build_cold(program, "remember")
    seconds = probe_program(program)
    assert list(seconds) == ["x86", "graph", "addresses"]
    assert min(seconds.values()) > 0


def test_a_name_is_that_of_a_benchmark_or_of_a_group():
    assert selected(["cycles"]) == [cycles.fc1024, cycles.conv2d]
    assert selected(["conv2d", "cold"]) == [compiling.cold, cycles.conv2d]
    assert {compiling.cold, cycles.conv2d} < set(selected([]))


def test_all_elements_cross_the_busy_fabric_on_all_colours(tmp_path):
    _, run = fabric.run_busy(tmp_path, 16, 8, 14)
    assert run.hops == 14 * 16 * 2 * (8 - 1) * fabric.ELEMENTS


def test_the_engine_has_the_lines_that_note_what_is_used(tmp_path):
    engine = noting.write_without_notes(tmp_path)
    assert "change_state(" not in (engine / "pe.c").read_text(encoding="utf-8")


def test_what_is_compared_runs_at_once_in_each_turn():
    turns = noting.take_turns([partial(float, seconds) for seconds in (2, 3)])
    assert turns == [[2, 3]] * noting.TURNS
    assert noting.ratio("a", turns, 1, 0) == Figure(what="a", value=1.5, between=(1.5, 1.5))


@pytest.mark.wide
def test_a_page_and_a_trace_are_timed_beside_the_run(tmp_path):
    layer = shipped(tmp_path / "fc", "fc")
    build(layer, "simulate")
    page, events = reporting.draw_page(layer), reporting.write_events(layer)
    assert min(page["seconds"], page["ran"], events["seconds"], events["ran"]) > 0
    assert page["bytes"] > 100_000 and events["events"] == 512 and events["bytes"] > 10_000


def test_an_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["fast"])
    assert "argument NAME: fast is none of busy128," in capsys.readouterr().err


@pytest.mark.wide
def test_a_process_that_fails_is_an_error(tmp_path):
    with pytest.raises(SystemExit, match=r"(?s)-m tests\.bench\.probe .* failed:.*layer\.yaml"):
        run("tests.bench.probe", tmp_path)

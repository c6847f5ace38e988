"""The document of `doit evaluate`, from results."""

from dataclasses import replace
from pathlib import Path

import pytest

from lairmake.stages.layer.texts.results_json import Cycles
from tools.evaluation.document import document, picture, sweep_table
from tools.evaluation.plot import ticks
from tools.evaluation.split import group_of, split
from tools.evaluation.sweeps import Sweep

EXPECTED = Path(__file__).with_name("document.md")
SWEEP = Sweep(
    name="lanes", title="Lanes", text="A text.", axis="lanes", values=(1, 2), series=("a", "b"),
    case=lambda *_: None, doubling=True, last=("calls", lambda found: str(len(found))),
)


@pytest.fixture
def swept(results):
    return {1: {"a": results["low"], "b": results["slow"]},
            2: {"a": results["high"], "b": results["slow"]}}


def test_the_document_in_full(results, swept):
    text = document(results, results, {"lanes": swept}, [SWEEP])
    assert text == EXPECTED.read_text(encoding="utf-8")


def test_parts_add_up_to_all_cycles(results):
    for found in results.values():
        assert sum(split(found, "simd").values()) == found.cycles.simd
        assert sum(split(found, "loops").values()) == found.cycles.loops


def test_what_follows_the_last_cycle_does_not_count(results):
    late = replace(results["low"], cycles=Cycles(simd=384, loops=800))
    parts = split(late)
    assert parts["drain"] == 0 and sum(parts.values()) == 384
    much_later = replace(results["low"], cycles=Cycles(simd=220, loops=800))
    assert sum(split(much_later).values()) == 220 and split(much_later)["start-up"] == 0


@pytest.mark.parametrize(("speedup", "group"), [
    (0.7, "none"), (1.04, "none"), (1.05, "below"), (4.0, "below"), (4.01, "above"),
])
def test_groups(results, speedup, group):
    assert group_of(replace(results["low"], speedup=speedup, lanes=4)) == group


@pytest.mark.parametrize(("most", "last", "count"), [
    (7, 8, 5), (0.3, 0.3, 7), (1173, 1200, 7), (6, 6, 7), (1, 1, 6),
])
def test_ticks_are_round_and_reach_the_most(most, last, count):
    found = ticks(most)
    assert found[0] == 0 and found[-1] == pytest.approx(last) and len(found) == count


def test_a_table_of_a_sweep(swept):
    assert sweep_table(SWEEP, swept).splitlines()[2:] == [
        "| 1 | 800 | 400 | 2.00 | 300 | 400 | 0.75 | 2 |",
        "| 2 | 2000 | 200 | 10.00 | 300 | 400 | 0.75 | 2 |",
    ]


def test_a_picture_has_a_line_for_each_series(swept):
    drawn = picture(SWEEP, swept)
    assert drawn.count("<polyline") == 2 and drawn.count("<circle") == 4
    assert '<polyline points="60.0,228.0 480.0,20.0 "' in drawn
    assert ">a</text>" in drawn and ">lanes</text>" in drawn and ">speed-up</text>" in drawn

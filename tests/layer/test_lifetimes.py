"""From when to when arrays are needed, on task graphs written here, and where they then lie."""

import islpy as isl
import pytest

from lairmake.stages.layer.memory.arrays import ProgramArray, share_memory
from lairmake.stages.layer.memory.events import make_order, order_adapting, order_computing
from lairmake.stages.layer.texts.isl_files import COMPLETE, RESTART
from lairmake.stages.layer.texts.task_graph import (
    Arrival,
    Chunks,
    Compute,
    Departure,
    SumCollection,
    TaskGraph,
)
from tests.layer.built import build


def arrival(tensor, **others):
    given = {"side": "N", "sparse": False, "colour": tensor, "source": tensor, "spread": False}
    return Arrival(tensor=tensor, outer=(), **{**given, **others})


def departure(tensor, kind=Departure, **others):
    colours = (f"{tensor}_even", f"{tensor}_odd")
    given = {"side": "E", "by": "add", "parity": "{ [0] }"}
    return kind(tensor=tensor, colours=colours, **{**given, **others})


def graph(waits, *, chunks=None, **parts):
    """Return a task graph in which each statement S computes the tensor tS."""
    tasks = {
        f"compute_{s}": Compute(
            statement=s, iterators=("i",), target=f"t{s}", op="=", expression="0",
            chunks=(chunks or {}).get(s, ()),
        )
        for s in waits
    }
    given = {"arrivals": {}, "departures": {}, "collections": {}}
    return TaskGraph(tensors={}, tasks=tasks, waits=waits, colours=(), **{**given, **parts})


CHAIN = {"a": (), "b": ("a",), "c": ("b",)}
NO_READS = dict.fromkeys(CHAIN, ())


def after(order, event):
    return set(order.later[event]) - {COMPLETE}


def test_a_statement_comes_after_those_that_it_waits_for():
    order = order_computing(graph(CHAIN), NO_READS, ())
    assert after(order, "finish_a") == {"finish_b", "finish_c"}
    assert after(order, "finish_c") == set()


def test_what_leaves_may_do_so_until_the_end_but_before_what_waits_for_it():
    away = {"ta": departure("ta"), "tc": departure("tc", waits=("ta",))}
    order = order_computing(graph(CHAIN, departures=away), NO_READS, ())
    assert after(order, "finish_a") > {"sent_ta", "finish_b", "begin_tc", "sent_tc"}
    assert after(order, "sent_ta") == {"begin_tc", "sent_tc"}
    assert after(order, "sent_tc") == set()


BACK = {
    "arrivals": {"ta_feedback": arrival("ta_feedback", feedback="ta")},
    "departures": {"ta_away": departure("ta", feedback="ta_feedback")},
}


@pytest.mark.parametrize(("taken", "between"), [((), False), (("ta_feedback",), True)])
def test_what_comes_back_tells_of_an_order_only_on_pes_that_take_it(taken, between):
    """Where no PE takes it, c waits for nothing, and may run before a."""
    waits, reads = {"a": (), "c": ()}, {"a": (), "c": ("ta_feedback",)}
    order = order_computing(graph(waits, **BACK), reads, taken)
    assert after(order, "arrived_ta_feedback") == {"finish_c"}
    assert ("finish_c" in order.later["finish_a"]) == between
    assert "arrived_ta_feedback" in order.later["finish_a"]
    assert "sent_ta_away" not in order.later["arrived_ta_feedback"]


def test_a_step_waits_for_what_it_does_not_take_in_chunks():
    cut = Chunks(of="", counts=(2,), size=1, why="")
    arrivals = {"x": arrival("x", chunks=cut), "w": arrival("w")}
    parts = graph(CHAIN, chunks={"c": ("x",)}, arrivals=arrivals)
    order = order_computing(parts, {**NO_READS, "c": ("x", "w")}, ())
    assert after(order, "arrived_w") == {"step_c", "finish_c"}
    assert after(order, "arrived_x") == {"finish_c"}
    assert after(order, "finish_b") == {"step_c", "finish_c"}


def test_adapters_begin_with_what_waits_once_the_others_have_left():
    away = {
        "y": departure("ta", collected=True),
        "z": departure("tb", collected=True, waits=("y", "x")),
    }
    along = {
        name: departure(each.tensor, SumCollection, departure=name, out=name)
        for name, each in away.items()
    }
    parts = graph(
        CHAIN, departures=away, collections={f"{n}_along": c for n, c in along.items()},
        arrivals={"x": arrival("x", side="E", spread=True)},
    )
    order = order_adapting(parts, "E")
    assert after(order, "sent_y_along") == {"begin_z", "gathered_z", "sent_z_along"}
    assert after(order, "sent_x") == after(order, "sent_y_along")
    assert after(order, "gathered_y") == {"sent_y_along"}
    assert "gathered_y" in order.later[RESTART]


ORDER = make_order([("a", "b"), ("b", "c"), ("c", "d"), ("a", "x"), ("x", "d")], set("abcdx"))


def array(name, size, uses):
    uses = None if uses is None else frozenset(uses)
    return ProgramArray(name=name, type="float16", shape=(size,), uses=uses)


@pytest.mark.parametrize(("uses", "found"), [
    (["ab", "bc", "cd"], [0, 16, 0]),
    (["ab", "ab", "cd"], [0, 16, 0]),
    (["ab", "x", "cd"], [0, 16, 0]),
    (["b", "x", "c"], [0, 16, 0]),
    ([None, "b", "c"], [0, 16, 16]),
    (["a", None, "d"], [0, 16, 0]),
    (["ad", "b", "c"], [0, 16, 16]),
    (["bx", "cx", "d"], [0, 16, 0]),
], ids=str)
def test_arrays_share_memory_if_all_uses_of_one_come_before_those_of_the_other(uses, found):
    """Of b and x none comes before the other."""
    arrays = [array(f"t{k}", 8, each) for k, each in enumerate(uses)]
    apart = {"t0": 0, "t1": 16, "t2": 32}
    assert list(share_memory(arrays, apart, ORDER, 0).values()) == found


def test_an_array_lies_in_the_smallest_gap_that_holds_it():
    sizes, uses = [16, 4, 8, 4, 6], ["a", None, "a", None, "c"]
    arrays = [array(f"t{k}", *each) for k, each in enumerate(zip(sizes, uses, strict=True))]
    apart = {"t0": 0, "t1": 32, "t2": 40, "t3": 56, "t4": 64}
    assert share_memory(arrays, apart, ORDER, 0) == {**apart, "t4": 40}


def test_an_array_keeps_the_bank_in_which_it_would_start_apart():
    arrays = [array("t0", 20, "a"), array("t1", 4, "c")]
    assert share_memory(arrays, {"t0": 0, "t1": 42}, ORDER, 8)["t1"] == 10


def test_memory_that_would_not_shrink_stays_as_it_is():
    arrays = [array("t0", 2, "a"), array("t1", 8, "c")]
    apart = {"t0": 0, "t1": 4}
    assert share_memory(arrays, apart, ORDER, 8) == apart


def test_an_order_with_a_circle_is_none():
    with pytest.raises(ValueError, match="cycle"):
        make_order([("a", "b"), ("b", "a")], "ab")


LOCAL = """lair f(): float16 a[8] -> float16 y[8] { all (i) in (8) y[i] = a[i] + 1 }
lair g(): float16 a[8] -> float16 y[8] { all (i) in (8) y[i] = relu(a[i] - 2) * 3 }
graph n(): float16 x[8] -> float16 y[8]
{
  b = f()(x)
  c = g()(b)
  y = h()(c)
}
lair h(): float16 a[8] -> float16 y[8] { all (i) in (8) y[i] = a[i] + 1 }
"""
ARRIVES = """top: n
target: "{ PE[1, 1] }"
placement: "{ f[i] -> PE[0, 0]; g[i] -> PE[0, 0]; h[i] -> PE[0, 0] }"
tensors:
  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }"}
  y: {leaves: "{ y[i] -> [PE[0, 1] -> index[i]] }"}
"""


def test_the_lifetimes_of_a_graph():
    found = build(LOCAL, ARRIVES, "simd").objects("memory.isl")["lifetime"]
    assert found.is_equal(isl.UnionMap("""{
        x_local[] -> restart[]; x_local[] -> finish_f[];
        b_local[] -> finish_f[]; b_local[] -> finish_g[];
        compute_g_part0[] -> finish_g[];
        c_local[] -> finish_g[]; c_local[] -> finish_h[];
        y_local[] -> finish_h[]; y_local[] -> complete[] }""")), found

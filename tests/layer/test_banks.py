"""Local tensors lie where the two reads of an instruction meet in no bank."""

import pytest

from lairmake.stages.layer.cycles.task import Arrays, find_waiting
from lairmake.stages.layer.texts.simd_yaml import Decision, LocalDecision, NumberDecision
from lairmake.stages.machine.profile import load_profile
from tests.layer.built import build

SUM = """lair n(): {0} a[64], {0} b[64] -> {0} y[64]
{{ all (i) in (64) y[i] = a[i] + b[i] }}"""
ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\n'
FREE = "machine: {profile: wse2, read_banks: 0}\n"
FULL = "machine: {{profile: wse2, memory: {}}}\n"


def ran(type_, machine=""):
    """Return the addresses of local tensors, and the results."""
    built = build(SUM.format(type_), ONE + machine, "simulate")
    tensors = built.yaml("build/layout.yaml")["roles"]["compute"]["tensors"]
    assert built.results()["check"]["y"]["right"]
    return {name[0]: each["address"] for name, each in tensors.items()}, built.results()


@pytest.mark.wide
@pytest.mark.parametrize("type_", ["float16", "int32"])
def test_what_is_read_at_a_time_lies_in_different_banks(type_):
    at, results = ran(type_)
    assert at["a"] % 8 == (at["b"] + 4) % 8
    free, without = ran(type_, FREE)
    assert list(free.values()) == [0, free["b"], 2 * free["b"]]
    assert results["cycles"]["simd"] == without["cycles"]["simd"]
    assert results["busiest"]["simd"]["memory"] == 0


@pytest.mark.wide
def test_where_memory_is_full_reads_wait():
    need = ran("float16", FREE)[1]["memory"]["bytes_per_pe"]
    at, results = ran("float16", FULL.format(need))
    assert list(at.values()) == [0, 128, 256]
    assert results["busiest"]["simd"]["memory"] == 16


@pytest.mark.parametrize(("type_", "share"), [("float16", 1 / 4), ("float32", 1 / 2)])
def test_where_a_loop_says_in_which_bank_a_vector_begins_the_mean_is_expected(type_, share):
    """Elements of 32 bits begin in every other bank."""
    y, a = (
        LocalDecision(local=f"{name}_local", type=type_, base=(base,), strides=(1,))
        for name, base in (("y", 0), ("a", "[index] -> { [(index)] }"))
    )
    two, profile = NumberDecision(number="2", type=type_), load_profile("wse2")
    decision = Decision(by="scalar", why="", operation="MAC", extents=(8,), operands=(y, a, two))
    shapes = {"y_local": (8,), "a_local": (32,)}
    arrays = Arrays(shapes=shapes, addresses={"y_local": 0, "a_local": 32})
    waiting = find_waiting("n", decision, arrays, profile)
    assert waiting == share / profile.find_lanes("MAC", type_)

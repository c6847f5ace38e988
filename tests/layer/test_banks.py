"""Local tensors lie where the two reads of an instruction meet in no bank."""

import itertools
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.cycles.task import Arrays, find_waiting
from lairmake.stages.layer.texts.simd_yaml import Decision, LocalDecision, NumberDecision
from lairmake.stages.layer.vector.operands import CallValues, LinearIndex, count_first_words
from lairmake.stages.machine.banks import PlaceCost, choose_places, list_starts
from lairmake.stages.machine.profile import load_profile
from tests.layer.built import build

SUM = """lair n(): {0} a[64], {0} b[64] -> {0} y[64]
{{ all (i) in (64) y[i] = a[i] + b[i] }}"""
ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\n'
READS = "machine: {profile: wse2, write_latency: 0}\n"
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
    at, results = ran(type_, READS)
    assert at["a"] % 8 == (at["b"] + 4) % 8
    free, without = ran(type_, FREE)
    assert list(free.values()) == [0, free["b"], 2 * free["b"]]
    assert results["cycles"]["simd"] == without["cycles"]["simd"]
    assert results["busiest"]["simd"]["memory"] == 0
    assert ran(type_)[1]["busiest"]["simd"]["memory"] == 0


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
    two = NumberDecision(number="2", type=type_)
    profile = load_profile("wse2", {"write_latency": 0})
    decision = Decision(by="scalar", why="", operation="MAC", extents=(8,), operands=(y, a, two))
    shapes = {"y_local": (8,), "a_local": (32,)}
    arrays = Arrays(shapes=shapes, addresses={"y_local": 0, "a_local": 32})
    waiting = find_waiting("n", decision, arrays, profile)
    assert waiting == share / profile.find_lanes("MAC", type_)


TAPS = """lair n(): float16 x[10][10], float16 w[3][3] -> float16 y[8][8]
{ all (i, j, r, s) in (8, 8, 3, 3) y[i][j] += x[i + r][j + s] * w[r][s] }"""
ON_ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i,j,r,s] -> PE[0, 0] }"\n'


def test_rows_get_longer_and_arrays_begin_at_odd_words_where_loops_say_where_vectors_do():
    """Rows of x, of 10, agree with those of y, of 8, if they have 12: then one start is free."""
    built = build(TAPS, ON_ONE + READS, "simulate")
    memory, layout = built.objects("memory.isl"), built.yaml("build/layout.yaml")
    assert memory["local"].is_equal(isl.UnionSet(
        "{ x_local[0:9, 0:11]; y_local[0:7, 0:7]; w_local[0:2, 0:2] }"))
    assert built.objects("allocations.isl")["local"].is_equal(isl.UnionSet(
        "{ x_local[0:9, 0:9]; y_local[0:7, 0:7]; w_local[0:2, 0:2] }"))
    at = {n[0]: t["address"] for n, t in layout["roles"]["compute"]["tensors"].items()}
    assert (at["x"] - at["y"]) // 2 % 4 == 1
    x, = (o for o in built.yaml("simd.yaml")["compute_n"]["operands"] if o["local"] == "x_local")
    assert x["strides"] == [12, 1]
    results = built.results()
    assert results["check"]["y"]["right"]
    assert results["busiest"]["simd"]["memory"] == 0


def test_a_longer_row_is_checked_where_memory_is_edited():
    built = build(TAPS, ON_ONE + READS, "simd", copy="longer")
    path = built.cache / "memory.isl"
    text = path.read_text(encoding="utf-8")
    least = re.search(r"x_local\[i, j\] -> compute\[(\d+)", text)[1]
    end = re.search(r"y_local\[i, j\] -> compute\[(\d+)", text)[1]
    inside = str(int(least) + 2 * (12 * 9 + 10))
    path.write_text(text.replace(f"compute[{end} ", f"compute[{inside} "), encoding="utf-8")
    with pytest.raises(UserError, match="x_local and y_local lie in one place"):
        built.through("render")


@pytest.mark.parametrize("seed", range(6))
def test_first_words_are_as_frequent_as_in_the_calls_one_by_one(seed):
    """Of boxes in which the loops begin where the PE says."""
    random = np.random.default_rng(seed)
    (pes, wide, high), modulus = random.integers(1, 7, 3), int(random.choice((4, 8)))
    steps = random.integers(0, 40, (2, 2))
    shape = [(1, int(a), int(b)) for a, b in random.integers(1, 9, (2, 2))]
    values = CallValues(isl.Set(
        f"[PE_X, u, v] -> {{ : 0 <= PE_X < {pes} and 0 <= v < {high} and "
        f"{wide}PE_X <= u < {wide}PE_X + {wide} }}"))
    texts = [[f"[PE_X, u] -> {{ [(u - {wide}PE_X)] }}", f"[v] -> {{ [({a}v + {b})] }}"]
             for a, b in steps]
    firsts = [((LinearIndex(k), *map(values.read, text)), words)
              for k, (text, words) in enumerate(zip(texts, shape, strict=True))]
    found, every = Counter(), list(itertools.product(range(wide), range(high)))
    for u, v in every:
        found[tuple(
            int(k + u * words[1] + (a * v + b) * words[2]) % modulus
            for k, ((a, b), words) in enumerate(zip(steps, shape, strict=True)))] += 1
    shares = {words: Fraction(count, len(every)) for words, count in found.items()}
    assert count_first_words(firsts, values, modulus) == shares


CATALOGUE = Path(__file__).resolve().parents[2] / "projects/catalogue"


@pytest.mark.wide
@pytest.mark.parametrize(("name", "most"), [
    ("conv2d_same", 91000), ("conv2d_dilated", 92200), ("conv2d_channels", 25700),
])
def test_convolutions_of_the_catalogue_wait_for_no_bank(name, most):
    """Taken dense, and without zeros, on a machine where writes take no bank."""
    given = (CATALOGUE / name / "layer.yaml").read_text(encoding="utf-8")
    text = given.replace(", sparse: true", "") + "data: {density: 1}\n" + READS
    lair = (CATALOGUE / name / f"{name}.lair").read_text(encoding="utf-8")
    results = build(lair, text, "simulate").results()
    assert results["busiest"]["simd"]["memory"] == 0
    assert results["cycles"]["simd"] <= most


def test_a_place_is_taken_only_where_all_take_less():
    """Two prefer that a lies in bank 1, one that b does; c is nobody's."""
    def apart(*names, banks=4):
        return PlaceCost(arrays=frozenset(names), of=lambda at, most: Fraction(
            len({at[name] % banks for name in names}) < len(names)))

    options = {name: list(list_starts(0, 4, 1)) for name in "abc"}
    assert options["a"] == [0, 2, 1, 3]
    assert choose_places(options, [apart("a", "b")]) == {"a": 2, "b": 0, "c": 0}
    assert choose_places(options, [apart("a", "b", banks=1)]) == dict.fromkeys("abc", 0)
    assert choose_places(options, [apart("a", "b", banks=2)]) == {"a": 1, "b": 0, "c": 0}

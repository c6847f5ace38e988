"""Streams that compute with memory what arrives: all operations and types, and misuse."""

import itertools
import re

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure, FabricStuck
from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric
from tests.fabric.test_vector import (
    BITWISE,
    FUSED,
    OPERATIONS,
    TYPES,
    computes_in_float,
    random_memory,
    reference,
)

CALLS = ["accumulate", "in place", "receive", "combine", "number"]
WORDS = 64
ROUTES = "[PE[x, 0] -> W[]] -> ramp[]; [PE[x, 0] -> W[]] -> E[] : x < {last}"
FLOATS = ("f4", "f4", "f4", "f4")
OF_TWO = [
    (operation, kind) for operation in OPERATIONS if operation not in FUSED for kind in TYPES
    if operation not in BITWISE or kind in ("i2", "i4")
]


def recipe_of(operation, types, sizes=(2, 4), strides=((4, 1), (4, 1)), firsts=(0, 0)):
    """Return a recipe as `reference` has them; the stream is all that arrives, in order."""
    strides = [strides[0], [sizes[1], 1], strides[1], [0, 0]]
    return operation, types, sizes, strides, [firsts[0], 0, firsts[1], 0]


def encoded(call, times, recipe):
    operation, types, sizes, strides, firsts = recipe
    kinds = [TYPES.index(kind) for kind in types[:3]]
    code = [CALLS.index(call), times, OPERATIONS.index(operation), *kinds, *sizes]
    return np.array([*code, *strides[0], *strides[2], firsts[0], firsts[2]], "i4")


def layout(row, count, words, departs):
    """All PEs of a row hear the same words; d is read back, and one PE may send on y."""

    def entry(extent, address, tensor, transfer, local):
        return {"type": "int32", "shape": [extent], "address": address, "tensor": tensor,
                "transfer": transfer, "map": f"{{ [PE[x, 0] -> {local}[i]] -> {tensor}[x, i] }}"}

    tensors = {
        "recipe": entry(14, 0, "recipe", "in", "recipe"),
        "d_local": entry(WORDS, 56, "d", "in", "d_local"),
        "b_local": entry(WORDS, 56 + 4 * WORDS, "b", "in", "b_local"),
        "result": entry(WORDS, 56, "result", "out", "d_local"),
    }
    x = {"tensor": "x", "type": "int32", "colour": "x", "side": "W", "sparse": False}
    x["order"] = f"{{ x[i = 0:{words - 1}] -> [PE[-1, 0] -> index[i]] }}"
    y = {"tensor": "y", "type": "int32", "side": "E", "colours": ["y"]}
    y["order"] = f"{{ y[i = 0:{words - 1}] -> [PE[{count}, 0] -> index[i]] }}"
    colours = {"x": f"{{ {ROUTES.format(last=count - 1)} }}"}
    if not departs:
        return row("accumulate", count, colours, {"x": x}, tensors=tensors)
    colours["y"] = "{ [PE[x, 0] -> ramp[]] -> E[] }"
    return row("accumulate", count, colours, {"x": x}, {"y": y}, tensors)


def run_calls(library, row, profile, call, recipes, words, memories, times=1):
    """Run a recipe on each PE; `words` arrive at all of them."""
    arrays = {"recipe": np.stack([encoded(call, times, recipe) for recipe in recipes])}
    arrays |= {"x": words, "d": np.stack([memory[0] for memory in memories])}
    arrays["b"] = np.stack([memory[2] for memory in memories])
    placed = layout(row, len(recipes), len(words), call == "combine")
    shapes = {"result": (len(recipes), WORDS)}
    return run_fabric(library, placed, profile, arrays, shapes=shapes)


def words_of(random, elements):
    """Return wavelets of the elements; what has 16 bits is in the low half, beside anything."""
    if elements.itemsize == 4:
        return elements.view("i4")
    other = random.integers(-(2**15), 2**15, elements.size).astype("i4")
    return other << 16 | elements.view("u2").astype("i4")


def random_elements(random, kind, count):
    whole = random.integers(1, 40, count)
    return (whole / 8 if kind.startswith("f") else whole).astype(kind)


def packed(elements):
    """Return the elements as a part of memory, in words."""
    part = np.zeros(WORDS * 4 // elements.itemsize, elements.dtype)
    part[: elements.size] = elements
    return part.view("i4")


def memory_of(random, types, arrived):
    d, _, b, c = (part[:WORDS] for part in random_memory(random, types))
    b.view(types[2])[b.view(types[2]) == 0] = 1
    return [d, packed(arrived), b, c]


def is_defined(operation, types):
    whole = set(types) <= {"i2", "i4"}
    return whole if operation in BITWISE else operation != "DIV" or computes_in_float("DIV", types)


@pytest.mark.wide_after(2)
@pytest.mark.parametrize(("operation", "on_fabric"), OF_TWO)
def test_any_operation_of_what_arrives_and_memory(library, row, ideal, operation, on_fabric):
    random = np.random.default_rng(OPERATIONS.index(operation))
    kinds = [(d, on_fabric, b) for d, b in itertools.product(TYPES, repeat=2)]
    kinds = [(*each, "f4") for each in kinds if is_defined(operation, each)]
    sizes, strides, firsts = (3, 4), ((-5, 1), (2, -3)), (10, 9)
    recipes = [recipe_of(operation, each, sizes, strides, firsts) for each in kinds]
    arrived = random_elements(random, on_fabric, 12)
    memories = [memory_of(random, each, arrived) for each in kinds]
    words = words_of(random, arrived)
    run = run_calls(library, row, ideal, "accumulate", recipes, words, memories)
    for recipe, memory, result in zip(recipes, memories, run.outputs["result"][0], strict=True):
        reference(recipe, memory)
        np.testing.assert_array_equal(result, memory[0])


@pytest.mark.parametrize("strides", [(4, 1), (0, 0), (0, -1)], ids=["all", "one", "rows"])
@pytest.mark.parametrize("kind", TYPES)
def test_streams_accumulate_in_place_one_after_the_other(library, row, ideal, strides, kind):
    random = np.random.default_rng(3)
    recipe = recipe_of("ADD", (kind,) * 4, strides=(strides, strides), firsts=(8, 8))
    arrived = random_elements(random, kind, 24)
    memory = memory_of(random, (kind,) * 4, arrived)
    words = words_of(random, arrived)
    run = run_calls(library, row, ideal, "in place", [recipe], words, [memory], times=3)
    for part in np.split(arrived, 3):
        reference(recipe, [memory[0], packed(part), memory[0], memory[3]])
    np.testing.assert_array_equal(run.outputs["result"][0][0], memory[0])
    assert run.counters["accumulate"][0].points == 24


@pytest.mark.parametrize("call, operation", [("receive", "COPY"), ("in place", "ADD")])
@pytest.mark.parametrize("start_up", [0, 7, 20])
def test_an_element_takes_a_cycle_whatever_is_computed(library, row, call, operation, start_up):
    profile = load_profile("ideal", {"vector_start_up": start_up})
    arrived = np.ones(8, "f4")
    memory = [packed(arrived)] * 4
    recipe = recipe_of(operation, FLOATS)
    run = run_calls(library, row, profile, call, [recipe], arrived.view("i4"), [memory])
    assert run.cycles == max(2, start_up) + 8
    assert run.counters["accumulate"][0].points == 8


@pytest.mark.parametrize("operation", BITWISE)
def test_a_bit_operation_on_the_way(library, row, ideal, operation):
    random = np.random.default_rng(BITWISE.index(operation))
    recipe = recipe_of(operation, ("i4", "i4", "i4", "f4"))
    arrived = random.integers(-(2**31), 2**31, 8).astype("i4")
    memory = memory_of(random, recipe[1], arrived)
    run = run_calls(library, row, ideal, "combine", [recipe], arrived, [memory])
    reference(recipe, memory)
    np.testing.assert_array_equal(run.outputs["y"][0], memory[0][:8])


OUTSIDE = r"touches bytes -?\d+ to -?\d+ of its memory, which has \d+"
FOUR = "streams with an operation of four operands"
MISUSE = {
    "d outside": ("accumulate", recipe_of("ADD", FLOATS, firsts=(-20, 0)), OUTSIDE),
    "b outside": ("accumulate", recipe_of("ADD", FLOATS, firsts=(0, 900)), OUTSIDE),
    "b steps outside": ("accumulate", recipe_of("ADD", FLOATS, strides=((4, 1), (9, 99))), OUTSIDE),
    "a number of the task": ("number", recipe_of("ADD", FLOATS, strides=((4, 1), (0, 0))), OUTSIDE),
    "four operands": ("accumulate", recipe_of("FMA", FLOATS), FOUR),
    "four on the way": ("combine", recipe_of("FNMA", FLOATS), FOUR),
    "a sum received": (
        "receive", recipe_of("ADD", FLOATS),
        "streams between memory and fabric with an operation other than COPY",
    ),
}


@pytest.mark.parametrize("misuse", MISUSE)
def test_misuse_is_a_failure(library, row, ideal, misuse):
    call, recipe, said = MISUSE[misuse]
    zeros = np.zeros(WORDS, "i4")
    with pytest.raises(FabricFailure) as caught:
        run_calls(library, row, ideal, call, [recipe], zeros[:8], [[zeros] * 4])
    assert re.fullmatch(rf"PE\[0, 0\] {said}", str(caught.value)), str(caught.value)


def test_a_stream_that_waits_for_more_is_reported(library, row, ideal):
    zeros = np.zeros(WORDS, "i4")
    with pytest.raises(FabricStuck) as caught:
        recipe = recipe_of("ADD", FLOATS)
        run_calls(library, row, ideal, "accumulate", [recipe], zeros[:5], [[zeros] * 4])
    assert "PE[0, 0] (accumulate) accumulates on x: 3 of 8 elements to go, and" in str(caught.value)


def test_a_stream_keeps_its_vector_when_the_program_configures_another(library, row, ideal):
    y = {"tensor": "y", "type": "int32", "side": "E", "colours": ["y"]}
    y["order"] = "{ y[i = 0:7] -> [PE[1, 0] -> index[i]] }"
    routes = {"y": "{ [PE[x, 0] -> ramp[]] -> E[] }"}
    run = run_fabric(library, row("reused", 1, routes, departures={"y": y}), ideal, {})
    assert run.outputs["y"][0].tolist() == [0, 2, 4, 6, 7, 5, 3, 1]

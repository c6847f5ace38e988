"""Vector instructions against NumPy: all operations and types, ranks 1 to 4, any strides."""

import itertools

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure
from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric

FUSED = ("FMA", "FMS", "FNMA")
SHIFTS = ("SLL", "SLR", "SAR")
BITWISE = ("AND", "OR", "XOR", *SHIFTS)
OPERATIONS = ["COPY", "ADD", "SUB", "MUL", "DIV", "MAX", "MIN", "MAC", *FUSED, *BITWISE]
TYPES = ["f2", "f4", "i2", "i4"]
WORDS = 512


def shifted(operation, a, b):
    """Return what a << b or a >> b is in int32; an amount that is none moves all bits out."""
    bits = int(a) % 2 ** (8 * a.itemsize) if operation == "SLR" else int(a)
    amount = int(b) if 0 <= b < 32 else 32
    whole = bits << amount if operation == "SLL" else bits >> amount
    return np.uint32(whole % 2**32).astype("i4")


def element(operation, kind, d, a, b, c):
    """Return one element, computed in `kind`: float32 or int32."""
    if operation in SHIFTS:
        return shifted(operation, a, b)
    d, a, b, c = map(kind, (d, a, b, c))
    with np.errstate(all="ignore"):
        return {
            "COPY": lambda: a, "ADD": lambda: a + b, "SUB": lambda: a - b, "MUL": lambda: a * b,
            "DIV": lambda: a / b, "MAX": lambda: np.maximum(a, b),
            "MIN": lambda: np.minimum(a, b), "MAC": lambda: d + a * b,
            "AND": lambda: a & b, "OR": lambda: a | b, "XOR": lambda: a ^ b,
            "FMA": lambda: a * b + c, "FMS": lambda: a * b - c, "FNMA": lambda: c - a * b,
        }[operation]()


def computes_in_float(operation, types):
    used = {"COPY": types[1:2], "MAC": types[:3]}.get(operation, types[1:3])
    used = types[1:] if operation in FUSED else used
    return any(kind.startswith("f") for kind in used)


def stored(value, kind):
    """Return the value as the type holds it: rounded, or towards zero and wrapped around."""
    if kind.startswith("f"):
        with np.errstate(over="ignore"):
            return np.dtype(kind).type(value)
    whole = np.int32(np.trunc(np.clip(float(value), -(2**31), 2**31 - 1)))
    return whole.astype(kind)


def reference(recipe, memory):
    """Run the recipe one point at a time, in lexicographic order."""
    operation, types, sizes, strides, firsts = recipe
    d, a, b, c = (part.view(kind) for part, kind in zip(memory, types, strict=True))
    kind = np.float32 if computes_in_float(operation, types) else np.int32
    for point in itertools.product(*map(range, sizes)):
        at = [f + sum(np.multiply(point, s)) for f, s in zip(firsts, strides, strict=True)]
        operands = (part[k] for part, k in zip((d, a, b, c), at, strict=True))
        value = element(operation, kind, *operands)
        d[at[0]] = stored(value, types[0])


def random_recipe(random, operation, types):
    rank = random.integers(1, 5)
    sizes = random.integers(1, {1: 40, 2: 9, 3: 5, 4: 4}[rank], rank)
    strides = random.integers(-4, 5, (4, rank))
    lowest = np.minimum(strides * (sizes - 1), 0).sum(axis=1)
    return operation, types, sizes, strides, -lowest


def random_memory(random, types):
    parts = []
    for kind in types:
        count = WORDS * 4 // np.dtype(kind).itemsize
        whole = random.integers(-40, 40, count)
        parts.append((whole / 8 if kind.startswith("f") else whole).astype(kind).view("i4"))
    return parts


def encoded(recipe):
    operation, types, sizes, strides, firsts = recipe
    code = np.zeros(30, dtype="i4")
    code[0] = OPERATIONS.index(operation)
    code[1:5] = [TYPES.index(kind) for kind in types]
    code[5], code[6 : 6 + len(sizes)] = len(sizes), sizes
    for k in range(4):
        code[10 + 4 * k : 10 + 4 * k + len(sizes)] = strides[k]
    code[26:30] = firsts
    return code


def layout(row, count):
    """Give every PE of the row a recipe and four parts of memory; d is read back."""
    def entry(extent, address, tensor, transfer, local):
        return {"type": "int32", "shape": [extent], "address": address, "tensor": tensor,
                "transfer": transfer, "map": f"{{ [PE[x, 0] -> {local}[i]] -> {tensor}[x, i] }}"}

    tensors = {"recipe": entry(30, 0, "recipe", "in", "recipe")}
    for k, part in enumerate("dabc"):
        local = f"{part}_local"
        tensors[local] = entry(WORDS, 120 + 4 * WORDS * k, part, "in", local)
    tensors["result"] = entry(WORDS, 120, "result", "out", "d_local")
    return row("recipe", count, {"unused": "{ }"}, tensors=tensors)


def run_recipes(library, row, recipes, memories, profile):
    arrays = {"recipe": np.stack([encoded(recipe) for recipe in recipes])}
    for k, part in enumerate("dabc"):
        arrays[part] = np.stack([memory[k] for memory in memories])
    shapes = {"result": (len(recipes), WORDS)}
    return run_fabric(library, layout(row, len(recipes)), profile, arrays, shapes=shapes)


@pytest.mark.wide_after(6)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation_on_all_types(library, row, ideal, operation):
    random = np.random.default_rng(OPERATIONS.index(operation))
    kinds = [k for k in itertools.product(TYPES, repeat=4)
             if (operation in FUSED or k[3] == "f4")
             and (operation != "DIV" or computes_in_float("DIV", k))
             and (operation not in BITWISE or set(k[:3]) <= {"i2", "i4"})]
    recipes = [random_recipe(random, operation, kind) for kind in kinds]
    memories = [random_memory(random, kind) for kind in kinds]
    for memory in memories:
        if operation in BITWISE:
            memory[1] = random.integers(-(2**31), 2**31, WORDS).astype("i4")
        memory[2][memory[2] == 0] = 1
    run = run_recipes(library, row, recipes, memories, ideal)
    for recipe, memory, result in zip(recipes, memories, run.outputs["result"][0], strict=True):
        reference(recipe, memory)
        np.testing.assert_array_equal(result.view(recipe[1][0]), memory[0].view(recipe[1][0]))


def test_stride_zero_sums_in_order_and_rounds_every_time(library, row, ideal):
    recipe = ("MAC", ("f2",) * 4, [300], [[0], [1], [0], [0]], [0] * 4)
    ones = np.ones(2 * WORDS, "f2").view("i4")
    memory = [0 * ones, np.full(2 * WORDS, 10.1, "f2").view("i4"), ones, ones]
    run = run_recipes(library, row, [recipe], [memory], ideal)
    total = np.float16(0)
    for _ in range(300):
        total = np.float16(np.float32(total) + np.float32(np.float16(10.1)))
    assert run.outputs["result"][0][0].view("f2")[0] == total


def test_integers_wrap_around(library, row, ideal):
    recipe = ("MUL", ("i4",) * 4, [4], [[1]] * 4, [0] * 4)
    a = np.full(WORDS, 2**31 - 1, "i4")
    run = run_recipes(library, row, [recipe], [[a * 0, a, a, a]], ideal)
    with np.errstate(over="ignore"):
        assert (run.outputs["result"][0][0][:4] == a[:4] * a[:4]).all()


def test_nan_spreads_through_max_and_min(library, row, ideal):
    nan, one = np.full(WORDS, np.nan, "f4").view("i4"), np.ones(WORDS, "f4").view("i4")
    recipes = [(operation, ("f4",) * 4, [2], [[1]] * 4, [0] * 4)
               for operation in ("MAX", "MIN") for _ in range(2)]
    memories = [[one * 0, nan, one, one], [one * 0, one, nan, one]] * 2
    run = run_recipes(library, row, recipes, memories, ideal)
    assert np.isnan(run.outputs["result"][0].view("f4")[:, :2]).all()


@pytest.mark.parametrize(
    ("operation", "kind", "a", "shifted_by"),
    [
        ("SLL", "i4", -3, {0: -3, 1: -6, 31: -(2**31), 32: 0, -1: 0, -(2**31): 0}),
        ("SLR", "i4", -3, {0: -3, 1: 2**31 - 2, 31: 1, 32: 0, -1: 0, 2**31 - 1: 0}),
        ("SAR", "i4", -3, {0: -3, 1: -2, 31: -1, 32: -1, -1: -1, -(2**31): -1}),
        ("SAR", "i4", 12, {2: 3, 31: 0, 32: 0, -1: 0}),
        ("SLL", "i2", -3, {1: -6, 15: -(2**15), 16: 0, 31: 0, 32: 0, -1: 0}),
        ("SLR", "i2", -3, {0: -3, 1: 2**15 - 2, 15: 1, 16: 0, 32: 0, -(2**15): 0}),
        ("SAR", "i2", -3, {1: -2, 15: -1, 16: -1, 32: -1, -1: -1}),
    ],
)
def test_a_shift_by_any_amount_is_defined(library, row, ideal, operation, kind, a, shifted_by):
    count = len(shifted_by)
    memory = [np.zeros(2 * WORDS, kind) for _ in "dab"]
    memory[1][:count], memory[2][:count] = a, list(shifted_by)
    words = [part.view("i4")[:WORDS] for part in memory]
    recipe = (operation, (kind,) * 3 + ("f4",), [count], [[1]] * 4, [0] * 4)
    run = run_recipes(library, row, [recipe], [[*words, words[0]]], ideal)
    assert run.outputs["result"][0][0].view(kind)[:count].tolist() == list(shifted_by.values())


@pytest.mark.parametrize("sizes, cycles", [([8], 2), ([9], 3), ([2, 3, 5], 8), ([4, 0], 0)])
def test_cost_is_start_up_and_points_by_lanes(library, row, sizes, cycles):
    recipe = ("ADD", ("f2",) * 4, sizes, [[1] * len(sizes)] * 4, [0] * 4)
    memory = [np.zeros(WORDS, "i4")] * 4
    profile = load_profile("ideal", {"vector_start_up": 7, "configuration": 100})
    run = run_recipes(library, row, [recipe], [memory], profile)
    assert run.main_cycles == 100 + 7 + cycles
    assert run.counters["recipe"][0].points == np.prod(sizes)


def test_division_of_integers_is_a_failure(library, row, ideal):
    recipe = ("DIV", ("f4", "i4", "i2", "i4"), [1], [[1]] * 4, [0] * 4)
    with pytest.raises(FabricFailure) as caught:
        run_recipes(library, row, [recipe], [[np.ones(WORDS, "i4")] * 4], ideal)
    assert str(caught.value) == "PE[0, 0] configures a DIV of two integers"


@pytest.mark.parametrize("operation", BITWISE)
@pytest.mark.parametrize("operand", range(3), ids="dab")
def test_a_bit_operation_with_a_float_is_a_failure(library, row, ideal, operation, operand):
    types = ["i4"] * 3 + ["f4"]
    types[operand] = "f2"
    recipe = (operation, types, [1], [[1]] * 4, [0] * 4)
    with pytest.raises(FabricFailure) as caught:
        run_recipes(library, row, [recipe], [[np.ones(WORDS, "i4")] * 4], ideal)
    assert str(caught.value) == f"PE[0, 0] configures {operation} with a float"


def test_wse2_takes_the_measured_cycles_for_5124_products(library, row):
    """github.com/pr0f3ss/SpMM_Cerebras, benchmarks: 5130 cycles for 5124 float32 products."""
    profile = load_profile("wse2", {"configuration": 0})
    recipe = ("MUL", ("f4",) * 4, [5124], [[0]] * 4, [0] * 4)
    run = run_recipes(library, row, [recipe], [[np.zeros(WORDS, "i4")] * 4], profile)
    assert run.main_cycles == 5130

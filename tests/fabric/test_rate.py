"""How long vector instructions take: lanes by operation and type, strides, banks, one datapath."""

import itertools

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure
from lairmake.stages.machine.banks import Banks, Words, count_waits
from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric
from tests.fabric.test_vector import (
    OPERATIONS,
    TYPES,
    WORDS,
    computes_in_float,
    random_memory,
    random_recipe,
    run_recipes,
)

NAMES = {"f2": "float16", "f4": "float32", "i2": "int16", "i4": "int32"}
FIRST = dict(zip("dabc", itertools.count(0, 4 * WORDS), strict=False))


def random_machine(random):
    """Return figures of rates; nothing else of a vector instruction takes time."""
    lanes = {}
    for to, source in itertools.product(NAMES.values(), repeat=2):
        row = {name: int(random.choice((1, 2, 3, 4, 8))) for name in OPERATIONS}
        lanes[to if to == source else f"{to} of {source}"] = row
    return {
        "lanes": lanes, "sum_lanes": int(random.choice((0, 1, 2))),
        "mixed_sum_lanes": random.choice((None, 0, 1, 2)),
        "stride_limits": [int(random.choice((0, 1, 2))) for _ in range(8)],
        "read_banks": int(random.choice((0, 2, 4, 8))),
    }


def operands(recipe):
    """Return the numbers of the operands that are read or written."""
    count = {"COPY": 2, "FMA": 4, "FMS": 4, "FNMA": 4}.get(recipe[0], 3)
    return range(count)


def rate(recipe, figures):
    """Return the elements a cycle, conflicts aside, one rule after the other."""
    operation, types, sizes, strides, _ = recipe
    moving = [k for k in operands(recipe) if k and any(strides[k])]
    order = ["i2", "f2", "i4", "f4"]
    source = max((types[k] for k in moving), key=order.index, default=types[0])
    names = [NAMES[types[0]], NAMES[source]]
    row = figures["lanes"][names[0] if types[0] == source else " of ".join(names)]
    wide, along = row[operation], [i for i, size in enumerate(sizes) if size > 1]
    sums, mixed = figures["sum_lanes"], figures["mixed_sum_lanes"]
    if types[0] != source and mixed is not None:
        sums = mixed
    if along and strides[0][along[-1]] == 0 and sums:
        wide = min(wide, sums)
    for k in operands(recipe) if along else ():
        stride = strides[k][along[-1]]
        if stride not in (0, 1) and figures["stride_limits"][stride % 8]:
            wide = min(wide, figures["stride_limits"][stride % 8])
    return wide


def conflicts(recipe, figures):
    """Return the points at which two operands are read from one bank, point by point."""
    operation, types, sizes, strides, firsts = recipe
    read = [k for k in operands(recipe) if (k or operation == "MAC") and any(strides[k])]
    if 0 not in read and operation == "MAC":
        read.append(0)
    most = 0
    for p, q in itertools.combinations(read, 2) if figures["read_banks"] else ():
        found = 0
        for point in itertools.product(*map(range, sizes)):
            words = []
            for k in (p, q):
                at = firsts[k] + int(np.dot(point, strides[k]))
                address = 120 + FIRST["dabc"[k]] + at * int(types[k][1])
                words.append(address // 2)
            found += (words[0] - words[1]) % figures["read_banks"] == 0
        most = max(most, found)
    return most


def expected(recipe, figures):
    count, each = int(np.prod(recipe[2])), rate(recipe, figures)
    return -(-count // each) + -(-conflicts(recipe, figures) // each)


@pytest.mark.wide_after(8)
@pytest.mark.parametrize("seed", range(60))
def test_cycles_are_those_of_the_rules_point_by_point(library, row, seed):
    random = np.random.default_rng(seed)
    operation = str(random.choice(OPERATIONS))
    kinds = [k for k in itertools.product(TYPES, repeat=4)
             if operation not in OPERATIONS[-6:] or set(k[:3]) <= {"i2", "i4"}]
    kinds = [k for k in kinds if operation != "DIV" or computes_in_float("DIV", k)]
    recipe = random_recipe(random, operation, kinds[random.integers(len(kinds))])
    recipe[3][random.random(recipe[3].shape) < 0.3] = 0
    figures, memory = random_machine(random), random_memory(random, recipe[1])
    memory[2][memory[2] == 0] = 1
    profile = load_profile("ideal", figures)
    run = run_recipes(library, row, [recipe], [memory], profile)
    assert run.main_cycles == expected(recipe, figures)


def accessed(recipe):
    """Return the words of the operands that are read, and of that written, point by point.

    And which operands, of d, a, b, c, these are.
    """
    operation, types, sizes, strides, firsts = recipe
    read = [k for k in operands(recipe) if k and any(strides[k])]
    read = [0, *read] if operation == "MAC" else read
    points = list(itertools.product(*map(range, sizes)))
    words = {
        k: [(120 + FIRST["dabc"[k]]) // 2
            + (firsts[k] + int(np.dot(point, strides[k]))) * int(types[k][1]) // 2
            for point in points]
        for k in (0, *read)
    }
    return read, words


def wait_with_writes(recipe, banks, latency):
    """Return in how many cycles an instruction waits, cycle by cycle."""
    read, words = accessed(recipe)
    count, cycle, writes = len(words[0]), 0, {}
    for n in range(count):
        left = [words[k][n] // 2 % banks for k in read if n == 0 or words[k][n - 1] != words[k][n]]
        while True:
            busy, waiting = {writes.pop(cycle, None)}, []
            for bank in left:
                waiting += [bank] if bank in busy else []
                busy.add(bank)
            left, cycle = waiting, cycle + 1
            if not left:
                break
        if n == count - 1 or words[0][n + 1] != words[0][n]:
            writes[cycle - 1 + latency] = words[0][n] // 2 % banks
    return cycle - count


def long_recipe(random, operation, types):
    """Return an instruction that comes to what it was at before along some dimension."""
    sizes = np.array([[240], [14, 12], [5, 6, 5]][random.integers(3)])
    steps = np.cumprod([1, *sizes[:0:-1] + 1])[::-1] if random.random() < 0.5 else 1
    strides = np.minimum(random.integers(0, 3, (4, len(sizes))) * steps, 480 // sizes.sum())
    return operation, types, sizes, strides, random.integers(0, 9, 4)


@pytest.mark.wide_after(12)
@pytest.mark.parametrize("seed", range(80))
def test_where_writes_take_banks_cycles_are_those_of_each_access(library, row, seed):
    """In the engine, in what chooses places of arrays, and one access after the other."""
    random = np.random.default_rng(1000 + seed)
    operation = str(random.choice(("COPY", "ADD", "MUL", "MAC", "FMA")))
    types = tuple(random.choice(("f2", "f4"), 4))
    recipe = random_recipe(random, operation, types) if seed % 3 else long_recipe(
        random, operation, types)
    recipe[3][random.random(recipe[3].shape) < 0.3] = 0
    memory = random_memory(random, recipe[1])
    banks = Banks(int(random.choice((2, 4, 8))), int(random.integers(1, 9)))
    figures = random_machine(random) | {
        "read_banks": banks.count, "write_latency": banks.write_latency}
    ran = run_recipes(library, row, [recipe], [memory], load_profile("ideal", figures))
    waits, each = wait_with_writes(recipe, banks.count, banks.write_latency), rate(recipe, figures)
    assert ran.main_cycles == -(-int(np.prod(recipe[2])) // each) + -(-waits // each)
    read, words = accessed(recipe)
    reads, write = [[
        Words(words[k][0], tuple(int(s) * int(recipe[1][k][1]) // 2 for s in recipe[3][k]))
        for k in each] for each in (read, [0])]
    assert count_waits(reads, write[0], [int(n) for n in recipe[2]], banks) == waits


@pytest.mark.parametrize(("sizes", "published"), [
    ((64, 64, 48), 155.2), ((128, 64, 8), 294.5), ((32, 32, 32), 86.7),
])
def test_products_of_matrices_take_what_was_measured(sizes, published):
    """Cycles of a column, of which a loop takes 9.5: SDK simulator, wse2, within 3 %."""
    count, rows, columns = sizes
    waits = [
        count_waits([c := Words(2 * j, (2 * rows,)), Words(2 * k, (2 * columns,))], c, [count],
                    Banks(4, 6))
        for j, k in itertools.product(range(4), repeat=2)
    ]
    assert abs(count + sum(waits) / 16 + 6 + 9.5 - published) < 0.03 * published


@pytest.mark.parametrize(
    ("machine", "recipe", "cycles"),
    [
        ("wse2", ("ADD", "f4", [64], [[1], [1], [1]], [0, 0, 2]), 64),
        ("wse2", ("ADD", "f4", [64], [[1], [1], [1]], [0, 0, 1]), 32),
        ("wse2", ("ADD", "f4", [64], [[1], [1], [1]], [0, 0, 0]), 64),
        ("wse3", ("ADD", "f4", [64], [[1], [1], [1]], [0, 0, 4]), 32),
        ("wse2", ("ADD", "f2", [64], [[0], [0], [1]], [0, 0, 0]), 64),
        ("wse2", ("MAX", "f2", [64], [[1], [1], [0]], [0, 0, 0]), 64),
        ("wse2", ("COPY", "f2", [64], [[1], [8], [0]], [0, 0, 0]), 64),
        ("wse2", ("COPY", "f2", [64], [[1], [4], [0]], [0, 0, 0]), 32),
        ("wse2", ("COPY", "f2", [64], [[1], [6], [0]], [0, 0, 0]), 16),
        ("wse2", ("COPY", "f2", [64], [[1], [-1], [0]], [63, 63, 0]), 32),
        ("wse2", ("COPY", "f2", [64], [[1], [0], [0]], [0, 0, 0]), 16),
    ],
)
def test_rates_of_the_wafers(library, row, machine, recipe, cycles):
    """By the appendix of CSL's language guide: 64 elements, apart or in one bank."""
    operation, kind, sizes, strides, firsts = recipe
    recipe = (operation, (kind,) * 4, sizes, [*strides, [0]], [*firsts, 0])
    memory = [np.zeros(WORDS, "i4")] * 4
    nothing = ("configuration", "vector_start_up", "vector_latency", "write_latency")
    figures = dict.fromkeys(nothing, 0)
    profile = load_profile(machine, figures)
    assert run_recipes(library, row, [recipe], [memory], profile).main_cycles == cycles


def busy(row, elements):
    """Return a PE to which x comes from the west and y from the east."""
    def stream(name, side, port, count):
        order = f"{{ {name}[i] -> [PE[{port}] -> index[i]] : 0 <= i < {count} }}"
        return {"tensor": name, "type": "float32", "side": side, "order": order}

    arrivals = {
        name: stream(name, side, port, elements) | {"colour": name, "sparse": False}
        for name, side, port in (("x", "W", "-1, 0"), ("y", "E", "1, 0"))
    }
    routes = {"x": "{ [PE[0, 0] -> W[]] -> ramp[] }", "y": "{ [PE[0, 0] -> E[]] -> ramp[] }"}
    tensors = {}
    for local, at, extent in (("size", 0, 2), ("x_local", 8, 512), ("y_local", 2056, 512)):
        tensors[local] = {
            "type": "int32" if local == "size" else "float32", "shape": [extent], "address": at,
            "tensor": local, "transfer": "in" if local == "size" else "out",
            "map": f"{{ [PE[0, 0] -> {local}[i]] -> {local}[i] }}",
        }
    return row("busy", 1, routes, arrivals, tensors=tensors)


def run_busy(library, row, shared, elements, computed):
    random = np.random.default_rng(elements)
    x, y = random.random((2, elements), "f4")
    figures = {"shared_datapath": shared, "lanes": 1}
    shapes = {"x_local": (512,), "y_local": (512,)}
    arrays = {"size": np.array([elements, computed], "i4"), "x": x, "y": y}
    profile = load_profile("ideal", figures)
    run = run_fabric(library, busy(row, elements), profile, arrays, shapes=shapes)
    for name, values in (("x", x), ("y", y)):
        np.testing.assert_array_equal(run.outputs[f"{name}_local"][0][:elements], values)
    return run


@pytest.mark.parametrize("computed", [0, 1, 100, 256, 500])
def test_streams_and_the_task_share_one_datapath(library, row, computed):
    """Two streams of 256 over one ramp and a vector instruction: one element a cycle of all."""
    alone = run_busy(library, row, False, 256, computed).cycles
    shared = run_busy(library, row, True, 256, computed)
    assert 512 < alone <= 512 + 4
    assert 512 + computed < shared.cycles <= 512 + computed + 4
    assert shared.usage["streams"].item() <= 512 + 1
    assert shared.usage["lanes"].item() == computed


def test_one_stream_and_short_tasks_do_not_wait_for_each_other(library, row):
    """What arrives later than the task ends has the datapath alone."""
    alone, shared = (run_busy(library, row, each, 1, 1).cycles for each in (False, True))
    assert shared - alone <= 1


def test_a_quotient_that_no_machine_computes_is_refused(library, row):
    recipe = ("DIV", ("f4",) * 4, [8], [[1]] * 4, [0] * 4)
    memory = [np.ones(WORDS, "f4").view("i4")] * 4
    with pytest.raises(FabricFailure, match="a DIV, which no vector instruction of this machine"):
        run_recipes(library, row, [recipe], [memory], load_profile("wse2"))


def test_a_task_reads_the_cycle_it_has_come_to(library, row):
    tensor = {"type": "int32", "shape": [3], "address": 0, "tensor": "stamp", "transfer": "out",
              "map": "{ [PE[x, y] -> stamp_local[i]] -> stamp[i] : 0 <= i < 3 }"}
    layout = row("stamp", 1, {}, tensors={"stamp_local": tensor})
    machine = load_profile("ideal", {"dispatch": 5, "scalar": 2})
    ran = run_fabric(library, layout, machine, {})
    assert ran.outputs["stamp"][0].tolist() == [5, 19, 24]
    assert [(each.calls, each.points) for each in ran.counters["stamp"]] == [(1, 14)]

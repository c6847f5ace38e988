"""What workers take of neighbours, and sums of all of them, by procedures called by hand."""

import numpy as np
import pytest

from lairmake.stages.program.sections.hops import RING, STEPS as AWAY
from lairmake.stages.program.sections.program import Procedure, finish_procedure
from lairmake.stages.program.values.arithmetic import STEPS, add_locally, add_up, compute
from tests.program.called import Machine
from tests.program.run_on_fabric import are_equal

ADD = {"kind": "compute", "op": "add", "types": ("float32",) * 3}
PAIR = ("ar", "ar")


def list_boxes(width, height):
    """Return the filters of who takes from each side, and of who sends."""
    for side in RING:
        x, y = AWAY[side]
        box = max(0, -x), width - 1 - max(0, x), max(0, -y), height - 1 - max(0, y)
        yield box
        yield box[0] + x, box[1] + x, box[2] + y, box[3] + y


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(("field", "profile"), [
    ((4, 1), "wse2"), ((5, 4), "wse2"), ((6, 7), "wse3"), ((5, 2), "ideal"),
])
def test_neighbours_are_taken_from_in_any_order(field, profile):
    """Subtractions tell which operand came; a copy follows a turn over several states."""
    rng, machine = np.random.default_rng(3), Machine(field, profile,
                                                     filters=tuple(list_boxes(*field)))
    x, y = (rng.integers(-9, 9, (*field, 5)).astype("float32") for _ in range(2))
    at_x, at_y = machine.add("x", x), machine.add("y", y)
    state, wanted = 0, {}
    order = rng.permutation([*range(4), *range(4)]).tolist()
    for number, at in enumerate(order):
        name = f"z{number}"
        z = rng.integers(-9, 9, x.shape).astype("float32")
        at_z, takes = machine.add(name, z), number % 2
        turns = (at - state) % 4, (-at - 1) % 4 if number == len(order) - 1 else 0
        common = {"kind": "compute", "side": RING[at], "streamed": 0}
        if takes:
            machine.call(at_z, at_x, at_y, 5, 2 * at, 2 * at + 1, *turns, op="sub",
                         types=("float32",) * 3, sources=PAIR, **common)
        else:
            machine.call(at_z, at_x, 5, 2 * at, 2 * at + 1, *turns, op="copy",
                         types=("float32",) * 2, sources=("ar",), **common)
        state, wanted[name] = (at + 1) % 4, z.copy()
        for place in np.ndindex(field):
            there = place[0] + AWAY[RING[at]][0], place[1] + AWAY[RING[at]][1]
            if 0 <= there[0] < field[0] and 0 <= there[1] < field[1]:
                wanted[name][place] = x[there] - y[place] if takes else x[there]
    outputs, _ = machine.run()
    assert [n for n, each in wanted.items() if not np.array_equal(outputs[n], each)] == []


@pytest.mark.wide
@pytest.mark.parametrize(("field", "type_"), [
    ((4, 1), "float32"), ((7, 5), "float16"), ((6, 4), "int16"), ((4, 2), "int32"),
])
def test_sums_come_in_the_order_of_the_machine(field, type_):
    """Three at once, among zeros of both signs; what is added up changes behind each."""
    rng, machine = np.random.default_rng(5), Machine(field)
    x = rng.choice([0.0, -0.0, 0.1, -700.5, 3e4, 3.3], (*field, 3), p=[0.4, 0.4, *[0.05] * 4])
    x = (x * (rng.random(x.shape) < 0.8)).astype(type_)
    at_x, wanted, takes = machine.add("x", x), {}, []
    for op in ("sum", "max", "min"):
        machine.call(1, at_x, 3, 0, kind="reduce", op=op, types=(type_,) * 2, sources=("ar",))
        wanted[op] = add_up(op, x, (0, 0), field)
        takes.append(machine.add(op, np.zeros(field, type_)))
        machine.call(at_x, at_x, 3, 0, kind="compute", op="neg", types=(type_,) * 2,
                     sources=("ar",))
        x = compute("neg", type_, x)
    for address in takes:
        machine.call(address, kind="take_sum", types=(type_,))
    outputs, _ = machine.run()
    for op, value in wanted.items():
        assert {each.tobytes() for each in outputs[op].ravel()} == {value.tobytes()}, op


def test_a_value_that_waits_is_not_the_next_one():
    """Values leave slowly where queues hold one: workers wait for them."""
    rng, machine = np.random.default_rng(6), Machine((4, 9), overrides={"queue_depth": 1})
    arrays = [rng.integers(-99, 99, (4, 9, 1)).astype("int32") for _ in range(5)]
    sums = [machine.add(f"s{k}", np.zeros((4, 9), "int32")) for k in range(5)]
    for k, each in enumerate(arrays):
        machine.call(1, machine.add(f"x{k}", each), 1, 0, kind="reduce", op="sum",
                     types=("int32",) * 2, sources=("ar",))
    for address in sums:
        machine.call(address, kind="take_sum", types=("int32",))
    outputs, _ = machine.run()
    assert [outputs[f"s{k}"][0, 0, 0] for k in range(5)] == [each.sum() for each in arrays]


@pytest.mark.wide
@pytest.mark.parametrize("type_", ["float16", "float32", "int16"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_sums_and_extremes_over_an_axis_in_memory(type_, axis):
    """Among zeros of both signs; a NaN is in one of the sums."""
    rng, machine = np.random.default_rng(axis), Machine((4, 2), filters=((1, 2, 0, 1),))
    x = (rng.standard_normal((4, 2, 3, 4, 2)) * 500).astype(type_)
    if type_ != "int16":
        x[2] = rng.choice([0.0, -0.0], x.shape[1:])
        x[1, 1, 2, 3, 1] = np.nan
    kept = [size if k != axis else 1 for k, size in enumerate((3, 4, 2))]
    to = [0 if k == axis else int(np.prod(kept[k + 1 :])) for k in range(3)]
    at_x = machine.add("x", x.reshape(4, 2, 24))
    wanted = {}
    for op in STEPS:
        d = wanted[op] = np.full((4, 2, 24 // x.shape[axis + 2]), 3, type_)
        machine.call(machine.add(op, d), at_x, 3, 4, 2, *to, 8, 2, 1, 0, kind="accumulate", op=op,
                     types=(type_,) * 2, sources=("ar",), rank=3)
    outputs, _ = machine.run()
    for op, d in wanted.items():
        d[1:3] = add_locally(op, x, (axis + 2,)).reshape(4, 2, -1)[1:3]
        assert are_equal(outputs[op], d), op


def count_cycles(calls, size, side, rank):
    """Return the cycles of so many additions of as many elements, and a turn."""
    machine = Machine((5, 5), filters=((0, 4, 0, 4), (1, 4, 0, 4), (0, 3, 0, 4)))
    at_z, at_x, at_y = (machine.add(n, np.zeros((5, 5, 64), "float32")) for n in "zxy")
    shape = (1,) * (rank - 1) + (size,) + (1,) * 3 * rank
    for number in range(calls):
        if side == "center":
            machine.call(at_z, at_x, at_y, *shape, 0, sources=PAIR, rank=rank, **ADD)
        else:
            machine.call(at_z, at_x, at_y, *shape, 1, 2, 3 * (number > 0), 0, sources=PAIR,
                         rank=rank, side=side, streamed=1, **ADD)
    _, run = machine.run()
    return run.cycles


@pytest.mark.wide
@pytest.mark.parametrize(("side", "rank", "least", "most"), [
    ("center", 0, 50, 60), ("west", 0, 60, 70), ("west", 2, 75, 85),
])
def test_what_a_call_takes_beside_its_elements_on_wse2(side, rank, least, most):
    """Per call, of 16 elements; from a neighbour with three states between.

    An element takes the datapath twice where it is sent, too. Each PE sends while it waits for its
    neighbour, up to what queues hold: of long calls, it then takes half a cycle more.
    """
    each = {size: (count_cycles(20, size, side, rank) - count_cycles(10, size, side, rank)) / 10
            for size in (16, 64)}
    taken = 1 if side == "center" else 2
    assert taken <= (each[64] - each[16]) / 48 <= (1 if side == "center" else 2.6)
    assert least <= each[16] - 16 * taken <= most


@pytest.mark.wide
@pytest.mark.parametrize("profile", ["wse2", "wse3", "ideal"])
def test_a_hundred_procedures_need_no_more_than_a_machine_has(profile):
    machine = Machine((4, 2), profile)
    x = np.ones((4, 2, 4), "int16")
    at_x = machine.add("x", x)
    operations = ("add", "sub", "mul", "maximum", "minimum", "and", "or", "xor")
    kinds = [(op, s, rank) for op in operations for s in (PAIR, ("ar", "sc"), ("sc", "ar"))
             for rank in range(5)][:100]
    for op, sources, rank in kinds:
        shape = (1,) * max(rank, 1) + (1,) * rank * (1 + sources.count("ar"))
        machine.call(at_x, at_x, at_x, *shape, 0, kind="compute", op=op, types=("int16",) * 3,
                     sources=sources, rank=rank)
    _, run = machine.run()
    assert len(machine.procedures) == 101 and run.cycles > 0
    assert finish_procedure(Procedure(name="", kind="halt")) in machine.procedures

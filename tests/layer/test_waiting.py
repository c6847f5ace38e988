"""Departures of which too many would wait in the queues of instructions: none ever stops."""

import numpy as np
import pytest

from tests.layer.built import build


def layer(outputs, queue, *, shape, sides="W", sparse=False, invocations=1):
    """Return a layer in which adapters on the first side spread x, and then collect sums.

    Outputs leave on the sides in turn. On odd rows PEs have what they sum in another order.
    """
    columns, rows = shape
    size, length = 2 * rows, 2 * columns + 1
    width, first = columns + len(sides), int("W" in sides)
    names = [f"y{k}" for k in range(outputs)]
    statements = "\n".join(
        f"  all (i, j) in ({size}, {length}) {name}[i] += {k + 1} * V[i][j] * x[j]"
        for k, name in enumerate(names)
    )
    results = ", ".join(f"float16 {name}[{size}]" for name in names)
    lair = f"lair f(): float16 V[{size}][{length}], float16 x[{length}] -> {results}\n"
    placed = "; ".join(
        f"{'f_' + name if outputs > 1 else 'f'}[i, j] -> PE[{first} + j mod {columns}, i//2]"
        for name in names
    )
    port = {"W": -1, "E": width}
    leaves = "".join(
        f'  {name}: {{leaves: "{{ {name}[i] -> [PE[{port[sides[k % len(sides)]]}, '
        f'{k % rows}] -> index[i]] }}"}}\n'
        for k, name in enumerate(names)
    )
    more = ", sparse: true" if sparse else ""
    mapping = f"""target: "{{ PE[{width}, {rows}] }}"
placement: "{{ {placed} }}"
machine: {{profile: wse2, threads: {queue}, input_queues: [],
          output_queues: [], descriptors: 64, colours: 32, task_ids: 0}}
invocations: {invocations}
tensors:
  x: {{arrives: "{{ x[j] -> [PE[{port[sides[0]]}, {rows - 1}] -> index[j]] }}"{more}}}
{leaves}"""
    return f"{lair}{{\n{statements}\n}}\n", mapping


def are_right(built):
    """Say whether every output is what NumPy computes of the inputs that are given here."""
    rng = np.random.default_rng(0)
    shape = built.yaml("tasks.yaml")["tensors"]["V"]["shape"]
    given = {"V": rng.integers(-2, 3, shape), "x": rng.integers(-2, 3, shape[1])}
    (built.folder / "inputs").mkdir(exist_ok=True)
    for name, values in given.items():
        np.save(built.folder / f"inputs/{name}.npy", values.astype(np.float16))
    outputs = built.through("simulate").results()["check"]
    product = given["V"] @ given["x"]
    return all((built.output(f"y{k}") == (k + 1) * product).all() for k in range(len(outputs)))


@pytest.mark.wide
@pytest.mark.parametrize(("outputs", "queue", "sparse"), [(2, 1, False), (3, 3, True)])
def test_outputs_leave_whatever_queue_adapters_have_that_spread_as_well(outputs, queue, sparse):
    built = build(*layer(outputs, queue, shape=(2, 2), sparse=sparse), "route")
    assert are_right(built)


@pytest.mark.long
@pytest.mark.parametrize("queue", range(1, 9))
@pytest.mark.parametrize("outputs", range(1, 9))
@pytest.mark.parametrize(("sides", "shape"), [("W", (2, 3)), ("EW", (3, 2)), ("E", (1, 4))])
def test_any_number_of_outputs_leaves_with_any_queue(outputs, queue, sides, shape):
    more = {"sparse": (outputs + queue) % 2 == 0, "invocations": 1 + (outputs + queue) % 3 // 2}
    built = build(*layer(outputs, queue, shape=shape, sides=sides, **more), "route")
    assert are_right(built)


def waits(built):
    """Return for what the departures of a layer wait."""
    departures = built.yaml("tasks.yaml")["departures"]
    return {name: d["waits"] for name, d in departures.items() if "waits" in d}


def test_outputs_leave_at_once_where_the_queue_has_room_for_all():
    assert waits(build(*layer(3, 8, shape=(2, 2)), "route")) == {}


def test_as_many_outputs_leave_at_once_as_the_queue_has_room_for():
    built = build(*layer(3, 3, shape=(2, 2)), "route")
    assert waits(built) == {"y2": ["y0"]}


def test_outputs_leave_after_what_adapters_spread_where_the_queue_has_no_room():
    built = build(*layer(3, 1, shape=(2, 2)), "route")
    assert waits(built) == {"y0": ["x"], "y1": ["x", "y0"], "y2": ["x", "y1"]}


TWO = """lair f(): float16 a[12], float16 b[12], float16 V[24][12], float16 W[24][12]
  -> float16 y[24], float16 z[24]
{
  all (i, j) in (24, 12) y[i] += V[i][j] * a[j]
  all (i, j) in (24, 12) z[i] += W[i][j] * b[j]
}
"""
ONE_ROW = """target: "{ PE[2, 1] }"
placement: "{ f_y[i, j] -> PE[j, 0] : j < 1; f_y[i, j] -> PE[1, 0] : j >= 1;
  f_z[i, j] -> PE[0, 0] : j < 11; f_z[i, j] -> PE[1, 0] : j >= 11 }"
machine: {profile: wse2, threads: 1, input_queues: [], output_queues: []}
tensors:
  a: {arrives: "{ a[j] -> [PE[0, -1] -> index[j]] : j < 1;
    a[j] -> [PE[1, -1] -> index[j]] : j >= 1 }"}
  b: {arrives: "{ b[j] -> [PE[0, 1] -> index[j]] : j < 11;
    b[j] -> [PE[1, 1] -> index[j]] : j >= 11 }"}
  y: {leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}
  z: {leaves: "{ z[i] -> [PE[2, 0] -> index[i]] }"}
"""


@pytest.mark.wide
def test_two_sums_leave_where_one_pe_has_the_first_one_first_and_the_next_one_the_second():
    results = build(TWO, ONE_ROW, "simulate").results()
    assert all(check["right"] for check in results["check"].values())

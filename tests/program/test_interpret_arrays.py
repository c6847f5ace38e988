"""Nodes on arrays give what NumPy gives, apart and at addresses."""

import numpy as np
import pytest

from lairmake.stages.program.interpreter import run as steps
from lairmake.stages.program.interpreter.differences import find_difference
from lairmake.stages.program.interpreter.run import (
    are_copies_equal,
    make_addressed_store,
    make_store,
    read_value,
    run_graph,
)
from lairmake.stages.program.irg.addresses import place_entries
from lairmake.stages.program.values.arithmetic import add_locally, add_up
from tests.program.given import read_texts

OBJECTS = """\
a: {kind: LocalArray, type: float32, shape: [5, 4, 6], initial: file, output: true}
b: {kind: LocalArray, type: float32, shape: [3, 2, 6], origin: [1, 1], output: true}
m: {kind: LocalArray, type: int16, shape: [5, 4, 6], output: true}
r: {kind: LocalArray, type: float32, shape: [5, 4, 2, 3], initial: file}
s: {kind: LocalScalar, type: float32, shape: [5, 4], initial: file, output: true}
u: {kind: UniformLocalScalar, type: float32, initial: 2.5, output: true}
g: {kind: GlobalScalar, type: float32, initial: 3.0, output: true}
v: {kind: GlobalArray, type: float32, shape: [7], initial: file, output: true}
"""
ALL = "0 <= x <= 4 and 0 <= y <= 3"
RNG = np.random.default_rng(1)
DATA = {
    "a": RNG.normal(size=(5, 4, 6)).astype("float32"),
    "r": RNG.normal(size=(5, 4, 2, 3)).astype("float32"),
    "s": RNG.normal(size=(5, 4)).astype("float32"),
    "v": RNG.normal(size=7).astype("float32"),
}
A, R, S, V = DATA["a"], DATA["r"], DATA["s"], DATA["v"]


def run(op, dst, src, tuples, domain):
    """Return the value of what one node writes, which both stores have; tuples by operand."""
    names = [dst, *src]
    text = f"field: [5, 4]\nnodes:\n  0: {{op: {op}, dst: {dst}, src: [{', '.join(src)}]}}\n"
    instances, *operands = tuples.split(" -> ")
    places = ["dst", *(f"src{n}" for n in range(len(src)))]
    accesses = "".join(
        f"n0_{place} := {{ n0{instances} -> {name}{operand}{' : ' if domain else ''}{domain} }};\n"
        for place, name, operand in zip(places, names, operands, strict=True) if name.isalpha())
    graph, found = read_texts(text, OBJECTS, accesses)
    stores = [make_store(graph, found, DATA),
              make_addressed_store(graph, place_entries(graph, found, 16), DATA)]
    values = []
    for store in stores:
        run_graph(graph, found, store)
        assert are_copies_equal(store, graph.entries[dst])
        values.append(read_value(store, graph.entries[dst]))
    assert find_difference(*values) is None
    return values[0]


def test_sources_are_read_before_an_overlapping_destination_is_written():
    wanted = A.copy()
    wanted[1:, :, 1:] = A[:-1, :, :-1] + A[1:, :, 1:]
    found = run("add", "a", ["a", "a"], "[x, y, z] -> [x, y, z] -> [x - 1, y, z - 1] -> [x, y, z]",
                "1 <= x <= 4 and 0 <= y <= 3 and 1 <= z <= 5")
    np.testing.assert_array_equal(found, wanted)


def test_steps_and_reversed_slices():
    wanted = A.copy()
    wanted[:, :, ::2] = A[:, :, 5:2:-1] * A[:, :, 1::2]
    tuples = "[x, y, z] -> [x, y, 2z] -> [x, y, 5 - z] -> [x, y, 1 + 2z]"
    found = run("mul", "a", ["a", "a"], tuples, f"{ALL} and 0 <= z <= 2")
    np.testing.assert_array_equal(found, wanted)


def test_an_array_within_the_field_has_absolute_coordinates():
    found = run("sub", "b", ["a", "s"], "[x, y, z] -> [x, y, z] -> [x + 1, y, z] -> [x, y - 1]",
                "1 <= x <= 3 and 1 <= y <= 2 and 0 <= z <= 5")
    np.testing.assert_array_equal(found, A[2:5, 1:3] - S[1:4, 0:2, None])


def test_scalars_meet_every_element():
    box = f"{ALL} and 0 <= z <= 5"
    found = run("mul", "a", ["u", "a"], "[x, y, z] -> [x, y, z] -> [] -> [x, y, z]", box)
    np.testing.assert_array_equal(found, np.float32(2.5) * A)
    found = run("add", "a", ["g", "s"], "[x, y, z] -> [x, y, z] -> [] -> [x, y]", box)
    np.testing.assert_array_equal(found, np.broadcast_to((3 + S)[:, :, None], A.shape))
    found = run("lt", "m", ["a", "0.25"], "[x, y, z] -> [x, y, z] -> [x, y, z] -> []", box)
    np.testing.assert_array_equal(found, (A < 0.25).astype("int16"))


def test_uniform_scalars_are_computed_on_all_workers():
    assert run("mul", "u", ["u", "g"], "[] -> [] -> [] -> []", "") == np.float32(7.5)


def test_one_element_of_arrays():
    assert run("copy", "g", ["v"], "[] -> [] -> [3]", "") == V[3]
    found = run("copy", "s", ["a"], "[x, y] -> [x, y] -> [x, y, 4]", ALL)
    np.testing.assert_array_equal(found, A[:, :, 4])


def test_sums():
    box = "1 <= x <= 3 and 0 <= y <= 1 and 2 <= z <= 5"
    wanted = add_up("sum", A[1:4, 0:2, 2:6], (1, 0), (5, 4))
    for total in "ug":
        found = run("sum", total, ["a"], "[x, y, z] -> [] -> [x, y, z]", box)
        assert found == wanted
    found = run("max", "s", ["a"], "[x, y, z] -> [x, y] -> [x, y, z]", f"{ALL} and 0 <= z <= 5")
    np.testing.assert_array_equal(found, A.max(axis=2))
    found = run("sum", "s", ["r"], "[x, y, z, u] -> [x, y] -> [x, y, z, u]",
                f"{ALL} and 0 <= z <= 1 and u = 2")
    np.testing.assert_array_equal(found, R[:, :, 0, 2] + R[:, :, 1, 2])
    found = run("sum", "s", ["a"], "[x, y, z] -> [3, 1] -> [x, y, z]",
                "x = 3 and y = 1 and 0 <= z <= 5")
    assert found[3, 1] == add_locally("sum", A[3, 1], [0])
    assert (np.delete(found.ravel(), 13) == np.delete(S.ravel(), 13)).all()
    found = run("min", "g", ["v"], "[i] -> [] -> [i]", "0 <= i <= 6")
    assert found == V.min()


def test_casts():
    found = run("cast", "m", ["a"], "[x, y, z] -> [x, y, z] -> [x, y, z]", f"{ALL} and 0 <= z <= 5")
    np.testing.assert_array_equal(found, A.astype("int16"))


@pytest.mark.parametrize("op", ["add", "maximum"])
def test_large_arrays_are_computed_in_parts(monkeypatch, op):
    """Parts of one column of PEs; not where a node reads what it wrote on another PE."""
    whole = "[x, y, z] -> [x, y, z] -> [x, y, z] -> [x, y]"
    shifted = "[x, y, z] -> [x, y, z] -> [x - 1, y, z] -> [x, y]"
    box, inside = f"{ALL} and 0 <= z <= 5", "1 <= x <= 4 and 0 <= y <= 3 and 0 <= z <= 5"
    wanted = [run(op, "a", ["a", "s"], whole, box), run(op, "a", ["a", "s"], shifted, inside)]
    monkeypatch.setattr(steps, "SLAB", 8)
    found = [run(op, "a", ["a", "s"], whole, box), run(op, "a", ["a", "s"], shifted, inside)]
    np.testing.assert_array_equal(found, wanted)

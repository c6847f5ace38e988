"""Tensors in PE memory, as the layout's maps place them."""

from dataclasses import replace

import numpy as np
import pytest

from lairmake.stages.fabric.elements import number_elements
from lairmake.stages.fabric.grid import Grid
from lairmake.stages.fabric.layout import LocalTensor
from lairmake.stages.fabric.load import gather, scatter

GRID = Grid(west=0, north=-1, width=3, height=2)
PES = np.arange(6)


def entry(shape, text, kind="int32", address=0):
    return LocalTensor(type=kind, shape=tuple(shape), address=address, stored=text)


def memory(size=64):
    return np.zeros((6, size), dtype=np.uint8)


def test_what_lies_outside_the_tensor_stays_zero():
    tensor = entry([2, 3], "{ [PE[x, y] -> L[a, b]] -> W[2y + 2 + a, 3x + b - 1] }", address=8)
    w, memories = np.arange(1, 25, dtype="i4").reshape(3, 8), memory()
    scatter(memories, tensor, w, PES, GRID)
    padded = np.pad(w, ((0, 1), (1, 0)))
    got = memories.view("i4")[:, 2:8].reshape(2, 3, 2, 3)
    np.testing.assert_array_equal(got.transpose(0, 2, 1, 3).reshape(4, 9), padded)


def test_only_points_of_the_map_have_an_element():
    tensor = entry([4], "{ [PE[x, y] -> L[a]] -> w[a//2] : a mod 2 = 0 and x = 1 and y = -1 }")
    memories = memory()
    scatter(memories, tensor, np.array([7, 8, 9], "i4"), PES, GRID)
    assert memories.view("i4")[1, :4].tolist() == [7, 0, 8, 0]
    assert memories[[0, 2, 3, 4, 5]].sum() == 0


def test_gather_is_the_inverse_of_scatter():
    tensor = entry([2, 3], "{ [PE[x, y] -> L[a, b]] -> W[2 + 2y + a, 3x + b] }", "float16")
    w, memories = np.random.default_rng(3).normal(size=(4, 9)).astype("f2"), memory()
    scatter(memories, tensor, w, PES, GRID)
    got, found = np.zeros_like(w), np.zeros(w.shape, np.bool_)
    gather(memories, tensor, got, found, PES, GRID)
    assert found.all()
    np.testing.assert_array_equal(got, w)


@pytest.mark.parametrize("invocations", [1, 2, 3, 5])
def test_what_takes_turns_with_buffers_is_read_from_the_one_in_which_it_is(invocations):
    tensor = entry([3, 2], "{ [PE[x, y] -> L[b, a]] -> W[2x + a, y + 1] : b = 2 }")
    tensor = replace(tensor, buffers=3)
    memories = np.zeros((6, 3, 2), "i4")
    memories[:, (2 + invocations - 1) % 3] = np.arange(12).reshape(6, 2)
    got, found = np.zeros((6, 2), "i4"), np.zeros((6, 2), np.bool_)
    flat = memories.view(np.uint8).reshape(6, -1)
    gather(flat, tensor, got, found, PES, GRID, invocations)
    assert found.all()
    assert got.tolist() == [[2 * x + a, 6 + 2 * x + a] for x in range(3) for a in range(2)]


def test_many_points_are_done_in_parts(monkeypatch):
    sizes = []

    def counted(relation, points, shape):
        sizes.append(np.broadcast_shapes(*(np.shape(p) for p in points))[0])
        return number_elements(relation, points, shape)

    monkeypatch.setattr("lairmake.stages.fabric.load.number_elements", counted)
    monkeypatch.setattr("lairmake.stages.fabric.load.POINTS_AT_A_TIME", 4)
    test_gather_is_the_inverse_of_scatter()
    assert len(sizes) > 2 and sum(sizes) == 2 * len(PES)


def test_a_map_that_names_two_elements_is_refused():
    tensor = entry([1], "{ [PE[x, y] -> L[a]] -> w[b] : 0 <= b <= 1 }")
    with pytest.raises(ValueError, match=r"gives a point several elements$"):
        scatter(memory(), tensor, np.zeros(2, "i4"), PES, GRID)


def test_a_local_tensor_outside_the_memory_is_refused():
    tensor = entry([4], "{ [PE[x, y] -> L[a]] -> w[a] }", address=56)
    text = (
        "^a local tensor at bytes 56 to 72 is not aligned, or not inside the program's 64 bytes$"
    )
    with pytest.raises(ValueError, match=text):
        scatter(memory(), tensor, np.zeros(4, "i4"), PES, GRID)

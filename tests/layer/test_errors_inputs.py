"""Errors in the arrays of inputs/: a wrong file, its whole text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

NOT_AN_ARRAY = """\
error: inputs/x.npy is not a NumPy array
hint: numpy.save writes such a file; arrays of objects are refused
"""

ARRAYS = {
    "shape": (
        "x",
        np.zeros(3),
        """\
error: inputs/x.npy has shape (3,), but x has shape (8,)
hint: save an array of exactly this shape
""",
    ),
    "no_input": (
        "y",
        np.zeros(8),
        """\
error: inputs/y.npy is for no input
hint: inputs: W, x
""",
    ),
    "complex_numbers": (
        "x",
        np.zeros(8, complex),
        """\
error: inputs/x.npy holds complex128, not real numbers
hint: save integers, floats or booleans
""",
    ),
    "not_a_number": (
        "x",
        np.array([0, 0, np.nan, 0, 0, 0, 0, 0]),
        """\
error: inputs/x.npy holds nan at x[2], which float16 cannot hold
hint: finite numbers from -65504.0 to 65504.0
""",
    ),
    "too_large": (
        "W",
        np.full((8, 8), 1e6),
        """\
error: inputs/W.npy holds 1000000.0 at W[0][0], which float16 cannot hold
hint: finite numbers from -65504.0 to 65504.0
""",
    ),
}


def save(layer: Any, name: str, array: Any) -> None:
    (layer.path / "inputs").mkdir(exist_ok=True)
    np.save(layer.path / "inputs" / f"{name}.npy", array)


@pytest.mark.wide_after(2)
@pytest.mark.parametrize("case", ARRAYS)
def test_array(layer: Any, case: str) -> None:
    name, array, expected = ARRAYS[case]
    save(layer, name, array)
    assert layer.error() == expected


def test_all_wrong_files_at_once(layer: Any) -> None:
    save(layer, "W", np.zeros(3))
    save(layer, "x", np.zeros((8, 8)))
    assert layer.error() == """\
error: inputs/W.npy has shape (3,), but W has shape (8, 8)
hint: save an array of exactly this shape

error: inputs/x.npy has shape (8, 8), but x has shape (8,)
hint: save an array of exactly this shape
"""


def test_text_in_place_of_an_array(layer: Any) -> None:
    layer.write("inputs/x.npy", "1 2 3 4 5 6 7 8\n")
    assert layer.error() == NOT_AN_ARRAY


def test_several_arrays_in_one_file(layer: Any) -> None:
    layer.write("inputs/x.npy", "")
    with (layer.path / "inputs/x.npy").open("wb") as file:
        np.savez(file, x=np.zeros(8))
    assert layer.error() == NOT_AN_ARRAY


@pytest.mark.wide
@pytest.mark.parametrize("name", ["x.npz", "x.csv", "x.NPY", "more/x.npy"])
def test_a_file_that_nobody_would_read(layer: Any, name: str) -> None:
    (layer.path / "inputs" / name).parent.mkdir(parents=True)
    (layer.path / "inputs" / name).write_bytes(b"")
    assert layer.error() == f"""\
error: inputs/{name.partition("/")[0]} is nothing that is read
hint: inputs/ holds x.npy for an input x, as numpy.save writes it; without it the values are \
generated
"""


def test_an_array_is_told_with_its_folder(layer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    save(layer, "x", np.zeros(3))
    monkeypatch.chdir(layer.path.parent)
    name = layer.path.name
    assert layer.error().startswith(f"error: {name}/inputs/x.npy has shape (3,), but x has shape")


def test_array_of_objects(layer: Any) -> None:
    layer.write("inputs/x.npy", "")
    np.save(layer.path / "inputs/x.npy", np.array([None] * 8), allow_pickle=True)
    assert layer.error() == NOT_AN_ARRAY


def test_folder_in_place_of_an_array(layer: Any) -> None:
    (layer.path / "inputs/x.npy").mkdir(parents=True)
    assert layer.error() == """\
error: inputs/x.npy: Is a directory
hint: a file belongs here: give the folder another name
"""


def test_folder_in_place_of_the_text_of_a_layer(layer: Any) -> None:
    (layer.path / "ff.lair").unlink()
    (layer.path / "ff.lair").mkdir()
    assert layer.error() == """\
error: ff.lair: Is a directory
hint: a file belongs here: give the folder another name
"""


@pytest.mark.wide
def test_sum_that_overflows_in_some_order(layer: Any) -> None:
    save(layer, "W", np.full((8, 8), 65504.0))
    save(layer, "x", np.array([2, -2, 0, 0, 0, 0, 0, 0]))
    assert layer.error() == """\
ff.lair:5:5: error: y[0] overflows float16: its terms reach 262016 together, float16 ends at 65504
      y[i] += W[i][j] * x[j]
      ^^^^
hint: make the values of the inputs smaller
"""


def test_tensors_larger_than_the_memory_of_the_computer(
    layer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("lairmake.stages.layer.simulate.input_samples", fail)
    assert layer.error() == """\
error: the tensors have 160 bytes, and do not fit in the memory of this computer
hint: make the sizes smaller, or run fewer invocations
"""


def test_no_c_compiler(layer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(layer.path))
    monkeypatch.setattr("lairmake.stages.fabric.compiler.find_spec", lambda name: None)
    assert layer.error() == """\
error: no C compiler: neither $CC, cc, gcc nor clang is there
hint: install one, or the wheel that brings one: pip install ziglang
"""


def test_c_compiler_that_does_not_start(layer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nowhere/cc")
    assert layer.error() == (
        "error: the C compiler /nowhere/cc does not start: "
        "[Errno 2] No such file or directory: '/nowhere/cc'\n"
        "hint: name another one in $CC\n"
    )


def test_fabric_that_can_no_longer_move(layer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from lairmake.stages.fabric.driver import FabricStuck

    def stop(*_: object, **__: object) -> None:
        raise FabricStuck("PE[0, 0] waits for x")

    monkeypatch.setattr("lairmake.stages.layer.outcome.run_fabric", stop)
    assert layer.error() == """\
error: the fabric stopped, running the programs with loops only: PE[0, 0] waits for x
hint: the programs are at fault, not the layer: please report it with the layer folder
"""

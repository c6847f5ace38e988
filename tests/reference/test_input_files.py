"""Inputs of a layer from files: they are read or refused."""

from __future__ import annotations

import numpy as np
import pytest

from lairmake.stages.diagnose import UserErrors
from lairmake.stages.reference.data import generate, read_inputs
from lairmake.stages.reference.evaluate import Surroundings
from tests.reference.layers import fc, layer_of
from tests.reference.single import evaluate

INT = layer_of("lair f(): int16 count[2] -> int16 y[2] { all (i) in (2) y[i] = count[i] }")


@pytest.mark.parametrize("dtype", [
    "bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", ">i4", ">f8",
])
def test_any_real_dtype_is_read(dtype: str) -> None:
    for layer, type_ in ((INT, "int16"), (fc(1, 2), "float16")):
        name = layer.inputs[-1].name
        read = read_inputs({name: np.array([0, 1]).astype(dtype)}, layer)
        (value,) = read[name]
        assert (value.dtype.name, value.tolist()) == (type_, [0, 1])


def test_floats_are_rounded() -> None:
    read = read_inputs({"x": np.array([0.1, 1 / 3])}, fc(1, 2))
    assert np.array_equal(read["x"], [np.array([0.1, 1 / 3], np.float16)])


def test_scalars_and_fortran_order() -> None:
    layer = layer_of("""lair f(): int16 s, int16 x[2][3] -> int16 y[2][3]
      { all (i, j) in (2, 3) y[i][j] = x[i][j] + s }""")
    x = np.asfortranarray(np.arange(6).reshape(2, 3))
    both = read_inputs({"s": np.array(3), "x": x}, layer)
    read = {name: value for name, (value,) in both.items()}
    assert read["s"].shape == ()
    assert evaluate(layer, read)["y"].tolist() == [[3, 4, 5], [6, 7, 8]]


REFUSED = {
    "unknown_tensor": (
        {"cuont": np.zeros(2)},
        "error: inputs/cuont.npy is for no input\nhint: did you mean count?\n",
    ),
    "wrong_shape": (
        {"count": np.zeros((2, 1))},
        "error: inputs/count.npy has shape (2, 1), but count has shape (2,)\n"
        "hint: save an array of exactly this shape\n",
    ),
    "text": (
        {"count": np.array(["a", "b"])},
        "error: inputs/count.npy holds <U1, not real numbers\n"
        "hint: save integers, floats or booleans\n",
    ),
    "complex": (
        {"count": np.zeros(2, complex)},
        "error: inputs/count.npy holds complex128, not real numbers\n"
        "hint: save integers, floats or booleans\n",
    ),
    "overflow": (
        {"count": np.array([0, 32768])},
        "error: inputs/count.npy holds 32768 at count[1], which int16 cannot hold\n"
        "hint: integers from -32768 to 32767\n",
    ),
    "fraction": (
        {"count": np.array([0.5, 1])},
        "error: inputs/count.npy holds 0.5 at count[0], which int16 cannot hold\n"
        "hint: integers from -32768 to 32767\n",
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_files_that_are_refused(reason: str) -> None:
    arrays, expected = REFUSED[reason]
    with pytest.raises(UserErrors) as caught:
        read_inputs(arrays, INT)
    assert str(caught.value) == expected


def test_one_value_an_invocation_of_what_arrives() -> None:
    one, three = np.array([1, 2]), np.array([[1, 2], [3, 4], [5, 6]])
    for given in (one, three):
        (values,) = read_inputs({"count": given}, INT, 3, {"count"}).values()
        assert [v.tolist() for v in values] == np.atleast_2d(given).tolist()
    scalar = layer_of("lair f(): int16 s -> int16 y[2] { all (i) in (2) y[i] = s }")
    (values,) = read_inputs({"s": np.array([7, 8])}, scalar, 2, {"s"}).values()
    assert [(v.shape, v.tolist()) for v in values] == [((), 7), ((), 8)]


ONE_EACH = {
    "wrong_shape": (
        np.zeros((4, 2)), {"count"},
        "error: inputs/count.npy has shape (4, 2), but count has shape (2,)\n"
        "hint: save an array of exactly this shape, or of (3, 2): one for each invocation\n",
    ),
    "resident": (
        np.zeros((3, 2)), set(),
        "error: inputs/count.npy has shape (3, 2), but count has shape (2,)\n"
        "hint: save an array of exactly this shape\n",
    ),
    "overflow": (
        np.array([[0, 0], [0, 0], [0, 40000]]), {"count"},
        "error: inputs/count.npy holds 40000 at count[1] of invocation 2, which int16 "
        "cannot hold\n"
        "hint: integers from -32768 to 32767\n",
    ),
}


@pytest.mark.parametrize("reason", ONE_EACH)
def test_values_of_invocations_that_are_refused(reason: str) -> None:
    array, arriving, expected = ONE_EACH[reason]
    with pytest.raises(UserErrors) as caught:
        read_inputs({"count": array}, INT, 3, arriving)
    assert str(caught.value) == expected


@pytest.mark.parametrize("value, why", [
    (65520.0, "float16 cannot hold"), (np.nan, "float16 cannot hold"),
    (np.inf, "is multiplied or divided"),
])
def test_floats_that_overflow_are_refused(value: float, why: str) -> None:
    with pytest.raises(UserErrors) as caught:
        read_inputs({"x": np.array([0, value])}, fc(1, 2))
    assert str(caught.value) == (
        f"error: inputs/x.npy holds {value} at x[1], which {why}\n"
        "hint: finite numbers from -65504.0 to 65504.0\n"
    )


@pytest.mark.parametrize("kind", ["integers", "reals"])
def test_scalars_are_arrays(kind: str) -> None:
    layer = layer_of("lair f(): float16 s -> float16 y[2] { all (i) in (2) y[i] = s }")
    (inputs,), _ = generate(layer, 0, kind, 0.5, {"s"})
    assert isinstance(inputs["s"], np.ndarray)
    assert (inputs["s"].shape, inputs["s"].dtype.name) == ((), "float16")


def test_what_is_only_added_may_be_infinite() -> None:
    """As a mask; what is too large for the type is refused all the same."""
    layer = layer_of("lair f(): float16 x[2] -> float16 y[2] { all (i) in (2) y[i] = exp(x[i]) }")
    assert read_inputs({"x": np.array([-np.inf, 1])}, layer)["x"][0].tolist() == [-np.inf, 1]
    with pytest.raises(UserErrors):
        read_inputs({"x": np.array([65520.0, 1])}, layer)


def test_what_never_arrives_may_be_infinite() -> None:
    """As what is around that of which a maximum is taken."""
    around = {"x": Surroundings(value=-np.inf, mask=np.array([True, False]))}
    given = {"x": np.array([-np.inf, 1])}
    assert read_inputs(given, fc(1, 2), around=around)["x"][0].tolist() == [-np.inf, 1]
    with pytest.raises(UserErrors):
        read_inputs({"x": np.array([1, -np.inf])}, fc(1, 2), around=around)

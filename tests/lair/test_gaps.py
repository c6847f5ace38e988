"""What a statement does not reach: the statement of the hint, typed, defines it, and is right."""

import re

import numpy as np
import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.lair import parse_lair, specialise
from lairmake.stages.reference.evaluate import evaluate_all

RANDOM = np.random.default_rng(11)
X, W = RANDOM.integers(-9, 10, (4, 9)).astype("int16"), np.array([[3, 5]] * 4, "int16")


def up(x, w, stride, size):
    """A transposed convolution, element by element."""
    found = np.zeros((len(x), size), "int16")
    for c, i, r in np.ndindex(len(x), x.shape[1], w.shape[1]):
        found[c, stride * i + r] += x[c, i] * w[c, r]
    return found


GAPS = {
    "stride_above_kernel": (
        "int16 x[4][9], int16 w[4][2] -> int16 y[4][27]",
        "all (c, i, r) in (4, 9, 2) y[c][3*i + r] += x[c][i] * w[c][r]",
        "all (c, i, r) in (4, 9, 3) where r < 2 y[c][3*i + r] += ", up(X, W, 3, 27)),
    "stride_and_end": (
        "int16 x[4][9], int16 w[4][2] -> int16 y[4][29]",
        "all (c, i, r) in (4, N, 2) y[c][3*i + r] += x[c][i] * w[c][r]",
        "all (c, i, r) in (4, N, 5) where r < 2 y[c][3*i + r] += ", up(X, W, 3, 29)),
    "kernel_of_one": (
        "int16 x[4][9] -> int16 y[4][2*N]", "all (c, i) in (4, N) y[c][2*i] = x[c][i]",
        "all (c, i, r) in (4, N, 2) where r < 1 y[c][2*i + r] += ",
        up(X, np.ones((4, 1), "int16"), 2, 18)),
    "end": (
        "int16 x[4][9] -> int16 y[6][9]", "all (c, i) in (4, N) y[c][i] += x[c][i]",
        "all (c, i) in (6, N) where c < 4 y[c][i] += ", np.pad(X, ((0, 2), (0, 0)))),
    "largest": (
        "int16 x[4][9] -> int16 y[5]", "all (c, i) in (4, N) y[c] max= x[c][i]",
        "all (c, i) in (5, N) where c < 4 y[c] max= ", np.append(X.max(1), -32768)),
    "more_conditions": (
        "int16 x[4][9] -> int16 y[5]", "all (c, i) in (4, N) where i < 5 y[c] += x[c][i]",
        "all (c, i) in (5, N) where i < 5 and c < 4 y[c] += ", np.append(X[:, :5].sum(1), 0)),
}


def write(head, statement):
    return f"lair f(N=9): {head} {{\n  {statement}\n}}\n"


def layer_of(text):
    return specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {})


@pytest.mark.parametrize("gap", GAPS)
def test_the_statement_of_the_hint_is_right(gap):
    head, statement, wanted, expected = GAPS[gap]
    with pytest.raises(UserErrors) as caught:
        layer_of(write(head, statement))
    (error,) = caught.value.errors
    typed = re.search(r"all are by `(.*?)\.\.\.`", error.hint)[1]
    assert error.message.endswith("is not defined") and typed == wanted
    value = re.split(r"(?:max|\+)?= ", statement)[1]
    inputs = {"x": X, "w": W} if "w[" in head else {"x": X}
    found = evaluate_all(layer_of(write(head, typed + value)), [inputs])[0]["y"]
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("statement", [
    "all (i) in (N) y[i][i] = x[0][i]", "all (c, i) in (4, N) y[c][i + 1] += x[c][i]",
])
def test_where_no_statement_is_known_the_hint_has_none(statement):
    with pytest.raises(UserErrors) as caught:
        layer_of(write("int16 x[4][9] -> int16 y[10][10]", statement))
    assert caught.value.errors[0].hint == (
        "the statement defines every element of y that it reaches, and no other")

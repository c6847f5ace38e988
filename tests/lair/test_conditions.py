"""Conditions of statements: what they mean, and the whole text of each error."""

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.lair import parse_lair, specialise
from lairmake.stages.lair.statements import find_idle, instance_set
from lairmake.stages.reference.evaluate import evaluate_all


def layer_of(statements, head="int16 x[N] -> int16 y[N]"):
    text = f"lair f(N=4): {head} {{\n  {statements}\n}}\n"
    return specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {})


def conditioned(condition):
    return layer_of(f"all (i, j) in (N, N) where {condition} y[i] += x[j]").statements[0]


MEANINGS = {
    "j <= i": "j <= i",
    "i > j and 0 < j": "i > j and 0 < j",
    "0 <= i - j < 2": "0 <= i - j < 2",
    "1 = i // 2 = j // 2": "i >= 2 and j >= 2",
    "i + j == N - 1": "i + j = 3",
    "i != j": "i < j or j < i",
    "(i - 3) mod 2 = 0": "exists a: i = 2a + 1",
    "-(i - j) // 2 < 0": "j - i < 0",
    "i - N // 2 * (i // 2) <= j": "exists a: 0 <= i - 2a <= 1 and i - 2a <= j",
    "i * -1 + 2 * N - 7 <= 0": "i >= 1",
    "(N - 5) // 2 * j < i * (3 mod 2)": "-j < i",
}


@pytest.mark.parametrize("condition", MEANINGS)
def test_a_condition_means_what_it_does_in_isl(condition):
    expected = isl.Set(f"{{ [i, j] : 0 <= i < 4 and 0 <= j < 4 and ({MEANINGS[condition]}) }}")
    assert instance_set(conditioned(condition)).is_equal(expected)


@pytest.mark.parametrize("condition", MEANINGS)
def test_numpy_reduces_the_instances_that_isl_has(condition):
    layer = layer_of(f"all (i, j) in (N, N) where {condition} y[i] += x[j]")
    weights = np.array([1, 10, 100, 1000], np.int16)
    expected = np.zeros(4, np.int16)
    for i in range(4):
        for j in range(4):
            here = isl.Set(f"{{ [{i}, {j}] }}")
            expected[i] += weights[j] * here.is_subset(instance_set(layer.statements[0]))
    assert evaluate_all(layer, [{"x": weights}])[0]["y"].tolist() == expected.tolist()


@pytest.mark.parametrize(("op", "empty"), [("+=", 0), ("*=", 1), ("max=", -32768), ("min=", 32767)])
def test_what_nothing_is_reduced_to_is_neutral_and_one_idle_instance_stands_for_it(op, empty):
    layer = layer_of(f"all (i, j) in (N, N) where j < i y[i] {op} x[j]")
    y = evaluate_all(layer, [{"x": np.array([2, 2, 2, 2], np.int16)}])[0]["y"]
    assert (y[0], y[1]) == (empty, 2)
    assert find_idle(layer.statements[0], layer).is_equal(isl.Set("{ [0, 0] }"))


def test_no_element_outside_of_a_tensor_is_read_where_no_condition_holds():
    text = "all (i, j) in (N, N) where j <= i y[i] += x[i - j]"
    y = evaluate_all(layer_of(text), [{"x": np.array([1, 10, 100, 1000], np.int16)}])[0]["y"]
    assert y.tolist() == [1, 11, 111, 1111]


@pytest.mark.parametrize("text", [
    "all (i) in (N) where[i] = x[i] // where i is",
    "all (i) in (N) where i >= 0 where[i] += x[i]",
    "all (i) in (N) where # the values\n [i] = x[i]",
    "all (where) in (N) where where >= 0 where[where] += x[where]",
])
def test_a_tensor_and_an_iterator_may_be_called_where(text):
    head = "int16 x[N] -> int16 where[N]"
    if "all (where)" in text:
        text, head = text.replace("where[where] +", "y[where] +"), "int16 x[N] -> int16 y[N]"
    (found,) = evaluate_all(layer_of(text, head), [{"x": np.arange(4, dtype=np.int16)}])
    assert found[layer_of(text, head).outputs[0].name].tolist() == [0, 1, 2, 3]


ERRORS = {
    "not_affine": ("where i * j <= 2 y[i] += x[j]", """\
f.lair:2:30: error: this condition is not affine
    all (i, j) in (N, N) where i * j <= 2 y[i] += x[j]
                               ^^^^^
hint: conditions compare sums of iterators times integers, `i // 2` and `i mod 2`
"""),
    "quotient_that_is_not_rounded": ("where j <= i / 2 y[i] += x[j]", """\
f.lair:2:35: error: this condition is not affine
    all (i, j) in (N, N) where j <= i / 2 y[i] += x[j]
                                    ^^^^^
hint: conditions compare sums of iterators times integers, `i // 2` and `i mod 2`
"""),
    "divisor_that_varies": ("where 0 < i mod j <= 1 y[i] += x[j]", """\
f.lair:2:34: error: this condition is not affine
    all (i, j) in (N, N) where 0 < i mod j <= 1 y[i] += x[j]
                                   ^^^^^^^
hint: conditions compare sums of iterators times integers, `i // 2` and `i mod 2`
"""),
    "call": ("where max(i, 1) <= j y[i] += x[j]", """\
f.lair:2:30: error: this condition is not affine
    all (i, j) in (N, N) where max(i, 1) <= j y[i] += x[j]
                               ^^^^^^^^^
hint: conditions compare sums of iterators times integers, `i // 2` and `i mod 2`
"""),
    "values": ("where x[j] <= i y[i] += x[j]", """\
f.lair:2:31: error: found `[`, expected `!=`, `(`, `*`, `+`, `-`, `//`, `/`, `<=`, `<`, `==`, `=`, \
`>=`, `>` or `mod`
    all (i, j) in (N, N) where x[j] <= i y[i] += x[j]
                                ^
hint: conditions compare iterators and sizes; values are for `select`
"""),
    "unknown_name": ("where k <= i y[i] += x[j]", """\
f.lair:2:30: error: unknown iterator or size k
    all (i, j) in (N, N) where k <= i y[i] += x[j]
                               ^
hint: iterators and sizes: i, j, N
"""),
    "comment": ("where j <= i // triangle\n  y[i] += x[j]", """\
f.lair:2:40: error: unknown iterator or size triangle
    all (i, j) in (N, N) where j <= i // triangle
                                         ^^^^^^^^
hint: iterators and sizes: i, j, N; in conditions comments begin with `#`
"""),
    "longer_comment": ("where j <= i // a triangle\n  y[i] += x[j]", """\
f.lair:2:37: error: `//` is a quotient here, and no comment
    all (i, j) in (N, N) where j <= i // a triangle
                                      ^^
hint: in conditions `//` is a quotient, and comments begin with `#`
"""),
    "misspelled": ("wher j <= i y[i] += x[j]", """\
f.lair:2:29: error: found `j`, expected `*=`, `+=`, `=`, `[`, `max=` or `min=`
    all (i, j) in (N, N) wher j <= i y[i] += x[j]
                              ^
hint: conditions begin with `where`
"""),
    "comma": ("where j <= i, 0 < j y[i] += x[j]", """\
f.lair:2:36: error: found `,`, expected `!=`, `+`, `-`, `<=`, `<`, `==`, `=`, `>=`, `>`, `and` \
or a name
    all (i, j) in (N, N) where j <= i, 0 < j y[i] += x[j]
                                     ^
hint: several conditions are joined by `and`
"""),
    "or": ("where j <= i or 0 < j y[i] += x[j]", """\
f.lair:2:40: error: found `0`, expected `*=`, `+=`, `=`, `[`, `max=` or `min=`
    all (i, j) in (N, N) where j <= i or 0 < j y[i] += x[j]
                                         ^
hint: conditions are comparisons, joined by `and`
"""),
    "divisor": ("where 0 <= i // (N - 4) <= j y[i] += x[j]", """\
f.lair:2:41: error: this divisor is 0
    all (i, j) in (N, N) where 0 <= i // (N - 4) <= j y[i] += x[j]
                                          ^^^^^
hint: divisors are positive
"""),
    "large": ("where 2 <= 300000000 * j y[i] += x[j]", """\
f.lair:2:35: error: this reaches 900000000
    all (i, j) in (N, N) where 2 <= 300000000 * j y[i] += x[j]
                                    ^^^^^^^^^^^^^
hint: conditions count up to 536870912
"""),
    "empty": ("where j < i and i < j y[i] += x[j]", """\
f.lair:2:30: error: these conditions hold nowhere
    all (i, j) in (N, N) where j < i and i < j y[i] += x[j]
                               ^^^^^^^^^^^^^^^
hint: of 0 <= i < 4 and 0 <= j < 4
"""),
    "out_of_bounds": ("where j <= i + 1 y[i] += x[i - j]", """\
f.lair:2:49: error: access to x is out of bounds: i - j reaches -1
    all (i, j) in (N, N) where j <= i + 1 y[i] += x[i - j]
                                                  ^^^^^^^^
hint: index 0 of x goes from 0 to 3
"""),
    "not_defined": ("where i = j and i != 2 y[i] = x[j]", """\
f.lair:2:47: error: y[2] is not defined
    all (i, j) in (N, N) where i = j and i != 2 y[i] = x[j]
                                                ^^^^
hint: `=` defines elements only where its conditions hold; `+=` gives others 0
"""),
    "not_reached": ("where j < 2 y[j] += x[i]", """\
f.lair:2:36: error: y[3] is not defined
    all (i, j) in (N, 3) where j < 2 y[j] += x[i]
                                     ^^^^
hint: the statement defines every element of y that it reaches, and no other; all are by \
`all (i, j) in (N, 4) where j < 2 and j < 3 y[j] += ...`: an element to which nothing is \
reduced is 0
"""),
    "several": ("where j <= i y[i] = x[j]", """\
f.lair:2:37: error: several instances define one element of y
    all (i, j) in (N, N) where j <= i y[i] = x[j]
                                      ^^^^
hint: say how to reduce them: `+=` sums
"""),
    "itself": ("where j < i y[i] += x[j] * y[j]", """\
f.lair:2:51: error: statement reads y, which it defines itself
    all (i, j) in (N, N) where j < i y[i] += x[j] * y[j]
                                                    ^^^^
hint: statements read what is defined before; what an invocation leaves to the next one is named \
in layer.yaml: `tensors: {INPUT: {next: y}}`; so a recurrence, as forward substitution, takes an \
invocation for each step, or is a program in NumPy
"""),
}


@pytest.mark.parametrize("error", ERRORS)
def test_condition_error(error):
    statement, expected = ERRORS[error]
    sizes = "(N, 3)" if error == "not_reached" else "(N, N)"
    with pytest.raises(UserErrors) as caught:
        layer_of(f"all (i, j) in {sizes} {statement}")
    assert str(caught.value) == expected

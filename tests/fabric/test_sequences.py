"""Sparse tensors that leave: what external PEs make of elements, and of ends of sequences."""

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure, FabricStuck
from tests.fabric.running import run_fabric

ROUTES = {"x": "{ [PE[x, 0] -> N[]] -> ramp[] }", "y": "{ [PE[x, 0] -> ramp[]] -> S[] }"}
X = np.array([[[0, 3, 0, -1], [0, 0, 0, 0]], [[5, 0, 0, 7], [0, 0, 9, 0]]], dtype="i2")


def echo(row, order="index[s, i]", outer=(0, 1), inside="0 <= s <= 1 and 0 <= i <= 3"):
    x = {"tensor": "x", "type": "int16", "colour": "x", "side": "N", "sparse": True}
    x["order"] = "{ x[p = 0:1, s = 0:1, i = 0:3] -> [PE[p, -1] -> index[s, i]] }"
    y = {"tensor": "y", "type": "int16", "colours": ["y"], "side": "S", "sparse": True}
    y["order"] = f"{{ y[p = 0:1, s, i] -> [PE[p, 1] -> {order}] : {inside} }}"
    return row("echo", 2, ROUTES, arrivals={"x": x | {"outer": [[0, 1]]}},
               departures={"y": y | {"outer": [list(outer)]}})


def failure(library, layout, profile, x=X, error=FabricFailure):
    with pytest.raises(error) as caught:
        run_fabric(library, layout, profile, {"x": x}, shapes={"y": (2, 2, 4)})
    return str(caught.value)


@pytest.mark.parametrize("invocations", [1, 3])
def test_elements_are_put_where_they_belong(library, row, ideal, invocations):
    run = run_fabric(library, echo(row), ideal, {"x": X}, invocations)
    assert len(run.outputs["y"]) == invocations
    for y in run.outputs["y"]:
        np.testing.assert_array_equal(y, X)
    np.testing.assert_array_equal(run.leaving.wavelets, invocations * np.array([2 + 2, 3 + 2]))
    assert run.delivered == 2 * invocations * (5 + 4)


def test_one_value_an_invocation(library, row, ideal):
    values = [X, X * 0, np.where(X > 3, X, 0), X]
    run = run_fabric(library, echo(row), ideal, {"x": values}, 4)
    np.testing.assert_array_equal(run.outputs["y"], values)
    np.testing.assert_array_equal(run.leaving.wavelets, [2 + 0 + 0 + 2 + 8, 3 + 0 + 3 + 3 + 8])


def test_another_order_puts_them_elsewhere(library, row, ideal):
    run = run_fabric(library, echo(row, "index[1 - s, 3 - i]"), ideal, {"x": X})
    np.testing.assert_array_equal(run.outputs["y"][0], X[:, ::-1, ::-1])


def test_the_last_end_counts_as_a_cycle(library, row, ideal):
    x = np.zeros_like(X)
    last = run_fabric(library, echo(row), ideal, {"x": x}).cycles
    x[:, 0, 0] = 1
    assert run_fabric(library, echo(row), ideal, {"x": x}).cycles == last + 1


@pytest.mark.parametrize(
    "inside, text",
    [
        ("0 <= s <= 1 and 0 <= i <= 2", "PE[0, 0] got, in sequence 0, index 3, which no element"),
        ("0 <= s <= 1 and 1 <= i <= 3", "PE[1, 0] got, in sequence 0, index 0, which no element"),
        ("0 <= i <= 3 and 0 <= s <= 1 and (i != 2 or s = 0)",
         "PE[1, 0] got, in sequence 1, index 2, which no element"),
    ],
)
def test_an_index_of_no_element_is_a_failure(library, row, ideal, inside, text):
    expected = f"the external PE beside {text} there has"
    assert failure(library, echo(row, inside=inside), ideal) == expected


def test_an_index_that_does_not_increase_is_a_failure(library, row, ideal):
    x = np.where(X == 9, 2, X)
    text = "the external PE beside PE[1, 0] got, in sequence 1, index 2 after 2"
    assert failure(library, echo(row), ideal, x) == text


def test_more_sequences_than_expected_are_a_failure(library, row, ideal):
    layout = echo(row, outer=(0, 0), inside="s = 0 and 0 <= i <= 3")
    text = "more than 3 elements and ends of sequences left to the external PE beside PE[0, 0]"
    assert failure(library, layout, ideal) == text


def test_more_elements_than_expected_are_a_failure(library, row, ideal):
    x = np.full_like(X, 2)
    text = "more than 10 elements and ends of sequences left to the external PE beside PE[0, 0]"
    assert failure(library, echo(row), ideal, x) == text


def test_a_sequence_that_does_not_end_is_missed(library, row, ideal):
    assert failure(library, echo(row, outer=(0, 2)), ideal, error=FabricStuck) == (
        "the fabric can no longer move after cycle 8: 0 PEs are not done,"
        " 2 output wavelets are missing\n"
        "it waits in a chain, each for the next one:\n"
        "  the external PE beside PE[0, 0] got 2 of 3 sequences, and no y is on its way from"
        " PE[0, 0]\n"
        "  PE[0, 0] (echo) waits for wavelets on x: 1 of 1 invocations are done, and no x is on its"
        " way from the external PE beside PE[0, 0]\n"
        "  the external PE beside PE[0, 0] has sent all of its 4 wavelets on x\n"
        "so: the external PE beside PE[0, 0] should have sent more on x, or PE[0, 0] (echo)"
        " should have sent 1 more sequence on y\n"
        "what else waits, in order:\n"
        "  the external PE beside PE[1, 0] got 2 of 3 sequences\n"
    )

"""Graphs of frameworks that users built."""

import pytest


def test_a_part_that_is_not_there_is_named_before_places_are_searched(found):
    run = found("late_typo").plain("late_typo")
    assert (run.code, run.out) == (1, "late_typo: 4 stages ran, split failed\n")
    assert run.err == """\
projects/late_typo/network.yaml:1:9: error: unknown part fc1
  parts: {fc1: {placement: "(k, i)"}}
          ^^^
hint: parts: matmul1
"""


@pytest.mark.long
def test_a_product_in_bfloat16_is_right(found):
    """The reference would round what it computes to eight digits."""
    run = found("bfloat16_product").plain("bfloat16_product")
    assert run.code == 0, run.out + run.err
    assert "  y 0 at most from onnx.reference, each part within rounding" in run.out.splitlines()

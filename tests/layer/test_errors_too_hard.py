"""Errors of layers that are too hard for isl: the whole text of each."""

from __future__ import annotations

from typing import Any

import islpy as isl
import pytest


def test_layer_that_is_too_hard_for_isl(layer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lairmake.stages.make.core.stage.MOST_OPERATIONS", 100)
    assert layer.error() == """\
layer.yaml:3:1: error: stage parse: isl needs more than 100 operations
  placement: "{ ff[i,j] -> PE[j//4, 1 + i//4] }"
  ^^^^^^^^^
hint: simplify the placement, or how tensors arrive and leave
"""


@pytest.mark.wide
@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("lairmake.stages.layer.routes.departures._with_departure", """\
layer.yaml:6:3: error: stage route, departure y: isl needs more than 300000 operations
    y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}
    ^
hint: simplify the placement, or how tensors arrive and leave
"""),
        ("lairmake.stages.layer.task_sets.compress", """\
layer.yaml:3:1: error: stage compress, task init_y: isl needs more than 300000 operations
  placement: "{ ff[i,j] -> PE[j//4, 1 + i//4] }"
  ^^^^^^^^^
hint: simplify the placement, or how tensors arrive and leave
"""),
    ],
)
def test_what_was_too_hard_for_isl_in_a_stage(
    layer: Any, monkeypatch: pytest.MonkeyPatch, function: str, error: str
) -> None:
    monkeypatch.setattr("lairmake.stages.make.core.stage.MOST_OPERATIONS", 300_000)
    monkeypatch.setattr(function, lambda *_: [isl.Val(1) for _ in range(300_000)])
    assert layer.error() == error


def test_an_instance_set_that_is_too_hard_to_compress_is_refused_before_it_takes_minutes(
    layer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task has an allowance of its own, far below that of a stage."""
    monkeypatch.setattr("lairmake.stages.layer.task_sets.MOST_OPERATIONS", 1000)
    assert layer.error() == """\
layer.yaml:3:1: error: stage compress, task init_y: isl needs more than 1000 operations
  placement: "{ ff[i,j] -> PE[j//4, 1 + i//4] }"
  ^^^^^^^^^
hint: simplify the placement, or how tensors arrive and leave
"""

"""Errors in the schedule of layer.yaml: the whole text of each."""

from __future__ import annotations

from typing import Any

import pytest

SCHEDULES = {
    "unknown_statement": (
        '"{ f[i,j] -> [j] }"',
        """\
layer.yaml:4:14: error: schedule names f, which is no statement
  schedule: "{ f[i,j] -> [j] }"
               ^
hint: did you mean ff?
""",
    ),
    "number_of_iterators": (
        '"{ ff[i] -> [i] }"',
        """\
layer.yaml:4:14: error: ff has 2 iterators, the schedule gives it 1
  schedule: "{ ff[i] -> [i] }"
               ^^
hint: write ff[i, j]
""",
    ),
    "not_total": (
        '"{ ff[i,j] -> [j] : i > 1 }"',
        """\
layer.yaml:4:12: error: schedule gives no time to ff[0, 0]
  schedule: "{ ff[i,j] -> [j] : i > 1 }"
             ^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: give a time to every instance of a statement, or to none
""",
    ),
    "of_no_instance": (
        '"{ ff[i,j] -> [j] : j > 100 }"',
        """\
layer.yaml:4:12: error: schedule gives no time to ff[0, 0]
  schedule: "{ ff[i,j] -> [j] : j > 100 }"
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: give a time to every instance of a statement, or to none
""",
    ),
    "twice": (
        '"{ ff[i,j] -> [j]; ff[i,j] -> [i] }"',
        """\
layer.yaml:4:12: error: schedule gives ff[0, 1] two times, [0] and [1]
  schedule: "{ ff[i,j] -> [j]; ff[i,j] -> [i] }"
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: each instance runs once
""",
    ),
    "any_time": (
        '"{ ff[i,j] -> [t] }"',
        """\
layer.yaml:4:12: error: schedule gives ff[0, 0] two times, [-1] and [0]
  schedule: "{ ff[i,j] -> [t] }"
             ^^^^^^^^^^^^^^^^^^
hint: each instance runs once
""",
    ),
    "two_lengths": (
        '"{ ff[i,j] -> [j] : i < 2; ff[i,j] -> [j, i] : i >= 2 }"',
        """\
layer.yaml:4:14: error: schedule gives ff the times [i0, i1] and [i0]
  schedule: "{ ff[i,j] -> [j] : i < 2; ff[i,j] -> [j, i] : i >= 2 }"
               ^^
hint: all times of a statement have one form, [t0, t1, ...]
""",
    ),
    "pairs": (
        '"{ ff[i,j] -> [t[j] -> t[i]] }"',
        """\
layer.yaml:4:14: error: schedule gives ff the times [t[i0] -> t[i1]]
  schedule: "{ ff[i,j] -> [t[j] -> t[i]] }"
               ^^
hint: all times of a statement have one form, [t0, t1, ...]
""",
    ),
    "too_late": (
        '"{ ff[i,j] -> [1000000000*j] }"',
        """\
layer.yaml:4:12: error: schedule gives times from 0 to 7000000000
  schedule: "{ ff[i,j] -> [1000000000*j] }"
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: times lie from -1073741824 to 1073741824
""",
    ),
    "set": (
        '"{ ff[i,j] }"',
        """\
layer.yaml:4:12: error: isl: this is a set, not a relation `{ a[...] -> b[...] }`
  schedule: "{ ff[i,j] }"
             ^^^^^^^^^^^
""",
    ),
    "syntax": (
        '"{ ff[i,j] -> [j, }"',
        """\
layer.yaml:4:29: error: isl: syntax error: unexpected '}'
  schedule: "{ ff[i,j] -> [j, }"
                              ^
hint: the text has 2 `[` and 1 `]`
""",
    ),
}


@pytest.mark.parametrize("case", SCHEDULES)
def test_schedule(layer: Any, case: str) -> None:
    schedule, expected = SCHEDULES[case]
    layer.edit("layer.yaml", "tensors:", f"schedule: {schedule}\ntensors:")
    assert layer.error() == expected

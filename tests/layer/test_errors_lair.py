"""Errors in the .lair: one of each kind through the stages, with the path that a user sees."""

from __future__ import annotations

from typing import Any

import pytest

LAIRS = {
    "syntax": (
        " * x[j]",
        " * x[2j]",
        """\
ff.lair:5:26: error: found `j`, expected `*`, `+`, `-`, `/` or `]`
      y[i] += W[i][j] * x[2j]
                           ^
hint: a product has a sign: `2 * j`
""",
    ),
    "unknown_type": (
        "T=float16",
        "T=floot16",
        """\
ff.lair:1:11: error: unknown type floot16
  lair ff<T=floot16>(M, N):
            ^^^^^^^
hint: did you mean float16?
""",
    ),
    "non_affine_access": (
        """\
x[j]
""",
        """\
x[j*j]
""",
        """\
ff.lair:5:25: error: access to x is not affine
      y[i] += W[i][j] * x[j*j]
                          ^^^
hint: LAIR accesses are sums of iterators times integers
""",
    ),
    "out_of_bounds": (
        "* x[j]",
        "* x[j + 1]",
        """\
ff.lair:5:23: error: access to x is out of bounds: j + 1 reaches 8
      y[i] += W[i][j] * x[j + 1]
                        ^^^^^^^^
hint: index 0 of x goes from 0 to 7
""",
    ),
    "two_statements": (
        """\
x[j]
""",
        """\
x[j]
  all (i) in (M)
    y[i] = 0
""",
        """\
ff.lair:7:5: error: a second statement defines y
      y[i] = 0
      ^^^^
hint: LAIR is single assignment: one statement defines a tensor
""",
    ),
    "undefined_element": (
        "y[i] +=",
        "y[0*i] +=",
        """\
ff.lair:5:5: error: y[1] is not defined
      y[0*i] += W[i][j] * x[j]
      ^^^^^^
hint: the statement defines every element of y that it reaches, and no other
""",
    ),
    "unknown_tensor": (
        "* x[j]",
        "* v[j]",
        """\
ff.lair:5:23: error: unknown tensor v
      y[i] += W[i][j] * v[j]
                        ^^^^
hint: tensors: W, x, y
""",
    ),
    "name_of_c": (
        "T x[N]",
        "T double[N]",
        """\
ff.lair:2:16: error: double has a meaning in C
    T W[M][N], T double[N] -> T y[M]
                 ^^^^^^
hint: choose another name

ff.lair:5:23: error: unknown tensor x
      y[i] += W[i][j] * x[j]
                        ^^^^
hint: tensors: W, double, y
""",
    ),
    "name_of_isl": (
        "(i, j)",
        "(i, mod)",
        """\
ff.lair:4:11: error: mod has a meaning in isl
    all (i, mod) in (M, N)
            ^^^
hint: choose another name

ff.lair:5:18: error: unknown iterator j
      y[i] += W[i][j] * x[j]
                   ^
hint: iterators: i, mod

ff.lair:5:25: error: unknown iterator j
      y[i] += W[i][j] * x[j]
                          ^
hint: iterators: i, mod
""",
    ),
    "name_of_the_mapping": (
        "lair ff",
        "lair PE",
        """\
ff.lair:1:6: error: PE has a meaning in the mapping
  lair PE<T=float16>(M, N):
       ^^
hint: choose another name
""",
    ),
    "name_of_a_part_of_another": (
        "T x[N] ",
        "T x[N], T x_taken[N] ",
        """\
ff.lair:2:24: error: x_taken is also what the compiler calls a part of x
    T W[M][N], T x[N], T x_taken[N] -> T y[M]
                         ^^^^^^^
hint: rename one of them
""",
    ),
    "name_of_a_stream_of_another": (
        "T x[N] ",
        "T x[N], T x_stream1_source[N] ",
        """\
ff.lair:2:24: error: x_stream1_source is also what the compiler calls a part of x
    T W[M][N], T x[N], T x_stream1_source[N] -> T y[M]
                         ^^^^^^^^^^^^^^^^
hint: rename one of them
""",
    ),
}


@pytest.mark.parametrize("case", LAIRS)
def test_lair(layer: Any, case: str) -> None:
    old, new, expected = LAIRS[case]
    layer.edit("ff.lair", old, new)
    assert layer.error() == expected

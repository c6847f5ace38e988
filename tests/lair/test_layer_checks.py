"""The rules of LAIR that depend on sizes and types: the whole text of each error."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.lair import parse_lair, specialise

RULES = {
    "size_not_positive": (
        """lair f(M=2): int16 x[M - 2] -> int16 y[2] { all (i) in (2) y[i] = 1 }""",
        """\
f.lair:1:22: error: this size is 0
  lair f(M=2): int16 x[M - 2] -> int16 y[2] { all (i) in (2) y[i] = 1 }
                       ^^^^^
hint: sizes are positive
""",
    ),
    "statement_size_not_positive": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i, j) in (N, N - 5) y[i] += x[i]
}
""",
        """\
f.lair:2:21: error: this size is -1
    all (i, j) in (N, N - 5) y[i] += x[i]
                      ^^^^^
hint: sizes are positive
""",
    ),
    "out_of_bounds_above": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i, j) in (N, 3) y[i] += x[i + j]
}
""",
        """\
f.lair:2:32: error: access to x is out of bounds: i + j reaches 5
    all (i, j) in (N, 3) y[i] += x[i + j]
                                 ^^^^^^^^
hint: index 0 of x goes from 0 to 3
""",
    ),
    "out_of_bounds_below": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[2*i - 3]
}
""",
        """\
f.lair:2:25: error: access to x is out of bounds: 2*i - 3 reaches -3
    all (i) in (N) y[i] = x[2*i - 3]
                          ^^^^^^^^^^
hint: index 0 of x goes from 0 to 3
""",
    ),
    "target_out_of_bounds": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i + 1] = x[i]
}
""",
        """\
f.lair:2:18: error: access to y is out of bounds: i + 1 reaches 4
    all (i) in (N) y[i + 1] = x[i]
                   ^^^^^^^^
hint: index 0 of y goes from 0 to 3
""",
    ),
    "element_undefined": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N - 1) y[i] = x[i]
}
""",
        """\
f.lair:2:22: error: y[3] is not defined
    all (i) in (N - 1) y[i] = x[i]
                       ^^^^
hint: the statement defines every element of y that it reaches, and no other; all are by \
`all (i) in (4) where i < 3 y[i] += ...`: an element to which nothing is reduced is 0
""",
    ),
    "element_undefined_by_stride": (
        """lair f(): int16 x[3] -> int16 y[2][5]
{ all (a, i) in (2, 3) y[a][2*i] = x[i] }""",
        """\
f.lair:2:24: error: y[0][1] is not defined
  { all (a, i) in (2, 3) y[a][2*i] = x[i] }
                         ^^^^^^^^^
hint: the statement defines every element of y that it reaches, and no other; all are by \
`all (a, i, r) in (2, 3, 2) where r < 1 y[a][2*i + r] += ...`: an element to which nothing is \
reduced is 0
""",
    ),
    "several_instances": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i, j) in (N, 2) y[i] = x[i]
}
""",
        """\
f.lair:2:24: error: several instances define one element of y
    all (i, j) in (N, 2) y[i] = x[i]
                         ^^^^
hint: say how to reduce them: `+=` sums
""",
    ),
    "several_instances_by_affine_target": (
        """lair f(): int16 x[3] -> int16 y[4] { all (i, j) in (3, 2) y[i + j] = x[i] }""",
        """\
f.lair:1:59: error: several instances define one element of y
  lair f(): int16 x[3] -> int16 y[4] { all (i, j) in (3, 2) y[i + j] = x[i] }
                                                            ^^^^^^^^
hint: say how to reduce them: `+=` sums
""",
    ),
    "integers_and_floats": (
        """lair f(): int16 x[2] -> float16 y[2] { all (i) in (2) y[i] = x[i] }""",
        """\
f.lair:1:62: error: x is int16, but y is float16
  lair f(): int16 x[2] -> float16 y[2] { all (i) in (2) y[i] = x[i] }
                                                               ^^^^
hint: the tensors of a statement are all floats or all integers
""",
    ),
    "largest_of_wider_integers": (
        """lair f(): int32 x[2] -> int16 y { all (i) in (2) y max= x[i] * 2 }""",
        """\
f.lair:1:57: error: x is int32, but max= keeps y in int16
  lair f(): int32 x[2] -> int16 y { all (i) in (2) y max= x[i] * 2 }
                                                          ^^^^
hint: let y be int32, and another statement make it int16
""",
    ),
    "quotient_of_integers": (
        """lair f(): int16 x[2] -> int16 y[2] { all (i) in (2) y[i] = x[i] / 2 }""",
        """\
f.lair:1:60: error: a quotient is no integer
  lair f(): int16 x[2] -> int16 y[2] { all (i) in (2) y[i] = x[i] / 2 }
                                                             ^^^^^^^^
hint: the statement defines a tensor of int16
""",
    ),
    "exp_of_integer": (
        """lair f(): int16 x[2] -> int16 y[2] { all (i) in (2) y[i] = exp(x[i]) }""",
        """\
f.lair:1:60: error: exp is no integer
  lair f(): int16 x[2] -> int16 y[2] { all (i) in (2) y[i] = exp(x[i]) }
                                                             ^^^^^^^^^
hint: the statement defines a tensor of int16
""",
    ),
    "fraction_as_integer": (
        """lair f(): int16 x[2] -> int16 y[2] { all (i) in (2) y[i] = x[i] * 0.5 }""",
        """\
f.lair:1:67: error: 0.5 is no int16
  lair f(): int16 x[2] -> int16 y[2] { all (i) in (2) y[i] = x[i] * 0.5 }
                                                                    ^^^
hint: the statement defines a tensor of int16
""",
    ),
    "integer_too_small": (
        """lair f(): int16 x[2] -> int16 y[2] { all (i) in (2) y[i] = x[i] + -32769 }""",
        """\
f.lair:1:68: error: 32769 is no int16
  lair f(): int16 x[2] -> int16 y[2] { all (i) in (2) y[i] = x[i] + -32769 }
                                                                     ^^^^^
hint: the statement defines a tensor of int16
""",
    ),
    "integer_too_large": (
        """lair f(): int16 x[2] -> int16 y[2] { all (i) in (2) y[i] = x[i] + 32768 }""",
        """\
f.lair:1:67: error: 32768 is no int16
  lair f(): int16 x[2] -> int16 y[2] { all (i) in (2) y[i] = x[i] + 32768 }
                                                                    ^^^^^
hint: the statement defines a tensor of int16
""",
    ),
    "statement_named_as_tensor": (
        """lair f(): int16 x[2] -> int16 f_y[2], int16 y[2]
{ all (i) in (2) y[i] = x[i] all (i) in (2) f_y[i] = x[i] }""",
        """\
f.lair:1:31: error: f_y is the name of a tensor and of a statement
  lair f(): int16 x[2] -> int16 f_y[2], int16 y[2]
                                ^^^
hint: rename the tensor or the node
""",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule_of_a_node(rule: str) -> None:
    text, expected = RULES[rule]
    with pytest.raises(UserErrors) as caught:
        specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {})
    assert str(caught.value) == expected


def test_isl_is_given_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lairmake.stages.lair.statements.MAX_OPERATIONS", 1)
    text = "lair f(): int16 x[3] -> int16 y[4]\n{ all (i, j) in (3, 2) y[i + j] += x[i] }\n"
    with pytest.raises(UserErrors) as caught:
        specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {})
    assert str(caught.value) == """\
f.lair:2:24: error: cannot tell whether all of y is defined
  { all (i, j) in (3, 2) y[i + j] += x[i] }
                         ^^^^^^^^
hint: use simpler indices on the left
"""

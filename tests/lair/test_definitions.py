"""What the statements of a node define and read: one error each."""

from __future__ import annotations

import pytest

from tests.lair.test_checks import errors_of

RULES = {
    "two_statements_define": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[i]
  all (i) in (N) y[i] = w[i]
}
""",
        """\
f.lair:3:18: error: a second statement defines y
    all (i) in (N) y[i] = w[i]
                   ^^^^
hint: LAIR is single assignment: one statement defines a tensor
""",
    ),
    "output_never_defined": (
        """lair f(): int16 x[2] -> int16 y[2], int16 z[2]
{ all (i) in (2) y[i] = x[i] }""",
        """\
f.lair:1:43: error: no statement defines z
  lair f(): int16 x[2] -> int16 y[2], int16 z[2]
                                            ^
hint: add a statement that defines z
""",
    ),
    "input_defined": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[i]
  all (i) in (N) x[i] = 1
}
""",
        """\
f.lair:3:18: error: x is an input and is defined here
    all (i) in (N) x[i] = 1
                   ^^^^
hint: statements define outputs
""",
    ),
    "output_read": (
        """lair f(): int16 x[2] -> int16 y[2], int16 z[2]
{ all (i) in (2) y[i] = z[i] all (i) in (2) z[i] = x[i] }""",
        """\
f.lair:2:25: error: statement reads z, which no statement before it defines
  { all (i) in (2) y[i] = z[i] all (i) in (2) z[i] = x[i] }
                          ^^^^
hint: put the statement that defines it first
""",
    ),
    "own_output_read": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = y[i] + x[i]
}
""",
        """\
f.lair:2:25: error: statement reads y, which it defines itself
    all (i) in (N) y[i] = y[i] + x[i]
                          ^^^^
hint: statements read what is defined before; what an invocation leaves to the next \
one is named in layer.yaml: `tensors: {INPUT: {next: y}}`; so a recurrence, as forward \
substitution, takes an invocation for each step, or is a program in NumPy
""",
    ),
    "everything_in_the_order_of_the_file": (
        """lair f(): floot16 x[2] -> float16 y[2]
{ all (i) in (2) y[i] = x[i*i] + q[i] }
lair g(): int16 x -> int16 z[2]
{ all (i) in (1) y[i] = x }""",
        """\
f.lair:1:11: error: unknown type floot16
  lair f(): floot16 x[2] -> float16 y[2]
            ^^^^^^^
hint: did you mean float16?

f.lair:2:27: error: access to x is not affine
  { all (i) in (2) y[i] = x[i*i] + q[i] }
                            ^^^
hint: LAIR accesses are sums of iterators times integers

f.lair:2:34: error: unknown tensor q
  { all (i) in (2) y[i] = x[i*i] + q[i] }
                                   ^^^^
hint: tensors: x, y

f.lair:3:28: error: no statement defines z
  lair g(): int16 x -> int16 z[2]
                             ^
hint: add a statement that defines z

f.lair:4:18: error: unknown tensor y
  { all (i) in (1) y[i] = x }
                   ^^^^
hint: tensors: x, z
""",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule_of_what_is_defined(rule: str) -> None:
    text, expected = RULES[rule]
    assert errors_of(text) == expected

"""The rules of a LAIR node: one rule, one table entry, the whole text of its error."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.lair import parse_lair, specialise

RULES = {
    "unknown_type": (
        """lair f(): floot16 x[2] -> float16 y[2] { all (i) in (2) y[i] = x[i] }""",
        """\
f.lair:1:11: error: unknown type floot16
  lair f(): floot16 x[2] -> float16 y[2] { all (i) in (2) y[i] = x[i] }
            ^^^^^^^
hint: did you mean float16?
""",
    ),
    "unknown_type_far_from_all": (
        """lair f(): real x[2] -> float16 y[2] { all (i) in (2) y[i] = x[i] }""",
        """\
f.lair:1:11: error: unknown type real
  lair f(): real x[2] -> float16 y[2] { all (i) in (2) y[i] = x[i] }
            ^^^^
hint: types: float16, float32, int16, int32
""",
    ),
    "unknown_default_type": (
        """lair f<T=half>(): T x[2] -> T y[2] { all (i) in (2) y[i] = x[i] }""",
        """\
f.lair:1:10: error: unknown type half
  lair f<T=half>(): T x[2] -> T y[2] { all (i) in (2) y[i] = x[i] }
           ^^^^
hint: types: float16, float32, int16, int32
""",
    ),
    "node_twice": (
        """lair f(): int16 x -> int16 y[1] { all (i) in (1) y[i] = x }
lair f(): int16 x -> int16 y[1] { all (i) in (1) y[i] = x }""",
        """\
f.lair:2:6: error: f is declared twice
  lair f(): int16 x -> int16 y[1] { all (i) in (1) y[i] = x }
       ^
hint: a name stands for one thing
""",
    ),
    "tensor_twice": (
        """lair f(): int16 x[2], int16 x[2] -> int16 y[2]
{ all (i) in (2) y[i] = x[i] }""",
        """\
f.lair:1:29: error: x is declared twice
  lair f(): int16 x[2], int16 x[2] -> int16 y[2]
                              ^
hint: a name stands for one thing
""",
    ),
    "iterator_twice": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i, i) in (N, N) y[i] += x[i]
}
""",
        """\
f.lair:2:11: error: i is declared twice
    all (i, i) in (N, N) y[i] += x[i]
            ^
hint: a name stands for one thing
""",
    ),
    "iterator_named_as_tensor": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (x) in (N) y[x] = 1
}
""",
        """\
f.lair:2:8: error: x is declared twice
    all (x) in (N) y[x] = 1
         ^
hint: a name stands for one thing

f.lair:2:20: error: access to y is not affine
    all (x) in (N) y[x] = 1
                     ^
hint: LAIR accesses are sums of iterators times integers
""",
    ),
    "name_of_isl": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (mod) in (N) y[mod] = x[mod]
}
""",
        """\
f.lair:2:8: error: mod has a meaning in isl
    all (mod) in (N) y[mod] = x[mod]
         ^^^
hint: choose another name
""",
    ),
    "name_of_c": (
        """lair for(): int16 x -> int16 y[1] { all (i) in (1) y[i] = x }""",
        """\
f.lair:1:6: error: for has a meaning in C
  lair for(): int16 x -> int16 y[1] { all (i) in (1) y[i] = x }
       ^^^
hint: choose another name
""",
    ),
    "name_of_the_mapping": (
        """lair f(): int16 x_local -> int16 y[1] { all (i) in (1) y[i] = x_local }""",
        """\
f.lair:1:17: error: x_local has a meaning in the mapping
  lair f(): int16 x_local -> int16 y[1] { all (i) in (1) y[i] = x_local }
                  ^^^^^^^
hint: choose another name
""",
    ),
    "unknown_tensor": (
        """lair f(): int16 bias[2] -> int16 y[2] { all (i) in (2) y[i] = bais[i] }""",
        """\
f.lair:1:63: error: unknown tensor bais
  lair f(): int16 bias[2] -> int16 y[2] { all (i) in (2) y[i] = bais[i] }
                                                                ^^^^^^^
hint: did you mean bias?
""",
    ),
    "unknown_target": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) z[i] = x[i]
  all (i) in (N) y[i] = x[i]
}
""",
        """\
f.lair:2:18: error: unknown tensor z
    all (i) in (N) z[i] = x[i]
                   ^^^^
hint: tensors: x, w, y
""",
    ),
    "iterators_and_sizes": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i, j) in (N) y[i] += x[j]
}
""",
        """\
f.lair:2:8: error: 2 iterators, but 1 size
    all (i, j) in (N) y[i] += x[j]
         ^^^^
hint: every iterator runs from 0 to its size
""",
    ),
    "size_not_affine": (
        """lair f(M=2, N=2): int16 x[M*N] -> int16 y[2] { all (i) in (2) y[i] = x[i] }""",
        """\
f.lair:1:27: error: this size is not affine
  lair f(M=2, N=2): int16 x[M*N] -> int16 y[2] { all (i) in (2) y[i] = x[i] }
                            ^^^
hint: sizes are sums of size parameters times integers
""",
    ),
    "unknown_size_parameter": (
        """lair f(M=2): int16 x[K] -> int16 y[2] { all (i) in (2) y[i] = x[i] }""",
        """\
f.lair:1:22: error: unknown size parameter K
  lair f(M=2): int16 x[K] -> int16 y[2] { all (i) in (2) y[i] = x[i] }
                       ^
hint: size parameters: M
""",
    ),
    "unknown_function": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = rleu(x[i])
}
""",
        """\
f.lair:2:25: error: unknown function rleu
    all (i) in (N) y[i] = rleu(x[i])
                          ^^^^^^^^^^
hint: did you mean relu?
""",
    ),
    "function_of_indices": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = argmax(x[i])
}
""",
        """\
f.lair:2:25: error: unknown function argmax
    all (i) in (N) y[i] = argmax(x[i])
                          ^^^^^^^^^^^^
hint: find the largest value with max=, then select where it is equal; for indices as values name \
an input that holds them, 0, 1, ...
""",
    ),
    "arguments_of_function": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = max(x[i])
}
""",
        """\
f.lair:2:25: error: max takes 2 arguments, not 1
    all (i) in (N) y[i] = max(x[i])
                          ^^^^^^^^^
""",
    ),
    "number_too_large": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[i] * 1e39
}
""",
        """\
f.lair:2:32: error: this number is too large
    all (i) in (N) y[i] = x[i] * 1e39
                                 ^^^^
hint: float32 ends at 3.4e38
""",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule_of_a_node(rule: str) -> None:
    text, expected = RULES[rule]
    assert errors_of(text) == expected


def errors_of(text: str) -> str:
    with pytest.raises(UserErrors) as caught:
        specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {})
    return str(caught.value)

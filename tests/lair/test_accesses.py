"""The rules of LAIR accesses: the whole text of each error."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.lair import parse_lair, specialise

RULES = {
    "unknown_iterator": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (row) in (N) y[row] = x[rwo]
}
""",
        """\
f.lair:2:31: error: unknown iterator rwo
    all (row) in (N) y[row] = x[rwo]
                                ^^^
hint: did you mean row?
""",
    ),
    "iterator_as_value": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[i] * i
}
""",
        """\
f.lair:2:32: error: i is an iterator, not a value
    all (i) in (N) y[i] = x[i] * i
                                 ^
hint: iterators stand in indices only; for indices as values name an input that \
holds them, 0, 1, ...
""",
    ),
    "too_many_indices": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[i][i]
}
""",
        """\
f.lair:2:25: error: x has 1 dimension, but 2 indices here
    all (i) in (N) y[i] = x[i][i]
                          ^^^^^^^
hint: give one index for each dimension of x
""",
    ),
    "too_few_indices": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x
}
""",
        """\
f.lair:2:25: error: x has 1 dimension, but 0 indices here
    all (i) in (N) y[i] = x
                          ^
hint: give one index for each dimension of x
""",
    ),
    "product_of_iterators": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i, j) in (N, 2) y[i] += w[i] * x[j*j]
}
""",
        """\
f.lair:2:41: error: access to x is not affine
    all (i, j) in (N, 2) y[i] += w[i] * x[j*j]
                                          ^^^
hint: LAIR accesses are sums of iterators times integers
""",
    ),
    "quotient_in_index": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[i / 2]
}
""",
        """\
f.lair:2:27: error: access to x is not affine
    all (i) in (N) y[i] = x[i / 2]
                            ^^^^^
hint: LAIR accesses are sums of iterators times integers
""",
    ),
    "fraction_in_index": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[i + 0.5]
}
""",
        """\
f.lair:2:31: error: access to x is not affine
    all (i) in (N) y[i] = x[i + 0.5]
                                ^^^
hint: LAIR accesses are sums of iterators times integers
""",
    ),
    "tensor_in_index": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[w[i]]
}
""",
        """\
f.lair:2:27: error: access to x is not affine
    all (i) in (N) y[i] = x[w[i]]
                            ^^^^
hint: LAIR accesses are sums of iterators times integers
""",
    ),
    "call_in_index": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[max(i, 2)]
}
""",
        """\
f.lair:2:27: error: access to x is not affine
    all (i) in (N) y[i] = x[max(i, 2)]
                            ^^^^^^^^^
hint: LAIR accesses are sums of iterators times integers
""",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule_of_an_access(rule: str) -> None:
    text, expected = RULES[rule]
    with pytest.raises(UserErrors) as caught:
        specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {})
    assert str(caught.value) == expected

import random

import islpy as isl
import pytest

from lairmake.stages.poly.cardinality import cardinality


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ [i] : 0 <= i <= 9 }", 10),
        ("{ [i] : 0 <= i <= 9 and i mod 3 = 0 }", 4),
        ("[p] -> { [i] : 0 <= i <= p <= 3 }", 10),
        ("[p] -> { : 0 <= p <= 3 }", 4),
        ("{ S[i, j] : 0 <= i <= j <= 2 }", 6),
        ("{ [i] : i >= 0 and i < 0 }", 0),
        ("{ [] }", 1),
        ("{ : }", 1),
        ("{ [i, j] : 2i = 3j and 0 <= i <= 10 }", 4),
    ],
)
def test_elements_for_all_symbolic_constants_are_counted(text, expected):
    assert cardinality(isl.Set(text)) == expected


N = 10**6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{{ [i, j] : 0 <= i < j < {N} }}", N * (N - 1) // 2),
        (f"{{ [i, j, k] : 0 <= i <= j <= k < {N} }}", N * (N + 1) * (N + 2) // 6),
        (f"{{ [i, j] : 0 <= i, j < {N} and (i + j) mod 7 = 3 }}",
         sum(len(range(r, N, 7)) * len(range((3 - r) % 7, N, 7)) for r in range(7))),
        (f"{{ [i, p, r] : 0 <= i < {N} and p = i//64 and r = i mod 64 }}", N),
        (f"{{ [p, s] : exists i : 0 <= i < {N} and p = (i//4) mod 16 and s = i//64 }}", N // 4),
        (f"{{ [i, j] : 0 <= i < {N} and i//3 <= j <= i//2 }}",
         sum(i // 2 - i // 3 + 1 for i in range(N))),
        (f"{{ [i, j] : 0 <= i < {N} and 0 <= j < 9; [i, j] : 0 <= j < {N} and 0 <= i < 9 }}",
         18 * N - 81),
    ],
)
def test_many_elements_are_no_more_work(text, expected):
    assert cardinality(isl.Set(text)) == expected


RANDOM = random.Random(7)


def drawn():
    names = [f"i{k}" for k in range(RANDOM.randint(1, 4))]
    disjuncts = [
        f"[{', '.join(names)}] : {' and '.join([*map(bounds, names), *constraints(names)])}"
        for _ in range(RANDOM.randint(1, 3))
    ]
    return isl.Set(f"{{ {'; '.join(disjuncts)} }}")


def bounds(name):
    return f"{RANDOM.randint(-5, 0)} <= {name} <= {RANDOM.randint(0, 9)}"


def constraints(names):
    for _ in range(RANDOM.randint(0, 3)):
        a, b, c = (RANDOM.choice(names) for _ in range(3))
        f, g, low = RANDOM.randint(-4, 4), RANDOM.randint(-3, 3), RANDOM.randint(-5, 6)
        m, n = RANDOM.randint(2, 7), RANDOM.randint(2, 5)
        yield RANDOM.choice([
            f"{low} <= {a} + {f}{b} + {g}{c}",
            f"({a} + {f}*{b}) mod {m} <= {n}",
            f"{m}{a} >= {f}{b} + {g}{c} + {low}",
            f"floor(({a} + {f}{b})/{m}) <= {g}*floor({c}/{n})",
            f"(exists e : {a} = {m}e + {f}{b} and 2e <= {c})",
            f"{g}{a} + {m}{b} = {f}{c} + {low}",
        ])


@pytest.mark.wide
def test_random_sets_have_as_many_elements_as_are_enumerated():
    for _ in range(250):
        elements = drawn()
        assert cardinality(elements) == elements.count_val().to_python(), elements


@pytest.mark.parametrize("text", ["{ [i] : i >= 0 }", "{ [i, j] : 0 <= i + j <= 5 }", "{ [i] }"])
def test_an_unbounded_set_has_no_number(text):
    with pytest.raises(ValueError, match="unbounded"):
        cardinality(isl.Set(text))


def test_too_many_cases_are_refused():
    with pytest.raises(ValueError, match="counting needs 5003 cases, more than 4096"):
        cardinality(isl.Set("{ [i, j] : 0 <= j <= 5003 and 0 <= 5003i <= 5009j }"))

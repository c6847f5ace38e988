import ctypes
import subprocess
from pathlib import Path

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.fabric.compiler import FLAGS, HERE, c_compiler
from lairmake.stages.pe.speller import spell
from lairmake.stages.poly.arrays import evaluate_pw_aff, evaluate_set
from lairmake.stages.poly.expression import (
    Branch,
    Instance,
    Loop,
    Nest,
    count_operations,
    express,
    express_condition,
    interval,
    make_element_loops,
    make_loop_nest,
)

ANY = "{ : }"
FUNCTIONS = [
    ("{ [(7)] }", ANY, "7", 0),
    ("{ [(-7)] }", ANY, "-7", 0),
    ("[n] -> { [(n)] }", ANY, "n", 0),
    ("[n] -> { [(2n + 3)] }", ANY, "2 * n + 3", 2),
    ("[n] -> { [(-n - 1)] }", ANY, "-n - 1", 2),
    ("[n] -> { [(n // 3)] }", ANY, "floord(n, 3)", 1),
    ("[n] -> { [(n // 3)] }", "[n] -> { : n >= 0 }", "n / 3", 1),
    ("[n] -> { [(n mod 3)] }", "[n] -> { : n >= 0 }", "n % 3", 1),
    ("[n] -> { [(n mod 3)] }", ANY, "n - 3 * floord(n, 3)", 3),
    ("[n] -> { [(4 - 2*((n + 1) mod 2))] }", "[n] -> { : n >= 0 }", "4 - 2 * ((n + 1) % 2)", 4),
    ("[n] -> { [(n)] : n > 0; [(-5)] : n <= 0 }", ANY, "(n <= 0) ? (-5) : n", 2),
    ("[n] -> { [(n)] : n > 0; [(-5)] : n <= 0 }", "[n] -> { : n > 3 }", "n", 0),
    (
        "[n] -> { [(8)] : n = 0; [(2)] : n = 1; [(3)] : n = 2 }",
        "[n] -> { : 0 <= n <= 2 }",
        "(n == 1) ? 2 : ((n == 2) ? 3 : 8)",
        4,
    ),
]
CONDITIONS = [
    ("[n] -> { : n > 0 }", ANY, "n >= 1", 1),
    ("[n] -> { : false }", ANY, "0", 0),
    ("[n, m] -> { : n > 0 and m mod 2 = 0 }", "[m] -> { : m >= 0 }", "n >= 1 && m % 2 == 0", 4),
    ("[n] -> { : exists a : n = 3a + 1 }", ANY, "(n - 1) % 3 == 0", 3),
    (
        "[n, m] -> { : (n > 0 and m > 0) or (n < 0 and m < 0) }",
        ANY,
        "(n <= -1 && m <= -1) || (n >= 1 && m >= 1)",
        7,
    ),
]


@pytest.mark.parametrize(("function", "context", "text", "count"), FUNCTIONS)
def test_functions_as_c(function: str, context: str, text: str, count: int) -> None:
    found = express(isl.PwAff(function), isl.Set(context))
    assert (spell(found), count_operations(found)) == (text, count)


@pytest.mark.parametrize(("condition", "context", "text", "count"), CONDITIONS)
def test_conditions_as_c(condition: str, context: str, text: str, count: int) -> None:
    found = express_condition(isl.Set(condition), isl.Set(context))
    assert found is not None
    assert (spell(found), count_operations(found)) == (text, count)


def test_a_condition_that_always_holds_is_none() -> None:
    assert express_condition(isl.Set("[n] -> { : n > 0 }"), isl.Set("[n] -> { : n > 3 }")) is None


RANDOM = [
    "[n, m] -> { [(n - 2*((m - 3) // 4) + (n mod 5))] }",
    "[n, m] -> { [((n + m // 2) // 3 - (n - m) // 2)] }",
    "[n, m] -> { [(-((n - m) mod 4) - (m - (-n)))] }",
    "[n, m] -> { [(n // 2)] : (n + m) mod 3 = 1; [(m - n)] : (n + m) mod 3 = 2; [(-3 - n)] : "
    "(n + m) mod 3 = 0 }",
    "[n, m] -> { [(n)] : n > m and n > 2; [(m)] : n <= m and n > 2; [(2m - (n // 3))] : n <= 2 }",
    "[n, m] -> { [(3*((n + 7) // 2) - 5*(-m // 3))] : n > m; [(n - m)] : n <= m }",
]
CONTEXTS = ["{ : }", "[n, m] -> { : n >= 0 and m >= 1 }", "[n, m] -> { : m <= 0 }"]
SETS = [
    "[n, m] -> { : n mod 3 = 1 and (m // 2) mod 2 = 0 }",
    "[n, m] -> { : n = 3 or m = 2 or n + m <= -8 }",
    "[n, m] -> { : exists a, b : n = 3a + 5b and 0 <= a <= b and m >= a }",
    "[n, m] -> { : (n - m) mod 2 = 0 and not (n = m) }",
]


def _compiled(expressions: list[str], folder: Path) -> ctypes.CDLL:
    """Compile functions at0, at1, ... of n and m, with the flags of PE programs."""
    lines = [f"int at{k}(int n, int m) {{ (void)n; (void)m; return (int)({text}); }}"
             for k, text in enumerate(expressions)]
    source = folder / "expressions.c"
    source.write_text("\n".join(['#include "pe.h"', *lines, ""]), encoding="utf-8")
    library = folder / "expressions.so"
    command = [*c_compiler(), *FLAGS, "-shared", f"-I{HERE}", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def _differ(function: object, expected: np.ndarray, inside: np.ndarray) -> list[tuple[int, int]]:
    """Return the first few points (n, m) of -9 to 9 where a C function differs."""
    points = [(int(n) - 9, int(m) - 9) for n, m in zip(*np.nonzero(inside), strict=True)]
    wrong = [p for p in points if function(*p) != expected[p[0] + 9, p[1] + 9]]  # type: ignore[operator]
    return wrong[:3]


def test_c_has_the_value_of_the_function_or_condition_in_its_context(tmp_path: Path) -> None:
    axis = np.arange(-9, 10)
    grid = {"n": axis[:, None], "m": axis[None, :]}
    cases = [(f, isl.Set(c)) for c in CONTEXTS for f in (*RANDOM, *SETS)]
    texts, expected = [], []
    for text, context in cases:
        if text in RANDOM:
            texts.append(spell(express(isl.PwAff(text), context)))
            expected.append(evaluate_pw_aff(isl.PwAff(text), grid)[0])
        else:
            condition = express_condition(isl.Set(text), context)
            texts.append("1" if condition is None else spell(condition))
            expected.append(evaluate_set(isl.Set(text), grid))
    library = _compiled(texts, tmp_path)
    for k, (text, context) in enumerate(cases):
        inside = np.broadcast_to(evaluate_set(context, grid), (19, 19))
        assert (text, texts[k], _differ(library[f"at{k}"], expected[k], inside))[2] == []


def _outline(nest: Nest) -> str:
    """Return a nest on one line: loops as `i=0; i <= 3; 1 { ... }`."""
    match nest:
        case Instance():
            return f"S({', '.join(map(spell, nest.arguments))})"
        case Loop(condition=None):
            return f"{nest.iterator}={spell(nest.start)} {_outline(nest.body)}"
        case Loop():
            first, last, step = map(spell, (nest.start, nest.condition, nest.step))
            head = f"{nest.iterator}={first}; {last}; {step}"
            return f"{head} {{ {_outline(nest.body)} }}"
        case Branch():
            other = f" else {_outline(nest.otherwise)}" if nest.otherwise else ""
            return f"if {spell(nest.condition)} {{ {_outline(nest.then)} }}{other}"
    return "; ".join(map(_outline, nest.children))


@pytest.mark.parametrize(
    ("schedule", "context", "outline"),
    [
        (
            "{ S[i, j] -> [i, j] : 0 <= j <= i <= 3 }",
            ANY,
            "t0=0; t0 <= 3; 1 { t1=0; t1 <= t0; 1 { S(t0, t1) } }",
        ),
        ("{ S[i] -> [-i] : 0 <= i <= 3 }", ANY, "t0=-3; t0 <= 0; 1 { S(-t0) }"),
        ("{ S[i] -> [i] : 0 <= i <= 8 and i mod 3 = 1 }", ANY, "t0=1; t0 <= 8; 3 { S(t0) }"),
        (
            "{ S[i, j] -> [j, i] : i = 2 and 0 <= j <= 2 }",
            ANY,
            "t0=0; t0 <= 2; 1 { S(2, t0) }",
        ),
        ("[n] -> { S[i] -> [i] : i = n and n > 3 }", ANY, "if n >= 4 { S(n) }"),
        (
            "[n] -> { S[i] -> [i] : 0 <= i < n and (i < 2 or i > n - 3) }",
            "[n] -> { : 0 <= n < 10 }",
            "t0=0; t0 <= min(1, n - 1); 1 { S(t0) }; t0=max(2, n - 2); t0 < n; 1 { S(t0) }",
        ),
        (
            "[n] -> { S[i] -> [i] : i >= 0 and i >= n - 5 and 6i <= n }",
            "[n] -> { : 0 <= n <= 9 }",
            "if n <= 6 { t0=(n <= 5) ? 0 : 1 S(t0) }",
        ),
        ("{ S[] -> [] }", ANY, "S()"),
        ("[n] -> { S[i] -> [i] : false }", ANY, ""),
    ],
)
def test_loops_run_instances_in_the_order_of_their_times(
    schedule: str, context: str, outline: str
) -> None:
    relation = isl.Map(schedule)
    names = [f"t{k}" for k in range(relation.dim(isl.dim_type.out))]
    assert _outline(make_loop_nest(relation, isl.Set(context), names)) == outline


def test_where_isl_gives_up_each_time_is_asked_for_its_instance() -> None:
    schedule = isl.Map(
        "[n, p] -> { S[i, j, k = 4 - n + i + 12j] -> [n, i' = i, j' = j, k' = k] :"
        " (p + i + j) mod 2 = 0 and 0 <= p <= 1 and 0 <= i <= 1 and 0 <= j <= 1"
        " and -4 + n - i <= 12j <= n - i }"
    )
    context = isl.Set("[n, p] -> { : 0 <= p <= 1 and 0 <= n <= 17 }")
    build = isl.AstBuild.from_context(context)
    with pytest.raises(isl.Error, match="cannot handle void expression"):
        build.node_from_schedule_map(isl.UnionMap.from_map(schedule))
    assert _outline(make_loop_nest(schedule, context, ["t", "i", "j", "k"])) == (
        "t=n i=0; i <= 1; 1 { j=0; j <= 1; 1 { k=12 * j + i - t + 4"
        " if k >= 0 && k <= 4 && (11 * k + 11 * n + 12 * p + i + 4) % 24 == 0"
        " { S(i, j, i - n + 12 * j + 4) } } }"
    )


@pytest.mark.parametrize(
    ("values", "context", "least", "greatest"),
    [
        ("{ [i] : 2 <= i <= 5 }", ANY, "2", "5"),
        ("[n] -> { [i] : 0 <= i <= 13 and n - 2 <= i <= n }", ANY, "max(0, n - 2)", "min(13, n)"),
        ("[n] -> { [i] : i = n + 1 }", ANY, "n + 1", "n + 1"),
        ("[n] -> { [i] : n <= i <= n + 3 and (i - n) mod 2 = 0 }", ANY, "n", "n + 2"),
    ],
)
def test_the_ends_of_an_interval_read_as_the_bounds_of_a_loop(
    values: str, context: str, least: str, greatest: str
) -> None:
    first, last = interval(isl.Set(values), isl.Set(context))
    assert (spell(first), spell(last)) == (least, greatest)


def test_elements_are_run_in_lexicographic_order() -> None:
    elements = isl.Set("{ T[i, j] : 0 <= i <= 1 and i <= j <= 2 }")
    found = _outline(make_element_loops(elements, isl.Set(ANY), ["i", "j"]))
    assert found == "i=0; i <= 1; 1 { j=i; j <= 2; 1 { S(i, j) } }"

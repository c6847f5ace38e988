"""Signs and words of other languages: where the error is, what to write, and that this is LAIR."""

import re

import numpy as np
import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.lair import parse_lair, specialise
from lairmake.stages.reference.evaluate import evaluate_all

HEAD = "lair f(N=8): float16 x[N], float16 W[N][N] -> float16 y[N]\n{\n"
CUT = "`//` begins a comment here: the rest of the line is not read"
LOOPS = "`all (i, j) in (M, N)`"
ALL = "all (i) in (N) "
SLIPS = {
    f"{ALL}y[i] = x[i // 2]": ("x[i ", "`2*a + b` stand for i",
                               "all (a, b) in (4, 2) y[2*a + b] = x[a]"),
    f"{ALL}y[i] = x[i//4] + 1": ("x[i", "`4*a + b` stand for i",
                                 "all (a, b) in (2, 4) y[4*a + b] = x[a] + 1"),
    f"{ALL}y[i] = x[i % 2]": ("x[i ", "`b` is `i mod 2`", "all (a, b) in (4, 2) y[2*a + b] = x[b]"),
    f"{ALL}y[i] = x[i mod 2]": ("x[i ", "`b` is `i mod 2`",
                                "all (a, b) in (4, 2) y[2*a + b] = x[b]"),
    f"{ALL}y[i] = x[i] // 2": ("x[i] ", "a quotient of values is `/`", f"{ALL}y[i] = x[i] / 2"),
    f"{ALL}y[i] = (x[i] // 2)": ("x[i] ", "a quotient of values is `/`", f"{ALL}y[i] = (x[i] / 2)"),
    "all (i) in (N // 2) y[i] = x[i]": ("(N ", "a quotient is a parameter, too", ""),
    f"{ALL}y[i] = x[i] ** 2": ("x[i] *", "`x * x`", f"{ALL}y[i] = x[i] * x[i]"),
    f"{ALL}y[i] = x[i] ^ 2": ("x[i] ", "`pow(x, 2)`", f"{ALL}y[i] = pow(x[i], 2)"),
    f"{ALL}where i =< 3 y[i] += x[i]": ("where i =", "`<=`", f"{ALL}where i <= 3 y[i] += x[i]"),
    f"{ALL}where i => 3 y[i] += x[i]": ("where i =", "`>=`", f"{ALL}where i >= 3 y[i] += x[i]"),
    f"{ALL}where i <> 3 y[i] += x[i]": ("where i <", "`!=`", f"{ALL}where i != 3 y[i] += x[i]"),
    f"{ALL}where i < 3 && i > 1 y[i] += x[i]": ("i < 3 ", "joined by `and`",
                                                f"{ALL}where i < 3 and i > 1 y[i] += x[i]"),
    f"{ALL}where i < 3 or i > 5 y[i] += x[i]": ("or ", "joined by `and`", ""),
    f"{ALL}where i % 2 = 0 y[i] += x[i]": ("where i ", "`where i mod 2 = 0`",
                                           f"{ALL}where i mod 2 = 0 y[i] += x[i]"),
    f"{ALL}if i < 3 y[i] += x[i]": ("if ", "`where`", f"{ALL}where i < 3 y[i] += x[i]"),
    f"{ALL}y[i] = x[i];": ("x[i]", "without a `;`", f"{ALL}y[i] = x[i]"),
    "all (i, j) in (N, N) y[i] += W[i, j]": ("W[i", "`W[i][j]`",
                                             "all (i, j) in (N, N) y[i] += W[i][j]"),
    f"{ALL}y[i] = x[i] \u2212 1": ("x[i] ", "`-`, of ASCII", f"{ALL}y[i] = x[i] - 1"),
    f"{ALL}y[i] = x[i] \u00d7 2": ("x[i] ", "`*`, of ASCII", f"{ALL}y[i] = x[i] * 2"),
    f"{ALL}y[i] =\u00a0x[i]": ("y[i] =", "write a space", f"{ALL}y[i] = x[i]"),
    f"{ALL}where i \u2264 3 y[i] += x[i]": ("where i ", "`<=`", f"{ALL}where i <= 3 y[i] += x[i]"),
    "for i in N y[i] = x[i]": ("for i ", LOOPS, f"{ALL}y[i] = x[i]"),
    "for (i) in (N) y[i] = x[i]": ("for ", LOOPS, f"{ALL}y[i] = x[i]"),
    "for i in range(N): y[i] = x[i]": ("for i ", LOOPS, f"{ALL}y[i] = x[i]"),
    "all i in N y[i] = x[i]": ("all ", LOOPS, f"{ALL}y[i] = x[i]"),
    "ALL (i) in (N) y[i] = x[i]": ("ALL ", "`all`", f"{ALL}y[i] = x[i]"),
    "all (i) in (N): y[i] = x[i]": ("(N)", "without a sign between", f"{ALL}y[i] = x[i]"),
    "all (i) in (N) { y[i] = x[i] }": ("(N) ", "without a sign between", f"{ALL}y[i] = x[i]"),
    "all (i) in (0:N) y[i] = x[i]": ("(0", "`all (i) in (N)`", f"{ALL}y[i] = x[i]"),
    f"{ALL}y[i] := x[i]": ("y[i] ", "`=`", f"{ALL}y[i] = x[i]"),
    f"{ALL}y[i] <- x[i]": ("y[i] ", "`y[i] = x[i]`", f"{ALL}y[i] = x[i]"),
    f"{ALL}y[i] == x[i]": ("y[i] =", "`=` defines", f"{ALL}y[i] = x[i]"),
    f"{ALL}y[i] -= x[i]": ("y[i] ", "`y[i] += -x[i]`", f"{ALL}y[i] += -x[i]"),
    f"{ALL}y[i] /= x[i]": ("y[i] ", "`y[i] *= 1 / x[i]`", f"{ALL}y[i] *= 1 / x[i]"),
    f"{ALL}y(i) = x[i]": ("y", "`y[i]`", f"{ALL}y[i] = x[i]"),
    f"{ALL}y[i] = x[i] > 0": ("x[i] ", "`less(0, x)`", f"{ALL}y[i] = less(0, x[i])"),
    f"{ALL}y[i] = if x[i] then 1 else 0": ("if ", "`select(less(0, x), a, b)`",
                                           f"{ALL}y[i] = select(less(0, x[i]), 1, 0)"),
    f"{ALL}y[i] = x[i] and x[i]": ("x[i] ", "`a * b` is and", f"{ALL}y[i] = x[i] * x[i]"),
    f"{ALL}y[i] = 2x[i]": ("= 2", "`2 * x`", f"{ALL}y[i] = 2 * x[i]"),
    f"{ALL}y[i] = x[i] /* all */": ("x[i] /", "`#` or `//`", f"{ALL}y[i] = x[i] # all"),
    f"{ALL}y[i] = x[i] * 1_000": ("* 1", "numbers are decimal", f"{ALL}y[i] = x[i] * 1000"),
    f"{ALL}y[i] = x[i] * 0x10": ("* 0", "numbers are decimal", f"{ALL}y[i] = x[i] * 16"),
    f"{ALL}y[i] = +x[i]": ("= ", "no `+` before it", f"{ALL}y[i] = x[i]"),
    f"{ALL}y[i] = math.exp(x[i])": ("math", "`exp(x[i])`", f"{ALL}y[i] = exp(x[i])"),
    "all (i, j) in (N, N) y[i] += W[i][:]": ("W[i][", "`x[i + 1]`",
                                             "all (i, j) in (N, N) y[i] += W[i][j]"),
    f"{ALL}y[i] = W' * x[i]": ("W", "`W[j][i]`", "all (i, j) in (N, N) y[i] += W[j][i]"),
    f"{ALL}y[i] = x[i": ("", "the `[` in line 3 is still open", f"{ALL}y[i] = x[i]"),
    f"{ALL}y[i] = (x[i]": ("", "the `(` in line 3 is still open", f"{ALL}y[i] = (x[i])"),
    f"{ALL}float16 t[N] = x[i]": ("float16 ", "stand before its statements", ""),
}
"""A statement, what stands before its error (nothing: it is at the end), a part of the hint, and
what the hint makes of the statement."""
INPUTS = {"x": np.ones(8, "float16"), "W": np.ones((8, 8), "float16")}


def read(text):
    return specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {})


@pytest.mark.parametrize("statement", SLIPS)
def test_a_slip_is_shown_where_it_is_with_what_is_right(statement):
    before, hint, right = SLIPS[statement]
    text = f"{HEAD}{statement}\n}}\n"
    with pytest.raises(UserErrors) as caught:
        read(text)
    (error,) = caught.value.errors
    start = text.index(before, len(HEAD)) + len(before) if before else text.rindex("}")
    assert (error.span.start, hint in str(error.hint)) == (start, True), str(error)
    if right:
        assert evaluate_all(read(f"{HEAD}{right}\n}}\n"), [INPUTS])[0]["y"].shape == (8,)


def test_grouped_heads_are_written_with_two_iterators():
    """As the hint says: h is 2*a + b, and `h // 2` is a."""
    head = "lair s(): float16 q[4][8], float16 k[2][8] -> float16 y[4] {\n"
    with pytest.raises(UserErrors) as caught:
        read(f"{head}  all (h, d) in (4, 8)\n    y[h] += q[h][d] * k[h//2][d]\n}}\n")
    assert str(caught.value) == f"""\
f.lair:3:26: error: {CUT}
      y[h] += q[h][d] * k[h//2][d]
                           ^^^^^^^
hint: indices are sums of iterators times integers: let `2*a + b` stand for h, with b below 2, \
and `a` is `h // 2`
"""
    right = "all (a, b, d) in (2, 2, 8) y[2*a + b] += q[2*a + b][d] * k[a][d]"
    q, k = np.random.default_rng(3).integers(-3, 4, (6, 8)).astype("float16")[:4], np.ones((2, 8))
    k = np.random.default_rng(4).integers(-3, 4, (2, 8)).astype("float16")
    found = evaluate_all(read(f"{head}{right}}}\n"), [{"q": q, "k": k}])[0]["y"]
    assert found.tolist() == (q * k.repeat(2, axis=0)).sum(1).tolist()


@pytest.mark.parametrize("text", [
    f"{HEAD}{ALL}y[i] = x[i] // halves\n}}\n", f"{HEAD}{ALL}y[i] = x[i] # 2\n}}\n",
    f"{HEAD}{ALL}y[i] = x[i] // 2 of them\n}}\n", f"{HEAD}// 2\n{ALL}y[i] = x[i]\n}}\n",
    f"{HEAD}{ALL}where i // 2\n = 1 y[i] += x[i] # a // 2\n}}\n",
    HEAD.replace("x[N], ", "x[N], // rows\n") + f"{ALL}y[i] = x[i]\n}}\n",
])
def test_comments_stay_comments(text):
    bare = re.sub("#.*|(?<!where i )//.*", "", text)  # behind `where` it is a quotient
    found, expected = (evaluate_all(read(each), [INPUTS])[0]["y"] for each in (text, bare))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(("text", "said"), [
    ("lair f(N=8): x[N] -> float16 y[N] {}", "hint: a tensor has its type before it: `float16 x"),
    ("lair f(N=8): float16 x[N] => float16 y[N] {}", "hint: the sign is `->`"),
    ("lair f(N: 8): float16 x[N] -> float16 y[N] {}", "`lair f(N=8)`"),
    ("lair f(N=8): float16 x[N] -> float16 y[N] {\nall (i) in (N) y[i] = x[i]\n",
     "hint: a node ends with `}`"),
    ("lair f(N=8): float16 x[N // 2] -> float16 y[N] {}", "hint: a size is a sum of size param"),
])
def test_slips_of_a_head(text, said):
    with pytest.raises(UserErrors) as caught:
        read(text)
    assert said in str(caught.value)

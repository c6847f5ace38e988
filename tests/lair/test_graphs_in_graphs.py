"""Graphs that graphs call, and tensors of nodes of their own: names, values, errors."""

import numpy as np
import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.lair import parse_lair, specialise
from lairmake.stages.reference.evaluate import evaluate_all

NODES = """lair add(N): int16 a[N], int16 b[N] -> int16 c[N]
{ all (i) in (N) c[i] = a[i] + b[i] }
lair square<T=int16>(N): T a[N] -> T c[N]
{
  T half[N], T twice[N]
  all (i) in (N) half[i] = a[i] * 3
  all (i) in (N) twice[i] = half[i] + a[i]
  all (i) in (N) c[i] = a[i] * twice[i]
}
"""
OUTER = """graph both(N): int16 a[N], int16 b[N] -> int16 c[N], int16 d[N]
{
  t = add(N)(a, b)
  c = square<int16>(N)(t)
  d = add(N)(t, b)
}
graph top(): int16 x[4], int16 y[4] -> int16 z[4]
{
  u, v = both(4)(y, x)
  z = add(4)(v, u)
}
"""


def layer_of(text, top=None):
    return specialise(parse_lair(Source(path="f.lair", text=text)), top, {}, {})


def test_what_a_graph_calls_is_called_after_its_first_result():
    layer = layer_of(NODES + OUTER)
    assert [tensor.name for tensor in layer.internals] == [
        "u_t", "u", "u_half", "u_twice", "v",
    ]
    assert [statement.name for statement in layer.statements] == [
        "u_t_add", "square_u_half", "square_u_twice", "square_u", "v_add", "z_add",
    ]


def test_a_graph_in_a_graph_gives_what_its_nodes_do():
    x, y = np.array([1, 2, 3, 4], np.int16), np.array([5, 0, -3, 7], np.int16)
    (found,) = evaluate_all(layer_of(NODES + OUTER), [{"x": x, "y": y}])
    t = y + x
    assert found["z"].tolist() == ((t + x) + 4 * t * t).tolist()


def test_tensors_of_a_node_at_the_top_have_their_own_names():
    text = NODES.replace("square<T=int16>(N)", "square<T=int16>(N=2)")
    layer = layer_of(text, "square")
    assert [tensor.name for tensor in layer.internals] == ["half", "twice"]
    assert [s.name for s in layer.statements] == ["square_half", "square_twice", "square_c"]


ERRORS = {
    "itself": ("graph g(): int16 x[4] -> int16 y[4] { y = g()(x) }", """\
f.lair:10:43: error: g calls itself
  graph g(): int16 x[4] -> int16 y[4] { y = g()(x) }
                                            ^
hint: a graph is written out where it is called, so its calls must come to an end
"""),
    "each_other": ("""graph g(): int16 x[4] -> int16 y[4] { y = h()(x) }
graph h(): int16 x[4] -> int16 y[4] { y = g()(x) }""", """\
f.lair:10:43: error: g calls h, which calls g
  graph g(): int16 x[4] -> int16 y[4] { y = h()(x) }
                                            ^
hint: a graph is written out where it is called, so its calls must come to an end

f.lair:11:43: error: h calls g, which calls h
  graph h(): int16 x[4] -> int16 y[4] { y = g()(x) }
                                            ^
hint: a graph is written out where it is called, so its calls must come to an end
"""),
    "sizes_of_a_graph": (OUTER.replace("both(4)", "both(5)"), """\
f.lair:18:10: error: y is int16[4], but both has a as int16[5]
    u, v = both(5)(y, x)
           ^^^^
hint: make them agree

f.lair:18:10: error: x is int16[4], but both has b as int16[5]
    u, v = both(5)(y, x)
           ^^^^
hint: make them agree

f.lair:19:7: error: v is int16[5], but add has a as int16[4]
    z = add(4)(v, u)
        ^^^
hint: make them agree

f.lair:19:7: error: u is int16[5], but add has b as int16[4]
    z = add(4)(v, u)
        ^^^
hint: make them agree
"""),
    "unknown": ("graph g(): int16 x[4] -> int16 y[4] { y = soft()(x) }", """\
f.lair:10:43: error: unknown node soft
  graph g(): int16 x[4] -> int16 y[4] { y = soft()(x) }
                                            ^^^^
hint: nodes and graphs: add, square
"""),
    "same_name": (OUTER.replace("z = add(4)(v,", "u_t = add(4)(v, u)\n  z = add(4)(u_t,"), """\
f.lair:18:10: error: u_t is also what the compiler calls t of both
    u, v = both(4)(y, x)
           ^^^^
hint: rename one of them
"""),
    "own_not_read": ("""lair f(): int16 x[4] -> int16 y[4]
{ int16 t[4]
  all (i) in (4) t[i] = x[i]
  all (i) in (4) y[i] = x[i] }""", """\
f.lair:11:9: error: no statement reads t
  { int16 t[4]
          ^
hint: what f gives stands behind `->`
"""),
    "own_not_defined": ("""lair f(): int16 x[4] -> int16 y[4]
{ int16 t[4]
  all (i) in (4) y[i] = t[i] }""", """\
f.lair:11:9: error: no statement defines t
  { int16 t[4]
          ^
hint: add a statement that defines t

f.lair:12:25: error: statement reads t, which no statement before it defines
    all (i) in (4) y[i] = t[i] }
                          ^^^^
hint: put the statement that defines it first
"""),
}


@pytest.mark.parametrize("error", ERRORS)
def test_error(error):
    text, expected = ERRORS[error]
    with pytest.raises(UserErrors) as caught:
        layer_of(NODES + text + "\n")
    assert str(caught.value) == expected


def test_what_only_other_statements_read_is_defined_where_they_read_it():
    text = """lair f(N=4): int16 x[N] -> int16 y[N]
{
  int16 t[N][N]
  all (i, j) in (N, N) where j <= i
    t[i][j] = x[j]
  all (i, j) in (N, N) where %s
    y[i] += t[i][j]
}
"""
    assert layer_of(text % "j < i").internals[0].name == "t"
    with pytest.raises(UserErrors) as caught:
        layer_of(text % "j <= i + 1")
    assert str(caught.value) == """\
f.lair:5:5: error: t[0][1] is not defined
      t[i][j] = x[j]
      ^^^^^^^
hint: `=` defines elements only where its conditions hold; `+=` gives others 0
"""

"""The layer that a graph of nodes is: its statements and its tensors."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.lair import Layer, parse_lair, specialise
from tests.lair.test_graphs import NODE_FF


def layer_of(text: str, **sizes: int) -> Layer:
    return specialise(parse_lair(Source(path="f.lair", text=text)), None, sizes, {})


def test_a_graph_with_one_call_builds_its_node_under_the_names_of_the_graph() -> None:
    graph = """graph g<S=float32>(K): S a[K + 1][4], S b[4] -> S c[K + 1]
      { c = ff<S>(K + 1)(a, b) }"""
    layer = layer_of(NODE_FF + graph, K=7)
    assert [(t.name, t.type, t.shape) for t in layer.inputs] == [
        ("a", "float32", (8, 4)),
        ("b", "float32", (4,)),
    ]
    assert [(t.name, t.type, t.shape) for t in layer.outputs] == [("c", "float32", (8,))]
    (statement,) = layer.statements
    assert (layer.name, statement.name, statement.sizes) == ("g", "ff", (8, 4))
    assert [access.tensor for access in (statement.target, *statement.reads)] == ["c", "a", "b"]


def test_a_call_without_sizes_takes_the_defaults() -> None:
    node = "lair id(N=3): int16 x[N] -> int16 y[N] { all (i) in (N) y[i] = x[i] }"
    layer = layer_of(node + " graph g(): int16 a[3] -> int16 b[3] { b = id(a) }")
    assert layer.statements[0].sizes == (3,)


CHAIN = NODE_FF + """lair add(N): float16 a[N], float16 b[N] -> float16 s[N]
  { all (i) in (N) s[i] = a[i] + b[i] }
graph g(): float16 W[4][4], float16 x[4] -> float16 y[4], float16 t[4]
  { y = add(4)(u, x) u = ff(4)(W, t) t = ff(4)(W, x) }"""


def test_statements_of_a_graph_stand_after_what_they_read() -> None:
    layer = layer_of(CHAIN)
    assert [s.name for s in layer.statements] == ["t_ff", "u_ff", "add"]
    assert [t.name for t in layer.outputs] == ["y", "t"]
    assert [(t.name, t.type, t.shape) for t in layer.internals] == [("u", "float16", (4,))]
    assert [a.tensor for a in layer.statements[1].reads] == ["W", "t"]


def test_a_delay_is_a_chain_of_tensors_carried_from_one_to_the_next() -> None:
    file = parse_lair(Source(path="f.lair", text=CHAIN))
    layer = specialise(file, None, {}, {}, delays={"u_ff.x": 2, "add.a": 1})
    assert [s.name for s in layer.statements] == ["add", "u_ff", "t_ff"]
    assert [a.tensor for a in layer.statements[0].reads] == ["u_delay1", "x"]
    assert [t.name for t in layer.delayed] == ["u_delay1", "t_delay1", "t_delay2"]
    assert [(c.tensor, c.source) for c in layer.carries] == [
        ("u_delay1", "u"), ("t_delay2", "t_delay1"), ("t_delay1", "t"),
    ]


def test_a_delay_of_what_no_node_reads() -> None:
    file = parse_lair(Source(path="f.lair", text=CHAIN))
    with pytest.raises(UserErrors) as caught:
        specialise(file, None, {}, {}, delays={"add.c": 2, "ff.x": 1})
    assert str(caught.value) == """\
error: no node reads add.c
hint: did you mean add.b?

error: no node reads ff.x
hint: did you mean u_ff.x?
"""


def test_a_tensor_with_the_name_of_a_delayed_one() -> None:
    node = "lair f(): int16 x, int16 x_delay1 -> int16 y[1] { all (i) in (1) y[i] = x + x_delay1 }"
    with pytest.raises(UserErrors) as caught:
        specialise(parse_lair(Source(path="f.lair", text=node)), None, {}, {}, delays={"f.x": 1})
    assert str(caught.value) == """\
f.lair:1:26: error: x_delay1 is also what the compiler calls a delayed x
  lair f(): int16 x, int16 x_delay1 -> int16 y[1] { all (i) in (1) y[i] = x + x_delay1 }
                           ^^^^^^^^
hint: rename it
"""

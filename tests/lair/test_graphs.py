"""LAIR graphs: one rule, one table entry, the whole text of its error."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.lair import parse_lair, specialise

NODE_FF = """lair ff<T=float16>(M, N=4): T W[M][N], T x[N] -> T y[M]
  { all (i, j) in (M, N) y[i] += W[i][j] * x[j] }
"""

RULES = {
    "unknown_node": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8]
{ c = fff(8)(a, b) }""",
        """\
f.lair:4:7: error: unknown node fff
  { c = fff(8)(a, b) }
        ^^^
hint: did you mean ff?
""",
    ),
    "graph_inputs": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8] { c = ff(8)(a) }""",
        """\
f.lair:3:64: error: ff takes 2 inputs, not 1
  graph g(): float16 a[8][4], float16 b[4] -> float16 c[8] { c = ff(8)(a) }
                                                                 ^^
""",
    ),
    "graph_outputs": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8], float16 d[8]
{ c, d = ff(8)(a, b) }""",
        """\
f.lair:4:10: error: ff gives 1 output, not 2
  { c, d = ff(8)(a, b) }
           ^^
""",
    ),
    "graph_sizes": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8]
{ c = ff(8, 4, 2)(a, b) }""",
        """\
f.lair:4:7: error: ff has 2 size parameters, not 3
  { c = ff(8, 4, 2)(a, b) }
        ^^
""",
    ),
    "graph_types": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8]
{ c = ff<float16, int16>(8)(a, b) }""",
        """\
f.lair:4:7: error: ff has 1 type parameter, not 2
  { c = ff<float16, int16>(8)(a, b) }
        ^^
""",
    ),
    "graph_unknown_type": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8]
{ c = ff<float17>(8)(a, b) }""",
        """\
f.lair:4:10: error: unknown type float17
  { c = ff<float17>(8)(a, b) }
           ^^^^^^^
hint: types: float16, float32, int16, int32
""",
    ),
    "graph_missing_size": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8] { c = ff(a, b) }""",
        """\
f.lair:3:64: error: size M of ff has no value
  graph g(): float16 a[8][4], float16 b[4] -> float16 c[8] { c = ff(a, b) }
                                                                 ^^
hint: give it in the call: `ff(M, N)(...)`
""",
    ),
    "graph_unknown_tensor": (
        NODE_FF + """graph g(): float16 alpha[8][4], float16 b[4] -> float16 c[8]
{ c = ff(8)(alhpa, b) }""",
        """\
f.lair:4:13: error: unknown tensor alhpa
  { c = ff(8)(alhpa, b) }
              ^^^^^
hint: did you mean alpha?
""",
    ),
    "graph_argument_computed": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8]
{ c = ff(8)(a, b + b) }""",
        """\
f.lair:4:16: error: an argument is a whole tensor
  { c = ff(8)(a, b + b) }
                 ^^^^^
hint: computing is for nodes; a graph passes tensors on
""",
    ),
    "graph_result_indexed": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8]
{ c[2] = ff(8)(a, b) }""",
        """\
f.lair:4:3: error: a result is a whole tensor
  { c[2] = ff(8)(a, b) }
    ^^^^
hint: write c
""",
    ),
    "graph_input_defined": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8]
{ c = ff(8)(a, b) b = ff(8)(a, b) }""",
        """\
f.lair:4:19: error: b is an input and is defined here
  { c = ff(8)(a, b) b = ff(8)(a, b) }
                    ^
hint: calls define outputs
""",
    ),
    "graph_output_undefined": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8], float16 d
{ c = ff(8)(a, b) }""",
        """\
f.lair:3:67: error: no call defines d
  graph g(): float16 a[8][4], float16 b[4] -> float16 c[8], float16 d
                                                                    ^
hint: add a call that defines d
""",
    ),
    "graph_output_twice": (
        NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8]
{ c = ff(8)(a, b) c = ff(8)(a, b) }""",
        """\
f.lair:4:19: error: a second call defines c
  { c = ff(8)(a, b) c = ff(8)(a, b) }
                    ^
hint: LAIR is single assignment: one call defines a tensor
""",
    ),
    "graph_reads_what_it_defines": (
        NODE_FF + """graph g(): float16 a[4][4] -> float16 c[4]
{ c = ff(4)(a, c) }""",
        """\
f.lair:4:7: error: ff reads c, which it defines itself
  { c = ff(4)(a, c) }
        ^^
hint: read the value of an invocation before: `delays: {"ff.x": 1}` in layer.yaml
""",
    ),
    "graph_cycle": (
        NODE_FF + """graph g(): float16 a[4][4], float16 b[4] -> float16 c[4], float16 e[4]
{ c = ff(4)(a, d) d = ff(4)(a, e) e = ff(4)(a, c) }""",
        """\
f.lair:4:39: error: c_ff and d_ff and e_ff wait for each other
  { c = ff(4)(a, d) d = ff(4)(a, e) e = ff(4)(a, c) }
                                        ^^
hint: read the value of an invocation before: `delays: {"e_ff.x": 1}` in layer.yaml
""",
    ),
    "graph_internal_name": (
        NODE_FF + """graph g(K): float16 a[K][K], float16 b[K] -> float16 c[K]
{ K = ff(K, K)(a, b) index = ff(K, K)(a, K) c = ff(K, K)(a, index) }""",
        """\
f.lair:3:9: error: size K of g has no value
  graph g(K): float16 a[K][K], float16 b[K] -> float16 c[K]
          ^
hint: add `sizes: {K: ...}` to layer.yaml

f.lair:4:3: error: K is declared twice
  { K = ff(K, K)(a, b) index = ff(K, K)(a, K) c = ff(K, K)(a, index) }
    ^
hint: a name stands for one thing

f.lair:4:22: error: index has a meaning in the mapping
  { K = ff(K, K)(a, b) index = ff(K, K)(a, K) c = ff(K, K)(a, index) }
                       ^^^^^
hint: choose another name
""",
    ),
    "graph_internal_shape": (
        NODE_FF + """graph g(): float16 a[5][4], float16 b[4] -> float16 c[5]
{ t = ff(5)(a, b) c = ff(5)(a, t) }""",
        """\
f.lair:4:23: error: t is float16[5], but ff has x as float16[4]
  { t = ff(5)(a, b) c = ff(5)(a, t) }
                        ^^
hint: make them agree
""",
    ),
    "graph_shape": (
        NODE_FF + """graph g(): float16 a[8][5], float16 b[4] -> float16 c[8]
{ c = ff(8)(a, b) }""",
        """\
f.lair:4:7: error: a is float16[8][5], but ff has W as float16[8][4]
  { c = ff(8)(a, b) }
        ^^
hint: make them agree
""",
    ),
    "graph_type": (
        NODE_FF + """graph g(): float16 a[8][4], float32 b[4] -> float16 c[8]
{ c = ff(8)(a, b) }""",
        """\
f.lair:4:7: error: b is float32[4], but ff has x as float16[4]
  { c = ff(8)(a, b) }
        ^^
hint: make them agree
""",
    ),
    "graph_result_used_nowhere": (
        """lair f(): int16 x -> int16 y[1], int16 z[1]
{ all (i) in (1) y[i] = x all (i) in (1) z[i] = x }
graph g(): int16 x -> int16 y[1]
{ y, t = f(x) }""",
        """\
f.lair:4:6: error: t is used nowhere
  { y, t = f(x) }
       ^
hint: outputs: y
""",
    ),
    "node_called_defined_twice": (
        NODE_FF + NODE_FF + """graph g(): float16 a[8][4], float16 b[4] -> float16 c[8]
{ c = ff(8)(a, b) }""",
        """\
f.lair:3:6: error: ff is declared twice
  lair ff<T=float16>(M, N=4): T W[M][N], T x[N] -> T y[M]
       ^^
hint: a name stands for one thing
""",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rule_of_a_graph(rule: str) -> None:
    text, expected = RULES[rule]
    with pytest.raises(UserErrors) as caught:
        specialise(parse_lair(Source(path="f.lair", text=text)), None, {}, {})
    assert str(caught.value) == expected

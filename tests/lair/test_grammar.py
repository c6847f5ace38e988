"""The syntax of LAIR, and its errors: one rule, one table entry, the whole text of its error."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.lair import parse_lair, tree

ERRORS = {
    "end": (
        """lair f(""",
        """\
f.lair:1:8: error: found the end of the file, expected `)` or a name
  lair f(
         ^
hint: the `(` in line 1 is still open
""",
    ),
    "empty": (
        "",
        """\
f.lair:1:1: error: found the end of the file, expected `graph` or `lair`
  
  ^
""",
    ),
    "product_without_star": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[2i]
}
""",
        """\
f.lair:2:28: error: found `i`, expected `*`, `+`, `-`, `/` or `]`
    all (i) in (N) y[i] = x[2i]
                             ^
hint: a product has a sign: `2 * i`
""",
    ),
    "misspelt_keyword": (
        """lairf() : int16 x -> int16 y { }""",
        """\
f.lair:1:1: error: found `lairf`, expected `graph` or `lair`
  lairf() : int16 x -> int16 y { }
  ^^^^^
""",
    ),
    "operator": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] * x[i]
}
""",
        """\
f.lair:2:23: error: found `*`, expected `*=`, `+=`, `=`, `max=` or `min=`
    all (i) in (N) y[i] * x[i]
                        ^
""",
    ),
    "missing_expression": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] +=
}
""",
        """\
f.lair:3:1: error: found `}`, expected `(`, `-`, a name or a number
  }
  ^
""",
    ),
    "foreign_character": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[i] % 2
}
""",
        """\
f.lair:2:30: error: found `%`, which is no part of LAIR
    all (i) in (N) y[i] = x[i] % 2
                               ^
hint: a remainder is `i mod 2`, and stands in conditions: `where i mod 2 = 0`
""",
    ),
    "semicolon": (
        "lair f() : int16 x -> int16 y[1] { all (i) in (1) y[i] = x; }",
        """\
f.lair:1:59: error: found `;`, which is no part of LAIR
  lair f() : int16 x -> int16 y[1] { all (i) in (1) y[i] = x; }
                                                            ^
hint: a statement ends where the next one begins, without a `;`
""",
    ),
    "quotient_in_an_index": (
        """lair f() : int16 x[1] -> int16 y[2] {
  all (i) in (2) y[i] = x[i // 2]
}
""",
        """\
f.lair:2:29: error: `//` begins a comment here: the rest of the line is not read
    all (i) in (2) y[i] = x[i // 2]
                              ^^^^^
hint: indices are sums of iterators times integers: let `2*a + b` stand for i, with b below 2, \
and `a` is `i // 2`
""",
    ),
    "two_indices_in_brackets": (
        "lair f() : int16 x[1][1] -> int16 y[1] { all (i) in (1) y[i] = x[i, 0] }",
        """\
f.lair:1:67: error: found `,`, expected `+`, `-` or `]`
  lair f() : int16 x[1][1] -> int16 y[1] { all (i) in (1) y[i] = x[i, 0] }
                                                                    ^
hint: each index has brackets of its own: `W[i][j]`
""",
    ),
    "for": (
        "lair f() : int16 x -> int16 y[1] { for (i) in (1) y[i] = x }",
        """\
f.lair:1:40: error: found `(`, expected a name
  lair f() : int16 x -> int16 y[1] { for (i) in (1) y[i] = x }
                                         ^
hint: iterators stand in parentheses, and so do their sizes: `all (i, j) in (M, N)`
""",
    ),
    "loops_without_parentheses": (
        "lair f() : int16 x -> int16 y[1] { all i in 1 y[i] = x }",
        """\
f.lair:1:40: error: found `i`, expected `(`
  lair f() : int16 x -> int16 y[1] { all i in 1 y[i] = x }
                                         ^
hint: iterators stand in parentheses, and so do their sizes: `all (i, j) in (M, N)`
""",
    ),
    "missing_arrow": (
        """lair f() : int16 x { all (i) in (1) y[i] = x }""",
        """\
f.lair:1:20: error: found `{`, expected `->`
  lair f() : int16 x { all (i) in (1) y[i] = x }
                     ^
""",
    ),
    "after_the_last_node": (
        """lair f(N=4): float16 x[N], float16 w[N] -> float16 y[N] {
  all (i) in (N) y[i] = x[i]
}
}""",
        """\
f.lair:4:1: error: found `}`, expected `graph`, `lair` or the end of the file
  }
  ^
""",
    ),
}


@pytest.mark.parametrize("error", ERRORS)
def test_syntax_error(error: str) -> None:
    text, expected = ERRORS[error]
    with pytest.raises(UserErrors) as caught:
        parse_lair(Source(path="f.lair", text=text))
    assert str(caught.value) == expected


PARTS = """# a comment
lair f<T=float16, S=int16>(M=2, N): T x[M][N], S s -> T y[16 - 3 + 1] { // another
  all (i, j) in (M, 2*N)
    y[i + 2*j] max= -x[i][j] * (s - 1.5e1) / relu(x[i][j])
}
graph g(): float16 a[2] -> float16 b[2] { b = f<T>(2)(a) }
"""


def test_a_node_has_all_its_parts() -> None:
    (node,) = parse_lair(Source(path="f.lair", text=PARTS)).nodes
    assert [(p.name, p.default) for p in node.type_params] == [("T", "float16"), ("S", "int16")]
    assert [(p.name, p.default) for p in node.size_params] == [("M", 2), ("N", None)]
    assert [(t.name, t.type, len(t.sizes)) for t in node.inputs] == [("x", "T", 2), ("s", "S", 0)]
    assert [t.name for t in node.outputs] == ["y"]
    assert [each.name for each in node.statements[0].iterators] == ["i", "j"]
    assert node.statements[0].op == "max="


def test_a_graph_has_all_its_parts() -> None:
    (graph,) = parse_lair(Source(path="f.lair", text=PARTS)).graphs
    (call,) = graph.calls
    assert ([each.name for each in call.results], call.node) == (["b"], "f")
    assert [each.name for each in call.types] == ["T"]
    assert call.sizes == (tree.NumberSyntax(value=2, span=call.span),)
    assert call.arguments == (tree.ReferenceSyntax(name="a", indices=(), span=call.span),)


def test_spans_cover_what_was_written() -> None:
    (node,) = parse_lair(Source(path="f.lair", text=PARTS)).nodes
    (statement,) = node.statements
    spans = (node.span, node.inputs[0].type_span, node.inputs[0].sizes[1].span,
             statement.target.span, statement.expr.span)
    assert [PARTS[span.start : span.end] for span in spans] == [
        "f", "T", "N", "y[i + 2*j]", "-x[i][j] * (s - 1.5e1) / relu(x[i][j])",
    ]


def test_a_deep_expression_is_refused() -> None:
    deep = "-" * 5000 + "x"
    text = f"lair f(): int16 x -> int16 y[1] {{ all (i) in (1) y[i] = {deep} }}"
    with pytest.raises(UserErrors) as caught:
        parse_lair(Source(path="f.lair", text=text))
    (error,) = caught.value.errors
    assert error.message == "an expression is nested too deeply"
    assert error.hint == "write it flatter"

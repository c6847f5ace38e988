"""Specialising: values, defaults, names: one rule, one table entry, the whole text of its error."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import Source, Span, UserErrors
from lairmake.stages.lair import Affine, Layer, parse_lair, specialise, write_expression

NODE_FF = """lair ff<T=float16>(M, N=4): T W[M][N], T x[N] -> T y[M]
  { all (i, j) in (M, N) y[i] += W[i][j] * x[j] }
"""

ERRORS = {
    "size_without_value": (
        NODE_FF,
        {},
        """\
f.lair:1:20: error: size M of ff has no value
  lair ff<T=float16>(M, N=4): T W[M][N], T x[N] -> T y[M]
                     ^
hint: add `sizes: {M: ...}` to layer.yaml
""",
    ),
    "unknown_size": (
        NODE_FF,
        {'sizes': {'M': 8, 'K': 4}},
        """\
error: ff has no size K
hint: size parameters of ff: M, N
""",
    ),
    "unknown_type_parameter": (
        NODE_FF,
        {'sizes': {'M': 8}, 'types': {'S': 'float16'}},
        """\
error: ff has no type S
hint: type parameters of ff: T
""",
    ),
    "unknown_type_value": (
        NODE_FF,
        {'sizes': {'M': 8}, 'types': {'T': 'float15'}},
        """\
error: unknown type float15
hint: types: float16, float32, int16, int32
""",
    ),
    "unknown_top": (
        NODE_FF,
        {'top': 'fff', 'sizes': {'M': 8}},
        """\
error: top names fff, which is no node
hint: did you mean ff?
""",
    ),
}


@pytest.mark.parametrize("error", ERRORS)
def test_error_in_the_values(error: str) -> None:
    text, values, expected = ERRORS[error]
    arguments = {"top": None, "sizes": {}, "types": {}} | values
    with pytest.raises(UserErrors) as caught:
        specialise(parse_lair(Source(path="f.lair", text=text)), **arguments)
    assert str(caught.value) == expected


def test_an_error_in_a_value_points_to_it() -> None:
    yaml = Source(path="layer.yaml", text="sizes: {M: 3, K: 4}\n")
    places = {("sizes", "K"): Span(source=yaml, start=17, end=18)}
    file = parse_lair(Source(path="f.lair", text=NODE_FF))
    with pytest.raises(UserErrors) as caught:
        specialise(file, None, {"M": 3, "K": 4}, {}, lambda *path: places[path])
    assert str(caught.value) == """\
layer.yaml:1:18: error: ff has no size K
  sizes: {M: 3, K: 4}
                   ^
hint: size parameters of ff: M, N
"""


def layer_of(text: str, top: str | None = None, **sizes: int) -> Layer:
    return specialise(parse_lair(Source(path="f.lair", text=text)), top, sizes, {})


def test_defaults_and_values() -> None:
    file = parse_lair(Source(path="f.lair", text=NODE_FF))
    layer = specialise(file, None, {"M": 3}, {"T": "float32"})
    assert [(t.name, t.type, t.shape) for t in (*layer.inputs, *layer.outputs)] == [
        ("W", "float32", (3, 4)), ("x", "float32", (4,)), ("y", "float32", (3,)),
    ]
    assert layer.statements[0].sizes == (3, 4)


def test_the_last_definition_is_the_top() -> None:
    second = NODE_FF.replace("ff", "gg")
    assert layer_of(NODE_FF + second, M=2).name == "gg"
    assert layer_of(NODE_FF + second, "ff", M=2).name == "ff"


def test_statements_are_named_after_the_node_or_their_output() -> None:
    one = "all (i) in (2) y[i] = x[i]"
    head = "lair f(): int16 x[2] -> int16 y[2]"
    assert [s.name for s in layer_of(f"{head} {{ {one} }}").statements] == ["f"]
    two = f"{head}, int16 z[2] {{ {one} all (i) in (2) z[i] = x[i] }}"
    assert [s.name for s in layer_of(two).statements] == ["f_y", "f_z"]


def test_rows_are_affine_in_the_order_of_the_iterators() -> None:
    text = """lair f(S=2): int16 x[9], int16 w[3] -> int16 y[3]
      { all (i, j) in (3, 3) y[i] += x[j + S*(i + 1) + 1 - S - i*1 + i] * w[j] }"""
    (statement,) = layer_of(text).statements
    (row,) = statement.reads[0].rows
    assert row == Affine(coefficients=(("i", 2), ("j", 1)), constant=1)


def test_one_access_per_tensor_in_the_order_of_appearance() -> None:
    text = """lair f(): int16 a[2], int16 b[2] -> int16 y[2]
      { all (i) in (2) y[i] = b[i] * (a[i] - b[i]) }"""
    assert [a.tensor for a in layer_of(text).statements[0].reads] == ["b", "a"]


def test_a_size_parameter_is_a_number_in_an_expression() -> None:
    text = "lair f(N=2): int16 x[N] -> int16 y[N] { all (i) in (N) y[i] = x[i] * N }"
    assert write_expression(layer_of(text).statements[0].expr) == "x * 2"

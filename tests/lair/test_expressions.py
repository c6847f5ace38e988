"""Expressions: their text, and what they are where a tensor is zero."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from lairmake.stages.diagnose import Source, Span, UserErrors
from lairmake.stages.lair import FUNCTIONS, is_zero_at, parse_expression, write_expression
from lairmake.stages.lair.tree import AccessSyntax, Binary, CallSyntax, Expr, NumberSyntax, Unary

NOWHERE = Span(source=Source(path="f.lair", text=""), start=0, end=0)


@pytest.mark.parametrize("text", [
    "W * x", "-a * b", "-(a * b)", "a - (b - c)", "a - b - c", "a / (b * c)", "(a + b) * -c",
    "max(a, b + 1)", "relu(sqrt(a) - 0.5)", "--a", "a * (b / c)", "1e-05 * a",
])
def test_text_has_no_more_parentheses_than_it_needs(text: str) -> None:
    assert write_expression(parse_expression(text)) == text


def expressions() -> st.SearchStrategy[Expr]:
    numbers = st.integers(0, 99) | st.floats(0, 1e30)
    leaves = st.builds(NumberSyntax, value=numbers, span=st.just(NOWHERE)) | st.builds(
        AccessSyntax, tensor=st.sampled_from("abc"), rows=st.just(()), span=st.just(NOWHERE)
    )
    return st.recursive(leaves, larger, max_leaves=12)


def larger(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    unary = st.builds(Unary, op=st.just("-"), operand=parts, span=st.just(NOWHERE))
    binary = st.builds(
        Binary, op=st.sampled_from("+-*/"), left=parts, right=parts, span=st.just(NOWHERE)
    )
    call = st.sampled_from(sorted(FUNCTIONS)).flatmap(
        lambda name: st.builds(
            CallSyntax,
            function=st.just(name),
            arguments=st.tuples(*[parts] * FUNCTIONS[name]),
            span=st.just(NOWHERE),
        )
    )
    return unary | binary | call


@pytest.mark.wide
@settings(derandomize=True, max_examples=300, deadline=None)
@given(expressions())
def test_text_gives_the_expression_back(expr: Expr) -> None:
    assert parse_expression(write_expression(expr)) == expr


def test_a_text_that_is_no_expression() -> None:
    with pytest.raises(UserErrors) as caught:
        parse_expression("W * ")
    assert str(caught.value) == """\
expression:1:4: error: found the end of the file, expected `(`, `-`, a name or a number
  W * 
     ^
"""


@pytest.mark.parametrize("text", [
    "x", "-x", "x * w", "w * x * v", "x / 2", "x + x", "x - x * w", "relu(x)", "sqrt(x)", "abs(x)",
    "tanh(x * w)", "max(x, 0)", "max(x, -x)", "min(x, 0)", "0 * w", "exp(x) * x",
    "x * tanh(w)", "select(w, x, -x)", "less(x, 0)",
])
def test_is_zero_at_zero(text: str) -> None:
    assert is_zero_at(parse_expression(text), "x")


@pytest.mark.parametrize("text", [
    "w", "x + w", "x - w", "exp(x)", "sigmoid(x)", "max(x, w)", "min(x, 1)", "w / x", "x / x",
    "x * log(x)", "x * (w / x)", "log(x)", "1", "x + 1",
    "x / w", "x / 0", "exp(w) * x", "x * sqrt(w)", "x * log(w)",
    "less(x, w)", "less_equal(x, 0)", "equal(x, 0)", "select(x, w, x)", "select(x, 1, 0)",
])
def test_is_not_known_to_be_zero_at_zero(text: str) -> None:
    assert not is_zero_at(parse_expression(text), "x")

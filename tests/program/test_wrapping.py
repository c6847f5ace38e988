"""Long assignments of the intermediate language are broken at operators, and mean the same."""

import ast
import random

import pytest

from lairmake.stages.program.source.translation import LONGEST, wrap_assignments

LEAVES = (
    "alpha", "u.apply_length_filter(slice(1, -1), slice(None, -2))[1:-1]", "2.5", "fl_0[0]",
    "np.sqrt(first)", "-w[...]", "'a text of é (with a bracket'", "np.sum(a * b, controller=True)",
)
OPERATORS = ["+", "-", "*", "/", "**", "&", "|", "^", "<<", ">>", "//", "%", "@", "<", "=="]


def make_expression(rng, depth):
    """Return a random expression, with brackets where they are needed and where they are not."""
    if not depth or rng.random() < 0.1:
        return rng.choice(LEAVES)
    left, right = (make_expression(rng, depth - 1) for _ in "ab")
    kind = rng.random()
    if kind < 0.15:
        return f"np.where({left}, {right}, {make_expression(rng, depth - 1)})"
    if kind < 0.2:
        return f"({left} if {right} else 0)"
    if kind < 0.25:
        return f"(not {left})"
    return f"({left} {rng.choice(OPERATORS)} {right})"


@pytest.mark.wide_after(50)
@pytest.mark.parametrize("seed", range(200))
def test_the_text_means_the_same(seed):
    rng = random.Random(seed)
    lines = [
        f"x[...] = {make_expression(rng, 5)}",
        "with for_loop('fl_0', a) as fl_0:",
        f"    y: MACHScalar = ({make_expression(rng, 4)} + 1).named('y', output=True)",
        f"    self.v[1:] = {make_expression(rng, 3)}.astype(np.float32)",
        f"    é = {make_expression(rng, 5)}",
    ]
    text = ast.unparse(ast.parse("\n".join(lines)))
    found = wrap_assignments(text)
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(text))
    assert ast.unparse(ast.parse(found)) == text


def test_sums_have_a_line_for_each_term():
    terms = [f"u.apply_length_filter(slice({k}, None), slice(None))[...]" for k in range(3)]
    text = f"v[...] = {terms[0]} + {terms[1]} - 2 * {terms[2]}"
    assert wrap_assignments(text).splitlines() == [
        "v[...] = (",
        f"    {terms[0]}",
        f"    + {terms[1]}",
        f"    - 2 * {terms[2]}",
        ")",
    ]
    assert len(text) > LONGEST


def test_short_lines_stay():
    assert wrap_assignments("x = a + b\n") == "x = a + b\n"

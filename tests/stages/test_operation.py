import pytest

from stages.lair.grammar import parse_expression
from stages.lair.operation import Operation, operation_of
from tests.stages.built import build


def operation(name, a, b=None):
    return Operation(name=name, a=a, b=b)


CASES = [
    ("y = x", operation("COPY", "x")),
    ("y = 3", operation("COPY", 3)),
    ("y = a + b", operation("ADD", "a", "b")),
    ("y = a - 2", operation("SUB", "a", 2)),
    ("y = 2 * a", operation("MUL", 2, "a")),
    ("y = max(a, b)", operation("MAX", "a", "b")),
    ("y = min(a, 0)", operation("MIN", "a", 0)),
    ("y += x", operation("ADD", "y", "x")),
    ("y *= x", operation("MUL", "y", "x")),
    ("y max= x", operation("MAX", "y", "x")),
    ("y min= 4", operation("MIN", "y", 4)),
    ("y += a * b", operation("MAC", "a", "b")),
    ("y += a * 2", operation("MAC", "a", 2)),
    ("y += a + b", None),
    ("y *= a * b", None),
    ("y max= a * b", None),
    ("y = a / b", None),
    ("y = relu(a)", None),
    ("y = -a", None),
    ("y = a * b + c", None),
    ("y = max(a, b + 1)", None),
    ("y += a * b * c", None),
]


@pytest.mark.parametrize(("statement", "expected"), CASES)
def test_statements_that_are_one_vector_operation(statement, expected):
    target, op, expr = statement.split(" ", 2)
    assert operation_of(target, op, parse_expression(expr)) == expected


def test_condition_1_a_statement_of_two_operations_is_a_loop():
    built = build(
        "lair n(): float16 a[4], float16 b[4] -> float16 y[4]\n"
        "{ all (i) in (4) y[i] = a[i] * b[i] + 1 }",
        'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\n',
        "simd",
    )
    decision = built.yaml("simd.yaml")["compute_n"]
    assert (decision["by"], decision["why"]) == (
        "loops", "`y = a * b + 1` is more than one operation"
    )

import pytest

from stages.lair.grammar import parse_expression
from stages.lair.operation import (
    NoOperationError,
    Operation,
    Part,
    accumulated,
    kept_of,
    operations_of,
)
from tests.stages.built import build, function

FIRST, SECOND = Part(number=0), Part(number=1)


def operation(name, a, b=None, to=None):
    return Operation(name=name, a=a, b=b, to=to)


CASES = [
    ("y = x", operation("COPY", "x")),
    ("y = 3", operation("COPY", 3)),
    ("y = -3", operation("COPY", -3)),
    ("y = a + b", operation("ADD", "a", "b")),
    ("y = a - 2", operation("SUB", "a", 2)),
    ("y = 2 * a", operation("MUL", 2, "a")),
    ("y = a / b", operation("DIV", "a", "b")),
    ("y = -a", operation("MUL", "a", -1)),
    ("y = relu(a)", operation("MAX", "a", 0)),
    ("y = max(a, b)", operation("MAX", "a", "b")),
    ("y = min(a, 0)", operation("MIN", "a", 0)),
    ("y += x", operation("ADD", "y", "x")),
    ("y *= x", operation("MUL", "y", "x")),
    ("y max= x", operation("MAX", "y", "x")),
    ("y min= 4", operation("MIN", "y", 4)),
    ("y += a * b", operation("MAC", "a", "b")),
    ("y += a * 2", operation("MAC", "a", 2)),
]


def found(statement):
    target, op, expr = statement.split(" ", 2)
    return operations_of(target, op, parse_expression(expr))


@pytest.mark.parametrize(("statement", "expected"), CASES)
def test_statements_that_are_one_vector_operation(statement, expected):
    assert found(statement) == (expected,)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y += a + b", [operation("ADD", "a", "b", FIRST), operation("ADD", "y", FIRST)]),
        ("y *= a * b", [operation("MUL", "a", "b", FIRST), operation("MUL", "y", FIRST)]),
        ("y += a * b * c", [operation("MUL", "a", "b", FIRST), operation("MAC", FIRST, "c")]),
        ("y = max(a, b + 1)", [operation("ADD", "b", 1, FIRST), operation("MAX", "a", FIRST)]),
        (
            "y = relu(a * b + c)",
            [
                operation("MUL", "a", "b", FIRST),
                operation("ADD", FIRST, "c", FIRST),
                operation("MAX", FIRST, 0),
            ],
        ),
        (
            "y = (a + b) * (a - b) / ((a * 2) * (b * 3))",
            [
                operation("ADD", "a", "b", FIRST),
                operation("SUB", "a", "b", SECOND),
                operation("MUL", FIRST, SECOND, FIRST),
                operation("MUL", "a", 2, SECOND),
                operation("MUL", "b", 3, Part(number=2)),
                operation("MUL", SECOND, Part(number=2), SECOND),
                operation("DIV", FIRST, SECOND),
            ],
        ),
    ],
)
def test_an_expression_becomes_operations_that_use_what_others_gave(statement, expected):
    assert list(found(statement)) == expected


@pytest.mark.parametrize("call", ["exp(a)", "abs(a)", "sigmoid(a + 1)"])
def test_a_function_for_which_there_is_no_operation(call):
    with pytest.raises(NoOperationError) as caught:
        found(f"y = b * {call}")
    assert str(caught.value) == f"`{call}` is no vector operation"


ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\n'


def test_condition_1_a_statement_of_no_vector_operation_is_a_loop():
    lair = "lair n(): float16 a[4] -> float16 y[4] { all (i) in (4) y[i] = exp(a[i]) + 1 }"
    decision = build(lair, ONE, "simd").yaml("simd.yaml")["compute_n"]
    assert (decision["by"], decision["why"]) == ("loops", "`exp(a)` is no vector operation")


def test_a_statement_of_two_operations_is_two_instructions():
    lair = """lair n(): float16 a[32], float16 b[32] -> float16 y[32]
    { all (i) in (32) y[i] = a[i] * b[i] + 1 }"""
    built = build(lair, ONE, "simulate")
    decision = built.yaml("simd.yaml")["compute_n"]
    assert decision["parts"] == [{"type": "float32", "elements": 32}]
    assert [step["operation"] for step in decision["steps"]] == ["MUL", "ADD"]
    assert function(built.program("simd/pe_compute.c"), "compute_n")[2:] == [
        "CHARGE(pe, 0, 0, 3);",
        "COUNT_CALL(pe, COMPUTE_N);",
        "vector_run(pe, &my->compute_n_0, my->compute_n_part0, &my->a_local[0], &my->b_local[0]);",
        "const float number5 = 1.0f;",
        "vector_run(pe, &my->compute_n, &my->y_local[0], my->compute_n_part0, &number5);",
    ]
    results = built.results()
    assert results["check"]["y"]["right"]
    assert results["tasks"]["compute_n"]["instances"] == 32
    assert built.yaml("build/layout.yaml")["roles"]["compute"]["memory"]["data"] == 2 * 96 + 128
    assert results["cycles"]["simd"] < results["cycles"]["loops"]


@pytest.mark.parametrize(
    ("statement", "factors"),
    [
        ("y = a * b + c", ("a", "b")),
        ("y = c + 2 * b", (2, "b")),
        ("y = c - 2 * b", (-2, "b")),
        ("y = c - b * 0.5", ("b", -0.5)),
    ],
)
def test_a_sum_with_a_product_may_become_an_accumulation(statement, factors):
    operations, copy = found(statement), operation("COPY", "c")
    assert kept_of(operations) == "c"
    assert accumulated(operations, in_place=False) == (copy, operation("MAC", *factors))
    assert accumulated(operations, in_place=True) == (operation("MAC", *factors),)


@pytest.mark.parametrize(
    "statement",
    [
        "y = a * b + 1",
        "y = a * b - c",
        "y = c - a * b",
        "y = c - 0 * b",
        "y = (a + b) * c",
        "y = a * b + c * d",
        "y = max(a * b, c)",
        "y = a * b",
    ],
)
def test_a_statement_that_is_no_tensor_and_a_product(statement):
    assert kept_of(found(statement)) is None


def steps(lair, mapping=ONE):
    built = build(lair, mapping, "simulate")
    decision = built.yaml("simd.yaml")["compute_n"]
    assert all(check["right"] for check in built.results()["check"].values())
    return [step["operation"] for step in decision.get("steps", [decision])]


SUMS = """lair n(): {} a[64], float16 b[64], {} c[64] -> float16 y[64]
{{ all (i) in (64) y[i] = a[i] * b[i] + c[i] }}"""


@pytest.mark.parametrize(
    ("a", "c", "expected"),
    [
        ("float16", "float16", ["COPY", "MAC"]),
        ("float16", "float32", ["MUL", "ADD"]),
        ("float32", "float16", ["MUL", "ADD"]),
    ],
)
def test_what_is_accumulated_has_the_type_of_the_target(a, c, expected):
    assert steps(SUMS.format(a, c)) == expected


UPDATE = "lair n(): int16 W[64], int16 d[64] -> int16 V[64] {{ all (i) in (64) V[i] = {} }}"
NEXT = ONE + "tensors: {W: {next: V}}\ninvocations: 3\n"


@pytest.mark.parametrize(
    ("expression", "mapping", "expected"),
    [
        ("W[i] - 3 * d[i]", NEXT, ["MAC"]),
        ("W[i] - 3 * d[i]", ONE, ["COPY", "MAC"]),
        ("d[i] - 3 * W[i]", NEXT, ["MUL", "SUB"]),
        ("W[i] + d[i] * W[i]", NEXT, ["MUL", "ADD"]),
    ],
)
def test_an_update_in_place_is_one_instruction(expression, mapping, expected):
    assert steps(UPDATE.format(expression), mapping) == expected


STREAM = (
    'target: "{ PE[1, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] }"\ntensors:\n'
    '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}\n'
)


@pytest.mark.parametrize("prefer", ["hull", "enumerate", "configure"])
@pytest.mark.parametrize("type_", ["float16", "int16"])
@pytest.mark.parametrize(
    "expr", ["-x[i + j] * W[j] * V[j]", "relu(x[i + j]) * W[j]", "max(x[i + j], 0) * (W[j] - V[j])"]
)
def test_steps_give_what_the_loops_give(expr, type_, prefer):
    lair = (f"lair n(): {type_} x[12], {type_} W[5], {type_} V[5] -> {type_} y[8]\n"
            f"{{ all (i, j) in (8, 5) y[i] += {expr} }}")
    built = build(lair, STREAM + f"simd: {{prefer: {prefer}}}\n", "simulate")
    assert built.yaml("simd.yaml")["on_x"]["by"] == prefer
    assert built.results()["check"]["y"]["right"]

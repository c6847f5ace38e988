import pytest

from lairmake.stages.lair.expressions import ExpressionPart, VectorOperation, list_operations
from lairmake.stages.lair.grammar import parse_expression
from tests.layer.built import build, function

PARTS = [ExpressionPart(number=k) for k in range(6)]
FIRST, SECOND, ROUNDED = PARTS[0], PARTS[1], ExpressionPart(number=0, rounded=True)


def operation(name, *sources, to=None):
    return VectorOperation(name=name, sources=sources, to=to)


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
    ("y = a * b + c", operation("FMA", "a", "b", "c")),
    ("y = c + 2 * b", operation("FMA", 2, "b", "c")),
    ("y = a * b - 1", operation("FMS", "a", "b", 1)),
    ("y = c - b * 0.5", operation("FNMA", "b", 0.5, "c")),
    ("y = exp(a)", operation("exp", "a")),
]


def found(statement):
    target, op, expr = statement.split(" ", 2)
    return list_operations(target, op, parse_expression(expr))


@pytest.mark.parametrize(("statement", "expected"), CASES)
def test_statements_that_are_one_vector_operation(statement, expected):
    assert found(statement) == (expected,)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y += a + b", [operation("ADD", "a", "b", to=FIRST), operation("ADD", "y", FIRST)]),
        ("y *= a * b", [operation("MUL", "a", "b", to=FIRST), operation("MUL", "y", FIRST)]),
        ("y += a * b * c", [operation("MUL", "a", "b", to=FIRST), operation("MAC", FIRST, "c")]),
        (
            "y = max(a, b + 1)",
            [operation("ADD", "b", 1, to=ROUNDED), operation("MAX", "a", ROUNDED)],
        ),
        (
            "y = relu(a * b + c)",
            [
                operation("FMA", "a", "b", "c", to=ROUNDED),
                operation("MAX", ROUNDED, 0),
            ],
        ),
        (
            "y = (a + b) * (a - b) / ((a * 2) * (b * 3))",
            [
                operation("ADD", "a", "b", to=FIRST),
                operation("SUB", "a", "b", to=SECOND),
                operation("MUL", FIRST, SECOND, to=PARTS[2]),
                operation("MUL", "a", 2, to=PARTS[3]),
                operation("MUL", "b", 3, to=PARTS[4]),
                operation("MUL", PARTS[3], PARTS[4], to=PARTS[5]),
                operation("DIV", PARTS[2], PARTS[5]),
            ],
        ),
    ],
)
def test_an_expression_becomes_operations_that_use_what_others_gave(statement, expected):
    assert list(found(statement)) == expected


@pytest.mark.parametrize(
    ("statement", "rounded"),
    [
        ("y = max(a, min(b + c, 2))", [True, True]),
        ("y = -relu(a / b)", [True, True]),
        ("y max= a - b", [True]),
        ("y = max(a, b + c) * 2", [False, False]),
        ("y += max(a, b)", [False]),
        ("y = max(a, (b + c) / d)", [False, True]),
    ],
)
def test_what_is_only_selected_from_may_be_rounded(statement, rounded):
    assert [step.to.rounded for step in found(statement)[:-1]] == rounded


def test_what_is_used_twice_is_computed_once():
    assert list(found("y += (a - b) * (a - b)")) == [
        operation("SUB", "a", "b", to=FIRST), operation("MAC", FIRST, FIRST),
    ]


def test_a_call_is_an_operation_among_others():
    assert list(found("y += b * exp(a - b) / exp(a - b)")) == [
        operation("SUB", "a", "b", to=FIRST),
        operation("exp", FIRST, to=SECOND),
        operation("MUL", "b", SECOND, to=PARTS[2]),
        operation("DIV", PARTS[2], SECOND, to=PARTS[3]),
        operation("ADD", "y", PARTS[3]),
    ]


def test_an_absolute_value_is_never_minus_zero():
    negated = operation("SUB", 0, "a", to=ROUNDED)
    assert list(found("y = abs(a)")) == [negated, operation("MAX", ROUNDED, "a")]


ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\n'


def test_a_call_that_is_all_of_a_statement_is_a_loop_or_one_of_fewer_addresses():
    lair = "lair n(): float16 a[{0}] -> float16 y[{0}] {{ all (i) in ({0}) y[i] = exp(a[i]) }}"
    few = build(lair.format(4), ONE, "simd").yaml("simd.yaml")["compute_n"]
    assert (few["by"], few["why"]) == ("loops", "loops take the fewest cycles")
    many = build(lair.format(64), ONE, "simd").yaml("simd.yaml")["compute_n"]
    assert [step["operation"] for step in many["steps"]] == ["COPY", "exp"]
    assert many["cycles"] < many["others"]["loops"]["cycles"]


BETWEEN = 8
"""Bytes that keep operands of one vector instruction in different banks."""


def test_a_statement_of_two_operations_is_two_instructions():
    lair = """lair n(): float16 a[32], float16 b[32] -> float16 y[32]
    { all (i) in (32) y[i] = (a[i] + b[i]) * 3 }"""
    machine = "machine: {profile: wse2, write_latency: 0}\n"
    built = build(lair, ONE + machine, "simulate")
    decision = built.yaml("simd.yaml")["compute_n"]
    assert decision["parts"] == [{"type": "float32", "elements": 32}]
    assert [step["operation"] for step in decision["steps"]] == ["ADD", "MUL"]
    assert function(built.program("simd/pe_compute.c"), "compute_n")[2:] == [
        "CHARGE(pe, .address = 3);",
        "COUNT_CALL(pe, COMPUTE_N);",
        "vector_run(pe, &my->compute_n_0, my->compute_n_part0, &my->a_local[0], &my->b_local[0]);",
        "const float number5 = 3.0f;",
        "vector_run(pe, &my->compute_n, &my->y_local[0], my->compute_n_part0, &number5);",
    ]
    results = built.results()
    assert results["check"]["y"]["right"]
    assert results["tasks"]["compute_n"]["instances"] == 32
    memory = built.yaml("build/layout.yaml")["roles"]["compute"]["memory"]
    assert memory["data"] == 2 * 96 + 128 + BETWEEN
    assert results["cycles"]["simd"] < results["cycles"]["loops"]


VECTORS = ONE + "machine: {profile: wse2, vector_multiply_add: true}\n"


def steps(lair, mapping=VECTORS):
    built = build(lair, mapping, "simulate")
    decision = built.yaml("simd.yaml")["compute_n"]
    assert all(check["right"] for check in built.results()["check"].values())
    return [step["operation"] for step in decision.get("steps", [decision])]


SUMS = """lair n(): {} a[64], float16 b[64], {} c[64] -> float16 y[64]
{{ all (i) in (64) y[i] = {} }}"""


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(
    "expression", ["a[i] * b[i] + c[i]", "a[i] * b[i] - c[i]", "c[i] - a[i] * b[i]"]
)
@pytest.mark.parametrize(
    ("a", "c"), [("float16", "float16"), ("float16", "float32"), ("float32", "float16")]
)
def test_a_product_is_added_in_one_instruction(a, c, expression):
    assert len(steps(SUMS.format(a, c, expression))) == 1


UPDATE = "lair n(): int16 W[64], int16 d[64] -> int16 V[64] {{ all (i) in (64) V[i] = {} }}"
NEXT = VECTORS + "tensors: {W: {next: V}}\ninvocations: 3\n"


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(
    "expression", ["W[i] - 3 * d[i]", "d[i] - 3 * W[i]", "W[i] + d[i] * W[i]"]
)
def test_an_update_in_place_is_one_instruction(expression):
    assert len(steps(UPDATE.format(expression), NEXT)) == 1


@pytest.mark.wide
@pytest.mark.parametrize(
    "expression", ["max(0, min(1, 0.3 * x[i] + 0.1))", "max(x[i], 0.1 * x[i])"]
)
def test_what_is_selected_from_is_kept_in_the_type_of_the_target(expression):
    lair = f"lair n(): float16 x[64] -> float16 y[64] {{ all (i) in (64) y[i] = {expression} }}"
    built = build(lair, ONE + "data: {kind: reals}\n", "simulate")
    decision = built.yaml("simd.yaml")["compute_n"]
    assert {part["type"] for part in decision["parts"]} == {"float16"}
    assert built.results()["check"]["y"]["max_abs_error"] == 0


STREAM = (
    'target: "{ PE[1, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] }"\n'
    'machine: {profile: wse2, descriptors: 24}\ntensors:\n'
    '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}\n'
)


@pytest.mark.wide
@pytest.mark.one_in(2)
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

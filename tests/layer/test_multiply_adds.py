"""Multiply-adds on a machine that multiplies by a scalar: others are a product and a sum."""

import random

import pytest

from tests.layer.built import build

ONE = 'target: "{{ PE[1, 1] }}"\nplacement: "{{ n[{}] -> PE[0, 0] }}"\n'
REALS = "data: {kind: reals}\n"

STATEMENTS = {
    "three vectors": ("f16 a[9], f16 b[9], f16 c[9] -> f16 y[9]", "i", "9",
                      "y[i] = a[i] * b[i] + c[i]", ["MUL", "ADD"], ["float16"]),
    "a difference": ("f16 a[9], f16 b[9], f16 c[9] -> f16 y[9]", "i", "9",
                     "y[i] = c[i] - a[i] * b[i]", ["MUL", "SUB"], ["float16"]),
    "what is subtracted from": ("f16 a[9], f16 c[9] -> f16 y[9]", "i", "9",
                                "y[i] = a[i] * 3 - c[i]", ["MUL", "SUB"], ["float16"]),
    "a wider factor": ("f16 a[9], f32 b[9], f16 c[9] -> f16 y[9]", "i", "9",
                       "y[i] = a[i] * b[i] + c[i]", ["MUL", "ADD"], ["float32"]),
    "a wider sum": ("f16 a[9], f16 b[9] -> f32 y", "i", "9",
                    "y += a[i] * b[i]", ["MUL", "ADD"], ["float32"]),
    "the sum of a vector times a number": ("f16 a[9] -> f16 y", "i", "9",
                                           "y += a[i] * 0.5", ["MUL", "ADD"], ["float16"]),
    "integers that wrap": ("i16 a[9], i16 b[9], i16 c[9] -> i16 y[9]", "i", "9",
                           "y[i] = a[i] * b[i] + c[i]", ["MUL", "ADD"], ["int16"]),
    "a wider sum of integers": ("i16 a[9], i16 b[9] -> i32 y", "i", "9",
                                "y += a[i] * b[i]", ["MUL", "ADD"], ["int32"]),
    "what is selected from": ("f16 a[9], f16 b[9], f16 c[9] -> f16 y[9]", "i", "9",
                              "y[i] = max(a[i] * b[i] + c[i], 0)", ["MUL", "ADD", "MAX"],
                              ["float16"]),
    "a number": ("f16 a[9], f16 c[9] -> f16 y[9]", "i", "9",
                 "y[i] = a[i] * 3 + c[i]", ["FMA"], []),
    "a number that is subtracted": ("f16 a[9] -> f16 y[9]", "i", "9",
                                    "y[i] = a[i] * 3 - 1", ["FMA"], []),
    "a number subtracted times": ("f16 a[9], f16 c[9] -> f16 y[9]", "i", "9",
                                  "y[i] = c[i] - 0.3 * a[i]", ["FMA"], []),
    "a scalar": ("f16 a[9], f16 c[9], f16 s -> f16 y[9]", "i", "9",
                 "y[i] = s * a[i] + c[i]", ["FMA"], []),
    "a scalar subtracted times": ("f16 a[9], f16 c[9], f16 s -> f16 y[9]", "i", "9",
                                  "y[i] = c[i] - s * a[i]", ["MUL", "FMA"], ["float16"]),
    "the least integer": ("i16 a[9], i16 c[9] -> i16 y[9]", "i", "9",
                          "y[i] = c[i] - a[i] * -32768", ["MUL", "FMA"], ["int16"]),
}


TYPES = {"f16": "float16", "f32": "float32", "i16": "int16", "i32": "int32"}


def written(head, names, sizes, statement):
    for short, type_ in TYPES.items():
        head = head.replace(short, type_)
    return f"lair n(): {head}\n{{ all ({names}) in ({sizes}) {statement} }}"


def list_steps(decision):
    return decision.get("steps", [decision])


@pytest.mark.wide_after(4)
@pytest.mark.parametrize("case", STATEMENTS)
def test_a_statement_has_the_instructions_that_there_are(case):
    *statement, operations, parts = STATEMENTS[case]
    mapping = ONE.format("i") + "simd: {prefer: hull}\n" + REALS * statement[0].startswith("f")
    found = build(written(*statement), mapping, "simd").yaml("simd.yaml")["compute_n"]
    assert [step["operation"] for step in list_steps(found)] == operations
    assert sorted({part["type"] for part in found.get("parts", [])}) == parts


def has_machine(step, extents):
    """Say whether one factor is a scalar, and each point has a result of its own."""
    if step["operation"] not in ("MAC", "FMA", "FMS", "FNMA"):
        return True
    sizes = [extents[k] for k in step.get("over", range(len(extents)))]

    def varies(operand):
        pairs = zip(operand.get("strides", [0] * len(sizes)), sizes, strict=True)
        return [k for k, (stride, size) in enumerate(pairs) if stride and size != 1]

    to, a, b = map(varies, step["operands"][:3])
    single = to == [k for k, size in enumerate(sizes) if size != 1]
    return step["operation"] in ("MAC", "FMA") and single and not (a and b)


def draw(rng):
    """Return a random statement with products, and the types of its tensors."""
    types = rng.choice([["float16"], ["int16", "int32"], ["float16", "float32"]])
    shapes = {"a": "[i + k]", "b": "[i][k]", "c": "[j][k]", "s": ""}
    reads = [name + shapes[name] for name in rng.choices("aabbccs", k=3)]
    sign, number = rng.choice("+-"), rng.choice(["", "3 * "])
    expr = f"{reads[0]} * {reads[1]}" + rng.choice(["", f" {sign} {number}{reads[2]}"])
    kinds = {name: rng.choice(types) for name in "abcsy"}
    head = (f"{kinds['a']} a[7], {kinds['b']} b[4][4], {kinds['c']} c[3][4], {kinds['s']} s"
            f" -> {kinds['y']} y[4][3]")
    return f"lair n(): {head}\n{{ all (i, j, k) in (4, 3, 4) y[i][j] += {expr} }}", types


@pytest.mark.wide
@pytest.mark.parametrize("seed", range(5))
def test_random_products_agree_with_the_reference(seed):
    rng = random.Random(seed)
    lair, types = draw(rng)
    kind = REALS if types[0] == "float16" else ""
    prefer = rng.choice(["", "simd: {prefer: scalar}\n", "simd: {prefer: nested}\n"])
    built = build(lair, ONE.format("i, j, k") + kind + prefer, "simulate")
    for decision in built.yaml("simd.yaml").values():
        sizes = [size if isinstance(size, int) else size[1] for size in decision.get("extents", [])]
        assert all(has_machine(step, sizes) for step in list_steps(decision) if "operation" in step)
    assert built.results()["check"]["y"]["right"]


MV = written("f16 W[96][64], f16 x[96] -> f16 y[64]", "i, j", "64, 96", "y[i] += W[j][i] * x[j]")


def test_loops_around_a_scalar_where_they_cost_least():
    built = build(MV, ONE.format("i, j"), "simulate")
    found = built.yaml("simd.yaml")["compute_n"]
    assert (found["by"], found["operation"], found["sizes"]) == ("scalar", "MAC", [64])
    assert found["outer"].endswith("0 <= outer0 <= 95 }")
    assert found["cycles"] < found["others"]["hull"]["cycles"]
    results = built.results()
    assert results["check"]["y"]["exact"] and results["check"]["y"]["right"]


def test_a_machine_that_multiplies_and_adds_vectors_needs_one_instruction():
    machine = "machine: {profile: wse2, vector_multiply_add: true}\n"
    found = build(MV, ONE.format("i, j") + machine, "simd").yaml("simd.yaml")["compute_n"]
    assert (found["operation"], found["sizes"]) == ("MAC", [64, 96])
    assert "scalar" not in found["others"]


ROWS = written("f16 W[16][32], f16 x[32] -> f16 y[16]", "i, j", "16, 32", "y[i] += W[i][j] * x[j]")


FREE = ", stride_limits: [0, 0, 0, 0, 0, 0, 0, 0]"


@pytest.mark.wide
@pytest.mark.parametrize(("figures", "row"), [("", 34), (FREE, 32)])
def test_products_lie_so_that_sums_are_added_side_by_side(figures, row):
    machine = f"machine: {{profile: wse2{figures}}}\n"
    prefer = machine + "simd: {prefer: hull}\n"
    found = build(ROWS, ONE.format("i, j") + prefer, "simulate").yaml("simd.yaml")["compute_n"]
    assert found["parts"] == [{"type": "float16", "elements": 16 * row}]
    assert [step.get("over") for step in found["steps"]] == [None, [1, 0]]

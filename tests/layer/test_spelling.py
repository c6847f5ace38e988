import ast
import re
from pathlib import Path

import pytest

from lairmake.stages.pe.nodes import (
    Act,
    AtWord,
    Call,
    Case,
    Choice,
    Compared,
    Computed,
    Digit,
    Field,
    Group,
    Increase,
    Later,
    Literal,
    Multiple,
    Not,
    Offset,
    Return,
    Scope,
    StatementNode,
    Switch,
    Task,
)
from lairmake.stages.pe.speller import WORDS, spell, wrap
from lairmake.stages.pe.yaml import node_classes, read_programs
from lairmake.stages.poly.expression import Name, Node, Number, Operation, Value
from lairmake.stages.shipped import shipped
from tests.layer.built import MV, build

ROOT = Path(__file__).resolve().parents[2] / "stages"
OF_PES = sorted(path for name in ("pe", "layer/codegen", "program/lowering")
                 for path in ROOT.glob(f"{name}/*.py") if "stages.pe" in path.read_text("utf-8"))
A, B, C = Name("a"), Name("b"), Name("c")


@pytest.mark.parametrize(
    ("inner", "sign", "text"),
    [
        ("+", "-", "a + b - (a + b)"),
        ("-", "+", "a - b + (a - b)"),
        ("*", "+", "a * b + a * b"),
        ("*", "*", "(a * b) * (a * b)"),
        ("/", "*", "(a / b) * (a / b)"),
        ("%", "+", "(a % b) + (a % b)"),
        ("and", "or", "(a && b) || (a && b)"),
        ("and", "and", "a && b && a && b"),
        ("==", "and", "a == b && a == b"),
        ("%", "==", "a % b == a % b"),
        ("max", "+", "max(a, b) + max(a, b)"),
    ],
)
def test_operators_of_different_kinds_are_put_in_parentheses(inner, sign, text):
    side = Operation(inner, (A, B))
    assert spell(Operation(sign, (side, side))) == text


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (Operation("negative", (Number(-3),)), "-(-3)"),
        (Operation("-", (A, Number(-3))), "a - (-3)"),
        (Operation("?", (Operation("<", (A, B)), A, Number(-1))), "(a < b) ? a : (-1)"),
        (Operation("min", (A, B, C)), "min(a, min(b, c))"),
        (Operation("*", (Operation("+", (A, B)),)), "(a + b)"),
        (Choice(Operation("<", (A, B)), A, Group(B)), "a < b ? a : (b)"),
        (Later(A, 2), "a + 2"),
        (Offset((Multiple(-3, A), Multiple(1, B))), "-3 * a + b"),
        (Offset(()), "0"),
        (Not(Compared("<", A, B, "int16")), "!(less_integer(a, b))"),
        (Compared(">", A, B, "float32"), "less(b, a)"),
        (Compared("!=", A, B, "float32"), "!equal(a, b)"),
        (Operation("or", (Compared(">=", A, Literal(0.5, "float32"), "float32"), C)),
         "a >= 0.5f || c"),
        (Literal(float("nan"), "float32"), "NAN"),
        (Literal(-0.0, "float32"), "-0.0f"),
        (Literal(0.0, "float32"), "0.0f"),
        (Computed("truncate", (A,), "int16"), "(int16_t)truncated(a, INT16_MAX)"),
        (Computed("shr_logical", (A, B), "int16"),
         "(int16_t)shifted_right_logical((uint16_t)a, b)"),
        (Computed("log64", (A,), "float32"), "(float)log((double)a)"),
        (AtWord(Field("data"), Number(3)), "at_word(my->data, 3)"),
        (Call(Task("f")), "f(pe);"),
        (Call(Task("f"), (A, Number(1))), "f(pe, a, 1);"),
        (Scope(Switch(A), (Scope(Case((1, 4), "two"), (Increase(B),)),
                           Scope(Case((2,), ""), (Return(),)))),
         """switch (a) {
    case 1: case 4: {  /* two */
        b += 1;
        break;
    }
    case 2: {
        return;
    }
}"""),
        (Digit(Field("n"), (A, Operation("+", (A, B))), C, Number(4)),
         "4 + my->n / a / (a + b) % c"),
    ],
)
def test_values_in_c(node, text):
    assert spell(node) == text


def test_long_lines_are_broken_and_short_ones_are_not():
    call = f"vector_run(pe, &my->{'a' * 30}, &my->{'b' * 30}, &my->{'c' * 30});"
    assert wrap(f"    {call}").splitlines() == [
        f"    vector_run(pe, &my->{'a' * 30}, &my->{'b' * 30},",
        f"        &my->{'c' * 30});",
    ]
    assert wrap("    run(pe);\n") == "    run(pe);\n"


@pytest.mark.parametrize("name", sorted(p.name for p in shipped("templates").glob("program.*.j2")))
def test_each_kind_of_node_is_spelled_by_a_macro_of_its_name(name):
    text = (shipped("templates") / name).read_text(encoding="utf-8")
    macros = set(re.findall(r"macro ([A-Z]\w*)\(", text))
    kinds = set(node_classes().values()) - {Node, Value, StatementNode, Act}
    assert macros == {kind.__name__ for kind in kinds}


MAPPING = """target: "{ PE[2, 3] }"
placement: "{ mv[i, j] -> PE[j//3, i//4 + 1] }"
tensors:
  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }", sparse: true}
  y: {leaves: "{ y[i] -> [PE[2, i//4 + 1] -> index[i mod 4]] }"}
"""


def test_programs_read_back_from_yaml_are_spelled_as_the_same_c():
    built = build(MV, MAPPING, "render")
    programs = read_programs(built.yaml("build/program.yaml"))
    assert set(programs) == {"simd", "loops"}
    for variant, roles in programs.items():
        assert set(roles) == {"compute", "adapter_north"}
        for role, program in roles.items():
            assert spell(program) == built.program(f"{variant}/pe_{role}.c")


def test_programs_in_words_name_what_they_do():
    program = read_programs(build(MV, MAPPING, "render").yaml("build/program.yaml"))["simd"]
    react = next(f for f in program["compute"].functions if f.name == "on_x")
    assert spell(react, WORDS).splitlines() == [
        "task of an element on_x: React to an element of x.",
        "    let index = its index",
        "    let x = its float16",
        "    charge address 2",
        "    count a call of ON_X",
        "    instruct on_x: y_local[0], W_local[0, index], x",
    ]


WRITTEN = re.compile(
    r"\(pe[,)]|my->|;\s*$|\bstruct \w+ \w|\bint32_t \w|^\s*(if|for|else)\b.*[({]"
)
"""What C has, and no other text in the code."""


def texts(path):
    """Return the texts in a module but for those that say what it is."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said = {id(e.value) for e in ast.walk(tree) if isinstance(e, ast.Expr)}
    every = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in said)
    return [each.value for each in every if isinstance(each.value, str)]


@pytest.mark.parametrize("path", OF_PES, ids=lambda p: p.name)
def test_only_templates_spell_c(path):
    assert [text for text in texts(path) if WRITTEN.search(text)] == []

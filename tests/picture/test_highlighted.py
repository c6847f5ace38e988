"""C as a page shows it."""

from pathlib import Path

import pytest

from lairmake.stages.picture.page import find_functions, highlight
from tests.layer.built import MV, build

LAYER = """target: "{ PE[2, 3] }"
placement: "{ mv[i,j] -> PE[j//3, 1 + i//4] }"
tensors:
  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}
  y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}
"""
ENGINE = Path(__file__).resolve().parents[2] / "stages/fabric"


def joined(lines):
    return "".join("".join(text for _, text in line) + "\n" for line in lines)


@pytest.mark.wide
def test_no_letter_of_a_program_is_lost():
    for path in sorted(ENGINE.glob("*.c")):
        text = path.read_text(encoding="utf-8")
        assert joined(highlight(text)) == text, path


def test_words_say_what_they_are():
    assert highlight("/* a\n b */\nstatic int f(void) { return 1; }\n") == (
        (("c", "/* a"),), (("c", " b */"),),
        (("k", "static "), ("t", "int "), ("f", "f"), ("", "("), ("t", "void"), ("", ") { "),
         ("k", "return "), ("n", "1"), ("", "; }")),
    )


def test_functions_are_found_with_their_comments():
    program = build(MV, LAYER, "render").program("simd/pe_compute.c")
    lines = program.split("\n")
    found = find_functions(program)
    first, end = found["on_x"]
    assert lines[first] == "/* React to an element of x. */" and lines[end - 1] == "}"
    assert lines[first + 1].startswith("static void on_x(")
    assert found.keys() >= {"init_y", "send_y", "restart", "pe_main"}

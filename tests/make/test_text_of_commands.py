"""How commands print isl text: in colours on a terminal, in lines of a hundred characters."""

import pytest

from lairmake.stages.make.report import colour
from lairmake.stages.make.report.colour import paint, paint_isl, wrap_isl

LONG = "A := [N] -> { A[i, j] : " + " and ".join(f"{n} <= i + {n}j <= N" for n in range(9)) + " };"


def test_a_long_line_is_broken_between_conjuncts():
    lines = wrap_isl(f"# {LONG}\n  {LONG}").split("\n")
    assert lines[0] == f"# {LONG}"
    assert [len(line) for line in lines[1:]] == [84, 89, 50]
    assert all(line.startswith("      and ") for line in lines[2:])
    assert " ".join(line.strip() for line in lines[1:]) == LONG


def test_room_is_left_for_the_indent():
    assert max(len(line) for line in wrap_isl(LONG, indent=20).split("\n")) <= 80


def test_elsewhere_than_on_a_terminal_text_is_plain():
    assert paint("bold", "text") == "text"
    assert paint_isl(LONG) == LONG


@pytest.mark.parametrize(("text", "painted"), [
    ("# and", "\x1b[2m# and\x1b[0m"),
    ("a_b := { A[i] : i >= 0 and i <= 2 };",
     "\x1b[1ma_b\x1b[0m := { \x1b[32mA\x1b[0m[i] : i >= 0 \x1b[36mand\x1b[0m i <= 2 };"),
])
def test_on_a_terminal_names_and_words_are_told_apart(monkeypatch, text, painted):
    monkeypatch.setattr(colour, "is_terminal", lambda: True)
    assert paint_isl(text) == painted

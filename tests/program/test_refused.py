"""What no program may have, as far as its text tells: the whole text of every error.

A case is a name, lines behind those of HEAD, and all errors that they give.
"""

import ast
from pathlib import Path

import pytest

from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.program.source import tree
from lairmake.stages.program.source.translation import translate_source
from tests.program.translated import HEAD, translate

FOLDER = Path(__file__).parent / "refused"


def cases():
    for path in sorted(FOLDER.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("=== ")[1:]:
            name, _, rest = part.partition("\n")
            text, _, wanted = rest.partition("---\n")
            yield pytest.param(text, wanted.strip("\n"), id=f"{path.stem}: {name}")


@pytest.mark.wide_after(176)
@pytest.mark.parametrize(("text", "wanted"), list(cases()))
def test_a_program_is_refused_where_it_is_wrong(text, wanted):
    with pytest.raises((UserError, UserErrors)) as caught:
        translate(HEAD + text)
    assert str(caught.value).strip("\n") == wanted


def test_columns_count_characters_not_bytes():
    with pytest.raises(UserErrors) as caught:
        translate(HEAD + 'größe = "äöü"; x += 1\n')
    assert "p.py:7:16: error: x is a LocalArray" in str(caught.value)


DEEP = "[" * 150 + "]" * 150
TEXTS = {
    "x = " + "-" * 3000 + "1": "p.py:1:4",
    "x = " + " + ".join(["1"] * 1000): "p.py:1:5",
    "x = 1" + "\nif x:\n" + " if x:" * 3: "p.py:3:",
    "x = " + "(" * 150 + ")" * 150: "",
    "x = " + "\\\n" * 10: "p.py:",
    "\tx = 1\n        y = 2\n": "p.py:1:",
    "x = 'a\n": "p.py:1:5",
    "x = 0777\n": "p.py:1:5",
    "é = $\n": "p.py:1:5",
    "\f\nx = ?\n": "p.py:2:5",
    "# coding: latin-1\nx = (\n": "p.py:2:5",
    "": "",
    "\n\n": "",
    DEEP: "",
    "x" * 100000: "",
    "def f(a, a):\n    pass\n": "p.py:1:10",
    "x = " + "9" * 5000: "p.py:1:1: error: no Python: a number of more digits than",
}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_text_is_python_or_refused_at_its_place(text):
    """Whatever it is: nothing but an error of the user's, which has a place."""
    wanted = TEXTS[text]
    if not wanted:
        translate(text)
        return
    with pytest.raises(UserError) as caught:
        translate(text)
    assert str(caught.value).startswith(wanted)


BRANCHES = "if g > 0:\n    g[...] = 0\n{}"
BRANCH = "elif g > {0}:\n    g[...] = {0}\n"
OTHERWISE = BRANCHES.format("".join(BRANCH.format(n) for n in range(20)))
NESTED = {
    OTHERWISE: "p.py:48:5: error: more than 20 loops, branches and contexts in each other, "
    "with what `elif` becomes\n      g[...] = 19\n      ^^^^^^^^^^^\n"
    "hint: put a part into a function",
    f"if {'g > 1 and ' * 200}g > 2:\n    g[...] = 1\n":
    "p.py:7:4: error: a condition of 2407 characters: 1900 is the most",
    f"g[...] = {'(1 + ' * 198}a[...]{')' * 198}\n": "",
    f"x[...] = {'(1 + ' * 199}x[1:]{')' * 199}\n":
    "error: p.py: what it becomes has more than 200 brackets in each other\n"
    "hint: write it flatter: long sums in parts",
}


@pytest.mark.parametrize("text", NESTED, ids=range(len(NESTED)))
def test_what_is_nested_deeply_becomes_python_or_is_refused(text):
    if not NESTED[text]:
        ast.parse(translate(HEAD + text).text)
        return
    with pytest.raises((UserError, UserErrors)) as caught:
        translate(HEAD + text)
    assert str(caught.value).startswith(NESTED[text])


def test_a_huge_source_is_refused(monkeypatch):
    monkeypatch.setattr(tree, "LARGEST", 10)
    with pytest.raises(UserError, match=r"p.py has 12 characters: 10 is the most"):
        translate("x = 1\ny = 2\n")


def test_a_nul_is_refused_where_it_stands():
    with pytest.raises(UserError, match="a NUL character"):
        translate_source(source_of("p.py", b"x = 1\0"))

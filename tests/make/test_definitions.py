"""Which edits of modules change the key of a stage that reaches `run` of one, and which do not."""

import re
import sys

import pytest

from lairmake.stages.make.core import code, definitions

CACHED = (
    definitions._module,
    definitions.kept,
    definitions.names_in,
    definitions.path_of_module,
    code._after,
    code._of_runner,
    code._digest,
    code._is_hooked,
    code._loads,
    code._files,
    code._digest_of_file,
)
LATE = "from __future__ import annotations\n"
RUN = "def run():\n    return ONE\n\nONE = 1\n"
ABOVE = "from stages.a import f\ndef run():\n    return f()\n"
OF_A = "def f():\n    return 1\n"
TABLE = "from stages.a import T\nimport stages.b\ndef run():\n    return T\n"
KINDS = (
    "class Base:\n    known = []\n"
    "    def __init_subclass__(cls):\n        Base.known.append(cls)\n"
)
ADD = "T = {}\ndef add(f):\n    T[f.__name__] = f\n    return f\n"
SIDE = "from stages.a import add\n@add\ndef g():\n    return 1\n"

SAME = {
    "a comment": ({"m": RUN}, {"m": f"# One.\n{RUN}"}),
    "blank lines, and how it is laid out": (
        {"m": RUN}, {"m": "\n\ndef run():\n\n    return (\n        ONE\n    )\nONE = 1"}),
    "what a function says of itself": (
        {"m": RUN}, {"m": RUN.replace("    return", '    """It runs."""\n    return')}),
    "what a module and a value say of themselves": (
        {"m": RUN}, {"m": f'"""A."""\n{RUN}"""B."""\n'}),
    "the order of definitions": ({"m": RUN}, {"m": "ONE = 1\ndef run():\n    return ONE\n"}),
    "a function that is not reached": ({"m": RUN}, {"m": f"{RUN}def other():\n    return ONE\n"}),
    "a function of another module": (
        {"m": ABOVE, "a": OF_A}, {"m": ABOVE, "a": f"{OF_A}def g():\n    return 2\n"}),
    "an import for types": (
        {"m": RUN, "a": OF_A},
        {"m": f"from typing import TYPE_CHECKING\n"
              f"if TYPE_CHECKING:\n    from stages.a import f\n{RUN}",
         "a": f"print()\n{OF_A}"}),
    "what is imported and not used": (
        {"m": RUN, "a": OF_A}, {"m": f"from stages.a import f\n{RUN}", "a": OF_A}),
    "what an annotation of a function names": (
        {"m": f"{LATE}from stages.a import f\ndef run(x: f):\n    return 1\n", "a": OF_A},
        {"m": f"{LATE}from stages.a import f\ndef run(x: f):\n    return 1\n",
         "a": OF_A.replace("1", "2")}),
}

OTHER = {
    "a constant": ({"m": RUN}, {"m": RUN.replace("1", "2")}),
    "its kind": ({"m": RUN}, {"m": RUN.replace("= 1", "= 1.0")}),
    "a function of another module": ({"m": ABOVE, "a": OF_A},
                                     {"m": ABOVE, "a": OF_A.replace("1", "2")}),
    "what another module hands on": (
        {"m": ABOVE, "a": "from stages.b import f, g\n", "b": f"{OF_A}def g():\n    return f()\n"},
        {"m": ABOVE, "a": "from stages.b import f as g, g as f\n",
         "b": f"{OF_A}def g():\n    return f()\n"}),
    "names of two functions that change places": (
        {"m": "from stages.a import f, g\ndef run():\n    return f(g)\n",
         "a": f"{OF_A}def g():\n    return 2\n"},
        {"m": "from stages.a import f as g, g as f\ndef run():\n    return f(g)\n",
         "a": f"{OF_A}def g():\n    return 2\n"}),
    "a package of others": ({"m": "from os import path as p\ndef run():\n    return p\n"},
                            {"m": "from os import sep as p\ndef run():\n    return p\n"}),
    "a default": ({"m": "A = 1\ndef run(x=A):\n    return x\n"},
                  {"m": "A = 2\ndef run(x=A):\n    return x\n"}),
    "what decorates": ({"m": "def run():\n    return 1\n"},
                       {"m": "import functools\n@functools.cache\ndef run():\n    return 1\n"}),
    "a member of a class": ({"m": "class C:\n    x = 1\ndef run():\n    return C()\n"},
                            {"m": "class C:\n    x = 2\ndef run():\n    return C()\n"}),
    "what a class says of itself": (
        {"m": "class C:\n    pass\ndef run():\n    return C.__doc__\n"},
        {"m": 'class C:\n    """One."""\n    pass\ndef run():\n    return C.__doc__\n'}),
    "what an annotation of a class names": (
        {"m": f"{LATE}from stages.a import f\nclass C:\n    x: f\ndef run():\n    return C\n",
         "a": OF_A},
        {"m": f"{LATE}from stages.a import f\nclass C:\n    x: f\ndef run():\n    return C\n",
         "a": OF_A.replace("1", "2")}),
    "what an annotation names where something decorates": (
        {"m": f"{LATE}from stages.a import f\n@print\ndef run(x: f):\n    return 1\n", "a": OF_A},
        {"m": f"{LATE}from stages.a import f\n@print\ndef run(x: f):\n    return 1\n",
         "a": OF_A.replace("1", "2")}),
    "a function in a table": ({"m": f"{OF_A}T = {{1: f}}\ndef run():\n    return T[1]()\n"},
                              {"m": f"{OF_A}T = {{1: f}}\ndef run():\n    return T[1]()\n".replace(
                                  "return 1", "return 2")}),
    "a function in a lambda": ({"m": f"{OF_A}T = lambda: f()\ndef run():\n    return T()\n"},
                               {"m": f"{OF_A}T = lambda: f()\ndef run():\n    return T()\n".replace(
                                   "return 1", "return 2")}),
    "an import within a function": (
        {"m": "def run():\n    from stages.a import f\n    return f()\n", "a": OF_A},
        {"m": "def run():\n    from stages.a import f\n    return f()\n",
         "a": OF_A.replace("1", "2")}),
    "all of a module": ({"m": "from stages.a import *\ndef run():\n    return f()\n", "a": OF_A},
                        {"m": "from stages.a import *\ndef run():\n    return f()\n",
                         "a": OF_A.replace("1", "2")}),
    "a module that is a value": (
        {"m": "from stages import a\ndef run(x):\n    return getattr(a, x)\n", "a": OF_A},
        {"m": "from stages import a\ndef run(x):\n    return getattr(a, x)\n",
         "a": OF_A.replace("1", "2")}),
    "a name that is computed": ({"m": f"def run(x):\n    return globals()[x]\n{OF_A}"},
                                {"m": f"def run(x):\n    return globals()[x]\n{OF_A}x = 1\n"}),
    "a name that is a text": ({"m": f"def run(x):\n    return x('f')\n{OF_A}"},
                              {"m": f"def run(x):\n    return x('f')\n{OF_A.replace('1', '2')}"}),
    "a module that is a text": ({"m": "def run(x):\n    return x('stages.a')\n", "a": OF_A},
                                {"m": "def run(x):\n    return x('stages.a')\n",
                                 "a": OF_A.replace("1", "2")}),
    "what a module finds itself": (
        {"m": ABOVE, "a": "def __getattr__(name):\n    return 1\n"},
        {"m": ABOVE, "a": "def __getattr__(name):\n    return 2\n"}),
    "what another module registers": (
        {"m": TABLE, "a": ADD, "b": SIDE}, {"m": TABLE, "a": ADD, "b": SIDE.replace("1", "2")}),
    "what registers": ({"m": TABLE, "a": ADD, "b": SIDE},
                       {"m": TABLE, "a": ADD.replace("= f", "= None"), "b": SIDE}),
    "that nothing registers any more": (
        {"m": TABLE, "a": ADD, "b": SIDE}, {"m": TABLE, "a": ADD, "b": SIDE.replace("@add\n", "")}),
    "which module registers first": (
        {"m": f"import stages.b\nimport stages.c\n{TABLE}", "a": ADD, "b": SIDE,
         "c": SIDE.replace("g", "h")},
        {"m": f"import stages.c\nimport stages.b\n{TABLE}", "a": ADD, "b": SIDE,
         "c": SIDE.replace("g", "h")}),
    "a class that another one is told of": (
        {"m": "from stages.a import Base\nimport stages.b\ndef run():\n    return Base.known\n",
         "a": KINDS, "b": "from stages.a import Base\nclass C(Base):\n    x = 1\n"},
        {"m": "from stages.a import Base\nimport stages.b\ndef run():\n    return Base.known\n",
         "a": KINDS, "b": "from stages.a import Base\nclass C(Base):\n    x = 2\n"}),
    "what puts another function in place": (
        {"m": f"{ABOVE}import stages.b\n", "a": OF_A, "b": "import stages.a\n"},
        {"m": f"{ABOVE}import stages.b\n", "a": OF_A,
         "b": "import stages.a\nstages.a.f = print\n"}),
    "what a table gets": ({"m": "T = {}\nT[1] = 1\ndef run():\n    return T\n"},
                          {"m": "T = {}\nT[1] = 2\ndef run():\n    return T\n"}),
    "what a list gets more": ({"m": "T = [1]\nT += [2]\ndef run():\n    return T\n"},
                              {"m": "T = [1]\nT += [3]\ndef run():\n    return T\n"}),
    "when a table was read": (
        {"m": "T = {1: 1}\nN = len(T)\nT[2] = 2\ndef run():\n    return N\n"},
        {"m": "T = {1: 1}\nT[2] = 2\nN = len(T)\ndef run():\n    return N\n"}),
    "which of two values is the last": ({"m": "A = 1\nA = 2\ndef run():\n    return A\n"},
                                        {"m": "A = 2\nA = 1\ndef run():\n    return A\n"}),
    "a value that is bound once more": (
        {"m": "A = 1\ndef run():\n    return A\n"},
        {"m": "A = 1\ndef run():\n    return A\nA = 2\n"}),
    "a condition": (
        {"m": "if print:\n    A = 1\nelse:\n    A = 2\ndef run():\n    return A\n"},
        {"m": "if print:\n    A = 1\nelse:\n    A = 3\ndef run():\n    return A\n"}),
    "what is tried first": (
        {"m": "try:\n    from stages.a import f\nexcept ImportError:\n    f = None\n"
              "def run():\n    return f()\n", "a": OF_A},
        {"m": "try:\n    from stages.a import f\nexcept ImportError:\n    f = None\n"
              "def run():\n    return f()\n", "a": OF_A.replace("1", "2")}),
    "what hides a word of Python": (
        {"m": "def run():\n    return len([])\n"},
        {"m": "def run():\n    return len([])\ndef len(x):\n    return 1\n"}),
    "a file of data": ({"m": 'DATA = ("*.txt",)\ndef run():\n    return 1\n', "x.txt": "1"},
                       {"m": 'DATA = ("*.txt",)\ndef run():\n    return 1\n', "x.txt": "2"}),
    "a package that is imported on the way": (
        {"m": "from stages.p.a import f\ndef run():\n    return f()\n", "p/__init__": "",
         "p/a": OF_A},
        {"m": "from stages.p.a import f\ndef run():\n    return f()\n", "p/__init__": "print()\n",
         "p/a": OF_A}),
}


@pytest.fixture
def units(tmp_path, monkeypatch):
    """What the key of `run` is made of where modules have some texts."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def units_of(name, texts):
        top = tmp_path / name / "stages"
        for place in (definitions, code):
            monkeypatch.setattr(place, "STAGES", top)
        forget()
        for each, text in {"__init__": "", **texts}.items():
            path = top / (each if "." in each else f"{each}.py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(in_lairmake(text), encoding="utf-8")
        return code.reach("lairmake.stages.m.run").units

    yield units_of
    forget()


def in_lairmake(text):
    """Return a text in which the package `stages` is where it lies."""
    return re.sub(r"\bstages\b", "lairmake.stages", text)


def forget():
    for cached in CACHED:
        cached.cache_clear()


@pytest.mark.parametrize("what", SAME)
def test_an_edit_of_what_does_not_count_changes_no_key(units, what):
    before, after = SAME[what]
    assert units("before", before) == units("after", after)


@pytest.mark.parametrize("what", OTHER)
def test_an_edit_of_what_counts_changes_the_key(units, what):
    before, after = OTHER[what]
    assert units("before", before) != units("after", after)

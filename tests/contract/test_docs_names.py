"""The documents: functions, modules, classes and files of the code that they name are there.

Only what stands between backticks counts, and Python in blocks where it imports from this project.
"""

import ast
import builtins
import functools
import re

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.lair.expressions import FUNCTIONS
from tests.contract.test_docs import DOCS, ROOT, TOP

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`]+)`")
DEFINED = re.compile(r"^\s*(?:async )?(?:def|class) (\w+)", re.MULTILINE)
DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
CODE = re.compile(r"[\w./-]+\.(py|c|h|j2|js|lark)(::\w+)?")
CLASS = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z]\w*)*")
PLACEHOLDER = re.compile(r"(^|\W)[A-Z]{2,}\b")
"""Stands for a name that a user chooses: `NAME.py`."""
ELSEWHERE = ("dist/d3.min.js",)
"""Files of other projects."""
OF_FILES = frozenset(["yaml", "isl", "il", "lair", "mlir", "json", "npy", "npz", "onnx", "py"])
"""How names end that are no names of the code."""
OF_PROJECT = ("stages", "lairmake", "tools", "tests")
LIBRARIES = {"np": np, "numpy": np, "islpy": isl}
WORDS = {*dir(builtins), *FUNCTIONS, *dir(isl.UnionMap), *dir(np.random.Generator)}
"""What may be called besides what this project defines."""
PAGES = pytest.mark.parametrize("path", [*TOP, *DOCS], ids=lambda path: path.name)


def spans(text):
    """Return what stands between backticks, each in one line, blocks left out."""
    return [" ".join(each.split()) for each in SPAN.findall(BLOCK.sub("", text))]


@functools.cache
def texts():
    """Return the text of every module, by its path from the top."""
    paths = [path for top in OF_PROJECT for path in (ROOT / top).rglob("*.py")]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@functools.cache
def defined():
    """Return the names of all functions and classes."""
    return {name for text in texts().values() for name in DEFINED.findall(text)}


@functools.cache
def spoken():
    """Return the words of the code but for its tests: operators of frameworks are among them."""
    code = (text for path, text in texts().items() if not path.startswith("tests/"))
    return {word for text in code for word in re.findall(r"[A-Z]\w+", text)}


@functools.cache
def files():
    """Return the paths of all files of the project, each with a slash before it."""
    listed = [path for top in (*OF_PROJECT, "templates", "projects")
              for path in (ROOT / top).rglob("*.*")]
    return [f"/{path.relative_to(ROOT).as_posix()}" for path in (*listed, *ROOT.glob("*.*"))]


def has(names):
    """Return whether a chain of names leads to a module of the project, or to what one knows."""
    for at in range(len(names), 0, -1):
        place = "/".join(names[:at]).replace("lairmake/stages", "stages")
        for path in (f"{place}.py", f"{place}/__init__.py"):
            if path in texts():
                return all(re.search(rf"\b{each}\b", texts()[path]) for each in names[at:])
    return False


def wrong_calls(said):
    """Yield the functions that Python calls in a text and nobody defines: `V (12)` calls none."""
    if re.search(r"\w \(", said):
        return
    try:
        tree = ast.parse(said, mode="eval")
    except SyntaxError:
        return
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        if name not in defined() and name not in WORDS:
            yield name


def wrong_dotted(said):
    """Yield a name in a module of this project, or of a library, that is not there."""
    first, *names = said.split(".")
    is_file = CODE.fullmatch(said) or (names and names[-1] in OF_FILES)
    if not DOTTED.fullmatch(said) or is_file or PLACEHOLDER.search(said):
        return
    if first in LIBRARIES:
        found = hasattr(LIBRARIES[first], names[0]) or has(["lairmake", "numpy", names[0]])
    elif first in OF_PROJECT:
        found = has([first, *names])
    elif (ROOT / "stages" / first).is_dir() and len(names) > 1:
        found = has(["stages", first, *names])
    else:
        return
    if not found:
        yield said


def wrong_files(said):
    """Yield a file of code, or a test in one, that is not there."""
    is_ours = CODE.fullmatch(said) and not said.startswith(("build/", "."))
    if not is_ours or PLACEHOLDER.search(said) or said in ELSEWHERE:
        return
    name, _, test = said.partition("::")
    found = [path for path in files() if path.endswith(f"/{name}")]
    text = "".join((ROOT / path[1:]).read_text("utf-8") for path in found) if test else ""
    if not found or (test and f"def {test}(" not in text):
        yield said


def wrong_classes(said):
    """Yield a class that nobody defines, unless it is a word of the code."""
    if CLASS.fullmatch(said) and said not in defined() | spoken() | WORDS:
        yield said


def wrong(text):
    kinds = (wrong_calls, wrong_dotted, wrong_files, wrong_classes)
    return [each for said in spans(text) for kind in kinds for each in kind(said)]


@pytest.mark.wide_after(25)
@PAGES
def test_every_name_of_the_code_is_there(path):
    assert wrong(path.read_text(encoding="utf-8")) == []


@PAGES
def test_every_import_of_the_project_is_there(path):
    blocks = BLOCK.findall(path.read_text(encoding="utf-8"))
    for text in (text for kind, text in blocks if kind == "python" and "import" in text):
        found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
        for node in (n for n in found if n.module.partition(".")[0] in OF_PROJECT):
            missing = [e.name for e in node.names if not has([*node.module.split("."), e.name])]
            assert missing == [], node.module


@pytest.mark.parametrize(("said", "found"), [
    ('spelled(listing, "program.x.j2")', ["spelled"]),
    ('spell(listing, "program.NAME.j2")', []),
    ("program.none.j2", ["program.none.j2"]),
    ("relation.intersects_domain(context)", ["intersects_domain"]),
    ("poly.bounds.exact_bound", ["poly.bounds.exact_bound"]),
    ("lairmake.stages.poly.box.exact_bounds", []),
    ("lairmake.stages.poly.box.exact_bound", ["lairmake.stages.poly.box.exact_bound"]),
    ("lairmake.Mistake", ["lairmake.Mistake"]),
    ("np.summed", ["np.summed"]),
    ("pe/computed.py", ["pe/computed.py"]),
    ("codegen/compute.py", []),
    ("tests/poly/test_bind.py::test_none", ["tests/poly/test_bind.py::test_none"]),
    ("ListingOfNothing", ["ListingOfNothing"]),
    ("W_local[i//8, i mod 2]", []),
])
def test_names_that_are_not_there_are_found(said, found):
    assert wrong(f"So `{said}` is\nnamed.") == found

"""Edit one token of a random function of the compiler, and see which keys and outputs change.

    .venv/bin/python -m tests.make.token_edits SEED COUNT [all]

prints for each edit a line of JSON: the file, the function, the old token and the new one, stages
whose `keys` changed, those that `ran` with the edited module, and those whose `outputs` changed.
Stages run that import the module. Without `all` there is one stage, only functions are edited that
it does not reach, of modules that it knows, and it runs where its key did not change.
A process is forked for each edit from one that has imported what is not ours.
"""

import ast
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import os
import random
import re
import sys
import tokenize
from pathlib import Path

import islpy  # noqa: F401
import jinja2  # noqa: F401
import lark  # noqa: F401
import numpy  # noqa: F401
import pydantic  # noqa: F401
import xdsl.dialects.builtin
import yaml  # noqa: F401

from lairmake.stages.make.core import code, definitions
from lairmake.stages.make.core.code import reach_of
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.definitions import read_module
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.files import digest_of

ROOT = Path(__file__).resolve().parents[2]
TASKS = ("fc:parse", "fc:place", "fc:adapt", "fc:simd", "fc:render", "krnl0_16:shape",
         "heat:translate")
"""Stages with the inputs that are committed."""
QUICK = ("krnl0_16:shape",)
OTHER = {
    "+": "-", "-": "+", "*": "+", "//": "*", "%": "//", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
    "==": "!=", "!=": "==", "and": "or", "or": "and", "True": "False", "False": "True",
    "is": "==", "|": "&", "&": "|", "in": "is", "if": "while", "min": "max", "max": "min",
    "any": "all", "all": "any", "return": "yield", "yield": "return", "break": "continue",
    "sorted": "list", "set": "list", "tuple": "list", "not": "",
}
CACHED = (code.reach_of, code._of_runner, code._after, code._digest,
          code._is_hooked, code._loads, code._files)
LONGEST = 60
"""How many seconds a stage may take that an edit made go on for ever."""


def draw(rng, files, reached):
    """Return a file, the function, old and new token, and the text with that; it is Python.

    What is `reached` is left out, files with the names of definitions.
    """
    while True:
        path = rng.choice(files)
        text = Path(path).read_text("utf-8")
        functions = [
            node for top in ast.parse(text).body if (path, getattr(top, "name", "")) not in reached
            for node in ast.walk(top) if isinstance(node, ast.FunctionDef)
        ]
        if functions:
            function = rng.choice(functions)
            edited = edit(text, function, rng)
            if edited is not None:
                return path, function.name, *edited


def edit(text, function, rng):
    """Return an old and a new token, and the text of a module with that; None if it is wrong."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return None
    first, last = body[0].lineno, function.end_lineno
    tokens = [
        token for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if first <= token.start[0] and token.end[0] <= last and token.string.strip()
        and token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.OP, tokenize.STRING)
    ]
    token = rng.choice(tokens)
    names = sorted({each.string for each in tokens if each.type == tokenize.NAME})
    new = another(token, names, rng)
    if new is None or token.start[0] != token.end[0]:
        return None
    lines = text.splitlines(keepends=True)
    line = lines[token.start[0] - 1]
    lines[token.start[0] - 1] = f"{line[:token.start[1]]}{new}{line[token.end[1]:]}"
    result = "".join(lines)
    try:
        compile(result, "", "exec")
    except SyntaxError:
        return None
    return token.string, new, result


def another(token, names, rng):
    """Return another token for one; None where there is none."""
    if token.string in OTHER:
        return OTHER[token.string]
    if token.type == tokenize.NUMBER:
        return re.sub(r"\d+", lambda found: str(int(found[0]) + 1), token.string, count=1)
    if token.type == tokenize.STRING:
        return f"{token.string[:-1]}_{token.string[-1]}"
    if token.type == tokenize.NAME and token.string not in ("def", "for", "else", "from", "import"):
        return rng.choice(names)
    return None


class Edited(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module with another text than its file has."""

    def __init__(self, name, path, text):
        self.name, self.path, self.text = name, path, text

    def find_spec(self, name, path, target=None):
        """Return where the module comes from; None for others."""
        if name != self.name:
            return None
        inside = [os.path.dirname(self.path)] if self.path.endswith("__init__.py") else None
        spec = importlib.machinery.ModuleSpec(name, self, origin=self.path, is_package=bool(inside))
        spec.submodule_search_locations, spec.has_location = inside, True
        return spec

    def exec_module(self, module):
        """Run the edited text."""
        exec(compile(self.text, self.path, "exec"), module.__dict__)


def in_fork(work):
    """Return what a function returns in a process of its own, as JSON has it; None if it dies."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        with os.fdopen(write, "w") as out:
            out.write(json.dumps(work()))
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as given:
        text = given.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


@functools.cache
def given_of(task):
    """Return the folder of a task and the files that its stage reads: the Make finds them."""
    layer, stage = task.split(":")
    return open_folder(ROOT / "projects" / layer), declaration(stage).reads


def outcome(task, edited=None):
    """Return the digests of what a stage writes, or what it fails with, and what it imports."""
    import signal

    signal.alarm(LONGEST)
    for name in [name for name in sys.modules if f"{name}.".startswith("lairmake.stages.")]:
        del sys.modules[name]
    if edited is not None:
        sys.meta_path.insert(0, edited)
    stage, (folder, reads) = task.partition(":")[2], given_of(task)
    try:
        from lairmake.stages.make.core.inputs import FolderInputs
        from lairmake.stages.make.core.stage import perform

        written = perform(stage, FolderInputs(folder, reads))
        found = {name: digest_of(content) for name, content in written.items()}
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}"}
    return found, sorted(name for name in sys.modules if name.startswith("lairmake.stages."))


def units_with(tasks, path, text):
    """Return the units of some stages where a module has another text."""
    module = definitions._module
    package = ".".join(["lairmake", *Path(path).relative_to(ROOT).parent.parts])
    for cached in CACHED:
        cached.cache_clear()
    definitions._module = lambda each: (
        read_module(text.encode(), package, definitions.TOP) if each == path else module(each))
    definitions.keep = code.keep = lambda: None
    return {task: reach_of(task.partition(":")[2]).units for task in tasks}


def main(seed, count, everything=False):
    """Print what each of some edits changes."""
    assert xdsl.dialects.builtin
    rng, tasks = random.Random(seed), TASKS if everything else QUICK
    assert all(map(given_of, tasks))
    before = {task: reach_of(task.partition(":")[2]).units for task in tasks}
    normal = {task: in_fork(lambda task=task: outcome(task)) for task in tasks}
    assert [task for task in tasks if "error" in normal[task][0]] == []
    files, reached = sorted(str(each) for each in (ROOT / "stages").rglob("*.py")), set()
    if not everything:
        known = {name for task in tasks for name in (*normal[task][1], *before[task])}
        files = sorted(filter(None, map(definitions.path_of_module, known)))
        reached = {
            (definitions.path_of_module(own), name) for task in tasks
            for own, part in reach_of(task.partition(":")[2]).definitions.items() for name in part
        }
    for _ in range(count):
        path, function, old, new, text = draw(rng, files, reached)
        name = ".".join(["lairmake", *Path(path).relative_to(ROOT).with_suffix("").parts])
        edited = Edited(name.removesuffix(".__init__"), path, text)
        near = [task for task in tasks if edited.name in {*normal[task][1], *before[task]}]
        after = in_fork(lambda: units_with(near, path, text)) if near else {}  # noqa: B023
        keys = [task for task in near if before[task] != after[task]]
        ran = [
            task for task in near
            if edited.name in normal[task][1] and (everything or task not in keys)
        ]
        results = {task: in_fork(lambda task=task: outcome(task, edited)) for task in ran}  # noqa: B023
        outputs = [task for task in ran if (results[task] or [None])[0] != normal[task][0]]
        print(json.dumps({
            "file": str(Path(path).relative_to(ROOT)), "function": function, "old": old,
            "new": new, "keys": keys, "ran": ran, "outputs": outputs,
        }), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), "all" in sys.argv[3:])

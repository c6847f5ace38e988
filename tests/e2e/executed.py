"""Run the stages of a folder and its parts, each in a process of its own, and say what ran of them.

    .venv/bin/python -m tests.e2e.executed FOLDER [STAGE ...]

works on a copy of the folder, with what is committed of its cache where only some stages are to
run, and prints for each task a line of JSON: its name, its stage, and the
functions, classes and modules of this project that Python ran for it or looked up, as Python itself
says it: `[["lairmake.stages.poly.text", "read_objects"], ...]`. The name of what runs while a
module is imported is "".
"""

import ast
import bisect
import dis
import functools
import inspect
import json
import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import islpy  # noqa: F401
import numpy  # noqa: F401

from lairmake.stages.make.core import stage as stages
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.faults import try_in
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import needed, orders, tasks_of_folders
from lairmake.stages.make.core.stage import load, perform
from lairmake.stages.make.store.folders import file_of, folders_of

ROOT = Path(__file__).resolve().parents[2]
OURS = f"{ROOT}/lairmake/stages/"


class Executed:
    """The code of this project that this process runs, from `start` to `stop`.

    Where a module is imported these are functions only: the bodies of its classes, and values that
    are put together, are not looked at, since whoever uses them refers to them.
    """

    def __init__(self):
        self.codes = {}
        self._imports = 0

    def start(self):
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def stop(self):
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame, event, argument):
        code = frame.f_code
        if event not in ("call", "return") or not is_ours(code.co_filename):
            return
        if code.co_name == "<module>":
            self._imports += 1 if event == "call" else -1
        elif self._imports and (code.co_name[0] == "<" or not code.co_flags & inspect.CO_NEWLOCALS):
            return
        self.codes[code] = frame.f_globals

    def names(self):
        """Return module and definition of all that ran, and of what that looked up."""
        found = set()
        for code, known in self.codes.items():
            module = module_in(code.co_filename)
            if code.co_name == "<module>":
                found.add((module, ""))
            else:
                names = names_at(code.co_filename, code.co_firstlineno)
                found |= {(module, name) for name in names}
                found |= set(looked_up(code, module, known))
        return sorted(found)


def is_ours(path):
    """Whether a file is a module of this project; Jinja says so of templates, too."""
    return path.startswith(OURS) and path.endswith(".py")


def module_in(path):
    """The full name of the module in a file."""
    parts = Path(path).relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def top_level(path):
    """Where each statement of a module begins, and the names of each."""
    body = ast.parse(Path(path).read_bytes()).body
    starts = [min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
              for node in body]
    return starts, [names_of(node) for node in body]


def names_of(node):
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return [each.id for target in targets if target is not None
            for each in ast.walk(target) if isinstance(each, ast.Name)]


def names_at(path, line):
    """The names of the statement of a module that a line belongs to; "" for the module."""
    starts, names = top_level(path)
    at = bisect.bisect_right(starts, line) - 1
    return (names[at] if at >= 0 and line > 1 else []) or [""]


def looked_up(code, module, known):
    """Yield what the global names in a code are: ours by the module that defines it."""
    own = {name for names in top_level(code.co_filename)[1] for name in names}
    for each in dis.get_instructions(code):
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME") and each.argval in known:
            value = known[each.argval]
            place = getattr(value, "__module__", None)
            name = getattr(value, "__qualname__", "").partition(".")[0]
            if each.argval in own:
                yield module, each.argval
            elif isinstance(place, str) and place.startswith("lairmake.stages.") and name:
                yield place, name


def run(stage, folder):
    """Run a stage; return what Python ran for it.

    How the Make puts a refusal into words, for a slot, is none of it: whoever reads that text asks
    only whether it is a refusal.
    """
    executed, inputs = Executed(), FolderInputs(folder, declaration(stage).reads)

    def performed(*arguments):
        executed.start()
        try:
            return perform(*arguments)
        finally:
            executed.stop()

    executed.start()
    load(stage)
    executed.stop()
    stages.perform = performed
    contents = try_in(folder, stage, inputs) if folder.is_slot else performed(stage, inputs)
    for name, content in contents.items():
        file_of(folder, name).parent.mkdir(parents=True, exist_ok=True)
        file_of(folder, name).write_bytes(content)
    return executed.names()


def tasks_in(path, is_asked):
    """Yield the tasks of a folder in an order in which they may run, as they come to be."""
    done = set()
    while True:
        tasks = tasks_of_folders(folders_of(open_folder(path)), analyses=True)
        tasks = {name: each for name, each in tasks.items() if is_asked(each[1])}
        left = [name for name in needed(orders(tasks), tasks) if name not in done]
        if not left:
            return
        done.add(left[0])
        yield left[0], *tasks[left[0]]


def main(given, asked=()):
    """Run all stages of a folder, or those that are asked for."""
    with tempfile.TemporaryDirectory() as root:
        path = Path(root) / "projects" / Path(given).name
        shutil.copytree(given, path, ignore=shutil.ignore_patterns("build"))
        if asked and (ROOT / "cache" / path.name).is_dir():
            shutil.copytree(ROOT / "cache" / path.name, Path(root) / "cache" / path.name)
        for task, folder, stage in tasks_in(path, lambda stage: not asked or stage in asked):
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                print(json.dumps([task, stage, run(stage, folder)]), flush=True)
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                sys.exit(f"{task} failed")


if __name__ == "__main__":
    main(*sys.argv[1:2], sys.argv[2:])

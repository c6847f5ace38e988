"""Tests of what changed: `./do test --changed` runs the files of tests that may see another result.

A file of tests has a digest of all that its tests may reach: definitions by their syntax trees, as
keys of stages have them, modules of tests, and data beside these. A file whose tests passed is
kept by its digest, in the state of the workspace, and left out as long as that stays. The
contract always runs.
"""

import functools
import json
import re
import sys
from pathlib import Path

import pytest

from lairmake import stages
from lairmake.stages.make.core import definitions
from lairmake.stages.make.core.code import digest_of_part, reach
from lairmake.stages.make.core.definitions import digest_of, read_module
from lairmake.stages.make.store.folders import STATE
from lairmake.stages.shipped import STAGES

ROOT = Path(__file__).resolve().parents[1]
PASSED = ROOT / STATE / "tests.json"
TOP = definitions.TOP
ALWAYS = "contract"
STARTS = re.compile(r"\b(run_stage|tasks_until|import_module|module_of|subprocess|run_forked)\b")
"""What runs code that no name leads to: stages, or another process."""
WIDELY = re.compile(r"\b(paper|network|mlp|shipped|space|ROOT|PIPELINE|clone|installed|shared)\b")
"""Words of tests of the command that build with the stages of this project, not with small ones."""
OF_SMALL = ("make", "fabric", "lair", "machine", "mapping", "movement", "poly", "program")
"""The packages that are beside small stages."""
LAYERS = (*stages.SEARCHED, *stages.ANALYSES, *stages.RECEIVES)
OF_WINGS = {
    "layer": LAYERS, "skewing": LAYERS, "program": stages.PROGRAM,
    "network": (*LAYERS, *stages.NETWORK, *stages.GRAPH, *stages.GRAPH_PARTS, *stages.WHOLE),
    "kernel": (*LAYERS, *stages.NETWORK, *stages.KERNEL, *stages.TILES, *stages.WHOLE),
}
"""The stages that tests of a wing run."""


def main(options):
    """Run pytest on the files of tests that changed, and return its exit code.

    Its options may leave out tests of a file by `-m` alone: what passed is kept for each of these.
    """
    marks = options[options.index("-m") + 1]
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    known = _read_passed().get(marks, {})
    changed = [f for f in files if _folder(f) == ALWAYS or known.get(_name(f)) != _digest(f)]
    print(f"{len(changed)} of {len(files)} files of tests may see what changed", flush=True)
    names = [_name(file) for file in changed]
    return pytest.main([*options, *names], plugins=[Outcomes(marks, names)])


class Outcomes:
    """The files of tests that pytest runs, and those of which a test failed."""

    def __init__(self, marks, names):
        self.marks, self.names, self.failed = marks, names, set()

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.add(report.nodeid.partition("::")[0])

    def pytest_sessionfinish(self, exitstatus):
        """Keep the digests of files whose tests all passed; of a run that was broken off, none."""
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            passed = {name: _digest(ROOT / name) for name in self.names if name not in self.failed}
            PASSED.parent.mkdir(exist_ok=True)
            kept = _read_passed()
            kept[self.marks] = kept.get(self.marks, {}) | passed
            PASSED.write_text(json.dumps(kept, indent=0), encoding="utf-8")


def _folder(path):
    return path.relative_to(ROOT).parts[1]


def _read_passed():
    return json.loads(PASSED.read_text("utf-8")) if PASSED.is_file() else {}


def _name(path):
    return path.relative_to(ROOT).as_posix()


@functools.cache
def _digest(path):
    """Return the digest of all that the tests of a file may reach."""
    modules = _modules(path)
    texts = [module.read_bytes() for module in modules]
    parts = {_name(file): digest_of(file.read_bytes()) for file in modules} | _data(_folder(path))
    found = {name for module in modules for name in _names(module)}
    parts |= reach(*sorted(found)).units
    if any(STARTS.search(text.decode()) for text in texts):
        parts |= _reached_by_folder(path)
    return digest_of_part(parts)


@functools.cache
def _data(folder):
    """Return the files of a folder of tests that are no modules of tests, or lie where none are.

    The second kind are Python files that tests copy: small stages, cases of users.
    """
    every = [f for f in (ROOT / "tests" / folder).rglob("*")
             if f.is_file() and "__pycache__" not in f.parts]
    of_tests = {f.parent for f in every if f.name.startswith(("test_", "conftest"))}
    return {_name(file): digest_of(file.read_bytes()) for file in every
            if file.suffix != ".py" or file.parent not in of_tests}


def _modules(path):
    """Return a file of tests, the modules of tests that it imports, and what they share."""
    found, waiting = {}, [path]
    while waiting:
        module = waiting.pop()
        if module in found or not module.is_file():
            continue
        found[module] = None
        waiting += [folder / "conftest.py" for folder in module.parents if ROOT in folder.parents]
        imported = re.findall(r"^from tests\.([\w.]+) import|^import tests\.([\w.]+)",
                              module.read_text("utf-8"), re.MULTILINE)
        for name in map("".join, imported):
            waiting.append(ROOT.joinpath("tests", *name.split(".")).with_suffix(".py"))
    return sorted(found)


@functools.cache
def _names(module):
    """Return the full names of ours to which a module of tests refers."""
    package = ".".join(module.relative_to(ROOT).parent.parts)
    known = read_module(module.read_bytes(), package, TOP)
    every = [known.rest, *known.definitions.values()]
    return {name for each in every for name in each.names if name.startswith(f"{TOP}.")}


def _reached_by_folder(path):
    """Return what stages and other processes may reach that the tests of a file run."""
    folder = _folder(path)
    if folder in OF_WINGS:
        return _reached(OF_WINGS[folder])
    own = [module for module in _modules(path) if module.name not in ("conftest.py", "forked.py")]
    is_small = folder == "e2e" and not any(WIDELY.search(m.read_text("utf-8")) for m in own)
    return _reached_at(OF_SMALL if is_small else ("",))


@functools.cache
def _reached(names):
    every = [f"{stages.module_of(stage)}.*" for stage in dict.fromkeys(names)]
    return {**reach(*every).units, **_reached_at(("make", "../templates"))}


@functools.cache
def _reached_at(folders):
    """Return all modules in some folders, as they are run, and all data there."""
    return {str(file.relative_to(ROOT)): _digest_of_file(file) for file in _files_at(folders)}


@functools.cache
def _files_at(folders):
    """Return all modules in some folders, and all data there."""
    tops = [STAGES / folder for folder in folders]
    if folders == ("",):
        tops += [ROOT / name for name in ("lairmake", "templates", "projects", "tools", "docs")]
    files = {f.resolve() for top in tops for f in top.rglob("*") if f.is_file()}
    files = {f for f in files if not {"__pycache__", "build", STATE} & {*f.parts}}
    return sorted(files)


@functools.cache
def _digest_of_file(file):
    """Return the digest of a module without its comments and places, or of any other file."""
    content = file.read_bytes()
    if file.suffix != ".py":
        return digest_of(content)
    known = read_module(content, ".".join(file.relative_to(ROOT).parent.parts), TOP)
    every = {name: each.digest for name, each in known.definitions.items()}
    return digest_of_part({**every, "": known.rest.digest, "imports": repr(known.imports)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

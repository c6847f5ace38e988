"""docs/paper.md: what is in the papers, the function that stages call for it, and its test."""

import ast
import functools
import re
from pathlib import Path

import pytest

from lairmake.stages import WINGS
from lairmake.stages.program.source.names import IL
from tests.contract.reached import module_of, reached_from

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([VFME] [^|]*) \| [^|]* \| `([\w.]+)` \| `([\w/.]+)::(\w+)` \|$", re.M)
ROWS = ROW.findall(TEXT)
STAGES = [f"{wing.__name__}.{stage}.run" for wing in WINGS for stage in wing.STAGES]
BELOW = ("poly", "machine", "lair", "mapping", "reference", "fabric", "volumes", "skewing", "layer",
         "kernel", "network", "program")
ABOVE = ("lairmake", "tools", "lairmake/stages/make")
DECLARED = ("READS", "WRITES", "DATA", "INPUTS", "STAGES", "__all__", "record", "draw_stop")
RUNS = "lairmake.stages.make.core.action.run_stage"

rows = pytest.mark.parametrize(
    ("where", "function", "file", "test"), ROWS, ids=[row[0] for row in ROWS]
)


def modules(folder):
    """Return the names of the modules in a folder."""
    paths = [path.relative_to(ROOT) for path in (ROOT / folder).rglob("*.py")]
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths]
    return sorted(names)


@functools.cache
def pipelines():
    """Return all that the stages lead to."""
    return reached_from(STAGES)


def defined(function):
    """Return the top-level name that a function is, or is a method of, and whether it is there."""
    parts = f"lairmake.stages.{function}".split(".")
    at = next(k for k in range(len(parts), 0, -1) if module_of(".".join(parts[:k])))
    own = module_of(".".join(parts[:at])).own[parts[at]]
    inner = {each.name for each in getattr(own, "body", ()) if isinstance(each, ast.FunctionDef)}
    return ".".join(parts[: at + 1]), set(parts[at + 1 :]) <= inner


@pytest.mark.wide_after(2)
@rows
def test_the_function_is_one_that_stages_call(where, function, file, test):
    name, is_there = defined(function)
    assert is_there
    assert name in pipelines()


@pytest.mark.wide_after(49)
@rows
def test_the_test_is_there_and_leads_to_the_function(where, function, file, test):
    name = file.removesuffix(".py").replace("/", ".")
    assert test in module_of(name).own
    led = reached_from([name, *(f"{name}.{each}" for each in module_of(name).own)])
    conftest = f"{name.rpartition('.')[0]}.conftest"
    led |= reached_from([f"{conftest}.{each}" for each in module_of(conftest).own]
                        if module_of(conftest) else [])
    assert RUNS in led or defined(function)[0] in led


def test_every_numbered_equation_and_example_has_a_row():
    cited = {where[0]: set() for where, *_ in ROWS}
    for where, *_ in ROWS:
        cited[where[0]] |= set(re.findall(r"\(\d+\)|Ex\. [\d.]*\d|Def\. [\d.]*\d|Alg\. \d", where))
    wanted = {
        "V": {f"({n})" for n in range(4, 44)} | {f"Ex. 5.{n}" for n in range(1, 11)},
        "F": {f"Def. 4.{n}" for n in (1, 2, 7, 8, 9, 10, 14, 15)} | {"Alg. 1", "Alg. 2"},
        "M": {f"({n})" for n in range(1, 14)} | {"Ex. 1", "Ex. 2"},
        "E": set(),
    }
    assert cited == wanted


@pytest.mark.parametrize("name", [n for n in modules("tests/paper") if "test_" in n])
def test_equations_are_compared_with_what_stages_call(name):
    """A test of an equation that calls what no stage does proves nothing of the compiler."""
    names = module_of(name).imports.values()
    used = {full for full in names if full.startswith("lairmake.stages.")}
    assert used - pipelines() == set()


def test_the_compiler_has_nothing_that_only_tests_use():
    above = ["lairmake.stages", *(name for folder in ABOVE for name in modules(folder))]
    uses = {full for name in above for full in module_of(name).imports.values()}
    of_il = [module_of(name) for name in IL.values()]
    said = [f"{name}.{key}" for name, module in zip(IL.values(), of_il, strict=True)
            for key in (*module.own, *module.imports)]
    found = reached_from([*STAGES, *above, *uses, *said])
    idle = [
        f"{name}.{key}" for folder in BELOW for name in modules(f"lairmake/stages/{folder}")
        for key in module_of(name).own
        if f"{name}.{key}" not in found and key not in DECLARED
    ]
    assert idle == []

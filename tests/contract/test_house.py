"""Imports go one way: a package lies above those that it imports, which know nothing of it."""

import ast
import functools
import graphlib
from pathlib import Path

import pytest

from lairmake.stages import WINGS, module_of

ROOT = Path(__file__).resolve().parents[2]
FLOORS = """
stages.yaml_faults stages.nesting
stages.yaml_limits
stages.diagnose stages.shipped
stages.templates
stages.poly
stages.machine
stages.movement stages.pe stages.program.values
stages.lair stages.program.front stages.program.source
stages.mapping
stages.program.irg
stages.reference stages.fabric stages.volumes stages.program.il
stages.parts stages.skewing stages.layer.texts stages.program.sandbox stages.program.interpreter
stages.kernel.mlir stages.network.operators
stages.network.onnx stages.network.tensorflow stages.network.parts
stages.network.whole
stages.program.sections
stages.program.vm
stages.program.lowering
stages.layer.routes
stages.layer.estimate
stages.layer.streams
stages.layer.vector stages.layer.codegen
stages.layer.memory
stages.layer.cycles
stages.layer.search
stages.layer stages.kernel stages.network stages.program
stages.picture
stages
stages.make.store
stages.make.core
stages.make.report
stages.make.doit
stages.make
stages.make.doit.commands
lairmake tools tools.evaluation
tools.fidelity tools.prediction tools.gallery
"""
"""From the ground up: a package imports what lies on floors below its own. `stages` is short for
`lairmake.stages`."""

NEVER = {
    "stages.kernel": ("stages.layer",),
    "stages.network": ("stages.layer.routes", "stages.layer.streams", "stages.layer.codegen"),
}
"""What lies below and is not imported either, by a folder and those in it; nor is doit by any of
`stages` but those in `make/doit/`."""

LEVEL = {name: at for at, line in enumerate(FLOORS.splitlines()) for name in line.split()}
TOPS = ("stages", "lairmake", "tools")
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for top in TOPS for path in sorted((ROOT / top).rglob("*.py"))
}


def package_of(name):
    """Return the longest beginning of a name that stands in FLOORS."""
    while name not in LEVEL:
        name = name.rpartition(".")[0]
    return name


@functools.cache
def imported(module):
    """Return all that a module imports of this project and doit: at any depth, and for types."""
    names = []
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{each.name}" for each in node.names]
    return [shorten(name) for name in names if name.split(".")[0] in (*TOPS, "doit")]


def shorten(name):
    """Return the name of something in `lairmake.stages` as FLOORS has it."""
    return name.removeprefix("lairmake.") if is_in(name, ["lairmake.stages"]) else name


def is_in(name, packages):
    return f"{name}.".startswith(tuple(f"{package}." for package in packages))


def runs_back(module):
    """Return what a module imports that lies on its floor or above, or that it may never import."""
    own = module if module in LEVEL else module.rpartition(".")[0]
    names = imported(module)
    never = [each for place, each in NEVER.items() if is_in(own, [place])]
    is_for_doit = is_in(own, ["stages.make.doit"]) or not is_in(own, ["stages"])
    never += [] if is_for_doit else [("doit",)]
    others = {package_of(name) for name in names if not is_in(name, ["doit"])} - {own}
    return [name for name in names for each in never if is_in(name, each)] + [
        other for other in others if LEVEL[other] >= LEVEL[own]]


@pytest.mark.wide
def test_no_import_runs_back():
    found = {module: runs_back(module) for module in FILES}
    assert {module: names for module, names in found.items() if names} == {}


RUNNING = {
    "stages.layer.outcome", "stages.network.whole.running", "stages.program.lowering.running",
}
"""What runs programs: for the stage that writes results, for its page, and for a trace."""


@pytest.mark.wide
def test_only_stages_and_the_make_see_what_a_stage_reads():
    """The others get what `run` has read, as objects with types."""
    seen = {m for m in FILES if any(is_in(n, ["stages.mapping.inputs"]) for n in imported(m))}
    stages = {shorten(module_of(stage)) for wing in WINGS for stage in wing.STAGES}
    others = {module for module in seen - stages if not is_in(module, ["stages.make"])}
    assert others == RUNNING
    assert stages <= seen


def folder_of(module):
    """Return the folder of a module; that of a file beside the wings is the file itself."""
    above = module.removesuffix(".__init__").rpartition(".")[0]
    return module if module.endswith(".__init__") or above in ("", "stages") else above


def wing_of(module):
    """Return the wing of a module: a folder below `stages/`, or what lies beside `stages/`."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "stages" else parts[0]


def edges_between(place):
    """Return which places import which, by a function from modules to places."""
    found = {place(module): set() for module in FILES}
    for module in FILES:
        for name in imported(module):
            full = next((f for f in (name, f"{name}.__init__", name.rpartition(".")[0],
                                     f"{name.rpartition('.')[0]}.__init__") if f in FILES), None)
            found[place(module)] |= {place(full)} if full else set()
    return {own: others - {own} for own, others in found.items()}


def find_circle(edges):
    """Return a circle, from a place to itself; nothing where there is none."""
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_a_circle_is_found():
    found = find_circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()})
    assert found in (["b", "c", "b"], ["c", "b", "c"])
    assert find_circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.wide
@pytest.mark.parametrize("place", [str, folder_of, wing_of], ids=["modules", "folders", "wings"])
def test_no_circle_of_imports(place):
    """Imports within functions, and for types, count."""
    assert find_circle(edges_between(place)) == []


MORE_FILES = {
    "fabric": "what needs NumPy stays apart from what stages import that write programs",
    "poly": "what needs NumPy stays apart from what every stage imports",
    "layer": "a file for each stage of a layer",
    "network": "a file for each stage of a network",
    "mapping": "a file for each file of a user, and what all of these are read with",
    "make/core": "what every command imports stays apart from what only builds do",
    "make/doit/commands": "a file for each command",
}
"""Folders with more than fourteen files, and why."""

TWICE = {
    "GlobalArray", "GlobalScalar", "LocalArray", "LocalScalar", "MACHScalar",
    "MACH_Compiler_Ignore", "Run_On_Host", "UniformLocalScalar",
}
"""What users write in programs: on x86 these compute, and while a program is recorded they note."""

NO_NOUNS = """
asked coming found going listed opened same telling together trying written alike around beside
built called changed chosen drawn fitted given kept known looked meant named placed recorded seen
settled shared shown spelled swept told used waiting
"""
"""Participles, adverbs and the like: a file or a class is called by a noun."""


def test_a_folder_has_as_many_files_as_one_takes_in():
    counts = {folder.relative_to(ROOT / "stages").as_posix(): len(list(folder.glob("[!_]*.py")))
              for folder in {path.parent for path in (ROOT / "stages").rglob("*.py")}}
    counts = {name: count for name, count in counts.items() if name not in (".", "make")}
    assert {name for name, count in counts.items() if count > 14} == set(MORE_FILES)
    assert [name for name, count in counts.items() if count < 3] == []


@functools.cache
def public_classes():
    """The names of classes that other modules may import, each with the modules that define one."""
    found = {}
    for module in (name for name in FILES if is_in(name, ["stages"])):
        for node in ast.parse(FILES[module].read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(module)
    return found


@pytest.mark.wide
def test_a_class_name_means_one_thing():
    twice = {name for name, modules in public_classes().items() if len(modules) > 1}
    assert twice == TWICE


@pytest.mark.wide
def test_files_and_classes_are_called_by_nouns():
    """program.yaml has the names of nodes: `Kept` is one."""
    files = {module.rpartition(".")[2] for module in FILES if is_in(module, ["stages"])}
    assert files.isdisjoint(NO_NOUNS.split())
    assert {name for name in public_classes() if name.lower() in NO_NOUNS.split()} == {"Kept"}

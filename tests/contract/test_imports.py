"""What the code of a stage is, and so which stages run again where a definition is edited."""

import ast
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lairmake.stages import (
    ANALYSES,
    GRAPH,
    GRAPH_PARTS,
    KERNEL,
    KERNEL_PICTURES,
    NETWORK,
    NETWORK_PICTURES,
    PROGRAM,
    PROGRAM_PICTURES,
    RECEIVES,
    SEARCHED,
    TILES,
    WHOLE,
    WINGS,
)
from lairmake.stages.make.core import code as stage_code, definitions
from lairmake.stages.make.core.code import name_of, reach_of
from lairmake.stages.make.core.definitions import module, path_of_module, statements
from lairmake.stages.make.core.key import COMPILES, PACKAGES
from lairmake.stages.shipped import STAGES

EVERY = tuple(dict.fromkeys((
    *SEARCHED, *NETWORK, *GRAPH, *GRAPH_PARTS, *RECEIVES, *WHOLE, *KERNEL, *TILES, *ANALYSES,
    *PROGRAM, *KERNEL_PICTURES, *NETWORK_PICTURES, *PROGRAM_PICTURES,
)))
OTHER_PICTURES = " report_kernel report_network report_program"
PICTURES = f"report{OTHER_PICTURES}"
ALL = " ".join(EVERY)
RUN_AGAIN = " report_network report_program"
COMPILED = f"simulate operate report execute{RUN_AGAIN}"
MACHINE = (
    "choose settle route simd render simulate extract split fit link operate emit skew translate "
    "remember "
    "section paint lower execute"
)
AGAIN = {
    "layer/codegen/compute.py: computing_pes": "settle render",
    "program/lowering/worker.py: write_worker": "lower",
    "layer/cycles/bound.py: lower_bound": "simulate",
    "pe/block.py: _is_guarded": "settle simd render lower execute report_program",
    "pe/speller.py": "render lower",
    "fabric/report.c": COMPILED,
    "fabric/command.py: compiler_state": COMPILED,
    "fabric/pe.h": f"settle render {COMPILED}",
    "machine/profiles/wse2.yaml": "",
    "machine/profile.py: read_grades": MACHINE.replace("skew", "skew report") + RUN_AGAIN,
    "mapping/machine.py": MACHINE.replace("skew", "skew report") + RUN_AGAIN,
    "mapping/inputs.py": ALL,
    "skewing/statements.py: Scheduled": "route skew",
    "layer/texts/isl_files.py: _known":
        "settle route instances compress approximate enumerate simd render",
    "layer/texts/results_json.py: results_text": "simulate",
    "templates/program.c.j2": "render lower",
    "templates/program.txt.j2": "render lower",
    "templates/bridge.c.j2": "link",
    "templates/scatter.svg.j2": "",
    "templates/report.html.j2": PICTURES,
    "templates/report/grid.js": PICTURES,
    "picture/page.py: write_page": PICTURES,
    "network/whole/floorplan.py: BridgeWay": "link",
    "reference/data.py: without_negative_zeros":
        "simulate conclude supply confirm operate emit assemble report report_network",
    "lair/lair.lark": ALL,
    "network/crossing.py: check_crossing": "connect link",
    "network/maps.py: sizes_of": "connect conclude",
    "network/maps.py: carry": "conclude receive",
    "mapping/network_yaml.py: read_network_file": "connect conclude link operate report_network",
    "mapping/network_yaml.py: Pinned":
        "extract split fit supply confirm link operate report_network",
    "network/operators/draft.py: Shape": "extract confirm",
    "network/onnx/reader.py: run_reference": "confirm",
    "network/parts/grouping.py: group": "split",
    "network/parts/part.py: write_part_layer": "fit supply",
    "network/sizing.py: expect": "fit",
    "layer/search/beam.py": "choose fit",
    "mapping/kernel_yaml.py": "shape partition tile emit assemble report_kernel",
    "kernel/mlir/dialect.py: DIALECTS": "shape",
    "poly/box.py: BoxHull": "adapt route allocate instances compress approximate enumerate simd",
    "poly/text.py: Objects": ALL,
    "layer/routes/routing.py: route_streams": "route",
    "layer/cycles/task.py: busiest": "simd",
    "program/source/translation.py: convert_source": "translate capture",
    "program/il/objects.py": "translate capture",
    "program/front/value.py: World": "rehearse",
    "program/sandbox/faults.py": "capture rehearse",
    "lairmake/objects.py": "rehearse",
    "make/core/action.py: build": "",
    "make/doit/commands/why.py: Why": "",
    "poly/box.py: box_hull": "adapt route allocate instances compress approximate enumerate simd",
    "poly/box.py: count_hull": "route allocate instances compress approximate enumerate",
    "poly/box.py: size_set": "route approximate simd",
    "poly/text.py: write_objects":
        "parse place schedule adapt route allocate instances compress approximate enumerate "
            "simd connect extract relate compose arrange fit supply shape partition tile broadcast "
        "skew describe paint lower",
    "poly/text.py: spell_object":
        "choose settle route simd render connect extract split fit supply link shape partition "
        "describe report",
    "poly/text.py: read_objects": "",
    "poly/compression.py: compress": "route compress",
    "poly/compression.py: drop_hidden_equalities": "route compress",
    "poly/compression.py: keeps_order": "route simd",
    "diagnose.py: UserError": ALL,
    "diagnose.py: headline": "settle",
    "diagnose.py: OurFault": "",
    "lair/tree.py: is_reserved": "extract split shape",
    "mapping/machine.py: check_grid": "choose settle render fit",
    "mapping/machine.py: Asking": "",
    "skewing/elements.py: find_computed_elements":
        "choose adapt route allocate instances compress approximate enumerate fit",
    "reference/data.py: generate":
        "simulate conclude supply confirm operate emit assemble report report_network",
    "reference/data.py: find_origins": "simulate confirm assemble",
    "reference/data.py: find_negative_zeros": "simulate",
    "fabric/grid.py: read_grid":
        "simulate link operate report draw execute report_kernel report_network report_program",
    "fabric/grid.py: find_neighbours": COMPILED,
    "fabric/driver.py: run_fabric": COMPILED,
    "picture/svg.py: draw_grid": "draw",
    "kernel/mlir/dialect.py: parse_text": "shape",
    "layer/streams/cutting.py: count_most_together": "route",
    "make/core/stage.py: perform": ALL,
    "make/core/inputs.py: FolderInputs": ALL,
}
"""Which stages run again where a file of data is edited, a definition, or any in a module of those
that some stage reaches; those that come after them left out."""

OWN_PLACE = re.compile(r"(?<![\w.\"])__file__")
"""The path of the module itself, and not that of another one."""
LOADS = re.compile(r"importlib(?!\.metadata)|__import__|\bexec\(|runpy|spec_from|pkgutil")
LOADED = {
    "make/__init__.py": "the Make, for dodo files, not for stages",
    "make/core/stage.py": "the stage, from which its code is found",
    "fabric/compiler.py": "looks whether there is a compiler",
    "program/sandbox/child.py": "the function that a stage imports and hands to it",
    "program/sandbox/modules.py": "modules of a user",
    "program/values/api.py": "the program of a user",
    "shipped.py": "only asks where byte code lies",
}
"""What loads modules by names that it computes, and which."""

TELLS = {
    "__doc__ getdoc getcomments": ["lairmake.stages.mapping.records._said_of"],
    "__annotations__ get_type_hints eval_str get_annotations singledispatch validate_call": [
        "lairmake.stages.mapping.records.list_fields",
        "lairmake.stages.program.values.operators.typed"],
    "getsource getsourcelines findsource co_firstlineno co_positions co_lines f_lineno": [
        "lairmake.stages.program.sandbox.faults._place_of",
        "lairmake.stages.program.il.recording._list_lines"],
}
"""What asks definitions for what keys leave out, and who does: `_said_of` and `list_fields` of a
class, of which all counts, the others of the program of a user."""
VALUES = {*(wing.__name__ for wing in WINGS), "lairmake.stages.program.il"}
"""Packages that are values: of wings one reads the names of stages, and one is a word in a text."""

MESSAGES = {"doit"}
"""What only the paths in messages depend on."""

DISTRIBUTIONS = {"yaml": "pyyaml", "pydantic_core": "pydantic", "google": "protobuf"}


def file_named(name):
    """The file that is called so: below `stages/`, or beside it."""
    return STAGES / name if (STAGES / name).is_file() else STAGES.parent / name


@pytest.fixture(scope="module")
def code():
    return {stage: reach_of(stage) for stage in EVERY}


@pytest.fixture(scope="module")
def files(code):
    """Every module that a stage imports, by its file."""
    every = set().union(*(found.modules for found in code.values()))
    return {name_of(path_of_module(name)): name for name in sorted(every)}


def is_code(found, edited):
    """Whether an edit of what is called `fabric/grid.py`, or `fabric/grid.py: Grid`, is one of
    what a stage reaches: of the file anything."""
    file, _, name = edited.partition(": ")
    own = f"lairmake.stages.{file.removesuffix('.py').replace('/', '.')}"
    part = found.definitions.get(own, {})
    return file in found.data or (name in part if name else bool(part))


@pytest.mark.wide_after(37)
@pytest.mark.parametrize("edited", AGAIN)
def test_the_stages_that_run_again_where_a_definition_is_edited(code, edited):
    file, _, name = edited.partition(": ")
    assert file_named(file).is_file()
    assert not name or re.search(rf"^(def |class |){name}\b", file_named(file).read_text(), re.M)
    assert [stage for stage in EVERY if is_code(code[stage], edited)] == AGAIN[edited].split()


def test_what_loads_modules_by_a_computed_name_is_known(files):
    found = [name for name in files if LOADS.search(file_named(name).read_text("utf-8"))]
    assert sorted(found) == sorted(LOADED)


@pytest.fixture(scope="module")
def words_of_definitions(code):
    """The words in each definition that a stage reaches, by its module and name."""
    return {name: words_in(node) for name, node in reached_statements(code)}


def reached_statements(code):
    """The syntax tree of each definition that a stage reaches, by its module and name."""
    every = {(own, name) for found in code.values() for own in found.definitions
             for name in found.definitions[own]}
    for own in sorted({own for own, _ in every}):
        for node in ast.parse(Path(path_of_module(own)).read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and (own, node.name) in every:
                yield f"{own}.{node.name}", node


def words_in(node):
    return {each.attr if isinstance(each, ast.Attribute) else each.id
            for each in ast.walk(node) if isinstance(each, ast.Attribute | ast.Name)}


@pytest.mark.wide
@pytest.mark.parametrize("words", TELLS)
def test_what_definitions_say_of_themselves_is_read_where_it_counts(words_of_definitions, words):
    """Keys leave out what functions say of themselves, where definitions stand, and what is only
    meant by annotations of functions."""
    asked = set(words.split())
    found = {name for name, said in words_of_definitions.items() if said & asked}
    assert found == set(TELLS[words])


@pytest.mark.wide
def test_no_module_of_a_package_is_found_through_the_package_as_a_value(code):
    values = {
        own for found in code.values()
        for own in set().union(*map(values_in, found.modules)) & set(found.modules)
        if path_of_module(own).endswith("__init__.py")
    }
    assert values == VALUES


@functools.cache
def values_in(name):
    """The full names to which a module refers without an attribute of them."""
    known = module(name)
    return {each for one in (known.rest, *known.definitions.values()) for each in one.names}


def test_a_module_that_reads_files_beside_it_says_which():
    for path in sorted(STAGES.rglob("*.py")):
        if path.relative_to(STAGES).parts[0] not in ("make", "report", "shipped.py"):
            text = path.read_text("utf-8")
            said = "\nDATA = " in text or "\nINPUTS = " in text
            assert not OWN_PLACE.search(text) or said, path


def test_data_are_files_that_a_build_looks_at(code, files):
    """Those below `stages/`, and what is shipped beside it, where a module says so: only of these
    a build sees that they changed."""
    for file, name in files.items():
        patterns, folder = module(name).data, file_named(file).parent
        assert not patterns or any(list(folder.glob(pattern)) for pattern in patterns), name
    data = set().union(*(found.data for found in code.values()))
    others = {Path(name).parts[0] for name in data if not (STAGES / name).is_file()}
    assert others == {"lairmake", "templates"}


@pytest.mark.wide
def test_every_package_that_a_stage_imports_is_in_its_key(files):
    nodes = [
        node for name in files
        for node in statements(ast.parse(file_named(name).read_text("utf-8")).body)
    ]
    found = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    found |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    tops = {name.partition(".")[0] for name in found} - set(sys.stdlib_module_names)
    packages = {DISTRIBUTIONS.get(name, name) for name in tops - MESSAGES - {"lairmake"}}
    assert packages <= set(PACKAGES)


@pytest.mark.parametrize("modules", [
    "lairmake.numpy lairmake.objects",
    "lairmake.stages.program.sandbox.child lairmake.stages.program.il.run "
    "lairmake.stages.program.front.run",
])
def test_a_program_that_runs_waits_for_numpy_alone(modules):
    """`python heat.py`, and the process that runs a source in a build, import nothing else."""
    code = f"import sys, {modules.replace(' ', ', ')}; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-S", "-c", code], text=True, env={
        "PYTHONPATH": os.pathsep.join([str(STAGES.parent), *sys.path[1:]])}).split()
    tops = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert tops - {"__main__", "numpy"} == {"lairmake"}


@pytest.mark.wide
@pytest.mark.parametrize(("stages", "late"), [
    ("place instances schedule compress enumerate approximate allocate", "pydantic jinja2 numpy"),
    ("parse adapt simd render route", "numpy"),
])
def test_stages_that_write_programs_wait_for_few_packages(stages, late):
    """Of a layer's build from nothing, up to its programs, an eighth would be such an import."""
    modules = ", ".join(f"lairmake.stages.layer.{stage}" for stage in stages.split())
    code = f"import sys, {modules}; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=STAGES.parent)
    assert not set(late.split()) & set(loaded.split())


def test_only_stages_that_compile_depend_on_the_compiler(code):
    assert [stage for stage in EVERY if COMPILES in code[stage].definitions] == COMPILED.split()


CACHED = (
    definitions._module,
    definitions.kept,
    definitions.names_in,
    definitions.path_of_module,
    stage_code._after,
    stage_code._of_runner,
    stage_code._digest,
    stage_code._is_hooked,
    stage_code._loads,
    stage_code._files,
    stage_code._digest_of_file,
)


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """An empty package of stages."""
    for place in (definitions, stage_code):
        monkeypatch.setattr(place, "STAGES", tmp_path / "stages")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    forget()
    for name in ("__init__.py", "pe/__init__.py", "pe/a.py", "pe/b.py", "c.py", "pe/x.c", "y.h"):
        write(tmp_path / "stages" / name, "")
    yield tmp_path / "stages"
    forget()


def forget():
    for cached in CACHED:
        cached.cache_clear()


def write(path, text):
    """Write a module in which the package `stages` is where it lies."""
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(re.sub(r"\bstages\b", "lairmake.stages", text), encoding="utf-8")


def modules_of(name):
    """The modules that all of a module imports, from `stages` on."""
    found = stage_code.reach(f"lairmake.{name}.*")
    return sorted(each.removeprefix("lairmake.") for each in (*found.modules, *found.data))


A, PE = ["stages", "stages.pe", "stages.pe.a"], ["stages", "stages.pe"]
SPELT = {
    "import os, json": [],
    "import stages.pe.a": A,
    "import stages.pe.a as other": A,
    "from stages.pe import a": A,
    "from stages.pe.a import run": A,
    "from stages.pe import run": PE,
    "from stages.pe import *": PE,
    "from stages import c": ["stages", "stages.c"],
    "from . import c": ["stages", "stages.c"],
    "from .pe.a import run": A,
    "def run():\n    from stages.pe import a": A,
    "try:\n    import json\nexcept ImportError:\n    import stages.pe.a": A,
    "class C:\n    def run(self):\n        if self:\n            from stages.pe import a": A,
    "match 1:\n    case 1:\n        import stages.pe.a": A,
    "with f:\n    import stages.pe.a": A,
    "if TYPE_CHECKING:\n    from stages.pe import a": [],
    "if typing.TYPE_CHECKING:\n    import json\nelse:\n    from stages.pe import a": A,
    "if not TYPE_CHECKING:\n    from stages.pe import a": A,
    'DATA = ("pe/*.c", "*.h")': ["pe/x.c", "y.h"],
    "what is this": [],
}


@pytest.mark.parametrize("text", SPELT)
def test_imports_count_in_every_spelling_and_at_every_depth(modules, text):
    write(modules / "m.py", text)
    assert modules_of("stages.m") == sorted({*SPELT[text], "stages", "stages.m"})


def test_modules_that_import_each_other_are_reached_together(modules):
    write(modules / "pe/a.py", "import stages.pe.b")
    write(modules / "pe/b.py", "def run():\n    import stages.pe.a")
    assert modules_of("stages.pe.a") == modules_of("stages.pe.b") == [*A, "stages.pe.b"]


def test_what_is_kept_of_a_module_is_not_believed_of_another_text(modules):
    """A text of the same size and time."""
    write(modules / "m.py", "import stages.pe.a")
    assert modules_of("stages.m") == sorted([*A, "stages.m"])
    forget()
    before = (modules / "m.py").stat()
    write(modules / "m.py", "import stages.pe.b")
    os.utime(modules / "m.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "stages.pe.b" in modules_of("stages.m")


def test_what_is_kept_saves_the_syntax_trees(modules, monkeypatch):
    write(modules / "m.py", "import stages.pe.a\n\ndef run():\n    return stages.pe.a.make()")
    before = stage_code.reach("lairmake.stages.m.run").units
    forget()
    monkeypatch.setattr(definitions, "read_module", None)
    assert stage_code.reach("lairmake.stages.m.run").units == before

"""Which files the code of a stage is, and so which stages run again where one is edited."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stages import (
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
)
from stages.make.core import imports
from stages.make.core.imports import code_of, reached, statements
from stages.make.core.key import COMPILES, PACKAGES
from stages.shipped import STAGES

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
    "layer/pe/compute.py": "settle render",
    "layer/cycles/bound.py": "simulate report",
    "pe/block.py": "settle simd render",
    "pe/speller.py": "render",
    "fabric/report.c": COMPILED,
    "fabric/command.py": COMPILED,
    "fabric/pe.h": f"settle render {COMPILED}",
    "machine/profiles/wse2.yaml": "",
    "machine/figures.py": MACHINE.replace("skew", "skew report draw") + OTHER_PICTURES,
    "mapping/machine.py": MACHINE.replace("skew", "skew report") + RUN_AGAIN,
    "mapping/inputs.py": ALL,
    "skewing/scheduled.py": "route skew",
    "layer/texts/tasks_text.py": "settle instances compress approximate enumerate simd render",
    "layer/texts/results_json.py": "simulate report",
    "templates/program.c.j2": "render",
    "templates/program.txt.j2": "render",
    "templates/bridge.c.j2": "link",
    "templates/scatter.svg.j2": "",
    "templates/report.html.j2": PICTURES,
    "templates/report/grid.js": PICTURES,
    "picture/page.py": PICTURES,
    "network/whole/ways.py": "link",
    "reference/data.py":
        "simulate conclude supply confirm operate emit assemble report report_network",
    "lair/lair.lark": ALL,
    "network/crossing.py": "connect link",
    "network/crossing_maps.py": "connect conclude link",
    "network/carrying.py": "conclude receive",
    "mapping/network_yaml.py": "connect conclude link operate report_network",
    "mapping/graph_yaml.py": "extract split fit supply confirm link operate report_network",
    "network/extraction/draft.py": "extract confirm",
    "network/onnx/running.py": "confirm",
    "network/parts/grouping.py": "split fit supply confirm link operate report_network",
    "network/parts/part_layers.py": "split fit supply confirm",
    "network/fitting/expecting.py": "fit",
    "layer/search/beam.py": "choose fit",
    "mapping/kernel_yaml.py": "shape partition tile emit assemble report_kernel",
    "kernel/mlir/text.py": "shape",
    "poly/box_hull.py": "adapt route allocate compress approximate enumerate simd",
    "poly/text.py": ALL,
    "layer/routes/routing.py": "route",
    "layer/cycles/task.py": "simd",
    "program/source/translation.py": "translate capture",
    "program/il/objects.py": "capture",
    "program/front/world.py": "rehearse",
    "program/child/place.py": "capture rehearse",
    "lairmake/objects.py": "rehearse",
    "make/core/folder_inputs.py": ALL,
    "make/core/stage.py": ALL,
    "make/core/action.py": "",
    "make/doit/commands/why.py": "",
}
"""Which stages run again where a file is edited, those that come after them left out."""

OWN_PLACE = re.compile(r"(?<![\w.\"])__file__")
"""The path of the module itself, and not that of another one."""
LOADS = re.compile(r"importlib(?!\.metadata)|__import__|\bexec\(|runpy|spec_from|pkgutil")
LOADED = {
    "make/__init__.py": "the Make, for dodo files, not for stages",
    "make/core/stage.py": "the stage, from which its code is found",
    "fabric/compiler.py": "looks whether there is a compiler",
    "program/child/main.py": "the function that a stage imports and hands to it",
    "program/child/modules.py": "modules of a user",
    "program/values/execution.py": "the program of a user",
    "shipped.py": "only asks where byte code lies",
}
"""What loads modules by names that it computes, and which."""

MESSAGES = {"doit"}
"""What only the paths in messages depend on."""

DISTRIBUTIONS = {"yaml": "pyyaml", "pydantic_core": "pydantic", "google": "protobuf"}


def file_named(name):
    """The file that is called so: below `stages/`, or beside it."""
    return STAGES / name if (STAGES / name).is_file() else STAGES.parent / name


@pytest.fixture(scope="module")
def code():
    return {stage: set(code_of(stage)) for stage in EVERY}


@pytest.mark.parametrize("file", AGAIN)
def test_the_stages_that_run_again_where_a_file_is_edited(code, file):
    assert file_named(file).is_file()
    assert [stage for stage in EVERY if file in code[stage]] == AGAIN[file].split()


def test_what_loads_modules_by_a_computed_name_is_known(code):
    every = sorted(name for name in set().union(*code.values()) if name.endswith(".py"))
    found = [name for name in every if LOADS.search(file_named(name).read_text("utf-8"))]
    assert found == sorted(LOADED)


def test_a_module_that_reads_files_beside_it_says_which():
    for path in sorted(STAGES.rglob("*.py")):
        if path.relative_to(STAGES).parts[0] not in ("make", "report", "shipped.py"):
            text = path.read_text("utf-8")
            said = "\nDATA = " in text or "\nINPUTS = " in text
            assert not OWN_PLACE.search(text) or said, path


def test_data_are_files_that_a_build_looks_at():
    """Those below `stages/`, and what is shipped beside it, where a module says so: only of these
    a build sees that they changed."""
    for name in (n for n in set().union(*map(code_of, EVERY)) if n.endswith(".py")):
        path = file_named(name)
        data, folder = reached(str(path))[str(path)].data, path.parent
        assert not data or any(list(folder.glob(pattern)) for pattern in data), name
    others = [n for n in set().union(*map(code_of, EVERY)) if not (STAGES / n).is_file()]
    assert {Path(name).parts[0] for name in others} == {"lairmake", "templates"}


def test_every_package_that_a_stage_imports_is_in_its_key():
    names = {name for stage in EVERY for name in code_of(stage) if name.endswith(".py")}
    nodes = [
        node for name in names
        for node in statements(ast.parse(file_named(name).read_text("utf-8")).body)
    ]
    found = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    found |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    tops = {name.partition(".")[0] for name in found} - set(sys.stdlib_module_names)
    packages = {DISTRIBUTIONS.get(name, name) for name in tops - MESSAGES - {"stages"}}
    assert packages <= set(PACKAGES)


@pytest.mark.parametrize("modules", [
    "lairmake.numpy lairmake.objects",
    "stages.program.child.main stages.program.il.run stages.program.front.run",
])
def test_a_program_that_runs_waits_for_numpy_alone(modules):
    """`python heat.py`, and the process that runs a source in a build, import nothing else."""
    code = f"import sys, {modules.replace(' ', ', ')}; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-S", "-c", code], text=True, env={
        "PYTHONPATH": os.pathsep.join([str(STAGES.parent), *sys.path[1:]])}).split()
    tops = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert tops - {"__main__", "numpy"} == {"stages"} | ({"lairmake"} & tops)


def test_only_stages_that_compile_depend_on_the_compiler(code):
    assert [stage for stage in EVERY if COMPILES in code[stage]] == COMPILED.split()


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """An empty package of stages."""
    monkeypatch.setattr(imports, "STAGES", tmp_path / "stages")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for cached in (imports._code, imports._files_of, imports._kept, imports._names_in):
        cached.cache_clear()
    for name in ("__init__.py", "pe/__init__.py", "pe/a.py", "pe/b.py", "c.py", "pe/x.c", "y.h"):
        write(tmp_path / "stages" / name, "")
    yield tmp_path / "stages"
    for cached in (imports._code, imports._files_of, imports._kept, imports._names_in):
        cached.cache_clear()


def write(path, text):
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text, encoding="utf-8")


def names_reached(name):
    return sorted(imports.name_of(path) for path in reached(name))


A, PE = ["__init__.py", "pe/__init__.py", "pe/a.py"], ["__init__.py", "pe/__init__.py"]
SPELT = {
    "import os, json": [],
    "import stages.pe.a": A,
    "import stages.pe.a as other": A,
    "from stages.pe import a": A,
    "from stages.pe.a import run": A,
    "from stages.pe import run": PE,
    "from stages.pe import *": PE,
    "from stages import c": ["__init__.py", "c.py"],
    "from . import c": ["__init__.py", "c.py"],
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
    assert names_reached("m.py") == sorted({*SPELT[text], "m.py"})


def test_modules_that_import_each_other_are_reached_together(modules):
    write(modules / "pe/a.py", "import stages.pe.b")
    write(modules / "pe/b.py", "def run():\n    import stages.pe.a")
    assert names_reached("pe/a.py") == names_reached("pe/b.py") == [*A, "pe/b.py"]


def test_what_is_kept_of_a_module_is_not_believed_of_another_text(modules):
    """A text of the same size and time."""
    write(modules / "m.py", "import stages.pe.a")
    assert names_reached("m.py") == [*PE[:1], "m.py", *A[1:]]
    imports._code.cache_clear()
    imports._kept.cache_clear()
    before = (modules / "m.py").stat()
    write(modules / "m.py", "import stages.pe.b")
    os.utime(modules / "m.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "pe/b.py" in names_reached("m.py")


def test_what_is_kept_saves_the_syntax_trees(modules, monkeypatch):
    write(modules / "m.py", "import stages.pe.a")
    before = names_reached("m.py")
    imports._code.cache_clear()
    imports._kept.cache_clear()
    monkeypatch.setattr(imports, "_parsed", None)
    assert names_reached("m.py") == before

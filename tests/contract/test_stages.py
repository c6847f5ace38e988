"""Every stage says what it reads, what it writes and where it comes from, and keeps to it."""

import ast
import importlib
import re

import pytest

from lairmake.stages import (
    ANALYSES,
    GRAPH,
    GRAPH_PARTS,
    KERNEL,
    KERNEL_PICTURES,
    NETWORK,
    PIPELINE,
    PROGRAM,
    PROGRAM_PICTURES,
    SEARCHED,
    SLOTS,
    TILES,
    TRIED,
    WHOLE,
    WHOLE_PICTURES,
    module_of,
)
from lairmake.stages.make.core.declaration import declaration, path_of
from lairmake.stages.make.core.faults import RUNS_PROGRAMS

HEADINGS = ("Paper", "Reads", "Writes", "Assumes", "Ensures")
FILE_NAME = re.compile(
    r"(?:[\w*]+/)*[\w*]+\.[a-z]\w*\b|\*\.\w+|[\w*/]*(?:in|out)puts/\*"
)
OF_FOLDERS = (SEARCHED, NETWORK, WHOLE, KERNEL, TILES, GRAPH, GRAPH_PARTS, ANALYSES, PROGRAM,
              KERNEL_PICTURES, WHOLE_PICTURES, PROGRAM_PICTURES)
LINKED = "layout.yaml"
"""The layout of a network on one fabric: of all others `draw` reads build/layout.yaml."""
SWEPT = "build/sweep/sweep.json"
"""What a command writes that its user gives."""
ALL = tuple(dict.fromkeys(stage for stages in OF_FOLDERS for stage in stages))
stages = pytest.mark.parametrize("stage", ALL)


def docstring(stage):
    tree = ast.parse(path_of(stage).read_text(encoding="utf-8"))
    return ast.get_docstring(tree)


def sections(stage):
    """Return the text below each heading of a stage's docstring."""
    parts = re.split(r"^([A-Z][a-z]+) {2,}", docstring(stage), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@stages
def test_docstring_has_the_headings_in_order(stage):
    found = [heading for heading in sections(stage) if heading in HEADINGS]
    assert tuple(found) == HEADINGS


@stages
def test_docstring_names_the_source(stage):
    """By the letter of docs/paper.md, as a seed, or it says that no paper has the stage."""
    assert re.match(r"[VFME] |no", sections(stage)["Paper"])


@stages
def test_docstring_reads_and_writes_are_those_declared(stage):
    module = importlib.import_module(module_of(stage))
    assert set(FILE_NAME.findall(sections(stage)["Reads"])) == {
        each.partition(":")[0] for each in module.READS
    }
    assert set(FILE_NAME.findall(sections(stage)["Writes"])) == set(module.WRITES)


@stages
def test_declaration_read_as_text_is_that_of_the_module(stage):
    module = importlib.import_module(module_of(stage))
    assert declaration(stage).inputs == module.READS
    assert declaration(stage).writes == module.WRITES


RAN = {"report": "simulate", "report_network": "operate", "report_program": "execute"}
"""What draws a run runs it once more: by the stage that ran it."""


@stages
def test_stage_imports_no_other_stage(stage):
    tree = ast.parse(path_of(stage).read_text(encoding="utf-8"))
    others = {module_of(other) for other in ALL} - {module_of(stage)}
    found = {n for n in imported(tree) if n in others or n.rpartition(".")[0] in others}
    assert not found


def test_what_runs_programs_once_more_may_take_any_time_as_well():
    assert {*RAN, *RAN.values()} <= RUNS_PROGRAMS


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("stage", SEARCHED)
def test_stage_reads_only_what_a_user_or_an_earlier_stage_writes(stage):
    before = SEARCHED[: SEARCHED.index(stage)]
    written = {name for earlier in before for name in declaration(earlier).writes}
    in_slots = {"layer.yaml", "chosen.yaml", "lair.isl", *written_by(TRIED)}
    written |= {f"*/{name}" for name in in_slots} if stage == "settle" else set()
    assert set(declaration(stage).reads) <= written | {"layer.yaml", "*.lair", "inputs/*"}


def written_by(names):
    return {name for stage in names for name in declaration(stage).writes}


def test_each_slot_has_what_the_first_stage_in_it_reads():
    written = set(declaration("choose").writes)
    assert {f"{slot}/chosen.yaml" for slot in SLOTS} == written - {"candidates.yaml"}


@pytest.mark.parametrize("stage", NETWORK + WHOLE)
def test_stage_of_a_network_reads_only_what_there_is_before(stage):
    stages = (NETWORK[0], *WHOLE, *NETWORK[1:])
    of_graphs = ("split",) if stage in WHOLE else ()
    written = written_by((*stages[: stages.index(stage)], *of_graphs))
    parts = {name for earlier in SEARCHED for name in declaration(earlier).writes}
    inside = {f"*/{name}" for name in parts | {"layer.yaml", "*.lair", "inputs/*"}}
    assert set(declaration(stage).reads) <= written | inside | {"network.yaml"}


@pytest.mark.parametrize("stage", KERNEL + TILES)
def test_stage_of_a_kernel_reads_only_what_there_is_before(stage):
    before = (KERNEL + TILES)[: (KERNEL + TILES).index(stage)]
    written = {name for earlier in before for name in declaration(earlier).writes}
    parts = {f"*/{name}" for earlier in PIPELINE for name in declaration(earlier).writes}
    given = {"kernel.yaml", "*.mlir", "inputs/*", "layer.yaml"}
    assert set(declaration(stage).reads) <= written | parts | given


@pytest.mark.parametrize("stage", ANALYSES)
def test_stage_on_demand_reads_only_what_there_is_before(stage):
    before = SEARCHED + ANALYSES[: ANALYSES.index(stage)]
    written = {name for earlier in before for name in declaration(earlier).writes}
    given = {"layer.yaml", "*.lair", "inputs/*"} | ({LINKED} if stage == "draw" else set())
    given |= {SWEPT} if stage == "report" else set()
    assert set(declaration(stage).reads) <= written | given


@pytest.mark.parametrize("stage", PROGRAM)
def test_stage_of_a_program_reads_only_what_there_is_before(stage):
    """Sources are read by the first only: an edit of a comment ends at what that writes."""
    before = PROGRAM[: PROGRAM.index(stage)]
    written = {name for earlier in before for name in declaration(earlier).writes}
    given = {"program.yaml", *(["*.py"] if stage == "translate" else [])}
    assert set(declaration(stage).reads) <= written | given


def test_what_draws_a_folder_reads_what_a_user_or_its_stages_write():
    of_parts = written_by(SEARCHED) | {"layer.yaml", "*.lair", "inputs/*"}
    parts = {f"*/{name}" for name in of_parts}
    for pictures, stages in {
        KERNEL_PICTURES: (*KERNEL, *TILES), PROGRAM_PICTURES: PROGRAM,
        WHOLE_PICTURES: (*NETWORK, *WHOLE, *GRAPH, *GRAPH_PARTS),
    }.items():
        for stage in pictures:
            given = {"kernel.yaml", "*.mlir", "network.yaml", "program.yaml", "*.py", SWEPT}
            given |= {LINKED, "build/layout.yaml"} if stage == "draw" else set()
            assert set(declaration(stage).reads) <= written_by(stages) | parts | given


def test_no_two_stages_write_one_file():
    for pipeline in (SEARCHED + ANALYSES, NETWORK, KERNEL + TILES, PROGRAM):
        written = [name for stage in pipeline for name in declaration(stage).writes]
        assert len(written) == len(set(written))


@stages
def test_stage_opens_no_file(stage):
    """One function does all reading and writing: a stage gets texts and returns texts."""
    tree = ast.parse(path_of(stage).read_text(encoding="utf-8"))
    calls = {ast.unparse(n.func).split(".")[-1] for n in ast.walk(tree) if isinstance(n, ast.Call)}
    assert calls.isdisjoint({"open", "write_text", "write_bytes", "fromfile", "tofile"})

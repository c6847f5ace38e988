"""The documents: every link leads somewhere, and what a user may write is in one of them."""

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from doit.doit_cmd import DoitMain

from lairmake.stages import (
    ANALYSES,
    KERNEL,
    NETWORK,
    PIPELINE,
    PROGRAM,
    RECEIVES,
    SEARCHED,
    SLOTS,
    TILES,
    WHOLE,
)
from lairmake.stages.lair.expressions import FUNCTIONS
from lairmake.stages.lair.layer import OPS
from lairmake.stages.machine.profile import PROFILES
from lairmake.stages.machine.types import TYPES
from lairmake.stages.make.core.code import reach_of
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.mapping.layer_yaml import LayerMapping, TensorMapping, Way
from lairmake.stages.mapping.network_yaml import GraphMapping
from lairmake.stages.program.source.names import OF_OBJECTS
from lairmake.stages.program.values.api import NAMES

ROOT = Path(__file__).resolve().parents[2]
TOP = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_DOIT = {command.get_name() for command in DoitMain.DOIT_CMDS}
COMMANDS = PROJECT["entry-points"]["doit.COMMAND"].keys() - OF_DOIT
WAYS = get_args(Way)
FILE = re.compile(r"`((?:stages|templates|tests|tools)/[\w/.]+\.\w+)`")
LINK = re.compile(r"\]\(([^)#]*)(#[^)]*)?\)")


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(path):
    """The names by which one links to the headings of a document."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("path", [*TOP, *DOCS], ids=lambda path: path.name)
def test_every_link_leads_somewhere(path):
    for file, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        if not file.startswith("http"):
            target = path.parent / file if file else path
            assert target.exists(), file
            assert not anchor or anchor in anchors(target), file + anchor


@pytest.mark.parametrize("path", [*TOP, *DOCS], ids=lambda path: path.name)
def test_every_file_of_the_project_that_is_named_is_there(path):
    named = FILE.findall(path.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).is_file()] == []


@pytest.mark.wide
def test_only_what_simulates_depends_on_the_fabric_in_c():
    """docs/stages.md says what runs again after an edit of the router."""
    stages = [*PIPELINE, *ANALYSES, *NETWORK, *WHOLE, *KERNEL, *TILES, *PROGRAM]
    assert {stage for stage in stages if "fabric/router.c" in reach_of(stage).data} == {
        "simulate", "operate", "report", "execute"}


def test_the_readme_leads_to_every_document():
    linked = {file for file, _ in LINK.findall(text("README.md"))}
    assert {f"docs/{path.name}" for path in DOCS} - linked == set()


def test_the_page_of_stages_says_what_each_writes():
    rows = dict(re.findall(r"^\| (\w+) \| (`.*?) \| ", text("docs/stages.md"), re.MULTILINE))
    written = {
        stage: [re.sub(r"\*[.]\w+$", "*", name) for name in declaration(stage).writes]
        for stage in SEARCHED
    }
    written["choose"] = [name for name in written["choose"] if name[:4] != "slot"] + [SLOTS[0]]
    wrong = {s: n for s, names in written.items() for n in names if n not in rows[s]}
    assert wrong == {}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("language", [*FUNCTIONS, *OPS, *TYPES]),
        ("layers", [*LayerMapping.model_fields, *TensorMapping.model_fields]),
        ("stages", PIPELINE),
        ("networks", [*NETWORK, *RECEIVES, *WHOLE]),
        ("graphs", GraphMapping.model_fields),
        ("kernels", [*KERNEL, *TILES]),
        ("programs", [*PROGRAM, *OF_OBJECTS, *NAMES]),
        ("vector_instructions", WAYS),
        ("machines", [path.stem for path in PROFILES.glob("*.yaml")]),
        ("commands", COMMANDS),
    ],
)
def test_a_document_names_all_that_it_is_about(document, words):
    known = text(f"docs/{document}.md")
    missing = [w for w in words if not re.search(rf"(?<!\w){re.escape(w)}(?!\w)", known)]
    assert words and missing == []

"""README.md, and documents of the virtual machine, quote what is there: sources, texts of stages,
and what layers and programs take.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from stages import PROGRAM
from stages.make.core.action import run_stage
from stages.report.agreed import summary

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(TEXT)
OF_PROGRAM = [line for block in BLOCKS for line in block.splitlines() if "n4_src1 := " in line]
ATTENTION = ROOT / "projects/catalogue/attention"


def blocks_with(word):
    found = [block for block in BLOCKS if word in block]
    assert found, word
    return found


def test_sources_are_those_of_the_layers():
    for name, word in {"attention.lair": "graph attention", "layer.yaml": "scores[i,j,d]"}.items():
        source = (ATTENTION / name).read_text(encoding="utf-8")
        assert all(block in source for block in blocks_with(word))
    (lair,) = blocks_with("lair ff")
    assert lair.strip() in (ROOT / "projects/fc/fc.lair").read_text(encoding="utf-8")
    (mapping,) = blocks_with("sizes: {M: 32")
    whole = yaml.safe_load((ROOT / "projects/fc/layer.yaml").read_text(encoding="utf-8"))
    assert {**whole, **yaml.safe_load(mapping)} == whole


def test_texts_are_those_of_the_cache():
    texts = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "cache/fc").glob("*.isl"))
    lines = [line for block in BLOCKS for line in block.splitlines() if " := " in line]
    assert len(lines) >= 5
    assert [line for line in lines if line not in texts.splitlines() + OF_PROGRAM] == []


@pytest.fixture(scope="module")
def listing(tmp_path_factory):
    """What a build of listing1 writes, and its results."""
    folder = tmp_path_factory.mktemp("readme") / "listing1"
    shutil.copytree(ROOT / "projects/listing1", folder, ignore=shutil.ignore_patterns("build"))
    return {name: text for stage in PROGRAM for name, text in run_stage(stage, folder).items()}


def test_the_program_and_what_is_made_of_it_are_those_of_listing1(listing):
    (source,) = blocks_with("for gs in myGA")
    assert source in (ROOT / "projects/listing1/listing1.py").read_text(encoding="utf-8")
    for word, name in {"with for_loop": "program.il", "subgraph_transfer": "graph.yaml",
                       "ar_ar_addiii": "sections.yaml"}.items():
        assert blocks_with(word)[0] in listing[name].decode()
    (said,) = blocks_with("NumPy, graph, fabric")
    assert summary("listing1", json.loads(listing["build/results.json"])) == said
    assert OF_PROGRAM and OF_PROGRAM[0] in listing["accesses.isl"].decode().splitlines()


def test_the_cache_of_listing1_is_what_a_build_writes(listing):
    kept = {path.name: path.read_bytes() for path in (ROOT / "cache/listing1").iterdir()}
    built = {name: text.encode() if isinstance(text, str) else text
             for name, text in listing.items() if not name.startswith("build/")}
    assert kept == built, "rm -rf cache/listing1; ./do listing1"


def test_what_the_virtual_machine_is_told_is_that_of_listing1(listing):
    texts = [each.decode() if isinstance(each, bytes) else each
             for name, each in listing.items() if not name.endswith((".npy", ".npz"))]
    found = BLOCK.findall((ROOT / "docs/virtual_machine.md").read_text(encoding="utf-8"))
    assert len(found) >= 6
    assert [block for block in found if not any(block in text for text in texts)] == []


def test_the_results_of_a_program_are_those_of_listing1(listing):
    said = summary("listing1", json.loads(listing["build/results.json"]))
    assert f"```\n{said}```" in (ROOT / "docs/results.md").read_text(encoding="utf-8")


def test_the_cycles_of_attention_are_those_of_the_evaluation():
    rows = (ROOT / "docs/evaluation.md").read_text(encoding="utf-8").splitlines()
    first, parts = (row.split(" | ") for row in rows[:300] if row.startswith("| attention |"))
    loops, simd, faster, bound = first[3:7]
    computing, banks, startup, slow, idle = (parts[at] for at in (9, 11, 13, 14, 15))
    said = " ".join(TEXT.split())
    assert f"cycles {simd} with vector instructions, {loops} with loops: {faster} times" in said
    assert f"at least {bound} cycles" in said
    assert f"computes for {computing} of the {simd} cycles," in said
    assert f"starts instructions and tasks for {startup}, spends {slow} in loops" in said
    assert f"reads from busy banks of memory for {banks}," in said
    assert f"and waits for {idle.removesuffix(' |')} while" in said

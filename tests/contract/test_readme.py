"""README.md, and documents of the virtual machine, quote what is there: sources, texts of stages,
and what layers and programs take.
"""

import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from lairmake.stages import PIPELINE, PROGRAM
from lairmake.stages.diagnose import source_of
from lairmake.stages.fabric.layout import read_layout
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.machine.scalar_code import SCALAR_KINDS
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.report.summary import (
    summarise_layer as summary_of_layer,
    summarise_program,
)

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


@pytest.mark.wide
def test_the_program_and_what_is_made_of_it_are_those_of_listing1(listing):
    (source,) = blocks_with("for gs in myGA")
    assert source in (ROOT / "projects/listing1/listing1.py").read_text(encoding="utf-8")
    for word, name in {"with for_loop": "program.il", "subgraph_transfer": "graph.yaml",
                       "ar_ar_addiii": "sections.yaml"}.items():
        assert blocks_with(word)[0] in listing[name].decode()
    (said,) = blocks_with("NumPy, graph, fabric")
    assert summarise_program("listing1", json.loads(listing["build/results.json"])) == said
    assert OF_PROGRAM and OF_PROGRAM[0] in listing["accesses.isl"].decode().splitlines()


@pytest.mark.wide
def test_the_cache_of_listing1_is_what_a_build_writes(listing):
    kept = {path.name: path.read_bytes() for path in (ROOT / "cache/listing1").iterdir()}
    built = {name: text.encode() if isinstance(text, str) else text
             for name, text in listing.items() if not name.startswith("build/")}
    assert kept == built, "rm -rf cache/listing1; ./do listing1"


@pytest.mark.wide
def test_what_the_virtual_machine_is_told_is_that_of_listing1(listing):
    texts = [each.decode() if isinstance(each, bytes) else each
             for name, each in listing.items() if not name.endswith((".npy", ".npz"))]
    found = BLOCK.findall((ROOT / "docs/virtual_machine.md").read_text(encoding="utf-8"))
    assert len(found) >= 6
    assert [block for block in found if not any(block in text for text in texts)] == []


def test_the_results_of_a_program_are_those_of_listing1(listing):
    said = summarise_program("listing1", json.loads(listing["build/results.json"]))
    assert f"```\n{said}```" in (ROOT / "docs/results.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def attention(tmp_path_factory):
    """What a build of attention writes, by name."""
    folder = tmp_path_factory.mktemp("readme") / "attention"
    shutil.copytree(ATTENTION, folder, ignore=shutil.ignore_patterns("build"))
    return {name: text for stage in PIPELINE for name, text in run_stage(stage, folder).items()}


def said_of_attention():
    """The sentences below the summary of attention, without the breaks of lines."""
    return " ".join(TEXT.partition("  compute_expdiff")[2].partition("```sh")[0].split())


@pytest.mark.wide
def test_the_summary_of_attention_is_what_a_build_prints(attention):
    (block,) = blocks_with("attention on wse2")
    printed = summary_of_layer(json.loads(attention["build/results.json"])).splitlines()
    command, *lines = [line for line in block.splitlines() if line.strip() != "..."]
    assert command == "$ ./do catalogue/attention"
    assert [line for line in printed if line in lines] == lines
    assert any(line.startswith("  rests ") for line in lines)


@pytest.mark.wide
def test_where_the_cycles_of_attention_go_is_what_its_busiest_pe_did(attention):
    results = json.loads(attention["build/results.json"])
    pe, cycles = results["busiest"]["simd"], results["cycles"]["simd"]
    started = ("dispatch", "dispatch_next", "start_up", "latency", "configuration")
    startup = sum(pe[name] for name in started)
    profile = load_profile(results["machine"], {})
    functions = pe["exponential"] + pe["division"]
    scalar = sum(pe.get(kind, 0) for kind in SCALAR_KINDS) - functions
    decisions = yaml.safe_load(attention["simd.yaml"])
    around = decisions["compute_expdiff"]["cycles"] - pe["exponential"]
    assert 2 * around > scalar
    for said in (
        f"at least {results['bound']['cycles']} cycles",
        f"takes {pe['exponential']} of the {cycles} cycles for "
        f"{pe['exponential'] // profile.exponential} exponentials, {pe['division']} for "
        f"{pe['division'] // profile.division} quotients, one a row, and {scalar} for all other",
        f"computes in lanes for {pe['lanes']}, starts instructions and tasks for {startup},",
        f"busy banks of memory for {pe['memory']},",
        f"and runs no task for {cycles - pe['busy']}.",
        f"the profile has {profile.exponential} cycles, and {profile.descriptors}.",
    ):
        assert said in said_of_attention()


@pytest.mark.wide
def test_when_attention_runs_no_task_its_streams_move_elements(attention):
    with np.load(io.BytesIO(attention["build/usage.npz"])) as usage:
        moving, received, sent = (usage[name] for name in ("moving", "received", "sent"))
        moving_over_time = usage["bins"][1]
    assert f"In {moving[0, 0]} of these its streams move elements" in said_of_attention()
    of_layer = 3 * 8 * 16 + 8 * 16  # q, k and v, and y: eight rows of sixteen each on a PE
    assert 0.9 * (received[0, 0] + sent[0, 0]) < of_layer
    fifth = len(moving_over_time) // 5
    between = moving_over_time[fifth:-fifth].sum()
    assert between < 0.15 * moving_over_time.sum()


def test_what_more_descriptors_do_to_attention_is_what_they_do(attention):
    results = json.loads(attention["build/results.json"])
    limit = results["limits"]["figures"]["descriptors"]
    decisions = yaml.safe_load(attention["simd.yaml"])
    (exp,) = [
        step for step in yaml.safe_load(attention["build/limits/simd.yaml"])["compute_expdiff"]
        ["steps"] if step.get("by") == "loops"
    ]
    assert exp["operation"] == "exp"
    assert sum("limited" in each for each in decisions.values()) == 4
    less = results["cycles"]["simd"] - results["limits"]["cycles"]
    assert (
        f"and {limit['of']}. On a machine with {limit['enough']} descriptors, four of these loops "
        f"are vector instructions, but for `exp` itself, and the layer takes {less} cycles less."
    ) in said_of_attention()


def test_the_picture_of_attention_has_the_pes_and_the_sides_that_its_text_names(attention):
    source = source_of("build/layout.yaml", attention["build/layout.yaml"])
    layout = read_layout(source)
    (said,) = re.findall(r"!\[(The grid of attention: .*?)\]", TEXT)
    assert list(layout.roles) == ["compute"]
    results = json.loads(attention["build/results.json"])
    streams = [*layout.arrivals.values(), *layout.departures.values()]
    assert said == (
        f"The grid of attention: {results['pes']['of']} PEs that compute, and streams "
        f"{', '.join(each.tensor for each in streams)} from and to ports at four sides"
    )
    ports = re.findall(r"-> \[PE\[(.*?)\] ->", (ATTENTION / "layer.yaml").read_text("utf-8"))
    assert {tuple(re.sub(r"\w+//8", "", port).split(",")) for port in ports} == {
        ("-1", " "), ("", " -1"), ("", " 4"), ("4", " ")}
    picture = (ROOT / "docs/catalogue/attention.svg").read_text(encoding="utf-8")
    assert {each.tensor for each in streams} == set(re.findall(r">(\w+)</text>", picture))


def test_the_cycles_of_attention_are_those_of_the_evaluation(attention):
    rows = (ROOT / "docs/evaluation.md").read_text(encoding="utf-8").splitlines()
    first, parts = (row.split(" | ") for row in rows[:300] if row.startswith("| attention |"))
    results = json.loads(attention["build/results.json"])
    cycles, pe = results["cycles"], results["busiest"]["simd"]
    assert first[3:7] == [
        str(cycles["loops"]), str(cycles["simd"]), f"{results['speedup']:.2f}",
        str(results["bound"]["cycles"]),
    ]
    idle = parts[15].removesuffix(" |")
    assert [parts[9], parts[11], idle] == [
        str(pe["lanes"]), str(pe["memory"]), str(cycles["simd"] - pe["busy"])]


def test_the_catalogue_has_as_many_layers_as_is_said():
    count = len(list((ROOT / "projects/catalogue").glob("*/layer.yaml")))
    assert f"for each layer of a catalogue of {count}:" in " ".join(TEXT.split())
    assert f"./do catalogue             # {count} well-known layers" in TEXT

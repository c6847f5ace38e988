"""Keys by values: which stages an edit of a YAML file concerns, and that they read nothing else."""

import json
import shutil
from pathlib import Path

import pytest

import lairmake.stages.mapping.network_yaml as network
from lairmake.stages.diagnose import Source, UndeclaredReadError, UserErrors
from lairmake.stages.make.core.action import current_key
from lairmake.stages.make.core.declaration import declaration, read_values
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import every_stage, folders_of
from lairmake.stages.mapping.kernel_yaml import Kernel
from lairmake.stages.mapping.layer_yaml import LayerMapping, read_mapping
from lairmake.stages.mapping.models import Strict
from lairmake.stages.mapping.network_yaml import GraphMapping
from lairmake.stages.mapping.program_yaml import Program
from lairmake.stages.mapping.yaml_paths import split_reads
from tests.contract.test_stages import ALL

ROOT = Path(__file__).resolve().parents[2]
NODE = {"parse", "route", "render", "simulate", "skew", "describe", "report"}
MACHINE = {"route", "simd", "render", "simulate", "skew", "report"}
GRID = {"place", "route", "broadcast", "count", "skew", "report"}
TENSORS = {"parse", "adapt", "route", "render", "simulate", "skew", "report"}
EDITS = {
    "a comment": (
        "fc", "layer.yaml", "lair: fc.lair", "# words\nlair: fc.lair  # more", {"report"}),
    "the order of keys": (
        "fc", "layer.yaml", "{M: 32, N: 16}\ntypes: {T: float16}",
        "{N: 16, M: 32}\ntypes: {T: float16}", {"report"}),
    "another spelling": ("fc", "layer.yaml", "top: ff", "'top': \"ff\"", {"report"}),
    "an iterator of a placement": (
        "fc", "layer.yaml", "ff[i,j] -> PE[j//4, 1 + i//8]", "ff[i,k] -> PE[k//4, 1 + i//8]",
        {"parse", "place", "report"}),
    "a target": ("fc", "layer.yaml", "PE[4, 5]", "PE[4, 6]", GRID),
    "a seed": ("fc", "layer.yaml", "top: ff", "top: ff\ndata: {seed: 1}", {"simulate", "report"}),
    "how values are made": (
        "fc", "layer.yaml", "top: ff", "top: ff\ndata: {kind: reals}", {"simulate", "report"}),
    "probes": ("fc", "layer.yaml", "top: ff", 'top: ff\nprobes: {x: "{ PE[1, 1] }"}',
               {"simulate", "report"}),
    "a figure": ("fc", "layer.yaml", "machine: wse2", "machine: {profile: wse2, hop: 2}", MACHINE),
    "a size": ("fc", "layer.yaml", "M: 32", "M: 24", NODE),
    "how a tensor arrives": (
        "fc", "layer.yaml", "index[i]]", "index[15 - i]]", TENSORS | {"schedule"}),
    "zeros that are left out": ("fc", "layer.yaml", ", sparse: true", "", TENSORS),
    "invocations": ("fc", "layer.yaml", "top: ff", "top: ff\ninvocations: 2",
                    {"simd", "simulate", "report"}),
    "a way": ("fc", "layer.yaml", "simd: {prefer: paper}", "simd: {prefer: loops}",
              {"route", "enumerate", "simd", "report"}),
    "a report": ("fc", "layer.yaml", "top: ff", "top: ff\nreport: true", {"report"}),
    "comments of a network": ("mlp", "network.yaml", "parts:", "# words\nparts:",
                              {"report_network"}),
    "a floorplan": (
        "lenet", "network.yaml", "run: whole", 'run: whole\nfloorplan: {a: "PE[0, 0]"}',
        {"split", "link", "report_network"}),
    "the order of parts": ("mlp", "network.yaml", "  first:\n  relu:\n", "  relu:\n  first:\n",
                           {"connect", "conclude", "link", "operate", "report_network"}),
    "a seed of a part": (
        "mlp", "first/layer.yaml", "target:", "data: {seed: 1}\ntarget:",
        {"simulate", "report", "conclude", "operate", "report_network"}),
    "tiles": ("krnl0_tiled", "kernel.yaml", "[1, 8, 3, 3]", "[1, 8, 4, 4]",
              {"tile", "report_kernel"}),
    "values of a kernel": ("krnl0_tiled", "kernel.yaml", "tiles:", "data: {seed: 1}\ntiles:",
                           {"emit", "assemble", "report_kernel"}),
    "parameters": ("ising", "program.yaml", "sweeps: 5", "sweeps: 6",
                   {"translate", "capture", "rehearse", "report_program"}),
    "limits": ("ising", "program.yaml", "program: ising.py",
               "program: ising.py\nlimits: {seconds: 90}",
               {"capture", "rehearse", "report_program"}),
    "responses": ("ising", "program.yaml", "program: ising.py",
                  "program: ising.py\ncontrol: {responses: 1}", {"section", "report_program"}),
    "a goal": ("lenet", "network.yaml", "run:", "goal: memory\nrun:",
               {"fit", "supply", "report_network"}),
    "a goal of a search": ("chosen", "layer.yaml", "target:", "goal: memory\ntarget:",
                           {"choose", "settle", "report"}),
}


def keys_of(folder):
    """Return the key of each task of a folder, and of its parts."""
    return {
        f"{each.name}:{stage}": current_key(stage, each).primary
        for each in folders_of(open_folder(folder)) if not each.asked_in
        for stage in every_stage(each)
    }


@pytest.mark.wide_after(13)
@pytest.mark.parametrize("name", EDITS)
def test_only_stages_that_read_a_value_have_another_key(name, tmp_path):
    of, file, old, new, wanted = EDITS[name]
    folder = tmp_path / "projects" / of
    shutil.copytree(ROOT / "projects" / of, folder, ignore=shutil.ignore_patterns("build"))
    (tmp_path / "lairmake.yaml").touch()
    before = keys_of(folder)
    text = (folder / file).read_text("utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), "utf-8")
    after = keys_of(folder)
    changed = {task.partition(":")[2] for task in after if after[task] != before.get(task)}
    assert changed == {stage for stage in wanted if any(t.endswith(f":{stage}") for t in after)}


def values(text, *paths):
    return read_values(text.encode(), "layer.yaml", [tuple(p.split(".")) for p in paths],
                       is_graph=False)


TARGET = 'target: "{ PE[1, 1] }"\n'


@pytest.mark.parametrize(("one", "other"), [
    ("1", "1.0"), ("1", "true"), ("1", '"1"'), ("1.0", "true"), ("0.0", "-0.0"),
    ('"é"', '"e\\u0301"'), ("[1, 2]", "[2, 1]"), (".nan", ".inf"),
])
def test_values_of_different_types_are_different(one, other):
    said = [values(f"{TARGET}machine: {{profile: wse2, hop: {each}}}\n", "machine")
            for each in (one, other)]
    assert None not in said and said[0] != said[1]


@pytest.mark.parametrize(("one", "other"), [
    ("16", "0x10"), ("true", "yes"), ("1000.0", "1.0e+3"), ('"a b"', "'a b'"), ("a b", "a\n  b"),
    ("{b: 1, a: [2]}", "{a: [2], b: 1}"), ("&x [1]", "[1]"), ("null", "~"),
])
def test_one_value_has_one_text_however_it_is_spelled(one, other):
    said = [values(f"{TARGET}machine: {{profile: wse2, hop: {each}}}\n", "machine")
            for each in (one, other)]
    assert said[0] is not None and said[0] == said[1]


@pytest.mark.parametrize("text", [
    "target: 3\n", f"{TARGET}dta: {{seed: 1}}\n", f"{TARGET}data: {{seed: 1}}\ndata: {{seed: 1}}\n",
    f"{TARGET}pin: [hull.isl]\n", f"{TARGET}machine: [\n", "",
    f"{TARGET}<<: {{top: f}}\n", f"{TARGET}types: &t {{T: *t}}\n",
])
def test_what_is_not_valid_counts_with_all_of_its_bytes(text):
    assert values(text, "top") is None


def test_a_date_counts_with_all_of_its_bytes():
    text = f"{TARGET}machine: {{profile: wse2, hop: 2020-01-01}}\n"
    assert values(text, "machine") == text.encode()
    assert json.loads(values(text, "top")) == {}


def test_a_stage_gets_what_it_declares_and_to_ask_for_more_is_a_bug(tmp_path):
    shutil.copy(ROOT / "projects/fc/fc.lair", tmp_path)
    shutil.copy(ROOT / "projects/fc/layer.yaml", tmp_path)
    inputs = FolderInputs(open_folder(tmp_path), ("layer.yaml: data.seed, tensors.*.sparse",))
    mapping = inputs.mapping()
    assert (mapping.data.seed, mapping.tensors["x"].sparse) == (0, True)
    for ask in (
        lambda: mapping.top, lambda: mapping.data.kind, lambda: mapping.tensors["x"].arrives,
        lambda: mapping.is_open, inputs.lair, lambda: inputs.text("layer.yaml"),
    ):
        with pytest.raises(UndeclaredReadError):
            ask()
    assert json.loads(mapping.says) == {"tensors": {"x": {"sparse": True}, "y": {}}}


def test_places_are_those_of_the_file():
    mapping = read_mapping(Source(path="layer.yaml", text=f"# words\n\n{TARGET}")).only([("top",)])
    assert mapping.span("target").line == 3
    with pytest.raises(UserErrors) as caught:
        read_mapping(Source(path="layer.yaml", text="# words\n\ntarget: 3\n"))
    assert caught.value.errors[0].span.line == 3


MODELS = {
    "layer.yaml": [LayerMapping], "kernel.yaml": [Kernel], "program.yaml": [Program],
    "network.yaml": [network.NetworkFile, GraphMapping],
}
NOT_READ = {("report",), ("pin",), ("reductions",)}
"""The Make reads these, and of one there is one value."""


def paths_in(model):
    for name, field in model.model_fields.items():
        yield (field.alias or name,)
        inner = getattr(field, "annotation", None)
        if isinstance(inner, type) and issubclass(inner, Strict):
            yield from ((name, *path) for path in paths_in(inner))


def test_values_that_stages_declare_are_there_and_all_are_read():
    """A slip in READS is one here, and no key is for nobody."""
    declared = {name: set() for name in MODELS}
    for stage in ALL:
        for name, paths in declaration(stage).values.items():
            declared[name.rpartition("/")[2]] |= set(paths)
    for name, models in MODELS.items():
        known = {path for model in models for path in paths_in(model)}
        tensors = {("tensors", "*", key) for key in ("arrives", "next", "otherwise", "sparse")}
        assert declared[name] <= known | tensors | {("*",)}, name
        read = {path[0] for path in declared[name]}
        every = {path[:1] for path in known}
        assert {path for path in every if path[0] not in read} <= NOT_READ, name


def test_a_file_may_be_named_more_than_once():
    assert split_reads(("a.yaml: x.y, z", "b", "a.yaml: w")) == (
        ("a.yaml", "b"), {"a.yaml": (("x", "y"), ("z",), ("w",))})

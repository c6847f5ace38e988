"""What is measured of the Make is what it should be, and the tools beside it do the same work."""

import sys

import pytest

from tests.bench import making
from tests.bench.process import ROOT, cost, environment
from tests.bench.synthetic import GIVEN, STAGES, reads_of, writes_of
from tests.bench.tools import tools_in

TOOLS = ("ours", "doit alone", "ninja", "make")


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """Return every tool that is here, with two layers, built."""
    found = {tool.name: tool for tool in tools_in(tmp_path_factory.mktemp("tools"), 2)}
    for tool in found.values():
        tool.build()
    return found


def wrote(tool, layer, name):
    """Return the file that a stage wrote: ours has its texts in the cache."""
    is_ours = tool.name == "ours" and not name.startswith("build/")
    return (tool.workspace / "cache" / layer.name if is_ours else layer) / name


def expected(text):
    """Return what each stage but the last one gives, by name, for the text of the algorithm."""
    texts = {"layer.yaml": GIVEN, "synthetic.lair": text}
    for at in range(STAGES - 1):
        texts[writes_of(at)] = "".join(texts[name] for name in reads_of(at))
    return {writes_of(at): texts[writes_of(at)] for at in range(STAGES - 1)}


@pytest.mark.wide
@pytest.mark.parametrize("name", TOOLS)
def test_each_tool_builds_the_layer_that_was_edited_and_no_other(tools, name):
    if name not in tools:
        pytest.skip(f"there is no {name} here")
    tool = tools[name]
    untouched, edited = tool.layers
    names = [writes_of(at) for at in range(STAGES)]
    before = [wrote(tool, layer, n).stat().st_mtime_ns for layer in tool.layers for n in names]
    tool.edit(1, "another\n")
    tool.build()
    after = [wrote(tool, layer, n).stat().st_mtime_ns for layer in tool.layers for n in names]
    assert after[:STAGES] == before[:STAGES]
    for layer, text in {untouched: "layer 0\n", edited: "another\n"}.items():
        found = {n: wrote(tool, layer, n).read_text() for n in names[:-1]}
        assert found == expected(text)


def test_a_tool_that_is_not_here_is_said_and_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [tool.name for tool in tools_in(tmp_path, 1)] == ["ours", "doit alone"]
    assert capsys.readouterr().err == (
        "there is no ninja here: left out\nthere is no make here: left out\n"
    )


@pytest.mark.wide
def test_doit_alone_has_no_commands_of_ours(tools):
    tool = tools["doit alone"]
    done = cost([*tool.command, "help"], tool.workspace, environment(tool.modules))
    assert "-m run" in done.out
    assert "-m why" not in done.out


def test_the_memory_of_a_process_is_not_that_of_the_one_that_starts_it():
    mebibyte = 2**20
    held = bytearray(b"1") * (100 * mebibyte)
    none, some = (
        cost([sys.executable, "-c", f"b'1' * {size}"], ROOT, environment()).peak
        for size in (1, 50 * mebibyte)
    )
    assert none < 50 < some < len(held) / mebibyte


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not give orphans away")
def test_what_nobody_waits_for_is_counted(tmp_path):
    """As what the processes of `-n 2` start, where one of them ends before it."""
    text = "import os, time\nif not os.fork():\n    while time.process_time() < 0.3:\n        pass"
    text += "\nos._exit(0)"
    assert cost([sys.executable, "-S", "-c", text], tmp_path, environment()).cpu > 0.3


@pytest.mark.wide
def test_a_stage_that_runs_is_no_revert(tmp_path):
    (tmp_path / "projects").mkdir()
    (layer,) = making.workspace_of(tmp_path, ["fc"])
    text = making.text_of(layer)
    with pytest.raises(SystemExit, match=r"not all came from the store:\nfc: 13 stages ran"):
        making.restored(tmp_path, making.become, {layer: text})
    making.restored(tmp_path, making.remove_outputs, layer)
    with pytest.raises(SystemExit, match="not all came from the store"):
        making.restored(tmp_path, making.become, {layer: text.replace(*making.CHANGES[1])})
    making.restored(tmp_path, making.become, {layer: text})


@pytest.mark.wide
def test_list_is_measured_in_clones_that_are_fresh(tmp_path):
    clone = making.clone_of(tmp_path / "clone", "HEAD")
    (clone / "stages" / "__pycache__").mkdir()
    assert making.list_anew(clone) > 0
    assert {"stages", "projects"} <= {path.name for path in clone.iterdir()}
    with pytest.raises(SystemExit, match="nowhere is no commit of"):
        making.clone_of(tmp_path / "other", "nowhere")


def test_ours_is_compared_with_each_other_tool(tools):
    few = [tools[name] for name in ("ours", "doit alone")]
    figures = list(making.compared("cold", few, [1.0, 4.0], limit=2, over={"doit alone": 0.5}))
    assert [(f.what, f.value, f.unit, f.limit) for f in figures] == [
        ("cold, ours", 1.0, "s", 2),
        ("cold, doit alone", 4.0, "s", None),
        ("cold, ours over doit alone", 0.25, "", 0.5),
    ]

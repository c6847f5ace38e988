"""What one imports: `lairmake.build`, `lairmake.results`, `lairmake.read`."""

import ast
import io
import json
import subprocess
import sys

import numpy as np
import pytest

import lairmake

QUIET = """
import sys, {name}
tops = ("doit", "islpy", "lairmake", "numpy", "stages")
print([name for name in sys.modules if name.split(".")[0] in tops])
"""


@pytest.fixture
def layer(small, monkeypatch):
    """The folder of a layer of small stages, which processes of `lairmake.build` find."""
    monkeypatch.setenv("PYTHONPATH", str(small.modules))
    return small.root / "projects/a"


@pytest.mark.parametrize(
    ("name", "more"), [("lairmake", []), ("lairmake.commands", ["commands"])]
)
def test_importing_it_imports_little_else(name, more):
    code = QUIET.format(name=name)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    modules = ["lairmake", *(f"lairmake.{each}" for each in more)]
    assert sorted(ast.literal_eval(said.stdout)) == sorted(modules), said.stderr


def test_a_build_gives_results(layer):
    found = lairmake.build(layer)
    assert found.folder == layer
    assert found.cycles == lairmake.Cycles(simd=2, loops=4)
    assert (found.machine, found.speedup) == ("ideal", 2.0)
    assert found.bound == lairmake.Bound(cycles=1, by="operations")
    assert found.checks == {"y": lairmake.Check(right=True, exact=True, max_abs_error=0.0)}
    assert found.tasks["on_x"].sizes == (8,)
    assert list(found.programs) == ["simd/pe_one.c", "simd/pe_two.c"]
    assert found.programs["simd/pe_one.c"] == (layer / "build/simd/pe_one.c").read_text("utf-8")
    assert found.parts == {} and list(found.outputs) == ["y"]


@pytest.mark.long
def test_a_build_is_that_of_doit(layer, small):
    lairmake.build(layer)
    assert small.run(cwd="projects/a").ran == []
    small.write("projects/a/a.lair", "Three\n")
    small.build(cwd="projects/a")
    (layer / "build/results.json").unlink()
    assert list(lairmake.build(layer).programs) == ["simd/pe_three.c"]


def test_what_is_wrong_is_raised_with_its_place(layer, small):
    small.write("projects/a/a.lair", "One\n this is wrong\nwrong too\n")
    with pytest.raises(lairmake.Error) as raised:
        lairmake.build(layer)
    error = raised.value
    assert (error.message, error.hint) == ("this is wrong", "write what is right")
    assert (error.path, error.line, error.column) == (layer / "a.lair", 2, 10)
    assert str(error) == (
        "a.lair:2:10: error: this is wrong\n   this is wrong\n           ^^^^^\n"
        "hint: write what is right"
    )


@pytest.mark.long
def test_a_bug_is_raised_with_its_traceback(layer, small):
    small.write("projects/a/layer.yaml", "crash\n")
    with pytest.raises(lairmake.Error, match="RuntimeError: a bug"):
        lairmake.build(layer)


@pytest.mark.long
def test_a_value_that_is_wrong_is_raised(own_modules, layer, small):
    simulate = small.modules / "stages/simulate.py"
    text = simulate.read_text(encoding="utf-8")
    simulate.write_text(text.replace('"right": True', '"right": False'), encoding="utf-8")
    with pytest.raises(lairmake.Error, match="WRONG"):
        lairmake.build(layer)
    assert not lairmake.results(layer).checks["y"].right


def test_where_there_is_nothing_to_build_it_says_so(tmp_path):
    with pytest.raises(lairmake.Error) as raised:
        lairmake.build(tmp_path)
    assert str(raised.value) == (
        f"{tmp_path} is no folder of a layer, a network, a kernel or a program")


def test_a_module_lists_what_it_imports_late():
    assert {"Error", "build", "read", "results"} <= set(dir(lairmake))


@pytest.mark.parametrize(("ask", "said"), [
    (lairmake.results, "{} is no folder"), (lairmake.build, "{} is no folder"),
    (lairmake.read, "{}: No such file or directory"),
])
def test_what_is_not_there_is_an_error_with_a_remedy(tmp_path, ask, said):
    with pytest.raises(lairmake.Error) as raised:
        ask(tmp_path / "nope")
    assert raised.value.message == said.format(tmp_path / "nope") and raised.value.hint


def test_results_are_compared_by_what_they_hold(tmp_path):
    """Arrays of several elements have no truth: files are compared by their bytes."""
    first, second = (made(tmp_path / name, b"old") for name in "ab")
    found, other = lairmake.results(first), lairmake.results(second)
    assert found == lairmake.results(first) and found.outputs == other.outputs
    assert found != other and found != "a"
    (second / "build/outputs/y.npy").write_bytes(b"new")
    assert found.outputs != lairmake.results(second).outputs
    assert found.outputs != other.outputs


def test_results_of_what_is_not_built_are_refused(layer):
    with pytest.raises(lairmake.Error) as raised:
        lairmake.results(layer)
    assert str(raised.value) == f"{layer} has no results"
    assert raised.value.hint == "build it; a kernel has results where kernel.yaml asks for parts"


def test_arrays_are_read_when_they_are_asked_for(tmp_path):
    content = io.BytesIO()
    np.save(content, np.arange(3))
    folder = made(tmp_path, content.getvalue())
    found = lairmake.results(folder)
    assert found.outputs["y"].tolist() == [0, 1, 2]
    assert found.outputs["y"] is found.outputs["y"]


@pytest.mark.parametrize("gone", [False, True])
def test_arrays_of_another_build_are_refused(tmp_path, gone):
    folder = made(tmp_path, b"old")
    found = lairmake.results(folder)
    path = folder / "build/outputs/y.npy"
    path.unlink()
    if not gone:
        path.write_bytes(b"new")
    with pytest.raises(lairmake.Error) as raised:
        found.outputs["y"]
    assert str(raised.value) == f"{path} was built anew"


def made(folder, output):
    """Write what a build writes of a layer with one output."""
    (folder / "build/outputs").mkdir(parents=True)
    (folder / "build/outputs/y.npy").write_bytes(output)
    results = {
        "machine": "ideal", "cycles": {"simd": 1, "loops": 2}, "speedup": 2.0,
        "bound": {"cycles": 1, "by": "latency"}, "check": {}, "tasks": {},
    }
    (folder / "build/results.json").write_text(json.dumps(results), encoding="utf-8")
    (folder / "layer.yaml").write_text("", encoding="utf-8")
    return folder


def test_objects_are_read_by_their_names(tmp_path):
    path = tmp_path / "a.isl"
    path.write_text("# A comment.\n\nplace := { a[i] -> PE[i, 0] : 0 <= i <= 3 };\n", "utf-8")
    found = lairmake.read(path)
    assert list(found) == ["place"] and found["place"].is_single_valued()


@pytest.mark.parametrize(
    ("text", "said"),
    [("a = 1;\n", "expected `name := { ... };`"), ("\n\na := { b[i };\n", "isl cannot read")],
)
def test_a_text_that_is_none_of_isl_is_refused(tmp_path, text, said):
    path = tmp_path / "a.isl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(lairmake.Error, match=said) as raised:
        lairmake.read(path)
    assert (raised.value.path, raised.value.line) == (path, 1 + text.count("\n\n") * 2)

"""A program folder built by all of its stages, by real doit processes."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import lairmake
from lairmake.stages import PROGRAM
from tests.e2e.conftest import DODO, LAYER_DODO, ROOT, Space, printed

SOURCE = """\
from lairmake import numpy as np
from lairmake.objects import LocalArray, MACHScalar, Run_On_Host, global_range, parameter
from lairmake.objects import MACH_Compiler_Ignore

with Run_On_Host():
    import numpy

    import shapes
    start = numpy.load("inputs/start.npy") * shapes.scale
T = LocalArray("T", init_data=start, output=True)
for step in global_range(parameter("steps", 3)):
    T[1:-1, :, :] = 0.5 * T[1:-1, :, :] + 0.25 * (T[2:, :, :] + T[:-2, :, :])
total: MACHScalar = np.sum(T)
with MACH_Compiler_Ignore():
    print(total)
"""
RIGHT = "right, bit for bit: NumPy, graph, fabric"
TASKS = [f"sun:{stage}" for stage in PROGRAM]


def write(space, folder):
    space.write(f"{folder}/dodo.py", LAYER_DODO)
    space.write(f"{folder}/program.yaml", "program: heat.py\n")
    space.write(f"{folder}/heat.py", SOURCE)
    space.write(f"{folder}/shapes.py", "scale = 2\n")
    (space.root / folder / "inputs").mkdir()
    start = np.arange(48, dtype=np.float32).reshape(4, 3, 4)
    np.save(space.root / folder / "inputs/start.npy", start)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    space = Space(tmp_path_factory.mktemp("programs"), ROOT)
    space.write("dodo.py", DODO)
    write(space, "projects/sun")
    space.first = space.run("sun")
    return space


@pytest.fixture
def sun(first, tmp_path):
    """A workspace with a program that was built."""
    return Space(shutil.copytree(first.root, tmp_path / "space"), ROOT)


@pytest.mark.wide
def test_a_build_says_that_all_runs_agree_and_keeps_what_they_give(first):
    assert first.first.ran == TASKS
    said = first.first.out.splitlines()
    at = said.index("sun on wse2: 4 x 3 workers, 1 response a side")
    assert said[at + 1 : at + 3] == [f"  T        {RIGHT}", f"  total    2256.0, {RIGHT}"]
    assert said[at + 3].startswith("  cycles   ") and " for 3 iterations; " in said[at + 3]
    assert "  ran      13 operations: 6 add, 6 mul, 1 sum" in said[at + 4 :]
    assert printed(first.python("heat.py", cwd="projects/sun")) == "2256.0\n"
    found = lairmake.results(first.root / "projects/sun")
    assert (found.machine, found.parts) == ("wse2", {})
    assert found.cycles.simd > 0 and found.cycles.loops is None
    assert found.outputs["T"].shape == (4, 3, 4) and found.outputs["total"] == 2256
    assert found.checks["T"] == lairmake.Check(right=True, exact=True, max_abs_error=0.0)
    relations = lairmake.read(first.root / "cache/sun/accesses.isl")
    assert str(relations["n2_src1"]).startswith("{ n2[x, y, z] -> T[x")


@pytest.mark.wide
def test_comments_and_what_only_python_runs_end_at_translate(sun):
    for text in ("# heat\n\n" + SOURCE, SOURCE.replace("print(total)", "print('sum', total)")):
        sun.write("projects/sun/heat.py", text)
        assert sun.build("sun") == ["sun:translate"]


@pytest.mark.wide
def test_modules_beside_a_program_and_its_inputs_count(sun):
    sun.write("projects/sun/shapes.py", "scale = 4\n")
    assert sun.build("sun") == [*TASKS[:3], "sun:interpret", "sun:execute"]
    assert "line 1: scale = 2 -> scale = 4" in printed(sun.run("why", "sun"))
    start = np.arange(48, dtype=np.float32)[::-1].reshape(4, 3, 4)
    np.save(sun.root / "projects/sun/inputs/start.npy", start)
    assert sun.build("sun") == [
        "sun:capture", "sun:rehearse", "sun:interpret", "sun:execute"]
    found = lairmake.results(sun.root / "projects/sun").outputs
    assert (found["T"][0] == 4 * start[0]).all() and found["total"] == found["T"].sum()


@pytest.mark.wide
def test_parameters_and_the_machine_are_those_of_program_yaml(sun):
    sun.write("projects/sun/program.yaml", "program: heat.py\nparameters: {steps: 5}\n")
    assert "21 operations" in printed(sun.run("sun"))
    sun.write("projects/sun/program.yaml", "program: heat.py\nmachine: mine.yaml\n")
    sun.write("projects/sun/mine.yaml", (ROOT / "stages/machine/profiles/wse2.yaml").read_text())
    assert "sun on mine: 4 x 3 workers" in printed(sun.run("sun"))
    assert sun.build("sun") == []
    sun.write("projects/sun/mine.yaml", sun.read("projects/sun/mine.yaml") + "# a comment\n")
    assert sun.build("sun") == []
    for memory in (40_000, 41_000):
        figure = f"{{value: {memory}, source: mine, grade: chosen}}"
        sun.write("projects/sun/mine.yaml", f"like: wse2\nmemory: {figure}\n")
        assert "sun:remember" in sun.build("sun")


@pytest.mark.wide
def test_a_parameter_among_tasks_is_none_of_a_program(first):
    said = "steps=5: for dodo files; program.yaml has the parameters of a program\n"
    assert first.run("sun", "steps=5").err.endswith(said)


def test_texts_and_nodes_are_shown_by_name(first):
    assert "with for_loop('fl_0'" in printed(first.run("show", "sun", "program.il"))
    assert "n2_src1 := { n2[x, y, z] -> T[" in printed(first.run("show", "sun", "n2_src1"))
    shown = printed(first.run("show", "sun", "n2"))
    assert shown.splitlines()[-1].startswith("      2: {op: ")
    assert "task step: Go on until" in printed(first.run("show", "sun", "program", "vm.*.step"))
    assert "T: {kind: LocalArray" in printed(first.run("show", "sun", "objects.yaml", "T"))


@pytest.mark.wide
def test_what_changed_is_said_by_line_and_by_value(sun):
    sun.write("projects/sun/heat.py", SOURCE.replace("0.5 *", "0.25 *"))
    sun.build("sun")
    said = printed(sun.run("diff", "--build", "1"))
    assert "  total   2256.0 -> " in said
    assert "program.il\n  -" in said and "follows from program.il" in said


@pytest.mark.wide
def test_a_new_program_is_like_another_one(sun):
    made = printed(sun.run("new", "moon", "--like", "sun"))
    assert made.splitlines()[1:6] == [
        "  dodo.py", "  heat.py", "  inputs/start.npy", "  program.yaml", "  shapes.py"]
    assert sun.build("moon") == []
    made = printed(sun.run("new", "stars", "--like", "listing1"))
    assert "  stars.py\n" in made
    sun.build("stars")
    assert not (sun.root / "projects/stars/listing1.py").exists()
    printed(sun.run("new", "random", "--like", "listing1"))
    assert (sun.root / "projects/random/listing1.py").exists()


@pytest.mark.wide
def test_an_interrupted_program_leaves_neither_files_nor_processes(sun):
    sun.write("projects/sun/heat.py", SOURCE.replace("import shapes", "import slow as shapes"))
    sun.write("projects/sun/slow.py", "import time\ntime.sleep(50)\nscale = 2\n")
    before = {name: sun.read(name) for name in sun.files("cache")}
    building = subprocess.Popen(
        [sys.executable, "-m", "doit", "sun"], cwd=sun.root, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)})
    mark = str(sun.root / "projects/sun")
    wait_for(lambda: len(processes_in(mark)) == 1)
    building.send_signal(signal.SIGINT)
    assert building.wait(5) == 130
    wait_for(lambda: processes_in(mark) == [])
    after = {name: sun.read(name) for name in sun.files("cache")}
    assert after.pop("cache/sun/program.il") != before.pop("cache/sun/program.il")
    assert after == before
    assert [name for name in sun.files() if name.endswith(".tmp")] == []


def processes_in(folder):
    """Return the processes that work in a folder."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/cwd") == folder:
                found.append(name)
        except OSError:
            pass
    return found


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)

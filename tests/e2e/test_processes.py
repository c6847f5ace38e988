"""In which processes stages and tasks of the user run."""

import pytest

from lairmake.stages.make.doit.runner import cores
from tests.e2e.conftest import ALL_CORES
from tests.e2e.test_make import ALL


def processes(small):
    """Return how many processes ran stages in the last build."""
    return len({line["pid"] for line in small.log() if line.get("how") == "ran"})


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_the_stages_of_one_layer_run_in_one_process(small, arguments):
    small.write("dodo.py", ALL_CORES)
    assert small.build(*arguments) == ALL
    assert processes(small) == 1


@pytest.mark.wide
@pytest.mark.skipif(cores() == 1, reason="there is one core only")
def test_layers_are_built_by_as_many_processes_as_there_are_cores_and_layers(small):
    small.write("dodo.py", ALL_CORES)
    small.layer("projects/b")
    small.write("projects/b/a.lair", "Three\n")
    small.build(SLOW="0.2")
    assert processes(small) == 2


OWN = """
def task_own():
    for name in "one", "two":
        yield {"name": name, "actions": [lambda: print(os.getpid() == started)]}
import os
started = os.getpid()
DOIT_CONFIG = {**DOIT_CONFIG, "default_tasks": ["a", "b", "own"]}
"""


@pytest.mark.wide
@pytest.mark.parametrize("arguments", [(), ("-n", "1")])
def test_tasks_of_the_user_run_in_the_process_of_the_build(small, arguments):
    small.write("dodo.py", ALL_CORES + OWN)
    small.layer("projects/b")
    run = small.run(*arguments, SLOW="0.2")
    assert (run.code, run.out.count("True\n"), run.out.count("False\n")) == (0, 2, 0)


def test_a_dodo_file_may_ask_for_one_process(small):
    small.write("dodo.py", ALL_CORES + 'DOIT_CONFIG["num_process"] = 1\n')
    small.layer("projects/b")
    small.build()
    assert processes(small) == 1


@pytest.mark.wide
@pytest.mark.usefixtures("own_modules")
def test_what_processes_begin_with_is_loaded_once_for_all(small):
    small.layer("projects/b")
    small.write("projects/b/a.lair", "Three\n")
    small.write("dodo.py", ALL_CORES)
    note = 'import os\nos.write(os.open("loaded", os.O_CREAT | os.O_APPEND | os.O_WRONLY), b"1")\n'
    path = small.modules / "stages/parse.py"
    head, future, rest = path.read_text(encoding="utf-8").partition("from ")
    path.write_text(f"{head}{note}{future}{rest}", encoding="utf-8")
    small.build("-n", "2", SLOW="0.2")
    assert small.read("loaded") == "1"

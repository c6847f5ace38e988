"""Commands about folders that cannot be read: one line for each, and the others as ever."""

import pytest

from lairmake.stages.make.core.layers import open_folder
from tests.e2e.conftest import DODO, LAYER_DODO, ROOT

KERNEL_SAYS = (
    "warning: broken is shown without its parts: projects/broken/kernel.yaml:1:1: error:"
    " unknown key fcts\n"
)
NETWORK_SAYS = (
    "warning: torn is shown without its parts: projects/torn/network.yaml:1:1: error:"
    " parts is missing\n"
)


@pytest.fixture
def spoilt(space):
    """A workspace with a layer, a kernel whose kernel.yaml is wrong, a network that is wrong."""
    space.write("dodo.py", DODO)
    space.copy(ROOT / "projects/fc", "projects/fc")
    space.write("projects/broken/k.mlir", "nonsense\n")
    space.write("projects/broken/kernel.yaml", "fcts: []\n")
    space.write("projects/torn/dodo.py", LAYER_DODO)
    space.write("projects/torn/network.yaml", "# nothing\n")
    return space


def long(*values):
    return pytest.param(*values, marks=pytest.mark.long)


@pytest.mark.parametrize(("command", "shown"), [
    (["list", "--all"], "fc:simulate "), (["graph"], "fc\n"), long(["dry"], "fc\n"),
    long(["clean", "-n"], "fc:simulate - "),
])
def test_a_folder_that_cannot_be_read_is_one_line_and_the_others_are_shown(spoilt, command, shown):
    run = spoilt.run(*command)
    assert run.code == 0 and shown in run.out
    broken, torn = run.err.splitlines(keepends=True)
    assert (broken, torn) == (KERNEL_SAYS, NETWORK_SAYS)


def test_list_looks_into_no_folder_for_the_first_time(spoilt):
    run = spoilt.run("list")
    assert run.code == 0 and "fc " in run.out
    assert run.err == (
        "warning: broken, torn are shown without their parts: a build finds out which these are\n"
    )


@pytest.mark.parametrize("command", ["show", "list"])
def test_nothing_is_said_of_folders_that_were_not_asked_for(spoilt, command):
    run = spoilt.run(command, "fc")
    assert (run.code, run.out[:2], run.err) == (0, "fc", "")


@pytest.mark.long
def test_diff_tells_that_the_other_cannot_be_read(spoilt):
    run = spoilt.run("diff", "fc", "--with", "broken")
    assert run.err.count("broken is shown without its parts") == 1
    assert "Traceback" not in run.err


def test_a_bug_in_one_kernel_is_a_line_where_nothing_is_built(tmp_path, monkeypatch):
    monkeypatch.setattr("lairmake.stages.make.core.stage.perform", lambda *given: {}["="])
    (tmp_path / "k.mlir").write_text("nonsense\n", encoding="utf-8")
    (tmp_path / "kernel.yaml").write_text("facts: []\n", encoding="utf-8")
    folder = open_folder(tmp_path)
    assert folder.parts == ()
    assert folder.unread == "KeyError: '=', a bug of ours, which a build shows"

"""What `list` prints without looking into folders, and what it needs for that."""

import pytest

from tests.e2e.conftest import DODO, ROOT, Space

LAYERS = ("chosen", "fc", "krnl0_16", "lenet", "mlp")
"""One that leaves something open, one that does not, a kernel, a graph, and a network."""
UNNEEDED = (
    "islpy", "lark", "numpy", "pydantic", "lairmake.stages.make.core.definitions", "xdsl", "yaml",
)
LIST = f"""
import sys
from lairmake.__main__ import main
code = main(["list"])
print(*sorted(sys.modules.keys() & set({UNNEEDED!r})), sep=", ", file=sys.stderr)
sys.exit(code)
"""
LISTED = "".join(
    f"{name:<11}build and simulate {name}\n" for name in LAYERS
)


@pytest.fixture
def fresh(tmp_path):
    """A workspace of which nothing is known."""
    space = Space(tmp_path, ROOT, is_cold=True)
    space.write("dodo.py", DODO)
    for name in LAYERS:
        space.copy(ROOT / "projects" / name, f"projects/{name}")
    return space


def test_list_in_a_fresh_clone_reads_neither_yaml_nor_code(fresh):
    run = fresh.python("-c", LIST)
    assert (run.code, run.out) == (0, LISTED)
    assert run.err == (
        "warning: krnl0_16, lenet, mlp are shown without their parts: a build finds out which "
        "these are\n\n"
    )


@pytest.mark.wide
def test_list_has_the_parts_that_are_known(fresh):
    whole = fresh.plain("list", "--all")
    run = fresh.plain("list")
    names = [line.partition(" ")[0] for line in whole.out.splitlines()]
    assert [line.partition(" ")[0] for line in run.out.splitlines()] == [
        name for name in names if ":" not in name and "/slot" not in name
    ]
    assert {"mlp/relu", "krnl0_16/act0_0", "chosen"} <= set(names)
    assert run.err == (
        "warning: lenet is shown without its parts: a build finds out which these are\n"
    )


def test_list_tells_what_a_build_leaves_out_for_its_name(fresh):
    """A layer called like a slot of a search: whether there is one, its YAML is read for."""
    fresh.copy(ROOT / "projects/fc", "projects/chosen/slot1")
    run = fresh.plain("list")
    assert "chosen/slot1" not in run.out
    assert run.err.splitlines()[0] == (
        "warning: projects/chosen/slot1 is left out, since the search of chosen has a slot of this "
        "name: rename it"
    )

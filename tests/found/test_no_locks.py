"""A disk without locks: builds go on, with one warning that says what to do, or lie elsewhere."""

import subprocess

import pytest

from lairmake.stages.fabric.compiler import c_compiler
from tests.e2e.conftest import ALL_CORES, DODO, Space, modules, small  # noqa: F401
from tests.found.conftest import CASES

ALL = ["a:parse", "a:place", "a:render", "a:simulate"]
SAID = (
    "warning: {} is used without locks: No locks available: run one build at a time here, or let "
    "LAIRMAKE_STATE, or `state:` in lairmake.yaml, name a folder on a disk with locks\n"
)


@pytest.mark.wide
def test_without_locks_a_build_warns_once_and_remembers_as_usual(small, tmp_path):  # noqa: F811
    library = tmp_path / "nolock.so"
    made = ["-shared", "-fPIC", "-o", str(library), str(CASES / "no_locks/nolock.c"), "-ldl"]
    subprocess.run([*c_compiler(), *made], check=True)
    small.is_cold = True
    small.write("dodo.py", ALL_CORES)
    small.layer("projects/b")
    first = small.run("-a", LD_PRELOAD=str(library))
    assert (first.code, len(first.ran), first.err) == (0, 8, SAID.format(".lairmake"))
    again = small.run(LD_PRELOAD=str(library))
    assert (again.out, again.err) == ("2 layers unchanged\n", SAID.format(".lairmake"))
    assert not (small.root / ".lairmake/state.db.lock").exists()


@pytest.mark.wide
def test_state_lies_elsewhere_for_each_workspace_apart(small, tmp_path):  # noqa: F811
    elsewhere = {"LAIRMAKE_STATE": str(tmp_path / "local")}
    other = Space(tmp_path / "other/space", small.modules)
    other.write("dodo.py", DODO)
    other.layer("projects/a")
    other.write("projects/a/a.lair", "Other\n")
    assert [space.build(**elsewhere) for space in (small, other)] == [ALL, ALL]
    assert small.run(**elsewhere).out == "1 layer unchanged\n"
    assert not (small.root / ".lairmake").exists()
    assert "parse" in small.run("why", "a", **elsewhere).out
    assert len(list((tmp_path / "local").iterdir())) == 2


@pytest.mark.long
def test_lairmake_yaml_says_where_and_the_variable_wins(small, tmp_path):  # noqa: F811
    small.write("lairmake.yaml", "state: ../ours\n")
    assert small.build() == ALL
    assert small.run().out == "1 layer unchanged\n"
    assert small.build(LAIRMAKE_STATE="../mine") == ALL
    assert sorted(p.name for p in tmp_path.glob("*/space-*/.lairmake/store")) == ["store"] * 2
    assert not (small.root / ".lairmake").exists()


def test_a_state_that_others_may_write_is_refused(small, tmp_path):  # noqa: F811
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    small.write("lairmake.yaml", "state: ../open\n")
    run = small.run()
    assert (run.code, run.out, run.err) == (3, "", (
        f"ERROR: lairmake.yaml:1:8: state: others may write to {tmp_path}/open\n"
        "  state: ../open\n"
        "         ^^^^^^^\n"
        "hint: programs of the build are kept there: it has to be yours alone (chmod go-w)\n"
    ))

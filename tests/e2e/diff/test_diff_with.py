"""The command diff: with what it compares what there is, and what is not there."""

import json
import shutil

import pytest

from tests.e2e.conftest import DODO, ROOT, printed
from tests.e2e.diff.conftest import IGNORED, WIDER, Repository
from tests.e2e.diff.test_diff import DECIDED

pytestmark = pytest.mark.xdist_group("diff")
UNDECIDED = """simd.yaml
  on_x.cycles: 61 -> 49
  on_x.others.exact.cycles: 61 -> 49
  on_x.others.loops.cycles: 455 -> 364
"""
BROKEN = """fc: HEAD ({0}) -> now
  note: HEAD:projects/fc/fc.lair:6:25: error: access to x is not affine
      y[i] += W[i][j] * x[j*j]
                          ^^^
hint: LAIR accesses are sums of iterators times integers
fc.lair
  line 6: y[i] += W[i][j] * x[j*j] -> y[i] += W[i][j] * x[j]
"""


@pytest.mark.wide
def test_diff_against_a_revision_builds_what_is_not_committed(repository):
    repository.replace("projects/fc/layer.yaml", *WIDER)
    second = repository.commit()
    repository.build()
    assert printed(repository.run("diff", "simd")) == (
        f"fc: HEAD ({second}) -> now, nothing changed\n"
    )
    assert printed(repository.run("diff", "HEAD~1", "simd.yaml")) == (
        f"fc: HEAD~1 ({repository.head}) -> now\n"
        + DECIDED
    )


@pytest.mark.wide
def test_diff_takes_what_is_committed_as_it_is(repository):
    text = repository.read("cache/fc/schedule.isl")
    repository.write(".gitignore", ".lairmake/\n__pycache__/\n/projects/**/build/\n")
    repository.replace("cache/fc/schedule.isl", ("i <= 31", "i <= 30"))
    head = repository.commit()
    repository.write("cache/fc/schedule.isl", text)
    assert printed(repository.run("diff", "schedule")) == (
        f"fc: HEAD ({head}) -> now\nschedule.isl\n"
        "  schedule   + { ff[31, j] -> [j, 31, j] }"
        "  # 16 points, such as { ff[31, 0] -> [0, 31, 0] }\n"
    )


def test_diff_says_why_a_revision_does_not_build(repository):
    repository.replace("projects/fc/fc.lair", ("x[j]", "x[j*j]"))
    head = repository.commit()
    repository.git("checkout", "--quiet", "HEAD~1", "--", "projects")
    run = repository.run("diff")
    assert (run.code, run.out, run.err) == (1, BROKEN.format(head), "")


def test_diff_says_that_committed_texts_are_too_old_to_build_on(repository):
    text = repository.read("cache/fc/tasks.yaml")
    repository.write(".gitignore", ".lairmake/\n__pycache__/\n/projects/**/build/\n")
    repository.write("cache/fc/tasks.yaml", text.replace("departures:", "leaving:"))
    head = repository.commit()
    repository.write("cache/fc/tasks.yaml", text)
    lines = printed(repository.run("diff")).splitlines()
    at = text[: text.index("\ndepartures:")].count("\n") + 3
    assert lines[:2] == [
        f"fc: HEAD ({head}) -> now",
        f"  note: HEAD:cache/fc/tasks.yaml:{at}:3: error: leaving is no key here",
    ]
    assert "tasks.yaml" in lines
    assert not [line for line in lines if line.startswith("build/")]


def test_diff_against_an_earlier_build(repository):
    repository.replace("projects/fc/layer.yaml", *WIDER)
    repository.run("fc")
    assert printed(repository.run("diff", "--build", "1", "simd.yaml")) == (
        "fc: before the last build -> now\n"
        + DECIDED
    )
    assert repository.run("diff", "--build=2").out == (
        "fc: before the last 2 builds -> now\n  note: the log knows 2 builds of it\n"
    )


@pytest.mark.wide
def test_diff_against_another_layer(repository):
    repository.copy(repository.root / "projects/fc", "other")
    repository.replace("other/layer.yaml", *WIDER)
    repository.build(cwd="other")
    assert printed(repository.run("diff", "fc", "simd.yaml", "--with", "other")) == (
        "fc: other -> fc\n" + UNDECIDED
    )
    for word in ("none", "2026-13-45"):
        run = repository.run("diff", "--with", word)
        assert (run.code, run.out, run.err) == (
            3, "", f"ERROR: diff: {word} is no layer, no revision of git, and no time of a build\n"
        )


def test_diff_of_a_layer_that_git_does_not_have(repository):
    repository.git("rm", "--quiet", "-r", "--cached", "projects/fc")
    head = repository.commit(everything=False)
    run = repository.run("diff", "fc")
    assert (run.code, run.out, run.err) == (
        1, f"fc: HEAD ({head}) -> now\n  note: not in HEAD\n", ""
    )


def test_diff_finds_a_renamed_layer(repository):
    (repository.root / "projects/fc").rename(repository.root / "projects/dense")
    repository.replace("projects/dense/layer.yaml", *WIDER)
    repository.build()
    run = repository.run("diff", "dense", "simd.yaml")
    assert (run.code, run.err) == (0, "")
    assert run.out == (
        f"dense: HEAD ({repository.head}) -> now\n  note: dense was fc in HEAD\n"
        + DECIDED
    )
    assert repository.git("status", "--short", "projects") == (
        " D projects/fc/dodo.py\n D projects/fc/fc.lair\n D projects/fc/layer.yaml\n"
        "?? projects/dense/\n"
    )


def test_diff_of_what_is_not_built(repository):
    repository.run("clean")
    shutil.rmtree(repository.root / "cache")
    run = repository.run("diff")
    assert (run.code, run.err) == (1, "")
    assert run.out.startswith("fc: HEAD -> now\n  note: now: parse, place, ")
    assert run.out.endswith("render, simulate not built\n")


def test_diff_in_a_repository_that_is_one_layer_folder(built, tmp_path):
    space = Repository(tmp_path / "alone", ROOT)
    shutil.copytree(ROOT / "projects/fc", space.root, ignore=shutil.ignore_patterns("build"))
    shutil.copytree(built.root / ".lairmake/store", space.root / ".lairmake/store")
    space.write(".gitignore", ".lairmake/\n__pycache__/\n/build/\n")
    assert space.build() == []
    space.git("init", "--quiet")
    run = space.run("diff")
    assert (run.code, run.out) == (1, "alone: HEAD -> now\n  note: git has no revision HEAD\n")
    head = space.commit()
    assert printed(space.run("diff")) == f"alone: HEAD ({head}) -> now, nothing changed\n"


def test_diff_without_git(built):
    run = built.run("diff")
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("error: not a git repository")
    assert run.err.endswith(
        "hint: `--build 1` compares with the last build, and `--with` with another layer\n")


@pytest.mark.wide
def test_diff_of_a_network_is_that_of_its_parts_and_its_own(network, tmp_path):
    space = Repository(tmp_path, ROOT)
    space.write("dodo.py", DODO)
    space.write(".gitignore", IGNORED)
    space.copy(ROOT / "projects/mlp", "projects/mlp")
    shutil.copytree(network.root / ".lairmake/store", space.root / ".lairmake/store")
    space.git("init", "--quiet")
    head = space.commit()
    space.replace("projects/mlp/relu/layer.yaml", ("target:", "machine: ideal\ntarget:"))
    space.build()
    titles = [line for line in printed(space.run("diff")).splitlines() if " -> now" in line]
    assert titles == [
        f"mlp/first, mlp/last: HEAD ({head}) -> now, nothing changed",
        f"mlp/relu: HEAD ({head}) -> now",
        f"mlp: HEAD ({head}) -> now",
    ]
    found = json.loads(printed(space.run("diff", "mlp", "--json")))
    assert [each["layer"] for each in found] == ["mlp"]
    assert found[0]["files"]["build/results.json"]["parts.relu.machine"] == {
        "old": "wse2", "new": "ideal"
    }


@pytest.mark.wide
def test_two_revisions_and_two_builds_are_compared(repository):
    first = f"HEAD~1 ({repository.head})"
    repository.replace("projects/fc/layer.yaml", *WIDER)
    second = f"HEAD ({repository.commit()})"
    repository.build("fc")
    for words, old, new, sign in (
        (("HEAD", "--with", "HEAD~1"), first, second, "+"),
        (("--build", "1", "--with", "fc@HEAD"), f"fc@{second}", "before the last build", "-"),
    ):
        text = printed(repository.run("diff", "fc", "lair.isl", *words)).splitlines()
        assert text[:2] == [f"fc: {old} -> {new}", "lair.isl"]
        assert text[2].startswith(f"  instances   {sign} {{ ff[i, j] : 16 <= j <= 19 }}")
    began = printed(repository.run("why", "fc")).partition("build of ")[2][:19]
    assert printed(repository.run("diff", "fc", "simd", "--with", began)) == (
        f"fc: the build of {began} -> now, nothing changed\n"
    )
    run = repository.run("diff", "fc", "simd", "--with", "2001-01-01")
    assert (run.code, run.out) == (1, "fc: the build of 2001-01-01 -> now\n"
                                   "  note: the log knows no build of it until then\n")


def test_a_layer_and_a_program_have_nothing_in_common(repository):
    repository.copy(ROOT / "projects/heat", "projects/heat")
    repository.write("projects/heat/build/results.json", '{"outputs": {}, "cycles": 3}')
    run = repository.run("diff", "fc", "--with", "heat")
    assert (run.code, run.out.splitlines()[0]) == (0, "fc: heat -> fc")

"""The command diff: what the stages wrote against git, an earlier build, and another layer."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.e2e.conftest import DODO, ROOT, Space, printed

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
WIDER = (("M: 32, N: 16", "M: 32, N: 20"), ("0:15", "0:19"), ("PE[j//4", "PE[j//5"))
PARSED = """fc: HEAD ({0}) -> now
lair.isl
  instances   + {{ ff[i, j] : 16 <= j <= 19 }}  # 128 points, such as {{ ff[0, 16] }}
  tensors   + {{ W[i, j] : 16 <= j <= 19; x[i] : 16 <= i <= 19 }}  # 132 points, such as {{ x[16] }}
"""
FIRST = """fc: HEAD ({0}) -> now
  cycles  136 -> 142 with vector instructions, 235 -> 241 with loops
  memory  3408 -> 3424 bytes on the fullest PE
layer.yaml
  line 5, sizes.N: 16 -> 20
"""
LAST = """
follows from instances, tensors, placement: 26 objects in 10 files
build: 4 programs (+11 -11 lines), program.yaml, layout.yaml, \
outputs/y.npy (32 of 32 elements differ)
"""
MEASURED = """build/results.json
  cycles.simd: 136 -> 142
  cycles.loops: 235 -> 241
  speedup: 1.728 -> 1.697
  busiest.simd.last: 89 -> 83
  busiest.loops.last: 188 -> 182
  memory.bytes_per_pe: 3408 -> 3424
  fabric.stalls: 48 -> 0
"""
DECIDED = """simd.yaml
  on_x.cycles: 48 -> 58
  on_x.others.exact.cycles: 48 -> 58
  on_x.others.loops.cycles: 172 -> 215
  on_x.operands[1].strides: [4] -> [5]
"""
UNDECIDED = """simd.yaml
  on_x.cycles: 58 -> 48
  on_x.others.exact.cycles: 58 -> 48
  on_x.others.loops.cycles: 215 -> 172
  on_x.operands[1].strides: [5] -> [4]
"""
EDITED = """fc: HEAD ({0}) -> now
  note: now: schedule may be out of date
schedule.isl
  schedule   - {{ ff[31, j] -> [j, 31, j] }}  # 16 points, such as {{ ff[31, 0] -> [0, 31, 0] }}
"""
BROKEN = """fc: HEAD ({0}) -> now
  note: HEAD:projects/fc/fc.lair:6:25: error: access to x is not affine
      y[i] += W[i][j] * x[j*j]
                          ^^^
hint: LAIR accesses are sums of iterators times integers
fc.lair
  line 6: y[i] += W[i][j] * x[j*j] -> y[i] += W[i][j] * x[j]
"""
IGNORED = ".lairmake/\n__pycache__/\n/projects/**/build/\n/cache/\n"


class Repository(Space):
    """A workspace with the layer fc in a git repository."""

    def git(self, *arguments):
        return subprocess.run(
            [*GIT, *arguments], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout

    def commit(self, everything=True):
        if everything:
            self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a commit")
        return self.git("rev-parse", "--short=7", "HEAD").strip()

    def replace(self, name, *changes):
        text = self.read(name)
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        self.write(name, text)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The store of a workspace that built fc, so that the tests need not."""
    space = Repository(tmp_path_factory.mktemp("built"), ROOT)
    set_up(space)
    space.build()
    space.replace("projects/fc/layer.yaml", *WIDER)
    space.build()
    return space


def set_up(space):
    space.write("dodo.py", DODO)
    space.write(".gitignore", IGNORED)
    space.copy(ROOT / "projects/fc", "projects/fc")


@pytest.fixture(scope="module")
def committed(built, tmp_path_factory):
    """A repository with fc committed and built."""
    space = Repository(tmp_path_factory.mktemp("committed"), ROOT)
    set_up(space)
    shutil.copytree(built.root / ".lairmake/store", space.root / ".lairmake/store")
    space.git("init", "--quiet")
    space.head = space.commit()
    assert space.build() == []
    return space


@pytest.fixture
def repository(committed, tmp_path):
    """A copy of that repository for one test."""
    space = Repository(shutil.copytree(committed.root, tmp_path, dirs_exist_ok=True), ROOT)
    space.head = committed.head
    return space


def test_diff_against_head_without_a_change(repository):
    assert printed(repository.run("diff")) == (
        f"fc: HEAD ({repository.head}) -> now, nothing changed\n"
    )


def test_diff_tells_what_follows_apart_from_head(repository):
    repository.replace("projects/fc/layer.yaml", *WIDER)
    repository.build()
    assert printed(repository.run("diff", "fc", "parse")) == PARSED.format(repository.head)
    out = printed(repository.run("diff", cwd="projects/fc"))
    assert out.startswith(FIRST.format(repository.head))
    assert PARSED.partition("\n")[2].format() in out
    assert out.endswith(LAST)
    whole = printed(repository.run("diff", "-v", "fc"))
    assert MEASURED in whole
    assert DECIDED in whole
    assert "build/outputs/y.npy: 32 of 32 elements differ\n" in whole
    assert "build/simd/pe_compute.c: 3 lines added, 3 removed\nbuild/loops" in whole


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


def test_diff_shows_what_an_edit_by_hand_means(repository):
    repository.replace("cache/fc/schedule.isl", ("i <= 31", "i <= 30"))
    assert printed(repository.run("diff")) == EDITED.format(repository.head)


def test_diff_shows_lines_of_programs_if_the_stage_is_given(repository):
    name = "build/simd/pe_compute.c"
    repository.replace(f"projects/fc/{name}", ("with vector instructions", "by hand"))
    head = f"fc: HEAD ({repository.head}) -> now\n  note: now: render may be out of date\n"
    assert printed(repository.run("diff")) == head + "build: 1 program (+1 -1 lines)\n"
    lines = printed(repository.run("diff", "render")).splitlines()
    assert lines[2:6] == [
        f"{name}: 1 lines added, 1 removed",
        "  @@ -1,4 +1,4 @@",
        "  -/* PE program of role compute of ff, with vector instructions. */",
        "  +/* PE program of role compute of ff, by hand. */",
    ]


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


def test_diff_against_another_layer(repository):
    repository.copy(repository.root / "projects/fc", "other")
    repository.replace("other/layer.yaml", *WIDER)
    repository.build(cwd="other")
    assert printed(repository.run("diff", "fc", "simd.yaml", "--with", "other")) == (
        "fc: other -> fc\n" + UNDECIDED
    )
    run = repository.run("diff", "--with", "none")
    assert (run.code, run.out, run.err) == (3, "", "ERROR: diff: there is no layer none\n")


def test_diff_gives_json(repository):
    repository.replace("projects/fc/layer.yaml", *WIDER)
    repository.build()
    (found,) = json.loads(printed(repository.run("diff", "parse", "--json")))
    follow = found.pop("follow")
    assert follow["schedule.isl"] == ["schedule"]
    assert not {"lair.isl", "placement.isl"} & follow.keys()
    assert found == {
        "layer": "fc",
        "old": f"HEAD ({repository.head})",
        "new": "now",
        "notes": [],
        "edited": {"layer.yaml": [
            "line 5, sizes.N: 16 -> 20",
            "line 9, placement: { ff[i,j] -> PE[j//4, 1 + i//8] } -> "
            "{ ff[i,j] -> PE[j//5, 1 + i//8] }",
            "line 12, tensors.x.arrives: { x[i=0:15] -> [PE[0, -1] -> index[i]] } -> "
            "{ x[i=0:19] -> [PE[0, -1] -> index[i]] }",
        ]},
        "files": {"lair.isl": {
            "instances": {
                "known": "{ ff[i, j] : 0 <= i <= 31 and j >= 0 }",
                "added": {
                    "set": "{ ff[i, j] : 16 <= j <= 19 }", "points": 128, "sample": "{ ff[0, 16] }",
                },
            },
            "tensors": {
                "known": "{ W[i, j] : 0 <= i <= 31 and j >= 0; x[i] : i >= 0 }",
                "added": {
                    "set": "{ W[i, j] : 16 <= j <= 19; x[i] : 16 <= i <= 19 }",
                    "points": 132, "sample": "{ x[16] }",
                },
            },
        }},
    }


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


@pytest.mark.parametrize(("words", "text"), [
    (("nonsense",), "ERROR: diff: nonsense is no layer, no stage and no revision of git\n"),
    (("HEAD", "HEAD"), "ERROR: diff: say one revision and one stage at most\n"),
    (("parse", "simd"), "ERROR: diff: say one revision and one stage at most\n"),
    (("--build", "1", "HEAD"), "ERROR: diff: say one of a revision, --build and --with\n"),
    (("--build", "1", "--with", "fc"), "ERROR: diff: say one of a revision, --build and --with\n"),
    (("--git", "a"), "ERROR: diff: git calls it with PATH OLD HEX MODE NEW HEX MODE\n"),
])
def test_diff_refuses(repository, words, text):
    run = repository.run("diff", *words)
    assert (run.code, run.out, run.err) == (3, "", text)


def test_diff_without_git(built):
    run = built.run("diff")
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("error: not a git repository")


def test_git_shows_sets(repository):
    """As docs/commands.md says, but for the name of the program."""
    repository.write(".gitignore", ".lairmake/\n__pycache__/\n/projects/**/build/\n")
    repository.write(".gitattributes", (ROOT / ".gitattributes").read_text(encoding="utf-8"))
    repository.commit()
    repository.git("config", "diff.isl.command", f"{sys.executable} -m doit diff --git")
    repository.replace("cache/fc/schedule.isl", ("i <= 31", "i <= 30"))
    (repository.root / "cache/fc/sizes.isl").unlink()
    assert repository.git("diff", "--", "cache") == (
        "cache/fc/schedule.isl\n"
        "  schedule   - { ff[31, j] -> [j, 31, j] }"
        "  # 16 points, such as { ff[31, 0] -> [0, 31, 0] }\n"
        "cache/fc/sizes.isl: is gone\n"
    )


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

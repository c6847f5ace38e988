"""The command diff: what it tells of a layer that changed, in sets, lines, JSON, and to git."""

import json
import sys

import pytest

from tests.e2e.conftest import ROOT, printed
from tests.e2e.diff.conftest import WIDER

pytestmark = pytest.mark.xdist_group("diff")
PARSED = """fc: HEAD ({0}) -> now
lair.isl
  instances   + {{ ff[i, j] : 16 <= j <= 19 }}  # 128 points, such as {{ ff[0, 16] }}
  tensors   + {{ W[i, j] : 16 <= j <= 19; x[i] : 16 <= i <= 19 }}  # 132 points, such as {{ x[16] }}
"""
FIRST = """fc: HEAD ({0}) -> now
  cycles  137 -> 145 with vector instructions, 370 -> 379 with loops
  bound   29 cycles, by datapath -> 28 cycles, by latency
layer.yaml
  line 5, sizes.N: 16 -> 20
"""
LAST = """
follows from instances, tensors, placement: 26 objects in 10 files
build: 4 programs (+16 -16 lines), program.yaml, layout.yaml, \
outputs/y.npy (32 of 32 elements differ)
"""
MEASURED = """build/results.json
  cycles.simd: 137 -> 145
  cycles.loops: 370 -> 379
  speedup: 2.701 -> 2.614
  bound.cycles: 29 -> 28
  bound.by: datapath -> latency
  busiest.simd.busy: 96 -> 95
  busiest.simd.memory: 4 -> 3
  busiest.simd.until_last: 70 -> 69
  busiest.simd.last: 101 -> 97
  busiest.simd.rested: 136 -> 132
  busiest.loops.last: 334 -> 331
  busiest.loops.rested: 369 -> 366
"""
DECIDED = """simd.yaml
  on_x.cycles: 49 -> 61
  on_x.others.exact.cycles: 49 -> 61
  on_x.others.loops.cycles: 364 -> 455
"""
EDITED = """fc: HEAD ({0}) -> now
  note: now: schedule may be out of date
schedule.isl
  schedule   - {{ ff[31, j] -> [j, 31, j] }}  # 16 points, such as {{ ff[31, 0] -> [0, 31, 0] }}
"""


@pytest.mark.wide
def test_diff_against_head_without_a_change(repository):
    assert printed(repository.run("diff")) == (
        f"fc: HEAD ({repository.head}) -> now, nothing changed\n"
    )


@pytest.mark.wide
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
    assert "build/simd/pe_adapter_north.c: 5 lines added, 5 removed\nbuild/simd" in whole


@pytest.mark.wide
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
        f"{name}: 1 line added, 1 removed",
        "  @@ -1,4 +1,4 @@",
        "  -/* PE program of role compute of ff, with vector instructions.",
        "  +/* PE program of role compute of ff, by hand.",
    ]


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


@pytest.mark.parametrize(("words", "text"), [
    (("nonsense",), "ERROR: diff: nonsense is no layer, no stage and no revision of git\n"),
    (("HEAD", "HEAD"), "ERROR: diff: say one revision and one stage at most\n"),
    (("parse", "simd"), "ERROR: diff: say one revision and one stage at most\n"),
    (("--build", "1", "HEAD"), "ERROR: diff: say one of a revision and --build\n"),
    (("--git", "a"), "ERROR: diff: git calls it with PATH OLD HEX MODE NEW HEX MODE\n"),
])
def test_diff_refuses(repository, words, text):
    run = repository.run("diff", *words)
    assert (run.code, run.out, run.err) == (3, "", text)


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

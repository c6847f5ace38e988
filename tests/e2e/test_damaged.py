"""Whatever becomes of the files that the Make keeps: a build gives the right bytes.

The long tests damage some 2400 files, of a workspace's state, a shared store and a cache, before
1200 builds; tests/property/test_mutated_folders.py damages 8000 more, that users write.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

DAMAGED = Path(__file__).parent / "damaged.py"
ROOT = DAMAGED.parents[2]
KINDS = ("state", "shared", "built")


def damage(space, kind, seed, times):
    """Return what went wrong when files of a workspace were damaged one after the other."""
    outside = space.root.parent / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept\n", encoding="utf-8")
    store = {"LAIRMAKE_STORE": str(space.root.parent / "shared")} if kind == "shared" else {}
    space.build(**store)
    ended = subprocess.run(
        [sys.executable, str(DAMAGED), str(seed), str(times), kind, str(outside)],
        cwd=space.root, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": f"{space.modules}{os.pathsep}{ROOT}", **store},
    )
    return ended.stderr + ended.stdout


@pytest.mark.wide
@pytest.mark.parametrize("kind", KINDS)
def test_a_build_after_damage_to_what_is_kept_gives_the_right_bytes(small, kind):
    assert damage(small, kind, seed=1, times=12) == ""


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("seed", range(10, 14))
@pytest.mark.parametrize("kind", KINDS)
def test_a_build_after_much_damage_gives_the_right_bytes(small, kind, seed):
    assert damage(small, kind, seed, times=100) == ""

"""Commands that only look write nothing, whatever there is to say."""

import os
import shutil

import pytest

LOOKING = (
    "dry", "dry --keep-edits", "why", "list --all --status", "info a:render", "graph", "timing",
    "show a parse", "diff a --build 1", "cache stats",
)


def state_of(root):
    """Return time, inode and content of all that lies below a folder, hidden or not."""
    return {
        str(path.relative_to(root)): (
            path.stat().st_mtime_ns, path.stat().st_ino, path.is_file() and path.read_bytes()
        )
        for path in sorted(root.rglob("*"))
    }


@pytest.mark.wide
@pytest.mark.parametrize("is_gone", [False, True])
def test_what_only_looks_writes_nothing(small, is_gone):
    """Nor does it restore what is gone and the store knows, or keep what was edited."""
    small.build()
    small.write("projects/a/a.lair", "One\n")
    small.build()
    if is_gone:
        shutil.rmtree(small.root / "projects/a/build")
        small.write("cache/a/lair.isl", "edited\n")
        os.utime(small.root / "projects/a/a.lair")
    before = state_of(small.root)
    for command in LOOKING:
        small.run(*command.split())
        assert state_of(small.root) == before, command

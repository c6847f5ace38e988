"""Files of a folder that nobody declares: those that a program opened while it ran, or that a graph
names."""

from __future__ import annotations

import os

from lairmake.stages.make.store.files import digest_of
from lairmake.stages.make.store.folders import STATE, LayerFolder, further_file, is_inside
from lairmake.stages.make.store.state import Memo

NO_INPUTS = frozenset({"build", "cache", STATE})
"""Where a folder has what stages write."""
HERE = "./"


def may_be_opened(folder: LayerFolder, name: str) -> bool:
    """Return whether a name is that of a file in the folder of a program or graph that no stage
    writes.

    `data/` is what lies in a folder, `./` in that of the program; `./data/x` starts there, too, and
    from no part. What a symbolic link leads to elsewhere is none.
    """
    if name == HERE:
        return True
    below = name.removeprefix(HERE)
    if not is_inside(below.removesuffix("/")) or below.partition("/")[0] in NO_INPUTS:
        return False
    real = os.path.realpath(folder.path / below)
    return real.startswith(os.path.join(os.path.realpath(folder.path), ""))


def further_digest(folder: LayerFolder, name: str, memo: Memo) -> str | None:
    """Return the digest of a file that is read beyond the declared ones, None where there is none.

    That of a folder, `data/`, is of the names in it.
    """
    path = further_file(folder, name)
    if not name.endswith("/"):
        return memo.digest(path)
    try:
        names = set(os.listdir(path)) - NO_INPUTS
    except OSError:
        return None
    return digest_of("\0".join(sorted(names)).encode("utf-8", "surrogateescape"))

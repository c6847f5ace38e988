"""Profiles of machines as inputs of the stages that read them: by their figures, as values.

What a stage read beyond what it declares has a name; that of a profile is `figures//wse2`, or
`figures//mine.yaml`, a path as a user wrote it: no file that a program opens is called so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from lairmake.stages.make.store.files import digest_of, read_file
from lairmake.stages.make.store.folders import (
    FIGURES,
    PROFILES,
    LayerFolder,
    further_file,
    is_profile,
)
from lairmake.stages.make.store.state import Mark, Memo, mark_of

MOST = 8
CHECKED_BY_STAGE = "simd"
"""A stage whose code says what is valid in a profile."""


def is_figures(name: str) -> bool:
    """Return whether this is what the figures of a profile are called."""
    return name.startswith(FIGURES)


def read_figures_text(folder: LayerFolder, name: str) -> bytes | None:
    """Return the text of the figures that are called so; None where they are none."""
    from lairmake.stages.machine.profile import ProfileError, write_figures

    given = name.removeprefix(FIGURES)
    try:
        place = given if is_profile(given) else str(further_file(folder, name))
        return write_figures(place).encode()
    except (ProfileError, OSError):
        return None


def digest_figures(
    folder: LayerFolder, name: str, memo: Memo, code: Callable[[str], str]
) -> str | None:
    """Return the digest of the figures that are called so; None where there is no such profile.

    Those of a file that is no profile count with all of its bytes: who reads it says what is wrong.
    """

    path = further_file(folder, name)

    def derive(content: bytes) -> str | None:
        text = read_figures_text(folder, name)
        is_as_it_was = memo.content(path, digest_of(content)) is not None
        return digest_of(text) if text is not None and is_as_it_was else None

    known = f"{code(CHECKED_BY_STAGE)} {digest_of_ours()}"
    return memo.derived(path, FIGURES, derive, known)


def digest_of_ours() -> str:
    """Return the digest of the profiles of ours, which others may be like."""
    files = sorted(PROFILES.glob("*.yaml"))
    return _digest_of(tuple((str(file), mark_of(file.stat())) for file in files))


@functools.lru_cache(MOST)
def _digest_of(files: tuple[tuple[str, Mark], ...]) -> str:
    contents = (Path(name).name.encode() + b"\0" + read_file(name) for name, _ in files)
    return digest_of(b"\0".join(contents))

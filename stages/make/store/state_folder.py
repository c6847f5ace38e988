"""Folder of state of a workspace: its own `.lairmake/`, or a folder below one elsewhere.

Programs that a build runs come from there. So a folder elsewhere has to be this user's own. Its
name in lairmake.yaml is followed only for who runs code of the workspace anyway.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import stat
from pathlib import Path
from typing import NoReturn

from lairmake.stages.diagnose import Span, UserError, UserErrors
from lairmake.stages.make.store.files import read_file
from lairmake.stages.make.store.folders import STATE, files_in, mark_of, shown_path, user_folder

VARIABLE = "LAIRMAKE_STATE"
FILE, KEY = "lairmake.yaml", "state"
NAMED = rb"(?m)^[^#\n]*\bstate['\"]?\s*(?::|$)"
"""Lines in which lairmake.yaml may name a folder: without one it is not read as YAML: that takes
long."""
PRIVATE, OTHERS = 0o700, stat.S_IWGRP | stat.S_IWOTH
LONGEST = 100
"""Number of characters of the name of a workspace that are kept."""


def state_folder(home: Path) -> Path:
    """Return the folder of state of a workspace, or of a layer folder outside of one.

    `LAIRMAKE_STATE`, or else `state:` in lairmake.yaml, names a folder around those of all
    workspaces; by default the folder is `.lairmake/`. Raises UserErrors where the named folder is
    not to be trusted.
    """
    return _folder_of(home, os.environ.get(VARIABLE, ""))


def make_state_folder(home: Path) -> Path:
    """Make the folder of state, where that is possible, and return it. Raises UserErrors.

    A folder elsewhere is made for this user alone, but not the folder around it: a disk that is not
    mounted is not written over.
    """
    folder = state_folder(home)
    with contextlib.suppress(OSError):
        for around in (folder.parent.parent, folder.parent) if folder.parent != home else ():
            with contextlib.suppress(FileExistsError):
                around.mkdir(mode=PRIVATE)
        folder.mkdir(exist_ok=True)
    return folder


@functools.cache
def _folder_of(home: Path, given: str) -> Path:
    if given:
        base = (user_folder() / os.path.expanduser(given)).resolve()
        return _below(base, home, f"{VARIABLE}:", None)
    named = _named_in(home / FILE)
    if named is None:
        return home / STATE
    name, span = named
    if mark_of(files_in(home)) is not None:
        _refuse(f"`{KEY}:` counts beside projects/ only", span, f"{VARIABLE} names a folder")
    return _below((home / os.path.expanduser(name)).resolve(), home, f"{KEY}:", span)


def _named_in(path: Path) -> tuple[str, Span] | None:
    """Return what lairmake.yaml names, and where; None for nothing. Raises UserErrors."""
    with contextlib.suppress(OSError):
        if not re.search(NAMED, read_file(path)):
            return None
        from lairmake.stages.make.store.settings import read_settings

        found = read_settings(path)
        return (found.state, found.span(KEY)) if found.state is not None else None
    return None


def _below(base: Path, home: Path, said: str, span: Span | None) -> Path:
    """Return the folder of a workspace in a base; others have other ones. Raises UserErrors."""
    if base == home or home in base.parents:
        _refuse(f"{said} {shown_path(base)} lies in {home}", span, "name a folder elsewhere")
    if not os.path.isdir(base.parent):
        _refuse(f"{said} {base.parent} is not there", span, "make the folder, or mount its disk")
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
    own = base / f"{home.name[:LONGEST]}-{digest}"
    strange = next((each for each in (base.parent, base) if _is_open(each)), None)
    if strange is not None or not _is_ours(own):
        _refuse(
            f"{said} others may write to {strange or own}", span,
            "programs of the build are kept there: it has to be yours alone (chmod go-w)",
        )
    return own / STATE


def _is_open(folder: Path) -> bool:
    """Return whether others may put another folder in the place of one in here."""
    with contextlib.suppress(OSError):
        found = os.stat(folder)
        is_closed = not found.st_mode & OTHERS or found.st_mode & stat.S_ISVTX
        return not is_closed or found.st_uid not in (0, os.geteuid())
    return False


def _is_ours(folder: Path) -> bool:
    """Return whether a folder is this user's, and nobody else may write to it; also if there is
    none."""
    with contextlib.suppress(OSError):
        found = os.lstat(folder)
        is_private = stat.S_ISDIR(found.st_mode) and not found.st_mode & OTHERS
        return is_private and found.st_uid == os.geteuid()
    return True


def _refuse(said: str, span: Span | None, hint: str) -> NoReturn:
    raise UserErrors([UserError(said, span, hint)])

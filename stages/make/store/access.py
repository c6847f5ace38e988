"""Who may do what in a store that people share: all that is made there follows its folder.

As git does for a repository that is shared. Else the umask of who builds first would keep all
others of a team from writing, even from the lock.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")
SETTLING = 0.05
"""After how many seconds what another process makes has its mode."""
GROUP, FILES = stat.S_IRWXG, 0o666
GIVEN = stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO | stat.S_ISGID


class SharedAccess(NamedTuple):
    """The mode of a folder, and its group: those of all folders in it, and of files but for `x`."""

    mode: int
    group: int

    def give(self, place: str | int) -> None:
        """Give a file or a folder of this user's, by path or as it is open, what it should have.

        Where this user is not of the group, that gets what everybody has.
        """
        found = os.stat(place)
        if found.st_uid != os.geteuid():
            return
        mode = self.mode if stat.S_ISDIR(found.st_mode) else self.mode & FILES
        with contextlib.suppress(OSError):
            if found.st_gid != self.group and not _changed_group(place, self.group):
                mode = mode & ~(GROUP | stat.S_ISGID) | (mode & stat.S_IRWXO) << 3
            if stat.S_IMODE(os.stat(place).st_mode) != mode:
                os.chmod(place, mode)


def settled(act: Callable[[], T]) -> T:
    """Return what an act gives: also one that is refused while another process makes a folder.

    What it makes has its mode a moment later. Raises OSError.
    """
    try:
        return act()
    except PermissionError:
        time.sleep(SETTLING)
        return act()


def _changed_group(place: str | int, group: int) -> bool:
    with contextlib.suppress(PermissionError):
        os.chown(place, -1, group)
        return True
    return False


@functools.cache
def access_of(folder: Path) -> SharedAccess:
    """Return what all that is made in a folder follows: read once a process. Raises OSError.

    The folder is made where it is not there: as the one around it, where groups share that.
    """
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        around = os.stat(folder.parent)
        if around.st_mode & stat.S_ISGID:
            SharedAccess(mode=around.st_mode & GIVEN, group=around.st_gid).give(str(folder))
    found = os.stat(folder)
    return SharedAccess(mode=found.st_mode & GIVEN, group=found.st_gid)

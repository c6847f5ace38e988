"""doit's own database, which decides nothing about layers: without one, builds go on."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from doit.dependency import DatabaseException, SqliteDB

from stages.make.folders import shown_path
from stages.make.session import session
from stages.make.store.warn import warn


class Database(SqliteDB):  # type: ignore[misc]
    """doit's database in sqlite; of our dodo files, one that is damaged is made anew.

    Where none can be opened, nothing is remembered of tasks that are not stages.
    """

    _unopened = ""

    def _sqlite3(self, name: str) -> Any:
        try:
            return super()._sqlite3(name)
        except (DatabaseException, sqlite3.Error) as error:
            cause = error.__context__ or error
            if session().home is None:
                raise
            if not isinstance(cause, sqlite3.OperationalError):
                warn(f"{shown_path(Path(name))} is damaged, and made anew")
                with suppress(OSError):
                    os.remove(name)
                    return super()._sqlite3(name)
            self._unopened = str(cause)
            return super()._sqlite3(":memory:")

    def dump(self) -> None:
        """Write what is to be remembered."""
        lost = self._unopened if self._dirty else ""
        try:
            super().dump()
        except sqlite3.Error as error:
            if session().home is None:
                raise
            lost = str(error)
        if lost:
            warn(f"{shown_path(Path(self.name))} is left out: {lost}")

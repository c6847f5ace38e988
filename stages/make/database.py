"""doit's own database, which decides nothing about layers: without one, builds go on."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from typing import Any

from doit.dependency import DatabaseException, SqliteDB

from stages.make.session import session
from stages.make.store import warn


class Database(SqliteDB):  # type: ignore[misc]
    """doit's database in sqlite; of our dodo files, one that is damaged is made anew.

    Where none can be read or written, nothing is remembered of tasks that are not stages.
    """

    def _sqlite3(self, name: str) -> Any:
        for place in (name, name, ":memory:"):
            try:
                return super()._sqlite3(place)
            except (DatabaseException, sqlite3.Error) as error:
                if session().home is None:
                    raise
                warn(f"{name} is left out: {' '.join(str(error).split())}")
                with suppress(OSError):
                    os.remove(name)
        raise AssertionError

    def dump(self) -> None:
        """Write what is to be remembered."""
        try:
            super().dump()
        except sqlite3.Error as error:
            if session().home is None:
                raise
            warn(f"{self.name} is left out: {error}")

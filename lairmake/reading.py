"""Reader of the isl objects in a text that a stage wrote."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lairmake.error import Error

if TYPE_CHECKING:
    import islpy as isl


def read(path: str | os.PathLike[str]) -> dict[str, isl.UnionSet | isl.UnionMap]:
    """Return the sets and relations in a text such as `cache/fc/hulls.isl`, by their names.

    Raises Error where it is no such text, or there is none.
    """
    from lairmake.stages.diagnose import UserError, source_of
    from lairmake.stages.poly.text import read_objects

    place = Path(path)
    try:
        return read_objects(source_of(str(place), place.read_bytes()).text)
    except OSError as error:
        hint = "stages write it: build its layer" if isinstance(error, FileNotFoundError) else None
        raise Error(f"{place}: {error.strerror}", place, hint=hint) from None
    except UserError as error:
        raise Error(error.message, place) from None
    except ValueError as error:
        line, _, message = str(error).partition(": ")
        number = int(line.removeprefix("line "))
        raise Error(message, place, number, text=f"{place}:{number}: error: {message}") from None

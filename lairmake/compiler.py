"""The compiler: the package `stages` that lies beside this one, whatever else has its name."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent


def find_compiler() -> None:
    """Import `stages` from where this package lies, also if a folder of that name comes first.

    `python -m doit` looks in the folder where the user stands before all others.

    Raises ImportError where another package of that name is imported already.
    """
    if "stages" not in sys.modules:
        sys.path.insert(0, str(HERE))
        try:
            import stages
        finally:
            sys.path.remove(str(HERE))
    import stages

    if Path(stages.__path__[0]).resolve() != HERE / "stages":
        raise ImportError(
            f"{stages.__path__[0]} is imported as `stages`, which is the compiler of Lairmake: "
            "give that package another name"
        )


def version() -> str:
    """Return the version that is installed."""
    return importlib.metadata.version("lairmake")

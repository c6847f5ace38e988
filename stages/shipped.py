"""Where the code lies, and beside it: templates, and the layers that new ones are made like.

A checkout has these folders at its top, beside `stages/`; a wheel has them in it.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

STAGES = Path(__file__).resolve().parent


def shipped(name: str) -> Path:
    """Return the folder `templates` or `projects`, wherever this code is installed."""
    inside = STAGES / name
    return inside if inside.is_dir() else STAGES.parent / name


def compiled(folder: Path | str) -> Path:
    """Return where Python keeps what it compiles of the modules in a folder."""
    return Path(importlib.util.cache_from_source(os.path.join(folder, "__init__.py"))).parent

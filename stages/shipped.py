"""What is shipped beside the code: templates, and the layers that new ones are made like.

A checkout has these folders at its top, beside `stages/`; a wheel has them in it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

STAGES = Path(__file__).resolve().parent


def shipped(name: str) -> Path:
    """Return the folder `templates` or `projects`, wherever this code is installed."""
    inside = STAGES / name
    return inside if inside.is_dir() else STAGES.parent / name


def template(name: str) -> jinja2.Template:
    """Return a template of the programs by the name of its file."""
    return template_in(shipped("templates"), name)


def macros(name: str, known: Mapping[str, Any]) -> Any:
    """Return the macros of a template, which may call what is `known` by its name."""
    environment = _environment(shipped("templates"))
    environment.filters.update({n: each for n, each in known.items() if callable(each)})
    return environment.get_template(name, globals=dict(known)).module


@functools.cache
def template_in(folder: Path, name: str) -> jinja2.Template:
    """Return a template of a folder by the name of its file, read and compiled once."""
    return _environment(folder).get_template(name)


def _environment(folder: Path) -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True, autoescape=False,
    )

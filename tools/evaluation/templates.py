"""Templates of the documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lairmake.stages.templates import template_in

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).resolve().parents[1] / "templates"


def template(name: str) -> jinja2.Template:
    """Return a template by the name of its file."""
    return template_in(TEMPLATES, name, __name__)

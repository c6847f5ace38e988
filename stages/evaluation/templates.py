"""The templates of the documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stages.shipped import shipped, template_in

if TYPE_CHECKING:
    import jinja2

TEMPLATES = shipped("templates")


def template(name: str) -> jinja2.Template:
    """Return a template by the name of its file."""
    return template_in(TEMPLATES, name)

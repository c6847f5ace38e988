"""One HTML file that shows data, and needs nothing else: no network, which a policy in it forbids.

A browser runs only the scripts, and takes only the styles, whose digests the policy has.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from lairmake.stages.mapping.records import as_data
from lairmake.stages.shipped import shipped
from lairmake.stages.templates import template_in

DATA = ("../../templates/report.html.j2", "../../templates/report/*")
LIBRARY = "d3.min.js"
SCRIPTS = (
    "packed.js", "colours.js", "streams.js", "router.js", "view.js", "grid.js", "traffic.js",
    "floorplan.js",
    "sections.js", "inspector.js", "toolbar.js", "run.js", "time.js", "tasks.js", "whole.js",
    "tiles.js", "programs.js", "stopped.js", "sweep.js",
    "start.js",
)
"""Ours, in the order in which they are joined."""
STYLE = "page.css"


def write_page(title: str, page: Any) -> str:
    """Return the HTML of a page: `page` is a dataclass of which the scripts know the fields."""
    library, style = _asset(LIBRARY), _asset(STYLE)
    script = "\n".join(map(_asset, SCRIPTS))
    return template_in(shipped("templates"), "report.html.j2", __name__).render(
        title=title, policy=write_policy([library, script], [style]),
        style=style, library=library, script=script, data=write_data(page),
    )


def write_data(page: Any) -> str:
    """Return a dataclass as JSON that may stand in a script element: `<` is written \\u003c."""
    text = json.dumps(as_data(page), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def write_policy(scripts: list[str], styles: list[str]) -> str:
    """Return a Content-Security-Policy that forbids all but these scripts and styles."""
    allowed = {"script-src": scripts, "style-src": styles}
    parts = ["default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'"]
    parts += [f"{key} {' '.join(map(_digest, texts))}" for key, texts in allowed.items()]
    return "; ".join(parts)


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _asset(name: str) -> str:
    return (shipped("templates") / "report" / name).read_text(encoding="utf-8")

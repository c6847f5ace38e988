"""Fabrics that stop in a build: a page is drawn where a report was asked for, else a hint says how.
"""

from __future__ import annotations

import sys
from collections.abc import Collection

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.derived import stage_that_draws
from lairmake.stages.make.core.workers import apart
from lairmake.stages.make.doit.session import Session
from lairmake.stages.make.doit.stop_page import draw_stop
from lairmake.stages.make.store.folders import wholes_of


def is_drawn(known: Session, task: str, needed: Collection[str]) -> bool:
    """Return whether a build with the tasks that are `needed` is to draw what a task runs: itself,
    or the network or kernel that it is a part of."""
    folder = known.stages[task][0]
    whole = wholes_of(known.folders.values()).get(folder.name, folder.name)
    return any(
        f"{name}:{stage_that_draws(known.folders[name])}" in needed
        for name in {folder.name, whole}
    )


def draw_stops(known: Session) -> None:
    """Draw the fabrics that stopped, where the build would have drawn a report, and say where."""
    for task in sorted(known.drawn):
        try:
            path = apart().call(draw_stop, known.stages[task][0], known.stops[task])
        except (UserError, UserErrors) as error:
            sys.stderr.write(str(error))
        else:
            sys.stderr.write(f"hint: {path} shows who waits for whom\n")


def hint_of(known: Session, task: str) -> str:
    """Return the line that says how the fabric that stopped in a task is drawn; "" for no line."""
    if task not in known.stops or task in known.drawn:
        return ""
    name = known.stages[task][0].name
    return f"hint: `{known.program} report {name}` draws who waits for whom\n"

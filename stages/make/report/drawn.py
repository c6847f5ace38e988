"""The tasks of layers, and which comes after which, as text and as a picture."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from lairmake.stages.make.core.action import (
    FROM_STORE,
    LEFT_OUT,
    MAY_RUN,
    UP_TO_DATE,
    WOULD_RUN,
    Forecast,
)
from lairmake.stages.make.report.colour import paint
from lairmake.stages.make.report.folded import Told, group, name_slots, say_slots
from lairmake.stages.make.report.planned import PLAN_STYLES

FILLS = {
    UP_TO_DATE: "palegreen",
    FROM_STORE: "lightblue",
    WOULD_RUN: "lightsalmon",
    MAY_RUN: "khaki",
    LEFT_OUT: "lightgrey",
}


def lines_of_graph(found: Sequence[Forecast], told: Told) -> Iterator[str]:
    """Yield a line for each layer, and one for each of its stages; one for folded slots."""
    width = max((len(each.stage) for each in found), default=0)
    slots = {each.task: each.folder.name for each in found if told.folds(each.folder)}
    for own in group(found, lambda each: each.folder, told):
        if told.folds(own[0].folder):
            names = [each.folder.name for each in own]
            yield say_slots(names, (each.status for each in own), PLAN_STYLES)
            continue
        yield paint("bold", own[0].folder.name)
        for each in own:
            status = paint(PLAN_STYLES[each.status], f"{each.status:<{len(FROM_STORE)}}")
            after = f"  after {', '.join(_short(each, slots))}" if each.after else ""
            yield f"  {each.stage:<{width}}  {status}{after}".rstrip()


def _short(each: Forecast, slots: Mapping[str, str]) -> list[str]:
    """Return the tasks before a task; those of its own layer by their stage, folded slots as one.

    `slots` are the tasks of these, and the slot of each.
    """
    own = [name.removeprefix(f"{each.folder.name}:") for name in each.after if name not in slots]
    folded = [slots[name] for name in each.after if name in slots]
    return [*own, *([name_slots(folded)] if folded else [])]


def dot_of(found: Sequence[Forecast]) -> Iterator[str]:
    """Yield the lines of a graph in the language of Graphviz, a cluster for each layer."""
    yield "digraph lairmake {"
    yield "  node [shape=box, style=filled];"
    for layer in dict.fromkeys(each.folder.name for each in found):
        yield f"  subgraph {_quoted(f'cluster_{layer}')} {{"
        yield f"    label={_quoted(layer)};"
        for each in (each for each in found if each.folder.name == layer):
            label = _quoted(f"{each.stage}\n{each.status}")
            fill = FILLS[each.status]
            yield f"    {_quoted(each.task)} [label={label}, fillcolor={fill}];"
        yield "  }"
    for each in found:
        yield from (f"  {_quoted(name)} -> {_quoted(each.task)};" for name in each.after)
    yield "}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def data_of_forecast(each: Forecast) -> dict[str, object]:
    """Return what a build would do to a task, as data for a program."""
    return {
        "task": each.task,
        "layer": each.folder.name,
        "stage": each.stage,
        "status": each.status,
        "after": list(each.after),
    }

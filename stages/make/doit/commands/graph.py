"""The command `doit graph`: which task comes after which, and what a build would do to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from stages.make.core.forecast import (
    FROM_STORE,
    LEFT_OUT,
    MAY_RUN,
    UP_TO_DATE,
    WOULD_RUN,
    Forecast,
    forecast,
)
from stages.make.core.pipeline import needed
from stages.make.doit.commands.command import JSON, LayerCommand, Options, print_json
from stages.report.colour import paint

STYLES = {
    UP_TO_DATE: "green", FROM_STORE: "cyan", WOULD_RUN: "red", MAY_RUN: "yellow", LEFT_OUT: "dim",
}
FILLS = {
    UP_TO_DATE: "palegreen",
    FROM_STORE: "lightblue",
    WOULD_RUN: "lightsalmon",
    MAY_RUN: "khaki",
    LEFT_OUT: "lightgrey",
}
DOT = {
    "name": "dot",
    "long": "dot",
    "type": bool,
    "default": False,
    "help": "print DOT, for Graphviz",
}


class Graph(LayerCommand):
    """Show the tasks of layers and their order."""

    name = "graph"
    doc_purpose = "show which task comes after which, and what a build would do to it"
    doc_usage = "[TASK ...] [--dot]"
    doc_description = (
        "TASK is a layer, fc, or a stage of one and what it needs, fc:simd.\n\n"
        "A task is up to date, comes from the store, or would run; one that comes after a task "
        "that would run may run: only if that one writes something else than before. A picture: "
        "doit graph fc --dot | dot -Tsvg > fc.svg"
    )
    cmd_options = (DOT, JSON)

    def act(self, options: Options, words: list[str]) -> int:
        """Print the tasks as text, as DOT or as JSON."""
        named, rest = self.select_parts(words)
        found = forecast(list(named.values()))
        wanted = [task for task, each in found.items() if each.stage in rest or not rest]
        unknown = [word for word in rest if not any(word == each.stage for each in found.values())]
        if unknown:
            raise self.refuse_unknown(unknown[0])
        kept = needed({task: each.after for task, each in found.items()}, wanted)
        self._print([each for task, each in found.items() if task in kept], options)
        return 0

    def _print(self, found: list[Forecast], options: Options) -> None:
        if options["json"]:
            print_json([_data(each) for each in found])
        else:
            print("\n".join(_dot(found) if options["dot"] else _text(found)))


def _text(found: Sequence[Forecast]) -> Iterator[str]:
    """Yield a line for each layer, and one for each of its stages."""
    width = max((len(each.stage) for each in found), default=0)
    layer = None
    for each in found:
        if each.folder.name != layer:
            layer = each.folder.name
            yield paint("bold", layer)
        status = paint(STYLES[each.status], f"{each.status:<{len(FROM_STORE)}}")
        after = f"  after {', '.join(_short(each))}" if each.after else ""
        yield f"  {each.stage:<{width}}  {status}{after}".rstrip()


def _short(each: Forecast) -> list[str]:
    """Return the tasks before a task; those of its own layer by their stage."""
    return [name.removeprefix(f"{each.folder.name}:") for name in each.after]


def _dot(found: Sequence[Forecast]) -> Iterator[str]:
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


def _data(each: Forecast) -> dict[str, object]:
    return {
        "task": each.task,
        "layer": each.folder.name,
        "stage": each.stage,
        "status": each.status,
        "after": list(each.after),
    }

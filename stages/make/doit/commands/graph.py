"""The command `doit graph`: order of the tasks, and what a build would do to each."""

from __future__ import annotations

from lairmake.stages.make.core.action import forecast
from lairmake.stages.make.core.pipeline import (
    needed,
)
from lairmake.stages.make.doit.commands.command import (
    JSON,
    LayerCommand,
    Options,
    print_json,
)
from lairmake.stages.make.doit.commands.inert import EVERYTHING, option
from lairmake.stages.make.report.causes import (
    told_of,
)
from lairmake.stages.make.report.timing import (
    data_of_forecast,
    dot_of,
    lines_of_graph,
)

DOT = option("dot", "print DOT, for Graphviz")


class Graph(LayerCommand):
    """Show the tasks of layers and their order."""

    name = "graph"
    doc_purpose = "show which task comes after which, and what a build would do to it"
    doc_usage = "[TASK ...] [-v] [--dot]"
    doc_description = (
        "TASK is a layer, fc, or a stage of one and what it needs, fc:simd.\n\n"
        "A task is up to date, comes from the store, or would run; one that comes after a task "
        "that would run may run: only if that one writes something else than before. The "
        "slots of a search have one line, but with -v, or for fc/slot1. A picture: "
        "doit graph fc --dot | dot -Tsvg > fc.svg"
    )
    cmd_options = (DOT, EVERYTHING, JSON)

    def act(self, options: Options, words: list[str]) -> int:
        """Print the tasks as text, as DOT or as JSON."""
        named, stages = self.select_parts(words)
        folders = list(named.values())
        wanted = self.tasks_meant(folders, stages)
        found = forecast(folders)
        kept = needed({task: each.after for task, each in found.items()}, wanted)
        shown = [each for task, each in found.items() if task in kept]
        if options["json"]:
            print_json([data_of_forecast(each) for each in shown])
        else:
            told = told_of(words, options["everything"])
            print("\n".join(dot_of(shown) if options["dot"] else lines_of_graph(shown, told)))
        return 0

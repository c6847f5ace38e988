"""The command `doit dry`: forecast of a build, with reasons, without doing it."""

from __future__ import annotations

from lairmake.stages.make.core.action import forecast
from lairmake.stages.make.core.pipeline import (
    needed,
)
from lairmake.stages.make.core.stage import BuildOptions
from lairmake.stages.make.doit.commands.command import (
    JSON,
    LayerCommand,
    Options,
    print_json,
)
from lairmake.stages.make.doit.commands.inert import EVERYTHING
from lairmake.stages.make.doit.commands.run import KEEP_EDITS
from lairmake.stages.make.report.causes import (
    MOST_LINES,
    History,
    data_of_plan,
    lines_of_layers,
    lines_of_tasks,
    plan_of,
    told_of,
)
from lairmake.stages.make.store.folders import (
    wholes_of,
)


class Dry(LayerCommand):
    """Say what a build would do."""

    name = "dry"
    doc_purpose = "say what a build would do, and why, without doing it"
    doc_usage = "[TASK ...] [-v] [--keep-edits]"
    doc_description = (
        "TASK is a layer, fc, or a stage of one and what it needs, fc:simd. A task would run, come "
        "from the store, or may run: if a task before it would run and writes something else than "
        "before. Nothing is built, and nothing is written into layers and cache. Where that takes "
        f"more than {MOST_LINES} lines, there is one for each layer, or network with its parts; -v "
        "prints one for each task all the same. The slots of a search have "
        "one line, but with -v, or for fc/slot1."
    )
    cmd_options = (KEEP_EDITS, EVERYTHING, JSON)

    def act(self, options: Options, words: list[str]) -> int:
        """Print the tasks that a build would not leave alone."""
        build = BuildOptions(keep_edits=options["keep_edits"])
        named, stages = self.select_parts(words)
        folders = list(named.values())
        wanted = self.tasks_meant(folders, stages)
        found = forecast(folders, build)
        kept = set(needed({task: each.after for task, each in found.items()}, wanted))
        if not kept:
            raise self.refuse("there is no layer here")
        tasks = {task: (each.folder, each.stage) for task, each in found.items()}
        history = History(folders[0].home, tasks)
        plans = [plan_of(history, found, each) for task, each in found.items() if task in kept]
        if options["json"]:
            print_json([data_of_plan(plan) for plan in plans])
        else:
            told = told_of(words, options["everything"])
            lines = list(lines_of_tasks(history, plans, told))
            if len(lines) > MOST_LINES and not options["everything"]:
                lines = list(lines_of_layers(history, plans, wholes_of(folders)))
            print("\n".join(lines))
        return 0

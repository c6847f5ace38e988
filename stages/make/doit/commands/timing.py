"""The command `doit timing`: times of the tasks of the last build, and its critical path."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.pipeline import (
    orders,
    tasks_of_folders,
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
    TaskTimes,
    data_of_times,
    lines_of_times,
    timing_of,
    trace,
)
from lairmake.stages.make.store.files import write_whole
from lairmake.stages.make.store.folders import (
    user_folder,
)
from lairmake.stages.make.store.state import BuildRecord, builds
from lairmake.stages.make.store.state_folder import state_folder

TRACE = option(
    "trace", "write a Chrome trace to this file, which https://ui.perfetto.dev opens", default="",
)

class Timing(LayerCommand):
    """Say how long tasks took."""

    name = "timing"
    doc_purpose = "say how long the tasks of the last build took, and which of them decided"
    doc_usage = "[TASK ...] [-v] [--trace FILE]"
    doc_description = (
        "TASK is a layer, fc, or a stage of one, fc:simd: then the last build of one of these is "
        "meant. The critical path (*) is the longest chain of tasks that wait for each other: with "
        "any number of processes the build takes as long. A trace has a line for each process. The "
        "slots of a search have one line for what is not on that path, but with -v, or for "
        "fc/slot1."
    )
    cmd_options = (TRACE, EVERYTHING, JSON)

    def act(self, options: Options, words: list[str]) -> int:
        """Print the tasks of a build, and write the trace."""
        folders, stages = self.select_parts(words)
        wanted = self.tasks_meant(folders.values(), stages)
        if not folders:
            raise self.refuse("there is no layer here")
        state = state_folder(next(iter(folders.values())).home)
        build = _last_build(state, wanted)
        after = orders(tasks_of_folders(self.layers()))
        found = timing_of(build, after)
        if options["trace"]:
            _write_trace(options["trace"], found)
        if options["json"]:
            print_json(data_of_times(found))
        else:
            told = told_of(words, options["everything"])
            tasks = tasks_of_folders(self.layers())
            folded = {name for name, (folder, _) in tasks.items() if told.folds(folder)}
            print("\n".join(lines_of_times(found, folded)))
        return 0


def _last_build(state: Path, wanted: Collection[str]) -> BuildRecord:
    """Return the last build in which one of some tasks took time. Raises UserError."""
    for build in reversed(builds(state)):
        if any(line["task"] in wanted and "seconds" in line for line in build.tasks):
            return build
    raise UserError("the log knows no build in which these tasks took time")


def _write_trace(name: str, found: TaskTimes) -> None:
    """Write a trace. Raises UserError where the file cannot be written."""
    path = user_folder() / name
    try:
        write_whole(path, json.dumps(trace(found)).encode())
    except OSError as error:
        raise UserError(f"cannot write {name}: {error.strerror}") from error

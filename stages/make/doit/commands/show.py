"""Show, graph, dry, why, timing."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from doit.exceptions import InvalidCommand

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.action import forecast
from lairmake.stages.make.core.code import reach_of
from lairmake.stages.make.core.faults import did_you_mean, nearest_task
from lairmake.stages.make.core.layers import network_of
from lairmake.stages.make.core.pipeline import (
    files_written,
    needed,
    orders,
    stage_named,
    tasks_of_folders,
)
from lairmake.stages.make.core.stage import BuildOptions
from lairmake.stages.make.doit.commands.command import (
    JSON,
    LayerCommand,
    Options,
    hint_of_stage,
    print_json,
)
from lairmake.stages.make.doit.commands.inert import EVERYTHING, option
from lairmake.stages.make.doit.commands.run import KEEP_EDITS
from lairmake.stages.make.report.causes import (
    MOST_LINES,
    Event,
    History,
    Told,
    data_of_event,
    data_of_plan,
    data_of_reach,
    explained,
    group,
    lines_of_layers,
    lines_of_tasks,
    list_stages,
    plan_of,
    reach_in_words,
    told,
    told_of,
    told_of_slots,
)
from lairmake.stages.make.report.shown import (
    PROGRAM,
    SHOWN,
    WRITTEN,
    Shown,
    called,
    data_of_stage,
    overview,
    pick,
    program_in_words,
    read_file,
    section_of,
)
from lairmake.stages.make.report.timing import (
    Times,
    data_of_forecast,
    data_of_times,
    dot_of,
    lines_of_graph,
    lines_of_times,
    timing_of,
    trace,
)
from lairmake.stages.make.store.files import write_whole
from lairmake.stages.make.store.folders import (
    LayerFolder,
    every_stage,
    file_of,
    folders_of,
    parts_of,
    shown_path,
    user_folder,
    wholes_of,
)
from lairmake.stages.make.store.state import BuildRecord, builds
from lairmake.stages.make.store.state_folder import state_folder

# --- The command `doit show`: what a stage wrote, where the paper has it, and what reads it -----

class Show(LayerCommand):
    """Show what a stage wrote."""

    name = "show"
    doc_purpose = "show what a stage wrote, where the paper has it, and what it feeds"
    doc_usage = "[TASK] [STAGE] [OBJECT]"
    doc_description = (
        "TASK is a layer, fc, or a stage of one, fc:simd; in a layer folder it is that layer. "
        "STAGE is a stage or a file that it writes: approximate, or hulls.isl. OBJECT is a name in "
        "the file, as on_x_hull, or a pattern, as 'on_x_*'; without STAGE it is looked for "
        "everywhere. Without both, the stages are listed. For the STAGE program, what "
        "PEs run is told in words; OBJECT is a function then, as on_x, or a pattern, as 'loops.*'. "
        "In the graph of a program OBJECT is a node, as n4, or what that takes, as n4_src1."
    )
    cmd_options = (JSON,)

    def act(self, options: Options, words: list[str]) -> int:
        """Print the stages, or what one of them wrote."""
        folder, rest = self._writer(*self.select_one(words))
        found = self._found(folder, rest)
        if options["json"]:
            print_json([data_of_stage(folder, stage, files) for stage, files in found.items()])
        elif rest:
            program = self.session.program
            sections = [section_of(folder, *each, program) for each in found.items()]
            print("\n".join(sections), end="")
        else:
            print(overview(folder))
        return 0

    def _writer(
        self, folder: LayerFolder, words: list[str]
    ) -> tuple[LayerFolder, list[str]]:
        """Return the folder whose stage writes what is asked for, and what the file is to that.

        What a whole writes for a part, its layer.yaml or crossed.isl, is shown as of the part, too.
        """
        if not words or stage_named(folder, words[0]):
            return folder, words
        meant = {folder.path / words[0], file_of(folder, words[0])}
        for whole in (each for each in self.layers() if folder in parts_of(each)):
            for stage in whole.stages:
                names = [n for n in files_written(whole, stage) if file_of(whole, n) in meant]
                if names:
                    return whole, [names[0], *words[1:]]
        return folder, words

    def _found(self, folder: LayerFolder, words: list[str]) -> dict[str, list[Shown]]:
        """Return the stages that are asked for, and of each the files with what is asked for."""
        stage = stage_named(folder, words[0]) if words else None
        writer = next((each for each in SHOWN if each in every_stage(folder)), None)
        writer = writer if words[:1] == [PROGRAM] else None
        wanted = words[1:] if stage or writer else words
        if len(wanted) > 1:
            raise self.refuse(f"say one object, not {' '.join(wanted)}")
        if writer:
            shown = self._program(folder, writer, wanted or [f"{SHOWN[writer]}.*"])
            return {writer: [shown]}
        if not words:
            return {stage: [] for stage in every_stage(folder)}
        if stage:
            return {stage: self._files(folder, stage, words[0], wanted)}
        return self._everywhere(folder, wanted[0])

    def _files(
        self, folder: LayerFolder, stage: str, word: str, wanted: list[str]
    ) -> list[Shown]:
        """Return the files of a stage, or the one called `word`, with the objects wanted."""
        names = files_written(folder, stage)
        names = [n for n in names if word == stage or fnmatch.fnmatchcase(n, word)]
        missing = [name for name in names if not file_of(folder, name).is_file()]
        if missing or not names:
            raise self._not_built(folder, stage, missing)
        files = [read_file(folder, name) for name in names]
        matching = [part for file in files if (part := pick(file, wanted)).objects]
        if wanted and not matching:
            have = [name for file in files for name in file.objects]
            hint = did_you_mean(wanted[0], have)
            raise self.refuse(f"{word} has no {wanted[0]}; it has {', '.join(have)}", hint)
        return matching if wanted else files

    def _program(self, folder: LayerFolder, stage: str, wanted: list[str]) -> Shown:
        """Return the functions of the programs that are asked for, in words."""
        if not file_of(folder, WRITTEN).is_file():
            raise self._not_built(folder, stage, [WRITTEN])
        objects = program_in_words(folder, stage)
        file = Shown(name=WRITTEN, path=file_of(folder, WRITTEN), header="", objects=objects)
        matching = pick(file, wanted)
        if not matching.objects:
            hint = did_you_mean(wanted[0], [each for n in file.objects for each in called(n)])
            raise self.refuse(f"the programs of {folder.name} have no {wanted[0]}", hint)
        return matching

    def _everywhere(self, folder: LayerFolder, wanted: str) -> dict[str, list[Shown]]:
        """Return the stages of whose files some have an object."""
        found = {}
        for stage in every_stage(folder):
            names = [n for n in files_written(folder, stage) if file_of(folder, n).is_file()]
            parts = [pick(read_file(folder, name), [wanted]) for name in names]
            if any(part.objects for part in parts):
                found[stage] = [part for part in parts if part.objects]
        if not found:
            raise self._refuse_object(folder, wanted)
        return found

    def _refuse_object(self, folder: LayerFolder, wanted: str) -> InvalidCommand:
        """Return the error of a word that is nothing, with the nearest stage, file or object."""
        known = every_stage(folder)
        files = [(name, file_of(folder, name)) for s in known for name in files_written(folder, s)]
        there = [read_file(folder, name) for name, path in files if path.is_file()]
        objects = [each for file in there for name in file.objects for each in called(name)]
        words = [*known, *(name for name, _ in files), *objects]
        hint = hint_of_stage(folder, wanted) or did_you_mean(wanted, words)
        if not any(wanted in every_stage(each) for each in self.layers()):
            hint = hint or nearest_task(wanted, self.layers(), ())
        hint = hint or f"the stages are {', '.join(known)}"
        return self.refuse(f"{wanted} is no stage and no object of {folder.name}", hint)

    def _not_built(self, folder: LayerFolder, stage: str, missing: list[str]) -> UserError:
        files = [shown_path(file_of(folder, name)) for name in missing] or [f"what {stage} writes"]
        be = "is" if len(files) == 1 else "are"
        hint = f"{self.session.program} {folder.name}:{stage}"
        return UserError(f"{', '.join(files)} {be} not built", hint=hint)

# --- The command `doit graph`: which task comes after which, and what a build would do to it ----

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

# --- The command `doit dry`: what a build would do, and why, without doing it -------------------

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

# --- The command `doit why`: from what was edited, through the stages, to what was rebuilt ------

CODE = option("code", "tell of which code the key of a stage is made")


class Why(LayerCommand):
    """Say why tasks were rebuilt, or not."""

    name = "why"
    doc_purpose = "say why a task was rebuilt, or why not: from the edited file on"
    doc_usage = "[TASK ...] [-v] | --code STAGE ..."
    doc_description = (
        "TASK is a layer, fc, or a stage of one and what led to it, fc:simd; without it, every "
        "layer of the last build is meant. Of each layer the last build that looked at it is "
        "explained, from the log: what a person had edited, line by line or key by key, and for "
        "each task what of all that it reads had changed, and what it then wrote anew. The slots "
        "of a search have one line, but with -v, or for fc/slot1. With --code it is told of what "
        "code the key of a STAGE is made, as simd: functions, classes and values that it reaches, "
        "by module, and files of data. An edit of other code does not run it again."
    )
    cmd_options = (EVERYTHING, JSON, CODE)

    def act(self, options: Options, words: list[str]) -> int:
        """Print what happened to the tasks that are meant, layer by layer, or their code."""
        if options["code"]:
            return self._tell_code(options, words)
        layers, stages = self.select(words)
        named = {each.name: each for layer in layers for each in folders_of(layer)}
        wanted = self.tasks_meant(named.values(), stages, analyses=True)
        if not wanted:
            raise self.refuse("no layer")
        whole = {each.name: each for layer in layers for each in [network_of(layer)]}
        folders = [each for layer in whole.values() for each in folders_of(layer)]
        tasks = tasks_of_folders(folders, analyses=True)
        history = History(folders[0].home, tasks)
        found = list(explained(history, tasks, wanted, is_all=not words, is_chain=bool(stages)))
        if not found:
            raise UserError(f"the log knows no build of {', '.join(words) or 'any layer'}")
        if options["json"]:
            print_json([data_of_event(history, b, each) for b, events in found for each in events])
        else:
            print("\n".join(_texts(history, found, told_of(words, options["everything"]))), end="")
        return 0


    def _tell_code(self, options: Options, words: list[str]) -> int:
        """Print what the code of stages is."""
        stages = [word.rpartition(":")[2] for word in words]
        if not stages:
            raise self.refuse("of which stage?", f"there are {', '.join(list_stages())}")
        for stage in stages:
            if stage not in list_stages():
                hint = did_you_mean(stage, list_stages())
                raise self.refuse(f"{stage} is no stage", hint)
        if options["json"]:
            print_json([{"stage": each, **data_of_reach(reach_of(each))} for each in stages])
        else:
            print("\n".join(line for each in stages for line in reach_in_words(each)))
        return 0


def _texts(
    history: History, found: Sequence[tuple[BuildRecord, list[Event]]], asked: Told
) -> Iterator[str]:
    """Yield what happened to each layer, and in one line to slots that nobody asked for."""
    for own in group(found, lambda each: each[1][0].folder, asked):
        build, events = own[0]
        if asked.folds(events[0].folder):
            yield told_of_slots([event for _, events in own for event in events])
        else:
            yield told(history, build, events)

# --- The command `doit timing`: how long the tasks of the last build took, and which decided ----

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


def _write_trace(name: str, found: Times) -> None:
    """Write a trace. Raises UserError where the file cannot be written."""
    path = user_folder() / name
    try:
        write_whole(path, json.dumps(trace(found)).encode())
    except OSError as error:
        raise UserError(f"cannot write {name}: {error.strerror}") from error

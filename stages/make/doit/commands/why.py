"""The command `doit why`: from what was edited, through the stages, to what was rebuilt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.code import reach_of
from lairmake.stages.make.core.layers import network_of
from lairmake.stages.make.core.nearest import did_you_mean
from lairmake.stages.make.core.pipeline import (
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
    Event,
    History,
    ToldTask,
    data_of_event,
    data_of_reach,
    explained,
    group,
    list_stages,
    reach_in_words,
    told,
    told_of,
    told_of_slots,
)
from lairmake.stages.make.store.folders import (
    folders_of,
)
from lairmake.stages.make.store.state import BuildRecord

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
    history: History, found: Sequence[tuple[BuildRecord, list[Event]]], asked: ToldTask
) -> Iterator[str]:
    """Yield what happened to each layer, and in one line to slots that nobody asked for."""
    for own in group(found, lambda each: each[1][0].folder, asked):
        build, events = own[0]
        if asked.folds(events[0].folder):
            yield told_of_slots([event for _, events in own for event in events])
        else:
            yield told(history, build, events)

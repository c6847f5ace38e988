"""The command `doit why`: from what was edited, through the stages, to what was rebuilt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stages.diagnose import UserError
from stages.make.core.layers import network_of
from stages.make.core.pipeline import tasks_of_folders
from stages.make.doit.commands.command import JSON, LayerCommand, Options, print_json
from stages.make.doit.commands.inert import EVERYTHING
from stages.make.report.causes import Event, History
from stages.make.report.explained import data_of_event, explained, told, told_of_slots
from stages.make.report.folded import Told, group, told_of
from stages.make.store.folders import folders_of
from stages.make.store.log import Build


class Why(LayerCommand):
    """Say why tasks were rebuilt, or not."""

    name = "why"
    doc_purpose = "say why a task was rebuilt, or why not: from the edited file on"
    doc_usage = "[TASK ...] [-v]"
    doc_description = (
        "TASK is a layer, fc, or a stage of one and what led to it, fc:simd; without it, every "
        "layer of the last build is meant. Of each layer the last build that looked at it is "
        "explained, from the log: what a person had edited, line by line or key by key, and for "
        "each task what of all that it reads had changed, and what it then wrote anew. The slots "
        "of a search have one line, but with -v, or for fc/slot1."
    )
    cmd_options = (EVERYTHING, JSON)

    def act(self, options: Options, words: list[str]) -> int:
        """Print what happened to the tasks that are meant, layer by layer."""
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


def _texts(
    history: History, found: Sequence[tuple[Build, list[Event]]], asked: Told
) -> Iterator[str]:
    """Yield what happened to each layer, and in one line to slots that nobody asked for."""
    for own in group(found, lambda each: each[1][0].folder, asked):
        build, events = own[0]
        if asked.folds(events[0].folder):
            yield told_of_slots([event for _, events in own for event in events])
        else:
            yield told(history, build, events)

"""The command `doit report`: build of folders, and a drawing of each in one HTML file."""

from __future__ import annotations

import os
from collections.abc import Iterable

from lairmake.stages.make.core.derived import PAGE, stage_that_draws
from lairmake.stages.make.doit.commands.command import LayerCommand, Options
from lairmake.stages.make.doit.commands.inert import option
from lairmake.stages.make.store.folders import (
    LayerFolder,
    file_of,
    parts_of,
    shown_path,
    user_folder,
)

PICTURE = "build/grid.svg"
SVG = option("svg", "draw the grid only, for a paper, in build/grid.svg")


class Report(LayerCommand):
    """Draw layers, networks, kernels and programs."""

    name = "report"
    runs_stages = True
    doc_purpose = "draw a layer, network, kernel or program in one HTML file"
    doc_usage = "[LAYER ...] [--svg]"
    doc_description = (
        "Builds it, and writes build/report.html, which a browser shows: the grid, the time, the "
        "tasks. The file needs no other one, and no network. `report: true` in layer.yaml has each "
        "build do so."
    )
    cmd_options = (SVG,)

    def act(self, options: Options, words: list[str]) -> int:
        """Run the stages that draw, and print the paths of their files."""
        file = PICTURE if options["svg"] else PAGE
        folders, rest = self.select(words)
        for word in rest:
            raise self.refuse_unknown(word)
        chosen = {each.name: each for each in _wholes(folders, bool(words))}
        stages = {name: stage_that_draws(each, file) for name, each in chosen.items()}
        for name in (name for name, stage in stages.items() if stage is None):
            hint = f"`{self.session.program} report {name}` draws all that there is"
            has_parts = bool(parts_of(chosen[name]))
            why = "its parts do not run on one fabric" if has_parts else "it runs on no fabric"
            raise self.refuse(f"{name} has no {file}: {why}", hint)
        loader = self.loader_of(list(chosen.values()))
        os.chdir(user_folder())
        run = self.cmds.get_plugin("run")(task_loader=loader, cmds=self.cmds, **self._kwargs)
        code: int = run.parse_execute([f"{name}:{stage}" for name, stage in stages.items()])
        if code == 0:
            print("\n".join(shown_path(file_of(chosen[name], file)) for name in stages))
        return code


def _wholes(folders: Iterable[LayerFolder], are_named: bool) -> list[LayerFolder]:
    """Return folders that are drawn: where none is named, no part of another one is."""
    found = [folder for folder in folders if not folder.is_slot]
    parts = {part.name for folder in found for part in parts_of(folder)}
    return found if are_named else [folder for folder in found if folder.name not in parts]


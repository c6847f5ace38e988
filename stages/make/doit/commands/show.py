"""The command `doit show`: texts of a stage, their place in the paper, and their readers."""

from __future__ import annotations

import fnmatch

from doit.exceptions import InvalidCommand

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.nearest import did_you_mean, nearest_task
from lairmake.stages.make.core.pipeline import (
    files_written,
    stage_named,
)
from lairmake.stages.make.doit.commands.command import (
    JSON,
    LayerCommand,
    Options,
    hint_of_stage,
    print_json,
)
from lairmake.stages.make.report.display import (
    PROGRAM,
    SHOWN,
    WRITTEN,
    Display,
    called,
    data_of_stage,
    overview,
    pick,
    program_in_words,
    read_file,
    section_of,
)
from lairmake.stages.make.store.folders import (
    LayerFolder,
    every_stage,
    file_of,
    parts_of,
    shown_path,
)


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
        """Print the stages, or the files of one of them."""
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

    def _found(self, folder: LayerFolder, words: list[str]) -> dict[str, list[Display]]:
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
    ) -> list[Display]:
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

    def _program(self, folder: LayerFolder, stage: str, wanted: list[str]) -> Display:
        """Return the functions of the programs that are asked for, in words."""
        if not file_of(folder, WRITTEN).is_file():
            raise self._not_built(folder, stage, [WRITTEN])
        objects = program_in_words(folder, stage)
        file = Display(name=WRITTEN, path=file_of(folder, WRITTEN), header="", objects=objects)
        matching = pick(file, wanted)
        if not matching.objects:
            hint = did_you_mean(wanted[0], [each for n in file.objects for each in called(n)])
            raise self.refuse(f"the programs of {folder.name} have no {wanted[0]}", hint)
        return matching

    def _everywhere(self, folder: LayerFolder, wanted: str) -> dict[str, list[Display]]:
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


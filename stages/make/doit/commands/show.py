"""The command `doit show`: what a stage wrote, where the paper has it, and what reads it."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doit.exceptions import InvalidCommand

from stages.diagnose import UserError
from stages.make.core.declare import declaration
from stages.make.core.nearest import did_you_mean, nearest_task
from stages.make.core.pipeline import (
    cite,
    feeds,
    files_written,
    paper_of,
    stage_named,
    stages_until,
)
from stages.make.doit.commands.command import JSON, LayerCommand, Options, print_json
from stages.make.doit.commands.in_words import PROGRAM, RENDER, SHOWN, WRITTEN, program_in_words
from stages.make.store.folders import LayerFolder, every_stage, file_of, shown_path
from stages.report.colour import paint, paint_isl, wrap_isl
from stages.report.objects import find_header, find_objects
from stages.report.states import first_out_of_date

DOMAIN = re.compile(r"\} \* (\w+);$", re.MULTILINE)
"""What an object of an isl text lies in, said once for several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A file as it is shown: the comments at its top, and its objects by name."""

    name: str
    path: Path
    header: str
    objects: dict[str, str]


class Show(LayerCommand):
    """Show what a stage wrote."""

    name = "show"
    doc_purpose = "show what a stage wrote, where the paper has it, and what it feeds"
    doc_usage = "[TASK] [STAGE] [OBJECT]"
    doc_description = (
        "TASK is a layer, fc, or a stage of one, fc:simd; in a layer folder it is that layer. "
        "STAGE is a stage or a file that it writes: approximate, or hulls.isl. OBJECT is a name in "
        "the file, as on_x_hull, or a pattern, as 'on_x_*'; without STAGE it is looked for "
        "everywhere. Without both, the stages are listed. For the STAGE program, what PEs run is "
        "told in words; OBJECT is a function then, as on_x, or a pattern, as 'loops.*'."
    )
    cmd_options = (JSON,)

    def act(self, options: Options, words: list[str]) -> int:
        """Print the stages, or what one of them wrote."""
        folder, rest = self.select_one(words)
        found = self._found(folder, rest)
        if options["json"]:
            print_json([_data(folder, stage, files) for stage, files in found.items()])
        elif rest:
            program = self.session.program
            sections = [_section(folder, *each, program) for each in found.items()]
            print("\n".join(sections), end="")
        else:
            print(_overview(folder))
        return 0

    def _found(self, folder: LayerFolder, words: list[str]) -> dict[str, list[Shown]]:
        """Return the stages that are asked for, and of each the files with what is asked for."""
        stage = stage_named(folder, words[0]) if words else None
        is_program = words[:1] == [PROGRAM]
        wanted = words[1:] if stage or is_program else words
        if len(wanted) > 1:
            raise self.refuse(f"say one object, not {' '.join(wanted)}")
        if is_program:
            return {RENDER: [self._program(folder, wanted or [f"{SHOWN}.*"])]}
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
        matching = [part for file in files if (part := _only(file, wanted)).objects]
        if wanted and not matching:
            have = [name for file in files for name in file.objects]
            hint = did_you_mean(wanted[0], have)
            raise self.refuse(f"{word} has no {wanted[0]}; it has {', '.join(have)}", hint)
        return matching if wanted else files

    def _program(self, folder: LayerFolder, wanted: list[str]) -> Shown:
        """Return the functions of the programs that are asked for, in words."""
        if not file_of(folder, WRITTEN).is_file():
            raise self._not_built(folder, RENDER, [WRITTEN])
        objects = program_in_words(folder)
        file = Shown(name=WRITTEN, path=file_of(folder, WRITTEN), header="", objects=objects)
        matching = _only(file, wanted)
        if not matching.objects:
            hint = did_you_mean(wanted[0], [each for n in file.objects for each in _names(n)])
            raise self.refuse(f"the programs of {folder.name} have no {wanted[0]}", hint)
        return matching

    def _everywhere(self, folder: LayerFolder, wanted: str) -> dict[str, list[Shown]]:
        """Return the stages of whose files some have an object."""
        found = {}
        for stage in every_stage(folder):
            names = [n for n in files_written(folder, stage) if file_of(folder, n).is_file()]
            parts = [_only(read_file(folder, name), [wanted]) for name in names]
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
        objects = [each for file in there for name in file.objects for each in _names(name)]
        words = [*known, *(name for name, _ in files), *objects]
        hint = did_you_mean(wanted, words) or nearest_task(wanted, self.layers(), ())
        hint = hint or f"the stages are {', '.join(known)}"
        return self.refuse(f"{wanted} is no stage and no object of {folder.name}", hint)

    def _not_built(self, folder: LayerFolder, stage: str, missing: list[str]) -> UserError:
        files = [shown_path(file_of(folder, name)) for name in missing] or [f"what {stage} writes"]
        be = "is" if len(files) == 1 else "are"
        hint = f"{self.session.program} {folder.name}:{stage}"
        return UserError(f"{', '.join(files)} {be} not built", hint=hint)


def read_file(folder: LayerFolder, name: str) -> Shown:
    """Return the file that stages call `name`, taken apart."""
    path = file_of(folder, name)
    content = path.read_bytes()
    return Shown(
        name=name, path=path, header=find_header(content), objects=find_objects(name, content)
    )


def _only(file: Shown, wanted: list[str]) -> Shown:
    """Return a file with those of its objects that match, and the domains they are said to be in.
    """
    found = {
        name: text
        for name, text in file.objects.items()
        if any(fnmatch.fnmatchcase(known, w) for w in wanted for known in _names(name))
    }
    domains = {domain for text in found.values() for domain in DOMAIN.findall(text)}
    shown = {n: text for n, text in file.objects.items() if n in found or n in domains}
    return Shown(name=file.name, path=file.path, header="", objects=shown)


def _names(name: str) -> tuple[str, ...]:
    """Return what an object may be called: `tasks.on_x` is `on_x` too."""
    return (name, name.rpartition(".")[2])


def _overview(folder: LayerFolder) -> str:
    """Return a line for each stage: what it writes, and where the paper has it."""
    known = every_stage(folder)
    writes = {stage: ", ".join(declaration(stage).writes) for stage in known}
    width = max(map(len, known))
    note = {stage: ", when asked for" for stage in folder.analyses}
    lines = [
        f"  {paint('bold', f'{stage:<{width}}')}  {declaration(stage).title}{note.get(stage, '')}\n"
        f"  {'':<{width}}  {paint('dim', paper_of(stage))}; writes {writes[stage]}"
        for stage in known
    ]
    return "\n".join([folder.name, *lines])


def _section(folder: LayerFolder, stage: str, files: list[Shown], program: str) -> str:
    lines = [
        f"{paint('bold', stage)}: {declaration(stage).title}",
        f"paper  {cite(paper_of(stage))}",
        f"reads  {', '.join(declaration(stage).reads)}",
        *(f"feeds  {', '.join(to)}: {name}" for name, to in feeds(folder, stage).items() if to),
    ]
    old = first_out_of_date(folder, stages_until(folder, stage))
    lines += [f"note   {old} may be out of date: {program} {folder.name}"] if old else []
    return "\n".join(lines) + "\n" + "".join(f"\n{_body(file)}" for file in files)


def _body(file: Shown) -> str:
    text = file.header + "".join(f"\n{t}" if file.header or n else t for n, t in _listed(file))
    if file.name.endswith(".isl"):
        text = paint_isl(wrap_isl(text))
    return f"{paint('bold', shown_path(file.path))}\n{text}"


def _listed(file: Shown) -> list[tuple[int, str]]:
    """Return the objects' texts, numbered; a key of YAML is not listed again below another."""
    inner = {name for name in file.objects if name.rpartition(".")[0] in file.objects}
    return list(enumerate(text for name, text in file.objects.items() if name not in inner))


def _data(folder: LayerFolder, stage: str, files: list[Shown]) -> dict[str, Any]:
    return {
        "layer": folder.name,
        "stage": stage,
        "title": declaration(stage).title,
        "paper": cite(paper_of(stage)),
        "reads": list(declaration(stage).reads),
        "feeds": feeds(folder, stage),
        "files": [
            {"name": file.name, "path": str(file.path), "objects": file.objects} for file in files
        ],
    }

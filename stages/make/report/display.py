"""Display of files of stages by `doit show`."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.declaration import declaration, docstring_of
from lairmake.stages.make.core.pipeline import stages_until
from lairmake.stages.make.report.colour import paint, paint_isl, wrap_isl
from lairmake.stages.make.report.difference import find_header, find_objects
from lairmake.stages.make.report.screen import first_out_of_date
from lairmake.stages.make.store.folders import CHOSEN, LayerFolder, every_stage, file_of, shown_path

# --- Files of a stage for a reader ----------------------------------------------------------------

PAPER = re.compile(r"^Paper +(.*(?:\n .*)*)", re.MULTILINE)
CITED = {
    "V": "Verdoolaege et al., IMPACT 2020",
    "F": "Friebel et al., IMPACT 2023",
    "M": "Meister, Trading off Latency for Memory Bandwidth",
    "E": "Van Essendelft et al., A System Level Compiler",
}
"""Papers by the letters of docs/paper.md."""
DOMAIN = re.compile(r"\} \* (\w+);$", re.MULTILINE)
"""Domain of an object of an isl text, which is stated once for several objects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """A file as it is shown: the comments at its top, and its objects by name."""

    name: str
    path: Path
    header: str
    objects: dict[str, str]


@functools.cache
def paper_of(stage: str) -> str:
    """Return the place of a stage in a paper, as `V Sec. 5.1`, from its docstring; "" for none."""
    found = PAPER.search(docstring_of(stage))
    return " ".join(found[1].split()) if found else ""


def cite(place: str) -> str:
    """Return a place in a paper with the paper's name: `Verdoolaege et al., ..., Sec. 5.1`."""
    letter, _, rest = place.partition(" ")
    return f"{CITED[letter]}, {rest}" if letter in CITED else place


def _names_read(folder: LayerFolder, stage: str) -> list[str]:
    """Return what a stage declares to read; what a search chose only where there is one."""
    return [n for n in declaration(stage).reads if n != CHOSEN or folder.is_searched]


def feeds(folder: LayerFolder, stage: str) -> dict[str, list[str]]:
    """Return, by the files and patterns that a stage writes, the stages that read these."""
    readers = {name: declaration(name).reads for name in every_stage(folder)}
    return {
        written: [reader for reader, reads in readers.items() if written in reads]
        for written in declaration(stage).writes
    }


def read_file(folder: LayerFolder, name: str) -> Display:
    """Return the file that stages call `name`, taken apart."""
    path = file_of(folder, name)
    content = path.read_bytes()
    return Display(
        name=name, path=path, header=find_header(content), objects=find_objects(name, content)
    )


def pick(file: Display, wanted: Sequence[str]) -> Display:
    """Return a file with those of its objects that match, and the domains that these name."""
    found = {
        name: text
        for name, text in file.objects.items()
        if any(fnmatch.fnmatchcase(known, w) for w in wanted for known in called(name))
    }
    domains = {domain for text in found.values() for domain in DOMAIN.findall(text)}
    shown = {n: text for n, text in file.objects.items() if n in found or n in domains}
    return Display(name=file.name, path=file.path, header="", objects=shown)


def called(name: str) -> tuple[str, ...]:
    """Return the names that an object goes by: `tasks.on_x` is `on_x` too."""
    return (name, name.rpartition(".")[2])


def overview(folder: LayerFolder) -> str:
    """Return a line for each stage: its title, its place in a paper, and the files it writes."""
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


def section_of(folder: LayerFolder, stage: str, files: list[Display], program: str) -> str:
    """Return a stage and its files as text: its place in a paper, its inputs, and its readers."""
    lines = [
        f"{paint('bold', stage)}: {declaration(stage).title}",
        f"paper  {cite(paper_of(stage))}",
        f"reads  {', '.join(_names_read(folder, stage))}",
        *(f"feeds  {', '.join(to)}: {name}" for name, to in feeds(folder, stage).items() if to),
    ]
    old = first_out_of_date(folder, stages_until(folder, stage))
    lines += [f"note   {old} may be out of date: {program} {folder.name}"] if old else []
    return "\n".join(lines) + "\n" + "".join(f"\n{_body(file)}" for file in files)


def _body(file: Display) -> str:
    text = file.header + "".join(f"\n{t}" if file.header or n else t for n, t in _listed(file))
    if file.name.endswith(".isl"):
        text = paint_isl(wrap_isl(text))
    return f"{paint('bold', shown_path(file.path))}\n{text}"


def _listed(file: Display) -> list[tuple[int, str]]:
    """Return the objects' texts, numbered; a key of YAML is not listed again below another."""
    inner = {name for name in file.objects if name.rpartition(".")[0] in file.objects}
    return list(enumerate(text for name, text in file.objects.items() if name not in inner))


def data_of_stage(folder: LayerFolder, stage: str, files: list[Display]) -> dict[str, Any]:
    """Return a stage and its files as data for a program."""
    return {
        "layer": folder.name,
        "stage": stage,
        "title": declaration(stage).title,
        "paper": cite(paper_of(stage)),
        "reads": _names_read(folder, stage),
        "feeds": feeds(folder, stage),
        "files": [
            {"name": file.name, "path": str(file.path), "objects": file.objects} for file in files
        ],
    }

# --- Programs of PEs in words ---------------------------------------------------------------------
#
# `doit show NAME program` prints them.

PROGRAM, WRITTEN = "program", "build/program.yaml"
SHOWN = {"render": "simd", "lower": "vm"}
"""Stages that write programs, and the variant that is shown unless others are asked for."""


def program_in_words(folder: LayerFolder, stage: str) -> dict[str, str]:
    """Return the memory of programs, and each of their functions, in words: `simd.compute.on_x`.

    Raises UserError where the file is not as the stage wrote it.
    """
    from lairmake.stages.pe.speller import WORDS, spell
    from lairmake.stages.pe.yaml import read_programs
    from lairmake.stages.yaml_limits import load

    path, found = file_of(folder, WRITTEN), {}
    try:
        data = cast(Mapping[str, Any], load(path.read_text(encoding="utf-8")))
        programs = read_programs(data)
        for variant, roles in programs.items():
            for role, program in roles.items():
                name = f"{variant}.{role}"
                found[f"{name}.memory"] = spell(replace(program, functions=()), WORDS)
                found |= {f"{name}.{f.name}": spell(f, WORDS) for f in program.functions}
    except Exception as error:  # an edited text can be wrong in any way
        message = f"{shown_path(path)} is not as {stage} wrote it"
        raise UserError(message, hint=f"doit {folder.name}:{stage}") from error
    return found

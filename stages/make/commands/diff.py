"""The command `doit diff`: what changed in what the stages write, as sets and not as text."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.make.commands.colour import paint, paint_isl, wrap_isl
from stages.make.commands.command import JSON, LayerCommand, Options, print_json
from stages.make.commands.difference import Changes, differences
from stages.make.commands.pipeline import stage_named
from stages.make.commands.states import (
    State,
    commit_of,
    state_at,
    state_before,
    state_now,
)
from stages.make.declare import declaration
from stages.make.folders import LAYER, LayerFolder, open_folder, user_folder

BUILD = {
    "name": "build",
    "long": "build",
    "type": int,
    "default": 0,
    "help": "compare with what was there before the last N builds that changed the layer",
}
WITH = {
    "name": "other",
    "long": "with",
    "type": str,
    "default": "",
    "help": "compare with another layer, by its name or its path",
}
GIT = {
    "name": "git",
    "long": "git",
    "type": bool,
    "default": False,
    "help": "compare two .isl files, as git calls it: PATH OLD HEX MODE NEW HEX MODE",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What changed in a layer from one state to another, by the names of its files."""

    layer: LayerFolder
    old: State
    new: State
    files: dict[str, Changes]


class Diff(LayerCommand):
    """Compare what the stages wrote with what they wrote at another time."""

    name = "diff"
    doc_purpose = "compare what the stages wrote, as sets, with a git revision or an earlier build"
    doc_usage = "[TASK ...] [REV] [STAGE] [--build N] [--with LAYER]"
    doc_description = (
        "TASK is a layer, fc, or a stage of one, fc:simd; in a layer folder it is that layer. "
        "What is on disk is compared with a revision, by default HEAD. What REV has committed is "
        "taken as it is, and what it has not, the stages make from it. STAGE is a stage or a file "
        "that it writes; with it, texts are shown line by line.\n\n"
        "Of sets and relations the elements that were added (+) and removed (-) are shown, how "
        "many they are over all symbolic constants, and one of them; of data the old and the new "
        "value."
    )
    cmd_options = (BUILD, WITH, GIT, JSON)

    def act(self, options: Options, words: list[str]) -> int:
        """Print what changed in each layer; 1 if there was nothing to compare."""
        if options["git"]:
            if len(words) < 7:
                raise self.refuse("git calls it with PATH OLD HEX MODE NEW HEX MODE")
            print(_by_git(words), end="")
            return 0
        layers, rest = self.select(words)
        stage, revision = self._meaning(layers, rest)
        if sum(map(bool, (revision, options["build"], options["other"]))) > 1:
            raise self.refuse("say one of a revision, --build and --with")
        found = [self._compared(layer, revision, stage, options) for layer in layers]
        if options["json"]:
            print_json([_data(each) for each in found])
        else:
            print("\n".join(_text(each, in_full=stage is not None) for each in found), end="")
        return 0 if any(each.old.files and each.new.files for each in found) else 1

    def _meaning(self, layers: list[LayerFolder], words: list[str]) -> tuple[str | None, str]:
        """Return which stage, or file of one, and which revision words mean; '' for none."""
        stages = [w for w in words if any(stage_named(layer, w) for layer in layers)]
        revisions = [word for word in words if word not in stages]
        for word in revisions:
            if commit_of(Path.cwd(), word) is None:
                raise self.refuse(f"{word} is no layer, no stage and no revision of git")
        if len(stages) > 1 or len(revisions) > 1:
            raise self.refuse("say one revision and one stage at most")
        return next(iter(stages), None), next(iter(revisions), "")

    def _compared(
        self, layer: LayerFolder, revision: str, stage: str | None, options: Options
    ) -> Comparison:
        new = state_now(layer, layer.name if options["other"] else "now")
        if options["build"]:
            old = state_before(layer, options["build"])
        elif options["other"]:
            other = self._other(options["other"])
            old = state_now(other, other.name)
        else:
            at = revision or "HEAD"
            old = state_at(layer, at) if new.files else State(label=at, files={})
        return compare(layer, old, new, stage)

    def _other(self, name: str) -> LayerFolder:
        for layer in self.layers():
            if layer.name == name:
                return layer
        if not (user_folder() / name / LAYER).is_file():
            raise self.refuse(f"there is no layer {name}")
        return open_folder(user_folder() / name)


def compare(layer: LayerFolder, old: State, new: State, word: str | None) -> Comparison:
    """Return what changed from one state of a layer to another, in the files that `word` means."""
    wanted: Sequence[str] = ["*"] if word is None else [word]
    if word in layer.stages:
        wanted = declaration(str(word)).writes
    declared = [name for stage in layer.stages for name in declaration(stage).writes]
    patterns = [name for name in declared if _has(old, name) and _has(new, name)]
    there = {**old.files, **new.files}
    names = [
        name for pattern in patterns for name in there
        if _among(name, [pattern]) and _among(name, wanted)
    ]
    found = {n: differences(n, old.files.get(n), new.files.get(n)) for n in names}
    return Comparison(
        layer=layer, old=old, new=new, files={n: changes for n, changes in found.items() if changes}
    )


def _has(state: State, pattern: str) -> bool:
    """Return whether a state has what a stage declares to write: else it has not been built."""
    return any(fnmatch.fnmatchcase(name, pattern) for name in state.files)


def _among(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _text(found: Comparison, in_full: bool) -> str:
    """Return what changed as a person reads it."""
    title = f"{found.layer.name}: {found.old.label} -> {found.new.label}"
    same = found.old.files and found.new.files and not found.files
    lines = [paint("bold", title) + (", nothing changed" if same else "")]
    lines += [f"  note: {note}" for note in (*found.old.notes, *found.new.notes)]
    for name, changes in found.files.items():
        lines += _lines_of_file(name, changes, in_full)
    return "\n".join(lines) + "\n"


def _lines_of_file(name: str, changes: Changes, in_full: bool) -> Iterator[str]:
    """Yield the lines of what changed in a file; those of its objects are indented."""
    said = _said(changes[""]) if "" in changes else ""
    yield paint("bold", name) + (f": {said}" if said else "")
    for inner, change in changes.items():
        if inner:
            yield f"  {inner}{': ' if _said(change) else ''}{_said(change)}"
        yield from _lines_of_set("red", "-", change.get("removed"))
        yield from _lines_of_set("green", "+", change.get("added"))
        yield from (f"  {_painted(line)}" for line in change.get("lines", []) if in_full)


def _said(change: dict[str, Any]) -> str:
    """Return what there is to say about a change in a few words; of a set nothing."""
    if "lines" in change:
        return f"{change['lines_added']} lines added, {change['lines_removed']} removed"
    values = f"{_value(change, 'old')} -> {_value(change, 'new')}"
    note: str = change.get("note", values if {"old", "new"} & change.keys() else "")
    return note


def _value(change: dict[str, Any], way: str) -> str:
    """Return a value as a person writes it."""
    value = change.get(way, "nothing")
    return value if isinstance(value, str) else json.dumps(value)


def _lines_of_set(style: str, sign: str, part: dict[str, Any] | None) -> Iterator[str]:
    """Yield what was added to a set or removed, and how much it is, with one element."""
    if part is None:
        return
    for number, line in enumerate(wrap_isl(part["set"], indent=6).split("\n")):
        yield f"    {paint(style, sign if number == 0 else ' ')} {paint_isl(line)}"
    points = part.get("points")
    often = [] if points is None else [f"{points} points" if points != 1 else "1 point"]
    sample = [f"such as {part['sample']}"] if "sample" in part and points != 1 else []
    if often or sample:
        yield f"      {paint('dim', ', '.join([*often, *sample]))}"


def _painted(line: str) -> str:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return paint(styles[line[0]], line) if line[:1] in styles else line


def _by_git(words: list[str]) -> str:
    """Return what changed between two files, for git, which gives both and how they are called."""
    path, old, new = words[0], words[1], words[4]
    contents = [_content(user_folder() / name) for name in (old, new)]
    lines = _lines_of_file(path, differences(path, *contents), in_full=True)
    return "".join(f"{line}\n" for line in lines)


def _content(path: Path) -> bytes | None:
    return None if path == Path("/dev/null") else path.read_bytes()


def _data(found: Comparison) -> dict[str, Any]:
    return {
        "layer": found.layer.name,
        "old": found.old.label,
        "new": found.new.label,
        "notes": [*found.old.notes, *found.new.notes],
        "files": found.files,
    }

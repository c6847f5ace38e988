"""The command `doit diff`: changes in what the stages write, as sets and not as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.layers import find_combination, is_buildable, open_folder
from lairmake.stages.make.core.nearest import nearest_task
from lairmake.stages.make.core.pipeline import stage_named
from lairmake.stages.make.doit.commands.command import JSON, LayerCommand, Options, print_json
from lairmake.stages.make.doit.commands.inert import option
from lairmake.stages.make.report.causes import told_of
from lairmake.stages.make.report.difference import describe_change, find_differences
from lairmake.stages.make.report.screen import (
    LayerComparison,
    LayerState,
    compare,
    edits,
    find_commit,
    is_moment,
    lines_of_file,
    screens,
    state_after,
    state_at,
    state_before,
    state_now,
)
from lairmake.stages.make.store.folders import LayerFolder, every_stage, user_folder

BUILD = option(
    "build",
    "compare with what was there before the last N builds that changed the layer", default=0,
)
WITH = option(
    "with", "compare with another layer, a combination of a sweep, a revision of git, or a build",
    default="", name="other",
)
GIT = option("git", "compare two .isl files, as git calls it: PATH OLD HEX MODE NEW HEX MODE")
VERBOSE = option(
    "verbose", "show every object that changed, also what follows from others", short="v",
)


class Diff(LayerCommand):
    """Compare what the stages wrote with what they wrote at another time."""

    name = "diff"
    runs_stages = True
    doc_purpose = "compare what the stages wrote, as sets, with a git revision or an earlier build"
    doc_usage = "[TASK ...] [REV] [STAGE] [--build N] [--with OTHER]"
    doc_description = (
        "TASK is a layer, fc, or a stage of one, fc:simd; in a layer folder it is that layer. "
        "What is on disk is compared with a revision, by default HEAD. What REV has committed is "
        "taken as it is, and what it has not, the stages make from it. OTHER is a layer, or its "
        "path, as it is now, or at a revision, conv1d@HEAD~3; a combination of a sweep, "
        "fc/build/sweep/sizes.M-64; a revision; or when a build began, as `why` says it, or its "
        "day. With it REV and --build say what is compared with that. STAGE is a stage or a file "
        "that it writes, which is then shown whole.\n\n"
        "First come the results, then what was edited, then each object that changed: a function "
        "from what to what; of another set the elements that were added (+) and removed (-), "
        "within what the old and the new one both state, with how many they are over all "
        "symbolic constants, and one of them; of data the old and the new value. What follows "
        "from a change above it is counted; -v shows it. Slots of a search are left out, but with "
        "-v, or for fc/slot1."
    )
    cmd_options = (BUILD, WITH, VERBOSE, GIT, JSON)

    def act(self, options: Options, words: list[str]) -> int:
        """Print what changed in each layer; 1 if there was nothing to compare."""
        if options["git"]:
            if len(words) < 7:
                raise self.refuse("git calls it with PATH OLD HEX MODE NEW HEX MODE")
            print(_by_git(words), end="")
            return 0
        layers, rest = self.select(words)
        stage, revision = self._meaning(layers, rest)
        if revision and options["build"]:
            raise self.refuse("say one of a revision and --build")
        told = told_of(words, options["verbose"] or options["json"])
        layers = [layer for layer in layers if not told.folds(layer)]
        found = [self._compared(layer, revision, stage, options) for layer in layers]
        if options["json"]:
            print_json([_data(each) for each in found])
        else:
            print(screens(found, is_whole=options["verbose"], is_file=stage is not None), end="")
        return 0 if any(each.old.files and each.new.files for each in found) else 1

    def _meaning(self, layers: list[LayerFolder], words: list[str]) -> tuple[str | None, str]:
        """Return which stage, or file of one, and which revision words mean; '' for none."""
        stages = [w for w in words if any(stage_named(layer, w) for layer in layers)]
        revisions = [word for word in words if word not in stages]
        for word in revisions:
            if find_commit(Path.cwd(), word) is None:
                stages_known = {stage for layer in layers for stage in every_stage(layer)}
                hint = nearest_task(word, self.layers(), stages_known)
                raise self.refuse(f"{word} is no layer, no stage and no revision of git", hint)
        if len(stages) > 1 or len(revisions) > 1:
            raise self.refuse("say one revision and one stage at most")
        return next(iter(stages), None), next(iter(revisions), "")

    def _compared(
        self, layer: LayerFolder, revision: str, stage: str | None, options: Options
    ) -> LayerComparison:
        builds, other = options["build"], options["other"]
        if other:
            of_other, old = self._other(layer, other)
            label = "now" if of_other is layer else layer.name
            new = state_before(layer, builds) if builds else _state_of(layer, revision, label)
        else:
            new, at = state_now(layer), revision or "HEAD"
            old = state_before(layer, builds) if builds else LayerState(label=at, files={})
            old = state_at(layer, at) if new.files and not builds else old
        is_whole = options["verbose"] or options["json"]
        return compare(layer, old, new, _meant(layer, stage) if stage or is_whole else None)

    def _other(self, layer: LayerFolder, word: str) -> tuple[LayerFolder, LayerState]:
        """Return what a layer is compared with: another folder, `conv1d`, as it is now, or was at a
        revision, `conv1d@HEAD~3`; else the layer itself at a revision, or after a build."""
        name, _, at = word.partition("@")
        folder = self._named(name)
        if folder is not None:
            self.tell_of(folder)
        else:
            folder, at = layer, word
        if at and find_commit(folder.path, at) is not None:
            found = state_at(folder, at)
        elif is_moment(at):
            found = state_after(folder, at)
        elif at:
            raise self.refuse(f"{at} is no layer, no revision of git, and no time of a build")
        else:
            return folder, state_now(folder, folder.name)
        is_own = folder is layer
        label = found.label if is_own else f"{folder.name}@{found.label}"
        return folder, replace(found, label=label)

    def _named(self, name: str) -> LayerFolder | None:
        """Return a folder by its name, or its path: also one that a sweep built."""
        layers, path = self.layers(), user_folder() / name
        named = next((layer for layer in layers if layer.name == name), None)
        found = named or find_combination(name, layers)
        return found or (open_folder(path) if name and is_buildable(path) else None)


def _state_of(folder: LayerFolder, revision: str, label: str) -> LayerState:
    return state_at(folder, revision) if revision else state_now(folder, label)


def _meant(layer: LayerFolder, word: str | None) -> tuple[str, ...]:
    """Return the patterns of the files that a stage writes, or the name of one; all for None."""
    if word is None:
        return ("*",)
    return declaration(word).writes if word in layer.stages else (word,)


def _by_git(words: list[str]) -> str:
    """Return what changed between two files, for git, which gives both and how they are called."""
    path, old, new = words[0], words[1], words[4]
    before, after = (_content(user_folder() / name) for name in (old, new))
    lines = lines_of_file(path, find_differences(path, before, after))
    return "".join(f"{line}\n" for line in lines)


def _content(path: Path) -> bytes | None:
    return None if path == Path("/dev/null") else path.read_bytes()


def _data(found: LayerComparison) -> dict[str, Any]:
    return {
        "layer": found.layer.name,
        "old": found.old.label,
        "new": found.new.label,
        "notes": [*found.old.notes, *found.new.notes],
        "edited": edits(found.old, found.new),
        "files": {
            name: {key: describe_change(change) for key, change in changes.items()}
            for name, changes in found.files.items()
        },
        "follow": {name: list(objects) for name, objects in found.follow.items()},
    }

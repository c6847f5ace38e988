"""Screen of `doit diff`: states of layers, their changes, and what follows from what."""

from __future__ import annotations

import contextlib
import fnmatch
import io
import json
import os
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from lairmake.stages.diagnose import UserError, UserErrors, plural
from lairmake.stages.make.core.action import SAFELY, build, current_key, is_up_to_date
from lairmake.stages.make.core.declaration import (
    declaration,
    is_figures,
    is_text,
    read_figures_text,
    values_of_texts,
    values_read,
)
from lairmake.stages.make.core.layers import is_buildable, lone_folder, network_of, open_folder
from lairmake.stages.make.core.pipeline import (
    files_written,
    needed,
    orders,
    stages_until,
    tasks_of_folders,
    writer_of,
)
from lairmake.stages.make.core.stage import BuildOptions
from lairmake.stages.make.report.colour import WIDTH, paint, paint_isl, wrap_isl
from lairmake.stages.make.report.difference import (
    ChangedPart,
    Changes,
    FileChange,
    changed_keys,
    count_of_lines,
    details,
    find_differences,
    find_values,
    is_respelled,
    known_by_both,
    list_some,
)
from lairmake.stages.make.report.headline import headlines
from lairmake.stages.make.store.folders import (
    LAYER,
    PROGRAM,
    LayerFolder,
    file_of,
    files_in,
    folders_of,
    further_file,
    mark_of,
    parts_of,
)
from lairmake.stages.make.store.state import Line, begun, builds, read
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import store_of

# --- States of a layer: now, and at a git revision ------------------------------------------------

WITHOUT_GIT = "`--build 1` compares with the last build, and `--with` with another layer"
YAML_FILE = re.compile(rb"[\w./-]+\.yaml\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A copy of parts of the repository at `top`, as they are in a commit.

    The copy of a path lies in the folder `place`, at the same path below that.
    """

    top: Path
    commit: str
    place: Path

    def of(self, path: Path) -> Path:
        """Return the path of the copy of a path."""
        return self.place / path.relative_to("/")

    def before(self, path: Path) -> Path:
        """Return the path of which a path in the copy is a copy."""
        return Path("/") / path.resolve().relative_to(self.place)

    def extract(self, paths: Sequence[Path]) -> None:
        """Copy those of some files and folders that the commit has."""
        names = [str(p.relative_to(self.top)) for p in paths if p.is_relative_to(self.top)]
        listed = _git(self.top, "ls-tree", "-z", "--name-only", self.commit, "--", *names)
        there = [name.decode() for name in listed.split(b"\0") if name and names]
        if there:
            content = _git(self.top, "archive", "--format=tar", self.commit, "--", *there)
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                archive.extraction_filter = getattr(tarfile, "data_filter", None)
                archive.extractall(self.of(self.top))


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerState:
    """Files that the stages of a layer wrote, by the names that they use, and a `label`.

    `sources` is what a person wrote and the stages read, as far as it is known: of YAML files the
    values that they read. `texts` are the files with these values, where they are there. `notes`
    say what is not as one would expect.
    """

    label: str
    files: dict[str, bytes]
    sources: dict[str, bytes] = field(default_factory=dict)
    texts: dict[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def state_now(folder: LayerFolder, label: str = "now") -> LayerState:
    """Return the state on disk, edited by hand or not."""
    files = _files(folder)
    missing = [s for s in folder.stages if not any(n in files for n in files_written(folder, s))]
    notes = [f"{label}: {', '.join(missing)} not built"] if missing else []
    old = first_out_of_date(folder, [s for s in folder.stages if s not in missing])
    notes += [f"{label}: {old} may be out of date"] if old else []
    texts = _texts(folder)
    return LayerState(
        label=label, files=files, sources=_sources(folder, texts), texts=texts, notes=tuple(notes)
    )


def first_out_of_date(folder: LayerFolder, stages: Sequence[str]) -> str | None:
    """Return the first of some stages that is not up to date; None if all are."""
    return next((stage for stage in stages if not is_up_to_date(stage, folder)), None)


def _files(folder: LayerFolder) -> dict[str, bytes]:
    names = [name for stage in folder.stages for name in files_written(folder, stage)]
    found = {name: file_of(folder, name) for name in names}
    return {name: path.read_bytes() for name, path in found.items() if path.is_file()}


def _sources(folder: LayerFolder, texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what stages read of what a person wrote."""
    figures = _figures(folder) if folder.asked_in is None else {}
    return {name: _read(folder, name, text) for name, text in texts.items()} | figures


def _figures(folder: LayerFolder) -> dict[str, bytes]:
    """Return the figures of the machines that stages read."""
    further = {name for stage in folder.stages for name in current_key(stage, folder).further}
    found = {name: read_figures_text(folder, name) for name in further if is_figures(name)}
    return {name: text for name, text in found.items() if text is not None}


def _read(folder: LayerFolder, name: str, text: bytes) -> bytes:
    """Return what stages read of a file with some text: all of it, or values."""
    values = list(values_read(folder, name, text))
    return values_of_texts(values) if values else text


def _texts(folder: LayerFolder) -> dict[str, bytes]:
    """Return what a person wrote for a folder itself; nothing where a stage wrote that."""
    if folder.asked_in is not None:
        return {}
    keys = [current_key(stage, folder) for stage in folder.stages]
    found = {n: file_of(folder, n) for key in keys for n in key.reads if is_source(folder, n)}
    further = {name for key in keys for name in key.further if not is_figures(name)}
    found |= {name: further_file(folder, name) for name in further}
    return {name: path.read_bytes() for name, path in found.items() if path.is_file()}


def is_source(folder: LayerFolder, name: str) -> bool:
    """Return whether a person wrote a file that a stage reads, for this folder and not a part."""
    others = {*(part for part, _ in folder.parts), *(each.name for each in folder.crossings)}
    is_other = name in others or name.partition("/")[0] in others
    return not is_other and writer_of(folder, name) is None


def state_at(folder: LayerFolder, revision: str) -> LayerState:
    """Return the state of a layer at a revision of git.

    Committed files are taken as they are. The stages of now make all others from what is committed.

    Raises UserError where there is no git repository.
    """
    top = Path(git(folder.path, "rev-parse", "--show-toplevel").strip()).resolve()
    commit = find_commit(folder.path, revision)
    if commit is None:
        return LayerState(label=revision, files={}, notes=(f"git has no revision {revision}",))
    label = revision if commit.startswith(revision) else f"{revision} ({commit[:7]})"
    with tempfile.TemporaryDirectory() as temporary:
        copy = Copy(top=top, commit=commit, place=Path(temporary).resolve())
        whole = _extract(copy, network_of(folder))
        old = next((f for f in folders_of(whole) if f.name == folder.name), whole)
        former = None if _is_there(old) else _former_place(copy, folder)
        if former is not None:
            whole = old = _extract(copy, lone_folder(former))
        if not _is_there(old):
            return LayerState(label=label, files={}, notes=(f"not in {revision}",))
        renamed = (f"{folder.name} was {old.name} in {revision}",) if former is not None else ()
        notes = _complete(whole, old, revision, f"{copy.of(top)}/")
        files, texts = _files(old), _texts(old)
        sources = _sources(old, texts)
        return LayerState(
            label=label, files=files, sources=sources, texts=texts, notes=(*renamed, *notes)
        )


def _former_place(copy: Copy, folder: LayerFolder) -> Path | None:
    """Return where the commit has the folder that was moved to that of a layer, if git sees it."""
    name = mark_of(files_in(folder.path)) or LAYER
    moved = str((folder.path / name).relative_to(copy.top))
    index = {"GIT_INDEX_FILE": str(copy.place / "index")}
    _git(copy.top, "read-tree", copy.commit, **index)
    _git(copy.top, "add", "--force", "--intent-to-add", "--", moved, **index)
    asked = ("diff", "--find-renames", "--diff-filter=R", "--name-status", "-z", copy.commit)
    found = _git(copy.top, *asked, "--", f":(top,glob)**/{name}", **index).decode().split("\0")
    pairs = {new: old for old, new in zip(found[1::3], found[2::3], strict=False)}
    return (copy.top / pairs[moved]).parent if moved in pairs else None


def find_commit(folder: Path, revision: str) -> str | None:
    """Return the commit that git knows by a name; None for none."""
    try:
        found = git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except UserError:
        return None
    return found.strip()


def git(folder: Path, *arguments: str) -> str:
    """Return what git prints. Raises UserError where it fails."""
    return _git(folder, *arguments).decode()


def _git(folder: Path, *arguments: str, **environment: str) -> bytes:
    try:
        ended = subprocess.run(
            ["git", *SAFELY, *arguments], cwd=folder, capture_output=True, check=True,
            env={**os.environ, **environment},
        )
    except FileNotFoundError as error:
        raise UserError("there is no git here", hint=WITHOUT_GIT) from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().split("\n")[0]
        said = said.removeprefix("fatal: ")
        raise UserError(said, hint=WITHOUT_GIT) from error
    return ended.stdout


def _is_there(folder: LayerFolder) -> bool:
    return is_buildable(folder.path)


def _extract(copy: Copy, folder: LayerFolder) -> LayerFolder:
    """Write the files of a layer or network at a revision, and return its folder as it was then."""
    copy.extract([folder.path, folder.build, folder.cache])
    old = open_folder(copy.of(folder.path))
    copy.extract([copy.before(part.path) for part in parts_of(old)])
    for place in (old, *parts_of(old)):
        for asking in (place.path / name for name in (LAYER, PROGRAM)):
            named = YAML_FILE.findall(asking.read_bytes()) if asking.is_file() else []
            copy.extract([copy.before(place.path / name.decode()) for name in named])
    return _at_home(old, folder.home)


def _at_home(folder: LayerFolder, home: Path) -> LayerFolder:
    """Return a layer folder with another store."""
    parts = tuple((name, _at_home(part, home)) for name, part in folder.parts)
    return replace(folder, home=home, parts=parts)


def _complete(
    whole: LayerFolder, folder: LayerFolder, revision: str, place: str
) -> tuple[str, ...]:
    """Run the stages of which not every file is there; return why one of them could not.

    Committed texts may be older than the stages that read them, so that these may fail anyhow.
    """
    tasks = tasks_of_folders(folders_of(whole))
    for task in needed(orders(tasks), [f"{folder.name}:{stage}" for stage in folder.stages]):
        owner, stage = tasks[task]
        names = files_written(owner, stage)
        if names and all(file_of(owner, name).is_file() for name in names):
            continue
        try:
            build(stage, owner, BuildOptions(of_revision=True))
        except (UserError, UserErrors) as error:
            return (str(error).replace(place, f"{revision}:").rstrip(),)
        except Exception as error:
            return (f"{task} fails on what {revision} holds: {error!r}",)
    return ()

# --- Changes in a layer: roots, and what follows --------------------------------------------------

BUILD = "build/"
INSTANCES = "instances.isl"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerComparison:
    """Changes in a layer from one state to another.

    `changed` are the names of changed files, in the order of the stages. `files` has the changes of
    those that are to be shown. By file, `roots` are the changed objects of texts that no other
    changed text leads to, or of which layer.yaml says something else. All other changed objects
    `follow`.
    """

    layer: LayerFolder
    old: LayerState
    new: LayerState
    changed: Sequence[str]
    files: Mapping[str, Changes]
    roots: Mapping[str, Sequence[str]]
    follow: Mapping[str, Sequence[str]]


def compare(
    layer: LayerFolder, old: LayerState, new: LayerState, wanted: Collection[str] | None = None
) -> LayerComparison:
    """Return the changes from one state of a layer to another.

    `files` has all changes in files whose names match a `wanted` pattern. Where `wanted` is None,
    it has the changes in all texts that do not follow from others.
    """
    stages = dict(_changed_files(layer, old, new))
    known = known_by_both(old.files.get(INSTANCES), new.files.get(INSTANCES))
    edited = _edited_keys(old, new)
    files: dict[str, Changes] = {}
    roots: dict[str, Sequence[str]] = {}
    follow: dict[str, Sequence[str]] = {}
    for name, stage in stages.items():
        is_text = not name.startswith(BUILD)
        objects = _changed_objects(name, old, new) if is_text else []
        before = set(stages_until(layer, stage)) - {stage}
        is_led = any(stages[each] in before for each in (*roots, *follow))
        own = [each for each in objects if each in edited or not is_led]
        is_wanted = any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted or ())
        if own or is_wanted:
            found = find_differences(name, old.files.get(name), new.files.get(name), known)
            if is_wanted or wanted is None:
                files[name] = {k: c for k, c in found.items() if is_wanted or _is_of(k, own)}
            own = [] if is_respelled(found) else own
        edited -= set(own)
        roots |= {name: own} if own else {}
        rest = [each for each in objects if each not in own]
        follow |= {name: rest} if rest and (own or is_led) else {}
    return LayerComparison(
        layer=layer, old=old, new=new, changed=tuple(stages), files=files, roots=roots,
        follow=follow,
    )


def _changed_files(
    layer: LayerFolder, old: LayerState, new: LayerState
) -> Iterator[tuple[str, str]]:
    """Yield the files that differ, each with its stage, of stages that both states have built."""
    there = {**old.files, **new.files}
    for stage in layer.stages:
        for pattern in declaration(stage).writes:
            if all(fnmatch.filter(state.files, pattern) for state in (old, new)):
                for name in fnmatch.filter(there, pattern):
                    if old.files.get(name) != new.files.get(name):
                        yield name, stage


def _changed_objects(name: str, old: LayerState, new: LayerState) -> list[str]:
    """Return the objects of a text that are not written as they were, of YAML its first keys.

    Where it has none, '' is all of it.
    """
    before, after = (find_values(name, state.files.get(name, b"")) for state in (old, new))
    return [n for n in {**before, **after} if before.get(n) != after.get(n)] or [""]


def _edited_keys(old: LayerState, new: LayerState) -> set[str]:
    """Return the first keys of all values that a person changed: `placement`."""
    return {
        key for name in old.sources.keys() & new.sources.keys() if name.endswith(".yaml")
        for key in changed_keys(old.sources[name], new.sources[name])
    }


def _is_of(key: str, objects: Sequence[str]) -> bool:
    """Return whether a value, `on_x.operands[1].base`, is of an object, `on_x`, or of the file."""
    return any(each in ("", key) or key.startswith((f"{each}.", f"{each}[")) for each in objects)

# --- Printed changes: a screen a layer, or everything ---------------------------------------------

RESULTS = "build/results.json"
MEASURED = (RESULTS, "build/usage.npz")
PARTS = "build/parts/"
MOST_FILES = 3
FEW_LINES, MOST_LINES = 20, 24
"""Lines for the changes of a layer, few if few changed; -v prints the rest."""
LEAST_LINES = 4
"""Lines, of these, for objects at least, whatever is above them."""
OF_ONE = 6
"""Lines, of these, for one object at most."""
MARGIN = 5
"""Columns between the name of an object and a set."""
LONG = 24
"""Length, at most, of a name beside which a set stands."""
COLOUR = re.compile(r"\x1b\[\d+m")
STYLES = {"-": "red", "+": "green", "->": "green", "": "red"}


def screens(found: Sequence[LayerComparison], is_whole: bool, is_file: bool) -> str:
    """Return the changes in each layer for a reader; layers with equal changes are told once.

    With `is_file`, there are neither results nor edits. With `is_whole`, every object is there.
    """
    alike: dict[tuple[str, ...], list[LayerComparison]] = {}
    for each in found:
        if is_file:
            body = [*_notes(each), *_every_file(each, in_full=True)]
        else:
            whole = [*_first(each), *_every_file(each, in_full=False)]
            body = whole if is_whole else _screen(each)
        alike.setdefault((each.old.label, each.new.label, *body), []).append(each)
    return "\n".join(_text(same, body) for (_, _, *body), same in alike.items())


def _text(same: Sequence[LayerComparison], body: Sequence[str]) -> str:
    first, names = same[0], list_some([each.layer.name for each in same])
    is_same = first.old.files and first.new.files and not first.changed
    title = f"{names}: {first.old.label} -> {first.new.label}"
    count = f", {len(same)} changed alike" if len(same) > 1 and not is_same else ""
    lines = [paint("bold", title) + (", nothing changed" if is_same else count), *body]
    return "\n".join(lines) + "\n"


def _notes(found: LayerComparison) -> list[str]:
    return [f"  note: {note}" for note in (*found.old.notes, *found.new.notes)]


def _first(found: LayerComparison) -> list[str]:
    """Return notes, results and what was edited."""
    lines = _notes(found)
    is_built = not lines and (found.changed or edits(found.old, found.new))
    if RESULTS in found.changed or is_built:
        contents = [state.files.get(RESULTS) for state in (found.old, found.new)]
        lines += [f"  {line}" for line in headlines(*contents)]
    for name, said in edits(found.old, found.new).items():
        lines += [paint("bold", name), *(f"  {line}" for line in said)]
    return lines


def edits(old: LayerState, new: LayerState) -> dict[str, list[str]]:
    """Return what a person changed, by file, in a line for each value.

    There is nothing if one of the states has no known sources. A file that was only moved, with its
    folder, did not change.
    """
    moved = {*old.sources.values()} & {*new.sources.values()}
    found: dict[str, list[str]] = {}
    if not old.sources or not new.sources:
        return found
    for name in {**old.sources, **new.sources}:
        before, after = (state.sources.get(name) for state in (old, new))
        if is_figures(name) and None in (before, after):
            continue  # another machine is asked for: what says so has changed
        if before != after and not moved.issuperset(side for side in (before, after) if side):
            gone = "is gone" if after is None else "is new" if before is None else "changed"
            found[list_some([name])] = details(name, before, after, new.texts.get(name)) or [gone]
    return found


def _screen(found: LayerComparison) -> list[str]:
    """Return notes, results, edits, what did not follow, and in a line each what did.

    Every object takes a line of a diff of the texts, every file four: there are no more than that.
    """
    first, last = _first(found), [*_following(found), *_built(found)]
    texts = found.roots.keys() | found.follow.keys()
    objects = sum(len(own) for part in (found.roots, found.follow) for own in part.values())
    most = max(FEW_LINES, min(MOST_LINES, objects + 4 * len(texts)))
    room = max(LEAST_LINES, most - 1 - len(first) - len(last))
    return [*first, *_fitting(found, room), *last]


def _fitting(found: LayerComparison, room: int) -> list[str]:
    """Return the lines of the objects that did not follow, as far as there is room.

    Where it is short, each has as many lines as all may have.
    """
    blocks = [
        (name, list(_lines_of_change(key, change)) if key else _lines_of_text(name, change))
        for name, changes in found.files.items() for key, change in changes.items()
    ]
    spare = room - len(found.files)
    fits = (n for n in range(OF_ONE, 1, -1) if sum(min(n, len(b)) for _, b in blocks) <= spare)
    most = next(fits, 1)
    lines: list[str] = []
    titled: set[str] = set()
    for number, (name, block) in enumerate(blocks):
        title = [] if name in titled else [paint("bold", name)]
        cut = _cut(block, most)
        last = number == len(blocks) - 1
        if len(lines) + len(title) + len(cut) + (not last) > room:
            count = f"{len(blocks) - number} more {'change' if last else 'changes'}"
            files = list_some(list(dict.fromkeys(name for name, _ in blocks[number:])))
            return [*lines, f"{count} in {files}: -v"]
        lines += [*title, *cut]
        titled.add(name)
    return lines


def _lines_of_text(name: str, change: FileChange) -> list[str]:
    """Return the lines of a text in the cache that changed; of another file how many."""
    lines = [f"  {_painted(line)}" for line in change.lines if line[:1] in ("-", "+")]
    return lines if lines and is_text(name) else [f"  {_said(change)}"]


def _cut(block: list[str], most: int) -> list[str]:
    """Return a block on no more lines; what does not fit is run together, and cut."""
    if len(block) <= most:
        return block
    first, *others = block[most - 1 :]
    rest = COLOUR.sub("", " ".join([first, *(line.strip() for line in others)]))
    return [*block[: most - 1], f"{rest[: WIDTH - 4].rstrip()} ..."]


def _following(found: LayerComparison) -> Iterator[str]:
    """Yield a line that counts what follows from other objects."""
    count, files = sum(map(len, found.follow.values())), list(found.follow)
    if count:
        objects = [each for name, own in found.roots.items() for each in _called(name, own)]
        roots = list_some(list(dict.fromkeys(objects)))
        where = list_some(files) if len(files) <= MOST_FILES else f"{len(files)} files"
        yield f"follows from {roots}: {plural(count, 'object')} in {where}"


def _called(name: str, objects: Sequence[str]) -> Sequence[str]:
    return objects if name.endswith(".isl") else [name]


def _built(found: LayerComparison) -> Iterator[str]:
    """Yield a line about programs, layout and outputs, and the files of the parts of a kernel."""
    names = [n for n in found.changed if n.startswith(BUILD) and n not in MEASURED]
    parts = [name for name in names if name.startswith(PARTS)]
    changes = {name: _of_file(found, name) for name in names if name not in parts}
    programs = [name for name in changes if name.endswith(".c") and changes[name].lines]
    said = [f"{len(parts)} files of parts"] if parts else []
    if programs:
        counts = [count_of_lines(changes[name]) for name in programs]
        lines = [sum(each[way] for each in counts) for way in ("lines_added", "lines_removed")]
        number = plural(len(programs), "program")
        said.append(f"{number} (+{lines[0]} -{lines[1]} lines)")
    for name in [name for name in changes if name not in programs]:
        what = _said(changes[name])
        said.append(f"{name.removeprefix(BUILD)}{f' ({what})' if what else ''}")
    if said:
        yield f"build: {list_some(said)}"


def _of_file(found: LayerComparison, name: str) -> FileChange:
    """Return what changed in a file that was built, as one change; of YAML nothing is said."""
    changes = find_differences(name, found.old.files.get(name), found.new.files.get(name))
    return changes[""] if "" in changes else FileChange()


def _every_file(found: LayerComparison, in_full: bool) -> Iterator[str]:
    for name, changes in found.files.items():
        yield from lines_of_file(name, changes, in_full)


def lines_of_file(name: str, changes: Changes, in_full: bool = True) -> Iterator[str]:
    """Yield lines of all changes in a file; for a file in build/ a count, unless in full."""
    said = _said(changes[""]) if "" in changes else ""
    yield paint("bold", name) + (f": {said}" if said else "")
    for key, change in changes.items():
        if key:
            yield from _lines_of_change(key, change)
        else:
            is_shown = in_full or is_text(name)
            yield from (f"  {_painted(line)}" for line in change.lines if is_shown)


def _lines_of_change(key: str, change: FileChange) -> Iterator[str]:
    """Yield the lines of an object, or of a value."""
    said = _said(change)
    if said:
        yield f"  {key}: {said}"
    start = f"  {key}"
    if not said and len(key) > LONG:
        yield start
        start = " "
    for sign, text in _rows(change, len(start) + MARGIN):
        first, *others = wrap_isl(text, indent=len(start) + MARGIN).split("\n")
        rest = [" " * (len(start) + MARGIN) + paint_isl(line) for line in others]
        yield from [f"{start}  {paint(STYLES[sign], f'{sign:>2}')} {paint_isl(first)}", *rest]
        start = " " * len(start)


def _rows(change: FileChange, indent: int) -> Iterator[tuple[str, str]]:
    """Yield sign and text of each set that is to be shown, on a line where it fits on one."""
    for pair in change.functions:
        old, new = (_on_a_line(text, indent) for text in pair)
        if "\n" not in old + new and indent + len(old) + len(new) + 4 <= WIDTH:
            yield "", f"{old} -> {new}"
        else:
            yield from (("", old), ("->", new))
    for sign, part in (("-", change.removed), ("+", change.added)):
        if part is not None:
            text, often = _on_a_line(part.set, indent), _often(part)
            fits = "\n" not in text and indent + len(text) + len(often) + 2 <= WIDTH
            yield sign, f"{text}{'  ' if fits else chr(10)}{often}".rstrip()


def _on_a_line(text: str, indent: int) -> str:
    """Return a set on one line if it fits."""
    joined = re.sub(r"\s*\n\s*", " ", text)
    return joined if indent + len(joined) <= WIDTH else text


def _often(part: ChangedPart) -> str:
    """Return as a comment how many elements a set has, and one of them, where that is known."""
    count = {None: [], 1: ["1 point"]}.get(part.points, [f"{part.points} points"])
    sample = [f"such as {part.sample}"] if part.sample and part.points != 1 else []
    return f"# {', '.join([*count, *sample])}" if count or sample else ""


def _said(change: FileChange) -> str:
    """Return a change in a few words; nothing for a set."""
    if change.lines:
        added, removed = count_of_lines(change).values()
        return f"{plural(added, 'line')} added, {removed} removed"
    values = f"{_value(change, 'old')} -> {_value(change, 'new')}"
    return change.note or (values if change.values else "")


def _value(change: FileChange, way: str) -> str:
    """Return a value as a person writes it."""
    value = change.values.get(way, "nothing")
    return value if isinstance(value, str) else json.dumps(value)


def _painted(line: str) -> str:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return paint(styles[line[0]], line) if line[:1] in styles else line

# --- States of a layer from the log and the store -------------------------------------------------

CHANGED = ("ran", "hit")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?")


def is_moment(text: str) -> bool:
    """Return whether a text is a day, or a time of a day, by which a build is named."""
    with contextlib.suppress(ValueError):
        return MOMENT.fullmatch(text) is not None and bool(datetime.fromisoformat(text))
    return False


def state_before(folder: LayerFolder, builds: int) -> LayerState:
    """Return the state of a layer before the last `builds` builds that changed it."""
    lines = _changes(folder)
    known = list(dict.fromkeys(line["build"] for line in lines))
    label = "before the last build" if builds == 1 else f"before the last {builds} builds"
    if not 0 < builds < len(known):
        count = plural(len(known), "build")
        notes = (f"the log knows {count} of it",)
        return LayerState(label=label, files={}, notes=notes)
    return _state(folder, lines, set(known[:-builds]), label)


def state_after(folder: LayerFolder, moment: str) -> LayerState:
    """Return the state of a layer after the last build that began at a moment, or before."""
    state = state_folder(folder.home)
    ids = {b.id for b in builds(state) if begun(b)[: len(moment)] <= moment}
    lines, label = _changes(folder), f"the build of {moment}"
    if ids.isdisjoint(line["build"] for line in lines):
        notes = ("the log knows no build of it until then",)
        return LayerState(label=label, files={}, notes=notes)
    return _state(folder, lines, ids, label)


def _changes(folder: LayerFolder) -> list[Line]:
    """Return what the log has of the tasks of a layer that were not up to date."""
    return [
        line for line in read(state_folder(folder.home))
        if line.get("layer") == folder.name and line.get("how") in CHANGED
    ]


def _state(
    folder: LayerFolder, lines: Collection[Line], builds: Collection[str], label: str
) -> LayerState:
    """Return what the stages had written after some builds, as far as the store has it."""
    last = {line["stage"]: line for line in lines if line["build"] in builds}
    writes = {n: digest for line in last.values() for n, digest in line["writes"].items()}
    files, gone = _from_store(folder, writes)
    sources = _logged_sources(folder, last) if folder.asked_in is None else {}
    lost = (f"no more in the store: {', '.join(gone)}",) if gone else ()
    return LayerState(label=label, files=files, sources=sources, notes=lost)


def _logged_sources(folder: LayerFolder, last: Mapping[str, Line]) -> dict[str, bytes]:
    """Return what a person wrote and stages read, by what the log last has of each stage."""
    store, found, values = store_of(folder.home), dict[str, bytes](), dict[str, list[bytes]]()
    for stage, line in last.items():
        for name, digest in line["reads"].items():
            content = store.blob(digest) if digest and is_source(folder, name) else None
            if content is not None and declaration(stage).values_of(name) is not None:
                values.setdefault(name, []).append(content)
            elif content is not None:
                found[name] = content
    return found | {name: values_of_texts(each) for name, each in values.items()}


def _from_store(
    folder: LayerFolder, digests: Mapping[str, str]
) -> tuple[dict[str, bytes], list[str]]:
    """Return what the store has of some contents, by their names, and the names of the others."""
    store = store_of(folder.home)
    found = {name: store.blob(digest) for name, digest in digests.items()}
    gone = [name for name, content in found.items() if content is None]
    return {name: content for name, content in found.items() if content is not None}, gone

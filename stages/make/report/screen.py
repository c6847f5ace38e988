"""What `doit diff` prints: of each layer what fits on a screen, or all of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from lairmake.stages.diagnose import plural
from lairmake.stages.make.core.declaration import is_figures, is_text
from lairmake.stages.make.report.change import Change, Changes, Part, count_of_lines
from lairmake.stages.make.report.colour import WIDTH, paint, paint_isl, wrap_isl
from lairmake.stages.make.report.details import details, list_some
from lairmake.stages.make.report.difference import find_differences
from lairmake.stages.make.report.follow import BUILD, Comparison
from lairmake.stages.make.report.headline import headlines
from lairmake.stages.make.report.states import State

RESULTS = "build/results.json"
MEASURED = (RESULTS, "build/usage.npz")
PARTS = "build/parts/"
MOST_FILES = 3
FEW_LINES, MOST_LINES = 20, 24
"""On how many lines what changed in a layer is said, few if as few did; -v says the rest."""
LEAST_LINES = 4
"""How many of them are for objects, however much there is before."""
OF_ONE = 6
"""How many of them are for one object."""
MARGIN = 5
"""The columns between the name of an object and a set."""
LONG = 24
"""How long a name may be for a set to stand beside it."""
COLOUR = re.compile(r"\x1b\[\d+m")
STYLES = {"-": "red", "+": "green", "->": "green", "": "red"}


def screens(found: Sequence[Comparison], is_whole: bool, is_file: bool) -> str:
    """Return what changed in each layer as a person reads it; equal changes are said once.

    Of one file there are neither results nor edits; the `whole` has every object.
    """
    alike: dict[tuple[str, ...], list[Comparison]] = {}
    for each in found:
        if is_file:
            body = [*_notes(each), *_every_file(each, in_full=True)]
        else:
            whole = [*_first(each), *_every_file(each, in_full=False)]
            body = whole if is_whole else _screen(each)
        alike.setdefault((each.old.label, each.new.label, *body), []).append(each)
    return "\n".join(_text(same, body) for (_, _, *body), same in alike.items())


def _text(same: Sequence[Comparison], body: Sequence[str]) -> str:
    first, names = same[0], list_some([each.layer.name for each in same])
    is_same = first.old.files and first.new.files and not first.changed
    title = f"{names}: {first.old.label} -> {first.new.label}"
    count = f", {len(same)} changed alike" if len(same) > 1 and not is_same else ""
    lines = [paint("bold", title) + (", nothing changed" if is_same else count), *body]
    return "\n".join(lines) + "\n"


def _notes(found: Comparison) -> list[str]:
    return [f"  note: {note}" for note in (*found.old.notes, *found.new.notes)]


def _first(found: Comparison) -> list[str]:
    """Return notes, results and what was edited."""
    lines = _notes(found)
    is_built = not lines and (found.changed or edits(found.old, found.new))
    if RESULTS in found.changed or is_built:
        contents = [state.files.get(RESULTS) for state in (found.old, found.new)]
        lines += [f"  {line}" for line in headlines(*contents)]
    for name, said in edits(found.old, found.new).items():
        lines += [paint("bold", name), *(f"  {line}" for line in said)]
    return lines


def edits(old: State, new: State) -> dict[str, list[str]]:
    """Return what a person changed, by file, in a line for each value; nothing if one is unknown.

    A file that was only moved, with its folder, did not change.
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


def _screen(found: Comparison) -> list[str]:
    """Return notes, results, edits, what did not follow, and in a line each what did.

    Every object takes a line of a diff of the texts, every file four: there are no more than that.
    """
    first, last = _first(found), [*_following(found), *_built(found)]
    texts = found.roots.keys() | found.follow.keys()
    objects = sum(len(own) for part in (found.roots, found.follow) for own in part.values())
    most = max(FEW_LINES, min(MOST_LINES, objects + 4 * len(texts)))
    room = max(LEAST_LINES, most - 1 - len(first) - len(last))
    return [*first, *_fitting(found, room), *last]


def _fitting(found: Comparison, room: int) -> list[str]:
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


def _lines_of_text(name: str, change: Change) -> list[str]:
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


def _following(found: Comparison) -> Iterator[str]:
    """Yield a line that counts what follows from other objects."""
    count, files = sum(map(len, found.follow.values())), list(found.follow)
    if count:
        objects = [each for name, own in found.roots.items() for each in _called(name, own)]
        roots = list_some(list(dict.fromkeys(objects)))
        where = list_some(files) if len(files) <= MOST_FILES else f"{len(files)} files"
        yield f"follows from {roots}: {plural(count, 'object')} in {where}"


def _called(name: str, objects: Sequence[str]) -> Sequence[str]:
    return objects if name.endswith(".isl") else [name]


def _built(found: Comparison) -> Iterator[str]:
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


def _of_file(found: Comparison, name: str) -> Change:
    """Return what changed in a file that was built, as one change; of YAML nothing is said."""
    changes = find_differences(name, found.old.files.get(name), found.new.files.get(name))
    return changes[""] if "" in changes else Change()


def _every_file(found: Comparison, in_full: bool) -> Iterator[str]:
    for name, changes in found.files.items():
        yield from lines_of_file(name, changes, in_full)


def lines_of_file(name: str, changes: Changes, in_full: bool = True) -> Iterator[str]:
    """Yield the lines of all that changed in a file; of one in build/ how many, unless in full."""
    said = _said(changes[""]) if "" in changes else ""
    yield paint("bold", name) + (f": {said}" if said else "")
    for key, change in changes.items():
        if key:
            yield from _lines_of_change(key, change)
        else:
            is_shown = in_full or is_text(name)
            yield from (f"  {_painted(line)}" for line in change.lines if is_shown)


def _lines_of_change(key: str, change: Change) -> Iterator[str]:
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


def _rows(change: Change, indent: int) -> Iterator[tuple[str, str]]:
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


def _often(part: Part) -> str:
    """Return as a comment how many elements a set has, and one of them, where that is known."""
    count = {None: [], 1: ["1 point"]}.get(part.points, [f"{part.points} points"])
    sample = [f"such as {part.sample}"] if part.sample and part.points != 1 else []
    return f"# {', '.join([*count, *sample])}" if count or sample else ""


def _said(change: Change) -> str:
    """Return a change in a few words; nothing for a set."""
    if change.lines:
        added, removed = count_of_lines(change).values()
        return f"{plural(added, 'line')} added, {removed} removed"
    values = f"{_value(change, 'old')} -> {_value(change, 'new')}"
    return change.note or (values if change.values else "")


def _value(change: Change, way: str) -> str:
    """Return a value as a person writes it."""
    value = change.values.get(way, "nothing")
    return value if isinstance(value, str) else json.dumps(value)


def _painted(line: str) -> str:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return paint(styles[line[0]], line) if line[:1] in styles else line

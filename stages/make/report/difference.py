"""Differences between two contents of a file: sets as sets, data by keys."""

from __future__ import annotations

import difflib
import functools
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml

from lairmake.stages.make.store.folders import FIGURES
from lairmake.stages.yaml_limits import compose

if TYPE_CHECKING:
    import islpy as isl

    from lairmake.stages.poly.iscc import Union

# --- Edits of a text, in a few lines --------------------------------------------------------------

MOST_LINES = 10
MOST_CHARACTERS = 60
MOST_OF_PAIR = 80
MOST_BEFORE = 15
MOST_NAMES = 4

Values = dict[str, tuple[int, str]]
"""The line and the text of every value of a YAML text, by its path: `sizes.N`."""


def details(
    name: str, old: bytes | None, new: bytes | None, file: bytes | None = None
) -> list[str]:
    """Return a few lines on the changes from one content of a file to another.

    There are none where one of the contents is not known, or is no text. Where the contents are
    values of a YAML `file`, lines are counted in that file.
    """
    try:
        texts = [content.decode() for content in (old, new) if content is not None]
    except UnicodeDecodeError:
        return []
    if len(texts) < 2:
        return []
    found = []
    if name.endswith(".yaml") or name.startswith(FIGURES):
        text = texts[1] if file is None else file.decode("utf-8", "replace")
        found = [line for _, line in _changed_values(texts[0], texts[1], text)]
    found = found or list(_changed_lines(*texts))
    more = len(found) - MOST_LINES
    return [*found[:MOST_LINES], f"and {more} more"] if more > 0 else found


def changed_keys(old: bytes, new: bytes) -> set[str]:
    """Return the first keys, `sizes`, of all values of a YAML text that changed."""
    texts = [content.decode("utf-8", "replace") for content in (old, new)]
    found = _changed_values(texts[0], texts[1], texts[1])
    return {path.partition(".")[0].partition("[")[0] for path, _ in found}


def _changed_values(old: str, new: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield path and line of each value, in a text; nothing where one of the texts is no YAML."""
    try:
        before, after, places = _values(old), _values(new), _values(text)
    except (yaml.YAMLError, RecursionError):
        return
    lines = {key: f"line {line}, " for key, (line, _) in places.items()}
    for key, (_, value) in sorted(after.items(), key=lambda each: places.get(each[0], (0, ""))[0]):
        if key not in before:
            yield key, f"{lines.get(key, '')}{key}: {_short(value)} is new"
        elif before[key][1] != value:
            yield key, f"{lines.get(key, '')}{key}: {_pair(before[key][1], value)}"
    for key, (_, value) in before.items():
        if key not in after:
            yield key, f"{key}: {_short(value)} is gone"


def _values(text: str) -> Values:
    node = compose(yaml.SafeLoader(text))
    return dict(_flat(node, "")) if node is not None else {}


def _flat(node: yaml.Node, path: str) -> Iterator[tuple[str, tuple[int, str]]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _flat(value, f"{path}.{key.value}" if path else str(key.value))
    elif isinstance(node, yaml.SequenceNode):
        for at, value in enumerate(node.value):
            yield from _flat(value, f"{path}[{at}]")
    else:
        yield path, (node.start_mark.line + 1, str(node.value))


def _changed_lines(old: str, new: str) -> Iterator[str]:
    """Yield a line for each line of text that changed, by its number in the new text."""
    before, after = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for kind, from_, to, start, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        pairs = zip_longest(before[from_:to], after[start:end])
        for number, (was, is_) in enumerate(pairs, start + 1):
            if is_ is None:
                yield f"after line {end}: {_short(was)} is gone"
            elif was is None:
                yield f"line {number}: {_short(is_)} is new"
            else:
                yield f"line {number}: {_pair(was, is_)}"


def _pair(old: str, new: str) -> str:
    """Return two values that differ, on one line; of long ones most that they begin with is cut."""
    was, is_ = (" ".join(value.split()) for value in (old, new))
    pairs = enumerate(zip(was, is_, strict=False))
    same = next((n for n, (a, b) in pairs if a != b), min(len(was), len(is_)))
    if len(was) + len(is_) > MOST_OF_PAIR and same > MOST_BEFORE:
        was, is_ = (f"...{text[same - MOST_BEFORE :]}" for text in (was, is_))
    return f"{_short(was)} -> {_short(is_)}"


def _short(value: str) -> str:
    """Return a value on one line, cut where it is long."""
    text = " ".join(value.split())
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 3] + "..."


def list_some(names: Sequence[str]) -> str:
    """Return some names, not too many."""
    more = len(names) - MOST_NAMES
    shown = [
        name.removeprefix("build/").replace(FIGURES, "figures of ") for name in names[:MOST_NAMES]
    ]
    return ", ".join([*shown, f"{more} more"] if more > 0 else shown)

# --- Changes in the objects of a file, as data ----------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPart:
    """Elements of a set or relation: its text, their number, and one of them as a sample.

    The number is over all values of symbolic constants. Number and sample are None where they are
    hard to find, and the number also where it is infinite.
    """

    set: str
    points: int | None = None
    sample: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """Change of an object.

    Functions have the text before and after. Other sets and relations have what was `removed` and
    `added`, None for nothing: within what both state, which is `known`, '' for everything. Data has
    `values`, `old` and `new` as far as there are any. A text has the `lines` of a unified diff.
    `note` says what else there is to say.
    """

    note: str = ""
    functions: Sequence[tuple[str, str]] = ()
    removed: ChangedPart | None = None
    added: ChangedPart | None = None
    known: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[str] = ()


Changes = Mapping[str, FileChange]
"""Changes in a file, by the names of its objects, or of its values; '' is all of the file."""


def count_of_lines(change: FileChange) -> dict[str, int]:
    """Return the numbers of lines that were added and removed."""
    signs = {"lines_added": "+", "lines_removed": "-"}
    return {name: sum(x.startswith(sign) for x in change.lines) for name, sign in signs.items()}


def describe_change(change: FileChange) -> dict[str, Any]:
    """Return a change as data that a program reads, without empty parts."""
    parts = {"removed": change.removed, "added": change.added}
    found: dict[str, Any] = {"note": change.note, "known": change.known, **change.values}
    found["functions"] = [{"old": old, "new": new} for old, new in change.functions]
    found |= {way: _data_of_part(part) for way, part in parts.items() if part is not None}
    if change.lines:
        found |= {**count_of_lines(change), "lines": list(change.lines)}
    empty = {name for name in ("note", "known", "functions") if not found[name]}
    return {name: value for name, value in found.items() if name not in empty}


def _data_of_part(part: ChangedPart) -> dict[str, Any]:
    sides = {"set": part.set, "points": part.points, "sample": part.sample}
    return {name: value for name, value in sides.items() if value is not None}

# --- Changes in isl objects: functions, sets, relations -------------------------------------------

MOST_OPERATIONS = 5_000_000
"""Operations of isl for one object, at most: a second or two."""
MOST_FOR_COUNT = 500_000
"""Operations, of these, that may go into counting points and finding one."""

Single: TypeAlias = Any
"""A set or a map of isl."""

Within = tuple[Single, Single]
"""A set or a map, and a set or map that holds it."""

WRAPPED = re.compile(r"{ \[(.*)\] \}")


def find_change(old: Union, new: Union, known: isl.Set | None = None) -> FileChange | None:
    """Return the change from one object to another of its kind; None where they are equal.

    Both are taken apart into pieces, one for each pair of tuples. A piece that is a function before
    and after, and not the same where both are defined, is among the `functions`. All others give

        removed = old - new, added = new - old,

    gisted on the inequalities that both state: these are the `known` of the change. If the symbolic
    constants are `known`, { : ... }, only what differs for those is told; the note says if nothing
    does.
    """
    from lairmake.stages.poly.quota import TooManyOperations, limit_operations

    try:
        with limit_operations(MOST_OPERATIONS):
            if _is_equal(old, new):
                return None
            return _change(singles(old), singles(new), known)
    except TooManyOperations:
        return FileChange(note="changed; what is added or removed is hard to tell")


def _change(old: Sequence[Single], new: Sequence[Single], known: isl.Set | None) -> FileChange:
    functions = []
    gone = [_within(single, None) for single in old if _like(single, new) is None]
    come = [_within(single, None) for single in new if _like(single, old) is None]
    for whole, other in [(single, _like(single, new)) for single in old]:
        if other is None:
            continue
        before, after = _for(whole, known), _for(other, known)
        if _is_other_function(before, after):
            functions.append(_as_functions(whole, other))
        elif not before.is_equal(after):
            context = _context(before, after)
            gone.append(_within(before.subtract(after), context))
            come.append(_within(after.subtract(before), context))
    removed, added = _part(gone), _part(come)
    if not (functions or removed or added):
        return FileChange(note="the same for the symbolic constants that both have")
    contexts = [context for _, context in (*gone, *come)]
    within = "" if all(map(_is_everything, contexts)) else write_text(_union(contexts))
    return FileChange(functions=tuple(functions), removed=removed, added=added, known=within)


def _within(single: Single, context: Single | None) -> Within:
    """Return a set with what holds it; None is everything."""
    return single, type(single).universe(single.space) if context is None else context


def _is_everything(context: Single) -> bool:
    return bool(context.plain_is_universe())


def _part(found: Sequence[Within]) -> ChangedPart | None:
    """Return sets or maps as they are within what holds them; None where they have no element."""
    there = [(single, context) for single, context in found if not single.is_empty()]
    if not there:
        return None
    short = [single.gist(context) for single, context in there]
    for gist, (single, context) in zip(short, there, strict=True):
        if not gist.intersect(context).is_equal(single):
            raise AssertionError(f"{gist} is not {single} in {context}")
    return describe_part(_union([single for single, _ in there]), write_text(_union(short)))


def _is_equal(old: Any, new: Any) -> bool:
    return bool(old.is_equal(new))


def describe_part(union: Union, text: str | None = None) -> ChangedPart:
    """Return a set or relation as text, with its size and one element, where these are cheap."""
    from lairmake.stages.poly.quota import TooManyOperations, limit_operations

    sample, points = None, None
    with suppress(TooManyOperations), limit_operations(MOST_FOR_COUNT):
        sample = None if union.is_empty() else find_sample(union)
        points = count_elements(union)
    return ChangedPart(
        set=write_text(union) if text is None else text, points=points, sample=sample
    )


def write_text(union: Union | Single) -> str:
    """Return a set or relation as the stages write it, or as isl does where that takes long."""
    from lairmake.stages.poly.quota import TooManyOperations, limit_operations
    from lairmake.stages.poly.text import spell_object

    with suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        return spell_object(union)
    return str(union.coalesce())


def singles(union: Union) -> list[Single]:
    """Return the pieces of a union: sets of one tuple, or maps of one pair of tuples."""
    import islpy as isl

    found: list[Single] = []
    if isinstance(union, isl.UnionMap):
        union.foreach_map(found.append)
    else:
        union.foreach_set(found.append)
    return found


def _for(single: Single, known: isl.Set | None) -> Single:
    return single if known is None else single.intersect_params(known)


def _like(single: Single, others: Sequence[Single]) -> Single | None:
    """Return the one of the others that has the same tuples; None if none has."""
    for other in others:
        if type(other) is type(single) and other.space.has_equal_tuples(single.space):
            return other
    return None


def _context(old: Single, new: Single) -> Single:
    """Return what both state; of two functions only what they state of where they are defined."""
    import islpy as isl

    both = isinstance(old, isl.Map) and old.is_single_valued() and new.is_single_valued()
    if not both:
        return _stated_by_both(old, new)
    everything = isl.Map.universe(old.space)
    return everything.intersect_domain(_stated_by_both(old.domain(), new.domain()))


def _is_other_function(old: Single, new: Single) -> bool:
    """Return whether a function, also of symbolic constants, is another where both are defined."""
    before, after = _as_map(old), _as_map(new)
    if not (before.is_single_valued() and after.is_single_valued()):
        return False
    there = before.domain().intersect(after.domain())
    return not before.intersect_domain(there).is_equal(after.intersect_domain(there))


def _as_map(single: Single) -> isl.Map:
    """Return { [N] -> A[i] : ... } for the set [N] -> { A[i] : ... }, and a map as it is."""
    import islpy as isl

    if isinstance(single, isl.Map):
        return single
    kind = isl.dim_type
    return isl.Map.from_range(single).move_dims(kind.in_, 0, kind.param, 0, single.dim(kind.param))


def _as_functions(old: Single, new: Single) -> tuple[str, str]:
    """Return the texts of two functions, without what both state of where they are defined."""
    import islpy as isl

    is_map = isinstance(old, isl.Map)
    context = _stated_by_both(*(each.domain() if is_map else each.params() for each in (old, new)))
    texts = []
    for each in (old, new):
        gist = each.gist_domain(context) if is_map else each.gist_params(context)
        back = gist.intersect_domain(context) if is_map else gist.intersect_params(context)
        if not back.is_equal(each):
            raise AssertionError(f"{gist} is not {each} in {context}")
        texts.append(write_text(gist))
    return texts[0], texts[1]


def _stated_by_both(old: Single, new: Single) -> Single:
    """Return the inequalities that the simple hulls of both have in the same words.

    Ensures that both are within the result.
    """
    import islpy as isl

    aligned = new.align_params(old.space)
    model = old.align_params(aligned.space)
    aligned = aligned.align_params(model.space)
    is_map = isinstance(model, isl.Map)
    sides = [each.wrap() if is_map else each for each in (model, aligned)]
    found: Single = _shared(*sides).unwrap() if is_map else _shared(*sides)
    if not (old.is_subset(found) and new.is_subset(found)):
        raise AssertionError(f"{found} does not hold {old} and {new}")
    return found


def _shared(old: isl.Set, new: isl.Set) -> isl.Set:
    """Return the inequalities that both hulls have; equalities say what something is."""
    import islpy as isl

    others = {str(each) for each in _inequalities(new)}
    found = isl.Set.universe(old.space)
    for constraint in _inequalities(old):
        if str(constraint) in others:
            found = found.add_constraint(constraint)
    return found


def _inequalities(elements: isl.Set) -> list[isl.Constraint]:
    constraints = elements.simple_hull().get_constraints()
    return [constraint for constraint in constraints if not constraint.is_equality()]


def _union(singles: Sequence[Single]) -> Union:
    import islpy as isl

    kind: Any = isl.UnionMap if isinstance(singles[0], isl.Map) else isl.UnionSet
    found: Union = functools.reduce(lambda left, right: left.union(right), map(kind, singles))
    return found


def find_sample(union: Union) -> str:
    """Return one element of a set or relation that is not empty, as text.

    Raises TooManyOperations.
    """
    import islpy as isl

    if isinstance(union, isl.UnionMap):
        return WRAPPED.sub(r"{ \1 }", str(union.wrap().sample_point()))
    return str(union.sample_point())


def count_elements(union: Union) -> int | None:
    """Return the number of elements over all values of the symbolic constants; None if infinite.

    isl counts, a point at a time: it raises TooManyOperations where there are many.
    """
    import islpy as isl

    elements = union.wrap() if isinstance(union, isl.UnionMap) else union
    flat = [_without_constants(each) for each in singles(elements)]
    if not all(each.is_bounded() for each in flat):
        return None
    return sum(int(each.count_val().to_python()) for each in flat)


def _without_constants(elements: isl.Set) -> isl.Set:
    """Return { [N, i] : ... } for [N] -> { A[i] : ... }."""
    import islpy as isl

    flat = elements.drop_unused_params().flatten()
    count = flat.dim(isl.dim_type.param)
    return flat.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, count)

# --- Changes between two contents of a file -------------------------------------------------------

ISL = re.compile(r"(\[[^]]*\] -> )?\{.*\}", re.DOTALL)
RESPELLED = "only its spelling changed"
KNOWN = "_known"
"""Ending of the name of the symbolic constants with which a task is invoked: `T_known` of T."""


def find_differences(
    name: str, old: bytes | None, new: bytes | None, known: Mapping[str, isl.Set] | None = None
) -> Changes:
    """Return the changes in the file that stages call `name`; a content that is None is no file.

    `known` has the symbolic constants that count, by the name of a task.
    """
    if old == new:
        return {}
    if old is None or new is None:
        return {"": FileChange(note="is new" if old is None else "is gone")}
    suffix = PurePath(name).suffix
    try:
        if suffix == ".isl":
            found = _of_objects(old, new, known or {})
        elif suffix in KINDS:
            found = KINDS[suffix](old, new)
        else:
            return {"": FileChange(lines=tuple(unified(old, new)))}
    except ValueError as error:
        return {"": FileChange(note=f"cannot be read: {error}")}
    return found or {"": FileChange(note=RESPELLED)}


def is_respelled(changes: Changes) -> bool:
    """Return whether two contents differ in their spelling only."""
    return [change.note for change in changes.values()] == [RESPELLED]


def known_by_both(old: bytes | None, new: bytes | None) -> dict[str, isl.Set]:
    """Return the symbolic constants with which tasks are invoked in both texts, by task."""
    from lairmake.stages.poly.text import read_objects

    with suppress(ValueError):
        sides = [read_objects((content or b"").decode()) for content in (old, new)]
        return {
            name.removesuffix(KNOWN): sides[0][name].params().intersect(sides[1][name].params())
            for name in sides[0].keys() & sides[1].keys() if name.endswith(KNOWN)
        }
    return {}


def _of_objects(old: bytes, new: bytes, known: Mapping[str, isl.Set]) -> Changes:
    """Compare isl texts. Raises ValueError where one is malformed."""
    from lairmake.stages.poly.text import read_objects

    before, after = read_objects(old.decode()), read_objects(new.decode())
    names = [*before, *(name for name in after if name not in before)]
    found = {n: _of_object(before.get(n), after.get(n), _known_of(n, known)) for n in names}
    return {name: change for name, change in found.items() if change is not None}


def _known_of(name: str, known: Mapping[str, isl.Set]) -> isl.Set | None:
    """Return what is known of the symbolic constants of an object: T, T_hull, but not T_known."""
    tasks = [task for task in known if f"{name}_".startswith(f"{task}_")]
    return None if name.endswith(KNOWN) or not tasks else known[max(tasks, key=len)]


def _of_object(old: Any, new: Any, known: isl.Set | None = None) -> FileChange | None:
    """Return what is in one object and not in the other; None where they are equal."""
    if type(old) is type(new):
        return find_change(old, new, known)
    sides = [None if side is None else describe_part(side) for side in (old, new)]
    return FileChange(removed=sides[0], added=sides[1])


def _of_data(old: bytes, new: bytes) -> Changes:
    """Compare YAML, of which JSON is a kind, by keys. Raises ValueError where one is malformed."""
    return dict(_of_values(_data(old), _data(new), ""))


def find_values(name: str, content: bytes) -> dict[str, Any]:
    """Return the objects of isl text, as text, or the values of YAML by their first keys.

    There are none where the text is malformed.
    """
    with suppress(ValueError):
        if name.endswith(".isl"):
            from lairmake.stages.poly.text import read_objects

            return {key: str(value) for key, value in read_objects(content.decode()).items()}
        return _inside(_data(content), "") or {}
    return {}


def _of_values(old: Any, new: Any, name: str) -> Iterator[tuple[str, FileChange]]:
    """Yield the values that changed by their paths, `a.b[0].c`; a list of plain ones is one."""
    before, after = _inside(old, name), _inside(new, name)
    if before is None or after is None:
        change = None if _spelled(old) == _spelled(new) else _of_value(old, new)
        if change is not None:
            yield name, change
        return
    for key in {**before, **after}:
        if key in before and key in after:
            yield from _of_values(before[key], after[key], key)
        else:
            way, value = ("old", before[key]) if key in before else ("new", after[key])
            note = f"is {'gone' if way == 'old' else 'new'}" if _inside(value, key) else ""
            yield key, FileChange(note=note, values={way: value})


def _inside(data: Any, name: str) -> dict[str, Any] | None:
    """Return the parts of data by their paths; None if the data is a single value."""
    if isinstance(data, dict):
        return {f"{name}.{key}" if name else str(key): value for key, value in data.items()}
    if isinstance(data, list) and any(isinstance(value, dict | list) for value in data):
        return {f"{name}[{number}]": value for number, value in enumerate(data)}
    return None


def _of_value(old: Any, new: Any) -> FileChange | None:
    """Return the old and the new value; where both are isl text, what changed in the set."""
    if all(ISL.fullmatch(str(value)) for value in (old, new)):
        from lairmake.stages.poly.text import read_objects

        with suppress(ValueError):
            before, after = (read_objects(f"it := {value};")["it"] for value in (old, new))
            return _of_object(before, after)
    return FileChange(values={"old": old, "new": new})


def _spelled(value: Any) -> str:
    """Return a value so that 1, 1.0 and true differ."""
    return json.dumps(value)


def _data(content: bytes) -> Any:
    import yaml

    from lairmake.stages.yaml_limits import load

    try:
        return load(content.decode())
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace("\n", " ")) from error


def unified(old: bytes, new: bytes) -> Iterator[str]:
    """Yield the lines of a unified diff of two texts, without its header."""
    before, after = (content.decode("utf-8", "replace").splitlines() for content in (old, new))
    lines = difflib.unified_diff(before, after, lineterm="")
    yield from (line for line in lines if not line.startswith(("+++", "---")))


def _of_arrays(old: bytes, new: bytes) -> Changes:
    """Compare arrays of NumPy. Raises ValueError where one is malformed."""
    import numpy as np

    before, after = (np.load(io.BytesIO(c), allow_pickle=False) for c in (old, new))
    kinds = [f"{array.dtype}{list(array.shape)}" for array in (before, after)]
    if kinds[0] != kinds[1]:
        return {"": FileChange(values=dict(zip(("old", "new"), kinds, strict=True)))}
    unequal = int(np.count_nonzero(before != after))
    note = f"{unequal} of {before.size} elements differ"
    return {"": FileChange(note=note)} if unequal else {}


def _of_archives(old: bytes, new: bytes) -> Changes:
    """Compare arrays of NumPy by their names. Raises ValueError where a file is malformed."""
    before, after = (dict(_unpack(content)) for content in (old, new))
    found: dict[str, FileChange] = {}
    for name in {**before, **after}:
        if name in before and name in after:
            found.update(zip([name], _of_arrays(before[name], after[name]).values(), strict=False))
        else:
            found[name] = FileChange(note="is gone" if name in before else "is new")
    return found


def _unpack(content: bytes) -> Iterator[tuple[str, bytes]]:
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield name.removesuffix(".npy"), archive.read(name)
    except zipfile.BadZipFile as error:
        raise ValueError(str(error)) from error


KINDS = {".yaml": _of_data, ".json": _of_data, ".npy": _of_arrays, ".npz": _of_archives}

# --- Objects of a file of a stage, as text by name ------------------------------------------------

STATEMENT = re.compile(r"^(?=[A-Za-z_]\w* *:=)", re.MULTILINE)
KEY = re.compile(r"^( *)([A-Za-z_]\w*):(?= |$)")
NODE = re.compile(r"^( +)(\d+):(?= |$)")
"""Line of a node in the graph of a program, with its number."""
GRAPH = "graph.yaml"
DEEPEST = 2
"""Depth, at most, of a key of a YAML text that has a name of its own, `tasks.on_x`."""


def find_header(content: bytes) -> str:
    """Return the comments at the top of a text."""
    lines = content.decode("utf-8", "replace").split("\n")
    length = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(f"{line}\n" for line in lines[:length])


def find_objects(name: str, content: bytes) -> dict[str, str]:
    """Return the objects of the file that stages call `name`, as text.

    isl text has its statements, YAML its keys and the keys below these, the graph of a program its
    nodes, `nodes.n4`. Any other file is one object.
    """
    if name.endswith(".npy"):
        return {PurePath(name).stem: _array(content)}
    if name.endswith(".npz"):
        return dict(_arrays(content))
    text = content.decode("utf-8", "replace")
    if name.endswith(".isl"):
        return _statements(text)
    if name == GRAPH:
        return {**_keys(text), **_nodes(text)}
    return _keys(text) if name.endswith(".yaml") else {PurePath(name).stem: text}


def _arrays(content: bytes) -> Iterator[tuple[str, str]]:
    """Yield each array of several by its name."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield PurePath(name).stem, f"{PurePath(name).stem}: {_array(archive.read(name))}"
    except zipfile.BadZipFile:
        yield "", "damaged: it has no arrays\n"


def _statements(text: str) -> dict[str, str]:
    found = [part for part in STATEMENT.split(text) if STATEMENT.match(part)]
    return {part.split(":=")[0].strip(): part.rstrip() + "\n" for part in found}


def _keys(text: str) -> dict[str, str]:
    """Return each key down to the deepest as text, with what is indented below it."""
    lines = text.rstrip("\n").split("\n")
    found: dict[str, str] = {}
    path: list[str] = []
    for number, line in enumerate(lines):
        key = KEY.match(line)
        if key is None or len(key[1]) % 2 or len(key[1]) // 2 >= DEEPEST:
            continue
        depth = len(key[1]) // 2
        path = [*path[:depth], key[2]]
        below = _below(lines, number + 1, len(key[1]))
        found[".".join(path)] = "\n".join([line, *below]) + "\n"
    return found


def _nodes(text: str) -> dict[str, str]:
    """Return each node as text, with those in it: `nodes.n0.n2` is in the loop `nodes.n0`."""
    lines = text.rstrip("\n").split("\n")
    found: dict[str, str] = {}
    around: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        node = NODE.match(line)
        if node is None:
            continue
        indent = len(node[1])
        around = [(deep, name) for deep, name in around if deep < indent]
        around.append((indent, f"n{node[2]}"))
        name = ".".join(["nodes", *(name for _, name in around)])
        found[name] = "\n".join([line, *_below(lines, number + 1, indent)]) + "\n"
    return found


def _below(lines: list[str], start: int, indent: int) -> list[str]:
    """Return the lines from a number on that are indented by more, or are items of a list."""
    inner = " " * (indent + 1)
    item = " " * indent + "- "
    end = start
    while end < len(lines) and lines[end].startswith((inner, item)):
        end += 1
    return lines[start:end]


def _array(content: bytes) -> str:
    """Return shape, type and some values of an array."""
    import numpy as np

    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError):
        return "damaged: it is no array\n"
    values = np.array2string(array, threshold=64, max_line_width=96)
    return f"{array.dtype} {list(array.shape)}\n{values}\n"

"""What changed between two contents of a file: isl objects as sets, data by its keys."""

from __future__ import annotations

import difflib
import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from lairmake.stages.make.report.change import Change, Changes

if TYPE_CHECKING:
    import islpy as isl

ISL = re.compile(r"(\[[^]]*\] -> )?\{.*\}", re.DOTALL)
RESPELLED = "only its spelling changed"
KNOWN = "_known"
"""What ends the name of the symbolic constants with which a task is invoked: of T, `T_known`."""


def find_differences(
    name: str, old: bytes | None, new: bytes | None, known: Mapping[str, isl.Set] | None = None
) -> Changes:
    """Return what changed in the file that stages call `name`; None is no file.

    `known` are the symbolic constants that count, by the name of a task.
    """
    if old == new:
        return {}
    if old is None or new is None:
        return {"": Change(note="is new" if old is None else "is gone")}
    suffix = PurePath(name).suffix
    try:
        if suffix == ".isl":
            found = _of_objects(old, new, known or {})
        elif suffix in KINDS:
            found = KINDS[suffix](old, new)
        else:
            return {"": Change(lines=tuple(unified(old, new)))}
    except ValueError as error:
        return {"": Change(note=f"cannot be read: {error}")}
    return found or {"": Change(note=RESPELLED)}


def is_respelled(changes: Changes) -> bool:
    """Return whether two contents differ in their spelling only."""
    return [change.note for change in changes.values()] == [RESPELLED]


def known_by_both(old: bytes | None, new: bytes | None) -> dict[str, isl.Set]:
    """Return the symbolic constants with which tasks are invoked in both of two texts, by task."""
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


def _of_object(old: Any, new: Any, known: isl.Set | None = None) -> Change | None:
    """Return what is in one object and not in the other; None where they are equal."""
    from lairmake.stages.make.report.sets import describe_part, find_change

    if type(old) is type(new):
        return find_change(old, new, known)
    sides = [None if side is None else describe_part(side) for side in (old, new)]
    return Change(removed=sides[0], added=sides[1])


def _of_data(old: bytes, new: bytes) -> Changes:
    """Compare YAML, of which JSON is a kind, by keys. Raises ValueError where one is malformed."""
    return dict(_of_values(_data(old), _data(new), ""))


def find_values(name: str, content: bytes) -> dict[str, Any]:
    """Return the objects of isl text, as text, or the values of YAML by their first keys.

    None are returned where it is malformed.
    """
    with suppress(ValueError):
        if name.endswith(".isl"):
            from lairmake.stages.poly.text import read_objects

            return {key: str(value) for key, value in read_objects(content.decode()).items()}
        return _inside(_data(content), "") or {}
    return {}


def _of_values(old: Any, new: Any, name: str) -> Iterator[tuple[str, Change]]:
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
            yield key, Change(note=note, values={way: value})


def _inside(data: Any, name: str) -> dict[str, Any] | None:
    """Return the parts of data by their paths; None if the data is a single value."""
    if isinstance(data, dict):
        return {f"{name}.{key}" if name else str(key): value for key, value in data.items()}
    if isinstance(data, list) and any(isinstance(value, dict | list) for value in data):
        return {f"{name}[{number}]": value for number, value in enumerate(data)}
    return None


def _of_value(old: Any, new: Any) -> Change | None:
    """Return the old and the new value; where both are isl text, what changed in the set."""
    if all(ISL.fullmatch(str(value)) for value in (old, new)):
        from lairmake.stages.poly.text import read_objects

        with suppress(ValueError):
            before, after = (read_objects(f"it := {value};")["it"] for value in (old, new))
            return _of_object(before, after)
    return Change(values={"old": old, "new": new})


def _spelled(value: Any) -> str:
    """Return a value so that 1, 1.0 and true differ."""
    return json.dumps(value)


def _data(content: bytes) -> Any:
    import yaml

    from lairmake.stages.limits import load

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
        return {"": Change(values=dict(zip(("old", "new"), kinds, strict=True)))}
    unequal = int(np.count_nonzero(before != after))
    note = f"{unequal} of {before.size} elements differ"
    return {"": Change(note=note)} if unequal else {}


def _of_archives(old: bytes, new: bytes) -> Changes:
    """Compare arrays of NumPy by their names. Raises ValueError where a file is malformed."""
    before, after = (dict(_unpack(content)) for content in (old, new))
    found: dict[str, Change] = {}
    for name in {**before, **after}:
        if name in before and name in after:
            found.update(zip([name], _of_arrays(before[name], after[name]).values(), strict=False))
        else:
            found[name] = Change(note="is gone" if name in before else "is new")
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

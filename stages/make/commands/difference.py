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

if TYPE_CHECKING:
    import islpy as isl

    from stages.poly.text import Union

MOST_OPERATIONS = 5_000_000
"""How much isl may work for one object, in its own unit: a second or two."""
ISL = re.compile(r"(\[[^]]*\] -> )?\{.*\}", re.DOTALL)
WRAPPED = re.compile(r"\{ \[(.*)\] \}")

Changes = dict[str, dict[str, Any]]
"""What changed, by the name of the object. Of a set or relation `added` and `removed`, each with
its `set`, and where that is cheap the number of its `points`, over all symbolic constants, and one
of them, `sample`; of data its `old` and `new` value; of text the number of lines `added` and
`removed`. `note` says what there is to say besides."""


def differences(name: str, old: bytes | None, new: bytes | None) -> Changes:
    """Return what changed in the file that stages call `name`; None is no file."""
    if old == new:
        return {}
    if old is None or new is None:
        return {"": {"note": "is new" if old is None else "is gone"}}
    kinds = {".isl": _of_objects, ".yaml": _of_data, ".json": _of_data, ".npy": _of_arrays}
    suffix = PurePath(name).suffix
    if suffix not in kinds:
        return _of_lines(old, new)
    try:
        return kinds[suffix](old, new) or {"": {"note": "only its spelling changed"}}
    except ValueError as error:
        return {"": {"note": f"cannot be read: {error}"}}


def _of_objects(old: bytes, new: bytes) -> Changes:
    """Compare isl texts. Raises ValueError where one is malformed."""
    from stages.poly.text import read_objects

    before, after = read_objects(old.decode()), read_objects(new.decode())
    found = {}
    for name in (*before, *(name for name in after if name not in before)):
        change = _of_object(before.get(name), after.get(name))
        if change:
            found[name] = change
    return found


def _of_object(old: Union | None, new: Union | None) -> dict[str, Any]:
    """Return what is in one object and not in the other; empty where they are equal.

    added = new - old, removed = old - new; None is no object, which has no element.
    """
    if old is None or new is None or type(old) is not type(new):
        sides = {"removed": old, "added": new}
        return {way: _part(part) for way, part in sides.items() if part is not None}
    from stages.poly.quota import TooManyOperations, limited

    try:
        with limited(MOST_OPERATIONS):
            both = {"removed": _without(old, new), "added": _without(new, old)}
            parts = {way: part for way, part in both.items() if not part.is_empty()}
    except TooManyOperations:
        return {"note": "changed; what is added or removed is hard to tell"}
    return {way: _part(part) for way, part in parts.items()}


def _without(left: Union, right: Any) -> Union:
    """Return left - right, which are of one kind."""
    return left.subtract(right)


def _part(union: Union) -> dict[str, Any]:
    """Return the text of a set, and where that is cheap the number of its points and one."""
    from stages.poly.quota import TooManyOperations, limited
    from stages.poly.text import write_objects

    text = str(union.coalesce())
    with suppress(TooManyOperations), limited(MOST_OPERATIONS):
        text = write_objects("", {"it": union}).partition(":= ")[2].rstrip(";\n")
    found: dict[str, Any] = {"set": text}
    with suppress(TooManyOperations), limited(MOST_OPERATIONS):
        if not union.is_empty():
            found["sample"] = sample_of(union)
        points = count_of(union)
        if points is not None:
            found["points"] = points
    return found


def sample_of(union: Union) -> str:
    """Return one element of a set or relation that is not empty, as text.

    Raises TooManyOperations.
    """
    import islpy as isl

    if isinstance(union, isl.UnionMap):
        return WRAPPED.sub(r"{ \1 }", str(union.wrap().sample_point()))
    return str(union.sample_point())


def count_of(union: Union) -> int | None:
    """Return the number of elements over all values of the symbolic constants; None if infinite.

    isl counts, a point at a time: it raises TooManyOperations where there are many.
    """
    import islpy as isl

    elements = union.wrap() if isinstance(union, isl.UnionMap) else union
    sets: list[isl.Set] = []
    elements.foreach_set(sets.append)
    flat = [_without_constants(each) for each in sets]
    if not all(each.is_bounded() for each in flat):
        return None
    return sum(int(each.count_val().to_python()) for each in flat)


def _without_constants(elements: isl.Set) -> isl.Set:
    """Return { [N, i] : ... } for [N] -> { A[i] : ... }."""
    import islpy as isl

    flat = elements.drop_unused_params().flatten()
    count = flat.dim(isl.dim_type.param)
    return flat.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, count)


def _of_data(old: bytes, new: bytes) -> Changes:
    """Compare YAML, of which JSON is a kind, by keys. Raises ValueError where one is malformed."""
    before, after = flat(_data(old)), flat(_data(new))
    names = [*before, *(name for name in after if name not in before)]
    changed = [name for name in names if _spelled(before, name) != _spelled(after, name)]
    found = {name: _of_value(before, after, name) for name in changed}
    return {name: change for name, change in found.items() if change}


def _of_value(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the old and the new value; where both are isl text, what changed in the set."""
    sides = {way: side[name] for way, side in (("old", before), ("new", after)) if name in side}
    if len(sides) == 2 and all(ISL.fullmatch(str(value)) for value in sides.values()):
        from stages.poly.text import read_objects

        with suppress(ValueError):
            old, new = (read_objects(f"it := {value};")["it"] for value in sides.values())
            return _of_object(old, new)
    return sides


def _spelled(side: Mapping[str, Any], name: str) -> str | None:
    """Return a value so that 1, 1.0 and true differ; None where there is none."""
    return json.dumps(side[name]) if name in side else None


def _data(content: bytes) -> Any:
    import yaml

    try:
        return yaml.load(content, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace("\n", " ")) from error


def flat(data: Any, name: str = "") -> dict[str, Any]:
    """Return data as one mapping, `{"a.b[0].c": value}`; a list of plain values is one value."""
    if isinstance(data, dict) and data:
        parts = [(f"{name}.{key}" if name else str(key), value) for key, value in data.items()]
    elif isinstance(data, list) and any(isinstance(value, dict | list) for value in data):
        parts = [(f"{name}[{number}]", value) for number, value in enumerate(data)]
    else:
        return {name: data}
    return {key: value for inner, part in parts for key, value in flat(part, inner).items()}


def _of_lines(old: bytes, new: bytes) -> Changes:
    lines = list(unified(old, new))
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return {"": {"lines_added": added, "lines_removed": removed, "lines": lines}}


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
        return {"": {"old": kinds[0], "new": kinds[1]}}
    unequal = int(np.count_nonzero(before != after))
    note = f"{unequal} of {before.size} elements differ"
    return {"": {"note": note}} if unequal else {}

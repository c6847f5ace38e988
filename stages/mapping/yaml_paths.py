"""Values of a YAML file that a user wrote, as one text: what a stage reads of the file.

`layer.yaml: data.seed, tensors.*.next` in the READS of a stage names them: each by its keys from
the top, with `*` for any key. Comments, the order of keys and how a value is spelled are in none.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

ValuePath = tuple[str, ...]
"""The keys that lead to a value."""
ANY = "*"
WHOLE: ValuePath = ()
"""The path of all that a file says."""


def split_reads(reads: Sequence[str]) -> tuple[tuple[str, ...], dict[str, tuple[ValuePath, ...]]]:
    """Return the names of the files in a READS, and by name the values that it names of some."""
    values: dict[str, tuple[ValuePath, ...]] = {}
    for name, _, said in (each.partition(":") for each in reads):
        if said:
            paths = (tuple(path.strip().split(".")) for path in said.split(","))
            values[name] = (*values.get(name, ()), *paths)
    names = dict.fromkeys(each.partition(":")[0] for each in reads)
    return tuple(names), values


def below(paths: Collection[ValuePath], key: str) -> set[ValuePath]:
    """Return the rest of those paths that lead through a key; none where it is not read."""
    return {path[1:] for path in paths if path[0] in (ANY, key)}


def select(value: Any, paths: Collection[ValuePath]) -> Any:
    """Return what a value has at some paths: of a mapping only the keys that they go through."""
    if WHOLE in paths or not isinstance(value, dict):
        return value
    return {
        key: select(each, found) for key, each in value.items() if (found := below(paths, key))
    }


def sort_keys(value: Any, ordered: Collection[str] = ()) -> Any:
    """Return a value with the keys of each mapping sorted, but for what is below `ordered` ones.

    So nobody who reads it can depend on the order in which a user wrote them.
    """
    if isinstance(value, dict):
        return {
            key: value[key] if key in ordered else sort_keys(value[key]) for key in sorted(value)
        }
    return [sort_keys(each) for each in value] if isinstance(value, list) else value


def unite(texts: Iterable[bytes]) -> bytes:
    """Return one text of all values of one file that several texts have between them.

    What is no such text says nothing.
    """
    found: dict[str, Any] = {}
    for text in texts:
        with contextlib.suppress(ValueError, RecursionError):
            said = json.loads(text)
            _add(found, said if isinstance(said, dict) else {})
    return text_of(sort_keys(found)).encode()


def _add(found: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            _add(found[key], value)
        else:
            found[key] = value


def text_of(value: Any) -> str:
    """Return a value as one text: another one for 1, 1.0, true and "1".

    Raises TypeError for a date, and other values that no file of ours may have.
    """
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"

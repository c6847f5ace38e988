"""Entries of a store: what an action wrote and read, as a file that anybody may have written.

Its first line is the sha256 of the key and of the rest, the rest canonical JSON. Entries of a
workspace and of a store that is shared are the same bytes, and neither is believed: digests are
digests, and names are those of the files that the stage declares.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lairmake.stages.make.store.believed import is_digest, is_inside, is_name, matches

MOST_BYTES = 64_000_000
"""No entry is longer: a stage that writes 100 000 files has one of 20 MB."""

LONGEST = 1e11
"""No time is further than this from 1970, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What an action wrote and read: digests by the name that the stage uses; None is no file.

    `further` are the names of files that it read beyond those that it declares, `code` the digest
    of its code and tools. It took `seconds`, and ended at `when`, in seconds since 1970.
    """

    stage: str
    outputs: dict[str, str]
    reads: dict[str, str | None]
    further: Sequence[str]
    code: str
    seconds: float
    when: float


Record = Entry | tuple[str, ...]
"""What is known by a key: an entry, or only the names of what else an action reads."""


def bytes_of(entry: Entry, key: str) -> bytes:
    """Return an entry as the bytes of a file."""
    return _sealed(key, {name: getattr(entry, name) for name in IS_VALID})


def bytes_of_further(names: Sequence[str], key: str) -> bytes:
    """Return the bytes of the entry under a key that only says what else an action reads."""
    return _sealed(key, {"further": names})


def record_of(content: bytes, key: str) -> Record | None:
    """Return what a file holds; None for one that is damaged, or that of another key."""
    data = _unsealed(content, key)
    if data is None:
        return None
    return Entry(**data) if "stage" in data else tuple(data["further"])


def fits(entry: Entry, stage: str, declared: Sequence[str]) -> bool:
    """Return whether an entry is that of a stage, and names the files that the stage declares.

    These are the names without `*`, each of them, and any that match another one.
    """
    known = all(any(matches(name, each) for each in declared) for name in entry.outputs)
    whole = all(name in entry.outputs for name in declared if "*" not in name)
    return entry.stage == stage and known and whole


def _sealed(key: str, data: Mapping[str, Any]) -> bytes:
    text = json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
    return _seal(key, text) + b"\n" + text


def _seal(key: str, text: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\n" + text).hexdigest().encode()


def _unsealed(content: bytes, key: str) -> dict[str, Any] | None:
    """Return the data of a file, in which every field is what it must be; None for another one."""
    seal, _, text = content.partition(b"\n")
    if len(content) > MOST_BYTES or seal != _seal(key, text):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.keys() not in (IS_VALID.keys(), {"further"}):
        return None
    return data if all(IS_VALID[name](value) for name, value in data.items()) else None


def _is_time(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and -LONGEST <= value <= LONGEST  # type: ignore[operator]


def _are_digests(value: object) -> bool:
    return isinstance(value, dict) and all(is_inside(n) and is_digest(d) for n, d in value.items())


def _were_read(value: object) -> bool:
    return isinstance(value, dict) and all(
        is_name(name) and (digest is None or is_digest(digest)) for name, digest in value.items()
    )


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(map(is_name, value))


IS_VALID: Mapping[str, Callable[[object], bool]] = {
    "stage": is_inside, "outputs": _are_digests, "reads": _were_read, "further": _are_names,
    "code": is_digest, "seconds": _is_time, "when": _is_time,
}
"""What each field of an entry must be."""

"""What passes between a build and the process that runs a user's code: JSON, and bytes by name.

Nothing that comes from that process is believed, and nothing of it is evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def pack(told: Any, files: Mapping[str, bytes]) -> Iterator[bytes]:
    """Yield the parts of a message: a line of JSON with the sizes of files, then their bytes."""
    sizes = {name: len(content) for name, content in files.items()}
    yield json.dumps({"told": told, "sizes": sizes}).encode() + b"\n"
    yield from files.values()


def unpack(message: bytes) -> tuple[Any, dict[str, bytes]]:
    """Return what a message says, and its files. Raises ValueError where it is none."""
    line, _, rest = message.partition(b"\n")
    try:
        head = json.loads(line)
        sizes = {str(name): int(size) for name, size in head["sizes"].items()}
        told = head["told"]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("no message") from error
    if any(size < 0 for size in sizes.values()) or sum(sizes.values()) != len(rest):
        raise ValueError("a message that is not whole")
    files, at = {}, 0
    for name, size in sizes.items():
        files[name] = rest[at : at + size]
        at += size
    return told, files

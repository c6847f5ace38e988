"""Names that come from files which anybody may have written: which of them are to be believed."""

from __future__ import annotations

import fnmatch
import os
import re

DIGEST = re.compile(r"[0-9a-f]{64}")
MOST = 4096
"""How long the name of a file may be, in characters."""


def is_digest(text: object) -> bool:
    """Return whether this is a sha256, in hexadecimal digits."""
    return isinstance(text, str) and DIGEST.fullmatch(text) is not None


def is_name(text: object) -> bool:
    """Return whether a file may be called so: what the system would refuse, or cut, is no name."""
    if not isinstance(text, str) or not 0 < len(text) <= MOST or "\0" in text:
        return False
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def is_word(text: object) -> bool:
    """Return whether this is a name as people give them to parts and tensors, and no path."""
    return isinstance(text, str) and text.isidentifier()


def is_inside(text: object) -> bool:
    """Return whether a name leads from a folder to a file below it, and never out of it."""
    return is_name(text) and not {"", ".", ".."}.intersection(str(text).split("/"))


def matches(name: str, pattern: str) -> bool:
    """Return whether a name is one of those that a declared one stands for: `*` matches no `/`."""
    if "*" not in pattern:
        return name == pattern
    names, patterns = name.split("/"), pattern.split("/")
    return len(names) == len(patterns) and is_inside(name) and all(
        map(fnmatch.fnmatchcase, names, patterns)
    )

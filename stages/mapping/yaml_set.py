"""Set values in a YAML text that a person wrote: what is not set stays as it is, to the byte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.mapping.layer_yaml import Running
from lairmake.stages.mapping.yaml_text import Document, YamlPath, read_document
from lairmake.stages.mapping.yaml_written import write_yaml

MACHINE = "machine"
BEHIND: dict[str, Any] = {"": [[]]}
"""What is written behind a key, so that it has lines of its own."""


def set_values(text: str, given: Document, changes: Mapping[YamlPath, Any]) -> str:
    """Return a YAML text with the values at paths of keys, of which longer ones win.

    `given` is what the text says. Of a text that says so already nothing changes; else the keys at
    its top that have other values are written anew, behind the others where they are new.
    """
    wanted = given.value
    for path in sorted(changes, key=len):
        wanted = _with(wanted, path, changes[path])
    return _written(text, given, wanted)


def _with(value: Any, path: YamlPath, new: Any) -> Any:
    """Return a value with another one at a path: mappings on the way are made.

    The name of a machine is that of its profile. Texts are the same but for blanks at their ends.
    """
    if not path:
        is_text = isinstance(value, str) and isinstance(new, str)
        return value if is_text and value.strip() == new.strip() else new
    key, *rest = path
    inside = value if isinstance(value, dict) else {}
    below = inside.get(key)
    if key == MACHINE and rest and not isinstance(below, dict):
        below = {"profile": below or Running.model_fields[MACHINE].default}
    return {**inside, key: _with(below, tuple(rest), new)}


def _written(text: str, given: Document, wanted: Mapping[str, Any]) -> str:
    """Return a text that says what is wanted: as much as may be is that of the given one."""
    edited = text
    old = given.value if isinstance(given.value, dict) else {}
    entries = {key: _entry(key, new) for key, new in wanted.items() if not _same(new, old, key)}
    there = [key for key in entries if (key,) in given.keys]
    for key in sorted(there, key=lambda key: -given.keys[(key,)].start):
        start, value = given.keys[(key,)].start, given.values[(key,)]
        edited = edited[:start] + entries[key] + edited[max(value.end, start) :]
    new = "".join(f"{entries[key]}\n" for key in entries if key not in there)
    end = "\n" if new and edited and not edited.endswith("\n") else ""
    edited += end + new
    return edited if _says(edited, wanted) else write_yaml(wanted)


def _entry(key: str, value: Any) -> str:
    """Return the lines of a key among others."""
    return write_yaml({key: value, **BEHIND}).removesuffix(write_yaml(BEHIND)).rstrip("\n")


def _same(new: Any, old: Mapping[str, Any], key: str) -> bool:
    return key in old and repr(new) == repr(old[key])


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    """Return whether a text says what is wanted; 1 is neither 1.0 nor true."""
    try:
        return repr(read_document(Source(path="", text=text)).value) == repr(wanted)
    except UserErrors:
        return False

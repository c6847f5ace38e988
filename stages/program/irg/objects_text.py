"""The entries of a graph as text: one line each.

    myLA: {kind: LocalArray, type: float32, shape: [6, 6, 8], initial: file, output: true}
"""

from __future__ import annotations

from collections.abc import Iterable

from lairmake.stages.program.irg.graph import FROM_FILE, Entry
from lairmake.stages.program.irg.spelling_yaml import (
    spell_list,
    spell_mapping,
    spell_name,
    spell_number,
)

OBJECTS_HEADER = (
    "# What has a place in memory: objects of the program, values of loops, temporaries.\n"
)


def write_entries(entries: Iterable[Entry]) -> str:
    """Return the text of objects.yaml."""
    return OBJECTS_HEADER + "".join(
        f"{spell_name(each.name)}: {_spell(each)}\n" for each in entries
    )


def _spell(entry: Entry) -> str:
    said: dict[str, object] = {"kind": entry.kind, "type": entry.type}
    if entry.shape:
        said["shape"] = spell_list(entry.shape)
    if entry.origin != (0, 0):
        said["origin"] = spell_list(entry.origin)
    if entry.initial == FROM_FILE:
        said["initial"] = FROM_FILE
    elif isinstance(entry.initial, int | float):
        said["initial"] = spell_number(entry.initial, entry.type)
    if entry.output:
        said["output"] = "true"
    if entry.temporary:
        said["temporary"] = "true"
    return spell_mapping(said)

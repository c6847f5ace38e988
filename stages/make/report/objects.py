"""The objects that a file of a stage holds, each as text, by name."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import PurePath

STATEMENT = re.compile(r"^(?=[A-Za-z_]\w* *:=)", re.MULTILINE)
KEY = re.compile(r"^( *)([A-Za-z_]\w*):(?= |$)")
NODE = re.compile(r"^( +)(\d+):(?= |$)")
"""A node of the graph of a program, by its number."""
GRAPH = "graph.yaml"
DEEPEST = 2
"""How deep a key of a YAML text may lie to have a name of its own, `tasks.on_x`."""


def find_header(content: bytes) -> str:
    """Return the comments at the top of a text."""
    lines = content.decode("utf-8", "replace").split("\n")
    length = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(f"{line}\n" for line in lines[:length])


def find_objects(name: str, content: bytes) -> dict[str, str]:
    """Return the objects of the file that stages call `name`.

    Of isl text its statements, of YAML its keys and theirs, of the graph of a program its nodes,
    `nodes.n4`; another file is one object.
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

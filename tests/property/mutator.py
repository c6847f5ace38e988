"""The one mutator: files of any kind, damaged from seeds in bytes, tokens and structure."""

from __future__ import annotations

from pathlib import PurePath
from random import Random

from tests.property.mutate_text import damage_bytes, damage_text

TIMES = [1, 1, 1, 2, 4]
"""How many things are wrong in a file."""


def damage(name: str, content: bytes, choose: Random) -> bytes:
    """Return the content of a file of a name with one thing in it that is wrong."""
    found = _structure(name, content, choose) if choose.random() < _share(name) else None
    if found is None:
        is_binary = PurePath(name).suffix in (".onnx", ".pb", ".npy")
        found = (damage_bytes if is_binary else damage_text)(content, choose)
    return found


def damage_often(name: str, content: bytes, choose: Random) -> bytes:
    """Return the content of a file with one to four things in it that are wrong."""
    for _ in range(choose.choice(TIMES)):
        content = damage(name, content, choose)
    return content


def damage_string(name: str, text: str, choose: Random) -> str:
    """Return the text of a file with one to four things in it that are wrong."""
    return damage_often(name, text.encode(), choose).decode("utf-8", "replace")


def _share(name: str) -> float:
    """Return how often a file of a name is damaged in its structure."""
    kinds = {".yaml": 0.4, ".onnx": 0.75, ".pb": 0.6, ".pbtxt": 0.6, ".py": 0.7, ".il": 0.7}
    return kinds.get(PurePath(name).suffix, 0.0)


def _structure(name: str, content: bytes, choose: Random) -> bytes | None:
    """Return a file that is damaged as what it holds; None where it is none of that any more.

    Each library is loaded where its files are.
    """
    suffix = PurePath(name).suffix
    if suffix == ".onnx":
        from tests.property.mutate_onnx import damage_model

        return damage_model(content, choose)
    if suffix in (".pb", ".pbtxt"):
        from tests.property.mutate_tensorflow import damage_graph_def

        return damage_graph_def(content, choose, name)
    if suffix in (".py", ".il"):
        from tests.property.mutate_python import mutate

        text = mutate(content.decode("utf-8", "replace"), choose, 1)
        return text.encode("utf-8", "surrogateescape")
    from tests.property.mutate_yaml import damage_yaml

    return damage_yaml(content, choose)

"""Values set in layer.yaml: those that a search or a sweep chose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import Field

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.mapping import layer_yaml
from lairmake.stages.mapping.layer_yaml import Isl, Running, TensorMapping, with_isl
from lairmake.stages.mapping.models import File, Strict, read_file
from lairmake.stages.mapping.yaml_text import Document, YamlPath, read_document, write_yaml

# --- Choice of a search, as layer.yaml ------------------------------------------------------------
#
# Source   design, Placement by search

HEADER = "# What the search took, as layer.yaml says it."

@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Where a tensor that layer.yaml leaves open arrives, or leaves, in isl."""

    arrives: Annotated[str | None, "where it arrives"] = None
    leaves: Annotated[str | None, "where it leaves"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenCandidate:
    """The placement of all instances, in isl, and the ports of tensors that were open."""

    placement: str
    tensors: Mapping[str, Ports] = field(default_factory=dict)


class _Ports(Strict):
    """The ports of a tensor in a file."""

    arrives: Isl | None = None
    leaves: Isl | None = None


class _File(File):
    """A chosen.yaml."""

    NAME = "chosen.yaml"
    MISSING: ClassVar = {"placement": "the search says where instances run: undo the edit"}

    placement: Isl
    tensors: dict[str, _Ports] = Field(default_factory=dict)


def write_chosen(chosen: ChosenCandidate) -> str:
    """Return chosen.yaml: each statement of the placement on a line of its own."""
    return "".join(f"{line}\n" for line in (HEADER, *_lines(chosen)))


def _lines(chosen: ChosenCandidate) -> Iterator[str]:
    yield "placement: |"
    yield from (f"  {part}" for part in re.sub(r";\s+", ";\n  ", chosen.placement).splitlines())
    if chosen.tensors:
        yield "tensors:"
    for name, ports in chosen.tensors.items():
        ways = (("arrives", ports.arrives), ("leaves", ports.leaves))
        said = ", ".join(f'{way}: "{text}"' for way, text in ways if text is not None)
        yield f"  {name}: {{{said}}}"


def overlay(mapping: layer_yaml.LayerMapping, source: Source) -> layer_yaml.LayerMapping:
    """Return layer.yaml with what a search chose in the place of what it leaves open.

    Raises UserErrors where the text of the search was edited so that it is none any more.
    """
    document = read_document(source)
    found = read_file(_File, document, with_isl(document.value, (), document, source))
    tensors = {
        name: _with_ports(tensor, found.tensors.get(name)) for name, tensor in
        mapping.tensors.items()
    }
    return mapping.model_copy(update={"placement": found.placement, "tensors": tensors})


def _with_ports(tensor: TensorMapping, found: _Ports | None) -> TensorMapping:
    """Return a tensor with the ports that were found for it."""
    ways = {} if found is None else {"arrives": found.arrives, "leaves": found.leaves}
    return tensor.model_copy(update={w: text for w, text in ways.items() if text is not None})


def write_out(layer: Source, chosen: Source) -> str:
    """Return the text of a layer.yaml with what a search chose written out, and else as it is.

    Raises UserErrors where one of them is not what it should be.
    """
    document, mapping = read_document(layer), overlay(layer_yaml.read_mapping(layer), chosen)
    assert mapping.placement is not None, "a search says where instances run"
    lines = [f"  {line}\n" for line in mapping.placement.text.strip().splitlines()]
    placement = "".join(["placement: |\n", *lines]).rstrip()
    edits = [_in_place_of(("placement",), placement, document)]
    if ("search",) in document.keys:
        end = layer.text.find("\n", document.values[("search",)].end)
        edits.append((document.keys[("search",)].start, end + 1 or len(layer.text), ""))
    for path, given in _open_ports(mapping, document):
        edits.append((document.values[path].start, document.values[path].end, f'"{given}"'))
    text = layer.text
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _in_place_of(path: YamlPath, text: str, document: Document) -> tuple[int, int, str]:
    """Return the edit that puts a key there: where it is, or behind the target."""
    if path in document.keys:
        return document.keys[path].start, document.values[path].end, text
    end = document.values[("target",)].end
    return end, end, f"\n{text}"


def _open_ports(
    mapping: layer_yaml.LayerMapping, document: Document
) -> Iterator[tuple[YamlPath, str]]:
    """Yield where the ports of a tensor were open, and what they are."""
    for name, tensor in mapping.tensors.items():
        for way, text in (("arrives", tensor.arrives), ("leaves", tensor.leaves)):
            path = ("tensors", name, way)
            if text is not None and document.value["tensors"][name].get(way) is True:
                yield path, text.text

# --- Values set in a YAML text --------------------------------------------------------------------
#
# A person wrote the text: what is not set stays as it is, to the byte.

MACHINE = "machine"
BEHIND: dict[str, Any] = {"": [[]]}
"""A key that is written behind another one, so that this has lines of its own."""


def set_values(text: str, given: Document, changes: Mapping[YamlPath, Any]) -> str:
    """Return a YAML text with the values at paths of keys, of which longer ones win.

    `given` is what the text says. A text that has these values stays as it is. Else the keys at its
    top that get other values are written anew, and new keys come behind the others.
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

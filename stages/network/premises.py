"""Checks of network.yaml beside a graph that do not need the graph."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.mapping.isl_texts import parse_map, parse_set, parse_target
from lairmake.stages.mapping.layer_yaml import is_anywhere
from lairmake.stages.mapping.machine import Machines, read_machine
from lairmake.stages.mapping.network_yaml import GraphMapping
from lairmake.stages.network.parts.part import SaidOfPart


def check_asked(given: GraphMapping, files: Machines) -> list[UserError]:
    """Return an error for each malformed machine, target, folder and text in isl syntax.

    `files` finds machines that the user names at a place, and raises UserError for unknown ones.
    """
    return sorted(_list_wrong(given, files), key=lambda each: each.span.start if each.span else 0)


def _list_wrong(given: GraphMapping, files: Machines) -> Iterator[UserError]:
    machine = given.machine
    yield from _caught(partial(read_machine, given, files))
    if given.target is not None:
        yield from _caught(partial(parse_target, given.target))
    for name, part in given.parts.items():
        if part.folder is not None:
            yield from _check_folder(name, part.folder, given, files)
            continue
        said = SaidOfPart(name=name, graph=given, arrives=(), leaves=())
        if part.machine != machine and "machine" in given.said_of(name):
            yield from _caught(partial(read_machine, said, files))
        if part.target is not None:
            yield from _caught(partial(parse_target, part.target))
        for text in part.probes.values():
            yield from _caught(partial(parse_set, text))
        ports = [text for t in part.tensors.values() for text in (t.arrives, t.leaves) if text]
        for text in ports:
            if not is_anywhere(text):
                yield from _caught(partial(parse_map, text))


def _caught(read: Callable[[], Any]) -> Iterator[UserError]:
    """Yield the errors that `read` raises."""
    try:
        read()
    except UserError as error:
        yield error
    except UserErrors as error:
        yield from error.errors


def _check_folder(
    name: str, folder: str, given: GraphMapping, files: Machines
) -> Iterator[UserError]:
    """Yield an error for a folder that replaces a part, but is no layer folder."""
    span = given.key_span("parts", name)
    try:
        files.further_path(os.path.join(".", folder, "layer.yaml"), span)
    except UserError:
        hint = f"`{name}: path/to/folder` starts from here"
        yield UserError(f"{folder} holds no layer.yaml", span, hint)

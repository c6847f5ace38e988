"""The child process that runs user code."""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.machinery
import importlib.util
import os
import sys
from dataclasses import asdict
from typing import Any

from lairmake.stages.program.sandbox.faults import describe
from lairmake.stages.program.sandbox.limits import (
    ChildLimits,
    FileWatch,
    end_with,
    pack,
    set_limits,
    unpack,
)
from lairmake.stages.program.sandbox.modules import add_paths, find_beside
from lairmake.stages.program.values.api import set_parameters

FEW_COLLECTIONS = 100_000
"""Objects that Python makes before it looks for cycles: trees and graphs have hardly any."""


def serve(answer: int, held: int) -> None:
    """Read a request from standard input, call the function, write its result, and exit."""
    gc.set_threshold(FEW_COLLECTIONS)
    end_with(held)
    with open(0, "rb", closefd=False) as file:
        told, files = unpack(file.read())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    add_paths(told["paths"])
    limits = ChildLimits(**told["limits"])
    set_limits(limits, answer)
    watch = FileWatch(told["folder"], [*told["paths"], sys.prefix, sys.base_prefix])
    fault, found = None, {}
    try:
        found = _call(told, files, watch)
    except BaseException as error:
        fault = asdict(describe(error, watch, limits))
    _send(answer, {"fault": fault, "opened": watch.opened}, found)


def _call(told: dict[str, Any], files: dict[str, bytes], watch: FileWatch) -> dict[str, bytes]:
    """Call the function that is named, in the folder of the program and under its name."""
    function = getattr(importlib.import_module(told["module"]), told["function"])
    path = os.path.join(watch.folder, told["program"])
    arguments = {"path": path, **told["arguments"]}
    if told["has_data"]:
        arguments["data"] = files
    set_parameters(told["parameters"])
    sys.argv = [path]
    sys.dont_write_bytecode = True
    find_beside(watch)
    watch.begin()
    return dict(function(**arguments))


def _send(answer: int, told: Any, files: dict[str, bytes]) -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    for part in pack(told, files):
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(answer, rest) :]
    os._exit(0)

"""Templates, read with Jinja; their compiled code is kept beside them, as Python keeps its own."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket

from lairmake.stages.shipped import compiled, shipped


class OfObjects(jinja2.Environment):
    """Reads attributes of objects alone, which takes a third of the time."""

    getattr = staticmethod(getattr)  # type: ignore[assignment]


class BesideLoader(jinja2.FileSystemBytecodeCache):
    """Keeps code in `__pycache__`: what cannot be read or written there is compiled anew."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill a bucket with the code of a template, if it is kept."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # what a damaged file makes of a pickle
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        if not sys.dont_write_bytecode:
            with contextlib.suppress(OSError):
                os.makedirs(self.directory, exist_ok=True)
                super().dump_bytecode(bucket)


def macros(name: str, known: Mapping[str, Any]) -> Any:
    """Return the macros of a template, which may call what is `known` by its name.

    Macros are given objects, no dictionaries.
    """
    environment = _environment(shipped("templates"), OfObjects)
    environment.filters.update({n: each for n, each in known.items() if callable(each)})
    return environment.get_template(name, globals=dict(known)).module


@functools.cache
def template_in(folder: Path, name: str, reader: str) -> jinja2.Template:
    """Return a template of a folder by the name of its file, read and compiled once for a reader.

    The `reader` is the name of the module that asks: this module has to declare the template, and
    the templates that it includes, whoever else read them before.
    """
    return _environment(folder).get_template(name)


def _environment(
    folder: Path, kind: type[jinja2.Environment] = jinja2.Environment
) -> jinja2.Environment:
    return kind(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
        bytecode_cache=BesideLoader(str(compiled(folder))),
    )

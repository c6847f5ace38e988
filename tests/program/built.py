"""PE programs of tests, compiled: those with the same text are once."""

import atexit
import functools
import hashlib
import shutil
import tempfile
from pathlib import Path

from lairmake.stages.fabric.compiler import build_library, users_cache


@functools.cache
def folder_of_programs():
    """Return a folder for PE programs and their libraries, which is there while tests run."""
    folder = Path(tempfile.mkdtemp(prefix="programs"))
    atexit.register(shutil.rmtree, folder)
    return folder


def store_program(name, content):
    """Return where a program lies, by what it holds: a compiler reads it there."""
    path = folder_of_programs() / hashlib.sha256(content).hexdigest() / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


@functools.cache
def build_once(*programs):
    """Return the library of programs that `store_program` keeps."""
    key = hashlib.sha256(repr(programs).encode()).hexdigest()
    return build_library(programs, folder_of_programs() / key, cache=users_cache())


def build_texts(texts):
    """Return the library of programs, given as texts by their roles."""
    return build_once(*(store_program(f"pe_{role}.c", text.encode())
                        for role, text in sorted(texts.items())))

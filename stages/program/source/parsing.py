"""The tree of a source, or what keeps Python from reading it."""

from __future__ import annotations

import ast
import contextlib
import gc
import sys
import warnings
from collections.abc import Iterator

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.program.source.places import Places, find_span
from lairmake.stages.program.source.walking import read_children

LARGEST = 4_000_000
"""How many characters a source may have."""
DEEPEST = 400
"""How many nodes of a tree may stand in each other."""


def parse_source(places: Places) -> ast.Module:
    """Return the tree of a source. Raises UserError where Python, or we, cannot read it."""
    source = places.source
    if len(source.text) > LARGEST:
        said = f"{source.path} has {len(source.text)} characters: {LARGEST} is the most"
        raise UserError(said, hint="long tables in a file, which `numpy.load` reads in Run_On_Host")
    with _say_what_is_wrong(source), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source.text, source.path)
        _check_depth(places, tree)
        compile(tree, source.path, "exec", dont_inherit=True)
    return tree


@contextlib.contextmanager
def _say_what_is_wrong(source: Source) -> Iterator[None]:
    try:
        yield
    except SyntaxError as error:
        raise _explain_syntax(source, error) from None
    except (RecursionError, MemoryError):
        raise UserError(f"{source.path} is nested too deeply", None, "write it flatter") from None
    except ValueError:
        raise UserError(f"{source.path} is no Python: it holds what no source may") from None


def _explain_syntax(source: Source, error: SyntaxError) -> UserError:
    """Return what Python says of a text, at its place."""
    if error.lineno is None:
        return UserError(f"no Python: {error.msg}")
    places = Places(source)
    line = min(max(error.lineno, 1), len(places.starts))
    start = places.starts[line - 1] + max((error.offset or 1) - 1, 0)
    start = min(start, max(len(source.text) - 1, 0))
    end = start + 1
    if error.end_lineno == error.lineno and error.end_offset is not None:
        end = max(end, places.starts[line - 1] + error.end_offset - 1)
    said = error.msg.partition(";")[0]
    if said.startswith("Exceeds the limit"):
        said = "a number of more digits than Python reads"
    return UserError(f"no Python: {said}", Span(source=source, start=start, end=end))


def _check_depth(places: Places, tree: ast.Module) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in read_children(node)]
        if not level:
            return
    place = next((node for node in level if hasattr(node, "lineno")), None)
    span = find_span(places, place) if place is not None else None
    hint = "write it flatter: long sums in parts, long texts in a file"
    raise UserError(f"more than {DEEPEST} parts in each other", span, hint)


@contextlib.contextmanager
def give_room() -> Iterator[None]:
    """Let functions of Python that call themselves go as deep as DEEPEST nodes need.

    Trees have no garbage that refers to itself: it is not looked for, which takes a third of the
    time of large programs.
    """
    before, collects = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(max(before, 20 * DEEPEST))
    gc.disable()
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
        if collects:
            gc.enable()

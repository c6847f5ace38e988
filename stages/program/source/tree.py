"""Python tree with places."""

from __future__ import annotations

import ast
import contextlib
import gc
import re
import sys
import warnings
from collections.abc import Iterator

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors

# --- Where the nodes of a tree stand in the text that a user wrote, and what is wrong there -----

MOST = 100
"""How many errors are shown."""
_LINE_END = re.compile(r"\r\n|\r|\n")


class SourcePlaces:
    """The text of a source, and all that is found wrong in it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.starts = [0, *(found.end() for found in _LINE_END.finditer(source.text))]
        self.errors: dict[tuple[int, int], UserError] = {}

    def report(self, node: ast.AST, message: str, hint: str | None = None) -> None:
        """Note what is wrong with a node; of one node only the first thing."""
        span = find_span(self, node)
        self.errors.setdefault((span.start, span.end), UserError(message, span, hint))

    def raise_errors(self) -> None:
        """Raise UserErrors with all that was noted, in the order of the text."""
        found = [self.errors[key] for key in sorted(self.errors)]
        if len(found) > MOST:
            found[MOST:] = [UserError(f"{len(found) - MOST} more errors in {self.source.path}")]
        if found:
            raise UserErrors(found)


def find_offset(places: SourcePlaces, line: int, column: int) -> int:
    """Return which character stands in a line, counted from 1, behind `column` bytes of it."""
    starts, text = places.starts, places.source.text
    start = starts[min(line, len(starts)) - 1]
    end = starts[line] if line < len(starts) else len(text)
    before = text[start:end].encode("utf-8", "replace")[:column]
    return start + len(before.decode("utf-8", "ignore"))


def find_span(places: SourcePlaces, node: ast.AST) -> Span:
    """Return the characters of a node; of compound statements only the first line."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end_line = getattr(node, "end_lineno", None) or line
    start = find_offset(places, line, column)
    if end_line == line:
        end = find_offset(places, line, getattr(node, "end_col_offset", None) or column + 1)
    else:
        found = _LINE_END.search(places.source.text, start)
        end = found.start() if found else len(places.source.text)
    return Span(source=places.source, start=start, end=max(start + 1, end))

# --- The nodes of a tree, quickly: without those that only say how a name or an operator is meant

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
"""The nodes whose names are names of their own."""

_TELLING = ("ctx", "op", "ops", "kind", "type_comment", "id", "attr", "conversion", "is_async")
_HOLDING: dict[type[ast.AST], tuple[str, ...]] = {}
"""The fields of each type of nodes that may hold others."""


def read_children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below one, in the order of the text."""
    fields = _HOLDING.get(type(node))
    if fields is None:
        found = () if isinstance(node, ast.Constant) else node._fields
        fields = _HOLDING[type(node)] = tuple(each for each in found if each not in _TELLING)
    children: list[ast.AST] = []
    for field in fields:
        value = getattr(node, field, None)
        if value.__class__ is list:
            children += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            children.append(value)
    return children


def walk_all(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, in the order of the text."""
    todo = [node]
    while todo:
        found = todo.pop()
        yield found
        todo += read_children(found)[::-1]


def walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one, in the order of the text, but not those of scopes in it.

    A function in it is yielded, its decorators, defaults and body are not.
    """
    todo = read_children(node)[::-1]
    while todo:
        found = todo.pop()
        yield found
        if not isinstance(found, SCOPES):
            todo += read_children(found)[::-1]


def read_names(node: ast.AST) -> Iterator[ast.Name]:
    """Yield the names that a node reads, but those that comprehensions bind.

    What functions and classes in it read is left out: they may read it at any time.
    """
    todo: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while todo:
        found, hidden = todo.pop()
        if isinstance(found, ast.Name):
            if isinstance(found.ctx, ast.Load) and found.id not in hidden:
                yield found
            continue
        hidden |= find_hidden(found)
        body = getattr(found, "body", []) if isinstance(found, SCOPES) else []
        within = set(body) if isinstance(body, list) else {body}
        todo += [(each, hidden) for each in read_children(found) if each not in within]


def find_hidden(node: ast.AST) -> frozenset[str]:
    """Return the names that are those of a comprehension alone."""
    targets = (each for part in getattr(node, "generators", ()) for each in walk_all(part.target))
    return frozenset(each.id for each in targets if isinstance(each, ast.Name))


def fill_places(tree: ast.Module) -> None:
    """Give each node without a place that of the one above it."""
    todo: list[tuple[ast.AST, ast.AST]] = [(each, each) for each in tree.body]
    while todo:
        node, place = todo.pop()
        if hasattr(node, "lineno"):
            place = node
        elif "lineno" in node._attributes:
            ast.copy_location(node, place)
        todo += [(each, place) for each in read_children(node)]

# --- The tree of a source, or what keeps Python from reading it ---------------------------------

LARGEST = 4_000_000
"""How many characters a source may have."""
DEEPEST = 400
"""How many nodes of a tree may stand in each other."""


def parse_source(places: SourcePlaces) -> ast.Module:
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
    places = SourcePlaces(source)
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


def _check_depth(places: SourcePlaces, tree: ast.Module) -> None:
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

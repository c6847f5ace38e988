"""Tree of a source, with the place of each node in the text."""

from __future__ import annotations

import ast
import contextlib
import gc
import re
import sys
import warnings
from collections.abc import Iterator

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors

# --- Places of nodes and their errors -------------------------------------------------------------

MOST = 100
"""Largest number of errors that are shown."""
_LINE_END = re.compile(r"\r\n|\r|\n")


class SourcePlaces:
    """The text of a source, and all errors found in it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.starts = [0, *(found.end() for found in _LINE_END.finditer(source.text))]
        self.errors: dict[tuple[int, int], UserError] = {}

    def report(self, node: ast.AST, message: str, hint: str | None = None) -> None:
        """Note an error of a node; only the first one counts for each node."""
        span = find_span(self, node)
        self.errors.setdefault((span.start, span.end), UserError(message, span, hint))

    def raise_errors(self) -> None:
        """Raise UserErrors with all errors noted, in the order of the text."""
        found = [self.errors[key] for key in sorted(self.errors)]
        if len(found) > MOST:
            found[MOST:] = [UserError(f"{len(found) - MOST} more errors in {self.source.path}")]
        if found:
            raise UserErrors(found)


def find_offset(places: SourcePlaces, line: int, column: int) -> int:
    """Return the index of the character behind `column` bytes of a line, counted from 1."""
    starts, text = places.starts, places.source.text
    start = starts[min(line, len(starts)) - 1]
    end = starts[line] if line < len(starts) else len(text)
    before = text[start:end].encode("utf-8", "replace")[:column]
    return start + len(before.decode("utf-8", "ignore"))


def find_span(places: SourcePlaces, node: ast.AST) -> Span:
    """Return the span of a node; of a compound statement only the first line."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end_line = getattr(node, "end_lineno", None) or line
    start = find_offset(places, line, column)
    if end_line == line:
        end = find_offset(places, line, getattr(node, "end_col_offset", None) or column + 1)
    else:
        found = _LINE_END.search(places.source.text, start)
        end = found.start() if found else len(places.source.text)
    return Span(source=places.source, start=start, end=max(start + 1, end))

# --- Walks over the nodes of a tree ---------------------------------------------------------------

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
"""Types of nodes with a scope of their own."""

_TELLING = ("ctx", "op", "ops", "kind", "type_comment", "id", "attr", "conversion", "is_async")
_HOLDING: dict[type[ast.AST], tuple[str, ...]] = {}
"""Fields of each type of nodes that may hold other nodes; contexts and operators are left out."""


def read_children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes directly below a node, in the order of the text."""
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
    """Yield a node and all nodes below it, in the order of the text."""
    todo = [node]
    while todo:
        found = todo.pop()
        yield found
        todo += read_children(found)[::-1]


def walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below a node in the order of the text, without those of inner scopes.

    The node of an inner scope is yielded, but not its decorators, defaults and body.
    """
    todo = read_children(node)[::-1]
    while todo:
        found = todo.pop()
        yield found
        if not isinstance(found, SCOPES):
            todo += read_children(found)[::-1]


def read_names(node: ast.AST) -> Iterator[ast.Name]:
    """Yield the names that a node reads, without those that comprehensions bind.

    Names in the bodies of inner functions and classes are left out: these may run at any time.
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
    """Return the names that only a comprehension binds."""
    targets = (each for part in getattr(node, "generators", ()) for each in walk_all(part.target))
    return frozenset(each.id for each in targets if isinstance(each, ast.Name))


def fill_places(tree: ast.Module) -> None:
    """Give each node without a place the place of the node above it."""
    todo: list[tuple[ast.AST, ast.AST]] = [(each, each) for each in tree.body]
    while todo:
        node, place = todo.pop()
        if hasattr(node, "lineno"):
            place = node
        elif "lineno" in node._attributes:
            ast.copy_location(node, place)
        todo += [(each, place) for each in read_children(node)]

# --- Parser of a source and its errors ------------------------------------------------------------

LARGEST = 4_000_000
"""Largest number of characters of a source."""
DEEPEST = 400
"""Largest depth of a tree, in nodes."""


def parse_source(places: SourcePlaces) -> ast.Module:
    """Return the tree of a source. Raises UserError for a source that cannot be read."""
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
    """Return the error for a syntax error of Python, at its place."""
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
    """Let recursive functions of Python go as deep as DEEPEST nodes need.

    The garbage collector is off meanwhile: trees have no cycles, and it would take a third of the
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

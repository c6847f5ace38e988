"""Limits of the size of YAML texts: by aliases a short text says any amount, or contains itself.

Nodes are counted as if every alias were written out.
"""

from __future__ import annotations

import contextlib
import gc
import re
from collections.abc import Iterator

import yaml

from lairmake.stages.nesting import too_deep
from lairmake.stages.yaml_faults import explain_scalar

MOST_NODES = 100_000
"""The most nodes that a text may say by aliases, beside one for each of its characters."""
DEEPEST = 100
"""The deepest that lists and mappings may lie in each other."""

INDENTED = re.compile(rf"^[ \t?:-]{{{4 * DEEPEST}}}", re.MULTILINE)
"""A line that is indented as only values too deep are; the C loader has no room for these."""


class TooLargeError(yaml.MarkedYAMLError):
    """A text says too much, or contains itself: `problem` says which."""


class WrongScalarError(yaml.MarkedYAMLError):
    """A number, a date or another value is none: `problem` says which."""


FAULTS = (ValueError, LookupError, AttributeError, TypeError, ArithmeticError)
"""Errors that PyYAML lets through where a scalar does not fit its tag or form."""

OURS = (TooLargeError, WrongScalarError)
"""Errors with words of ours; all others have those of the parser."""


def construct(loader: yaml.SafeLoader, node: yaml.Node) -> object:
    """Return the data of a node. Raises WrongScalarError where a scalar of it is none."""
    try:
        return loader.construct_document(node)
    except FAULTS as error:
        begun = (each for each in loader.recursive_objects if isinstance(each, yaml.ScalarNode))
        wrong = next(begun, None)
        said = "this has no value" if wrong is None else explain_scalar(wrong)
        raise WrongScalarError(problem=said, problem_mark=(wrong or node).start_mark) from error


def compose(loader: yaml.SafeLoader) -> yaml.Node | None:
    """Return the node of the only document of a text, None for an empty one.

    Raises yaml.YAMLError for a text that is none, TooLargeError for one that says too much.
    """
    try:
        node = loader.get_single_node()
        if node is not None:
            sizes: dict[int, tuple[int, int]] = {}
            _measure(node, sizes, MOST_NODES + node.end_mark.index - node.start_mark.index)
    except RecursionError:
        raise TooLargeError(problem=f"nested deeper than {DEEPEST}") from None
    return node


def _measure(node: yaml.Node, sizes: dict[int, tuple[int, int]], most: int) -> tuple[int, int]:
    """Return how many nodes a node is, aliases written out, and how deep they lie.

    `sizes` has those that are known, by their identities; (0, 0) for those that hold this one.
    """
    known = sizes.get(id(node))
    if known is not None:
        if known == (0, 0):
            raise _too_large("this contains itself", node)
        return known
    sizes[id(node)] = 0, 0
    count, depth = 1, 0
    for inner in _inner(node):
        more, below = _measure(inner, sizes, most)
        count, depth = count + more, max(depth, below)
    if count > most:
        raise _too_large(f"aliases make this more than {most} values", node)
    if depth >= DEEPEST:
        raise _too_large(f"nested deeper than {DEEPEST}", node)
    sizes[id(node)] = count, depth + 1
    return count, depth + 1


def _inner(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _too_large(problem: str, node: yaml.Node) -> TooLargeError:
    return TooLargeError(problem=problem, problem_mark=node.start_mark)


@contextlib.contextmanager
def pause_collector() -> Iterator[None]:
    """Pause Python's search for cycles: trees have none, and the search takes most of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def check_depth(text: str) -> None:
    """Raise TooLargeError for a text that the C loader has no room for: it would crash."""
    if too_deep(text) is not None or INDENTED.search(text):
        raise TooLargeError(problem=f"nested deeper than {DEEPEST}")


@pause_collector()
def load(text: str) -> object:
    """Return the data of a YAML text, as `yaml.safe_load` does, by the C loader where there is one.

    Raises yaml.YAMLError for a text that is none, TooLargeError for one that says too much, and
    WrongScalarError for a number or a date that is none.
    """
    check_depth(text)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        node = compose(loader)
        return None if node is None else construct(loader, node)
    finally:
        loader.dispose()

"""Limits of texts: how deep brackets nest, and how large YAML may be."""

from __future__ import annotations

import contextlib
import gc
import re
from collections.abc import Iterator

import yaml

from lairmake.stages.yaml_faults import explain_scalar

# --- How deep texts may be nested: parsers that call themselves, as that of isl, run out of room

MOST_NESTED = 200
"""How many brackets may stand in each other."""
LONGEST = 100
"""How often isl may be led deeper without a bracket, and how many dimensions a tuple has."""
WIDE = "more than {} dimensions"
_BRACKET = re.compile(r"[][(){}]")
_STEPS = (
    (re.compile(r"[();]|\bor\b|\band\b"), "exists", "more than {} times exists in a row"),
    (re.compile(r"[^\d*\s]+"), "*", "a product of more than {} numbers"),
    (re.compile(r";"), "?", "more than {} choices in each other"),
    (re.compile(r"[][(){};]"), ",", WIDE),
)
"""What ends a row, what a row has a step for, and what is said of too many."""
_LARGE = re.compile(r"\^\s*\d{4}|\d{1000}")


def too_deep(text: str) -> int | None:
    """Return where more than DEEPEST brackets stand in each other, None for nowhere.

    Which closes which is not looked at.
    """
    if sum(map(text.count, "[({")) <= MOST_NESTED:
        return None
    depth = 0
    for found in _BRACKET.finditer(text):
        depth = depth + 1 if found[0] in "[({" else max(0, depth - 1)
        if depth > MOST_NESTED:
            return found.start()
    return None


def too_much(text: str, by_hand: bool = True) -> tuple[int, str] | None:
    """Return where a text is more than isl has room for, and what is; None if it is not.

    What is not written `by_hand` may have any number of dimensions: isl only takes its time.
    """
    if "\0" in text:
        return text.index("\0"), "a NUL character"
    if (at := too_deep(text)) is not None:
        return at, f"more than {MOST_NESTED} brackets in each other"
    if large := _LARGE.search(text):
        return large.start(), "a number of more than 1000 digits"
    for end, step, said in _STEPS:
        if said == WIDE and not by_hand:
            continue
        if text.count(step) > LONGEST and (at := _long_row(text, end, step)) is not None:
            return at, said.format(LONGEST)
    return None


def _long_row(text: str, end: re.Pattern[str], step: str) -> int | None:
    """Return where the first row of too many steps begins, None if there is none."""
    start = 0
    for stop in (*(found.span() for found in end.finditer(text)), (len(text), len(text))):
        if text.count(step, start, stop[0]) > LONGEST:
            return start
        start = stop[1]
    return None

# --- How large what a YAML text says may be: aliases make a short text say any amount, or no end
#
# Nodes are counted as if every alias were written out, without doing so.

MOST_NODES = 100_000
"""How many nodes a text may say by aliases, beside one for each of its characters."""
DEEPEST = 100
"""How deep lists and mappings may lie in each other."""

INDENTED = re.compile(rf"^[ \t?:-]{{{4 * DEEPEST}}}", re.MULTILINE)
"""A line as only values that lie too deep have; the loader that is C has no room for these."""


class TooLargeError(yaml.MarkedYAMLError):
    """A text says too much, or contains itself: `problem` says which."""


class WrongScalarError(yaml.MarkedYAMLError):
    """A number, a date or another value is none: `problem` says which."""


FAULTS = (ValueError, LookupError, AttributeError, TypeError, ArithmeticError)
"""What PyYAML lets through of a scalar whose tag, or form, it is none of."""

OURS = (TooLargeError, WrongScalarError)
"""Errors with words of ours: those of others are the parser's."""


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
    """Let Python not look for cycles: in trees there are none, and it takes most of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def check_depth(text: str) -> None:
    """Raise TooLargeError for a text that the loader which is C has no room for: it would crash."""
    if too_deep(text) is not None or INDENTED.search(text):
        raise TooLargeError(problem=f"nested deeper than {DEEPEST}")


@pause_collector()
def load(text: str) -> object:
    """Return the data of a YAML text, as `yaml.safe_load` does, by C where there is such a loader.

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

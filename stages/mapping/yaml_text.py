"""Read YAML and remember where every key and value stands.

Keys are names, whatever YAML makes of `on` or `no`; a key that comes twice is an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.limits import DEEPEST, FAULTS, OURS, TooLargeError, compose, load, too_deep
from lairmake.stages.mapping.yaml_written import write_yaml
from lairmake.stages.yaml_faults import explain_scalar, explain_yaml

EDITED = "undo the edit, or delete it: a build writes it anew"

YamlPath = tuple[str | int, ...]
LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""What ends a line of YAML."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The value of a YAML text, with the spans of its keys and values by their paths."""

    value: Any
    keys: dict[YamlPath, Span] = field(repr=False)
    values: dict[YamlPath, Span] = field(repr=False)
    offsets: dict[YamlPath, tuple[int, ...]] = field(repr=False)


def read_document(source: Source) -> Document:
    """Return the value of a YAML text; an empty text is an empty mapping.

    Raises UserErrors if the text is no YAML, or if a key comes twice.
    """
    try:
        if too_deep(source.text) is not None:
            raise TooLargeError(problem=f"nested deeper than {DEEPEST}")
        loader = yaml.SafeLoader(source.text)
        node = compose(loader)
        reader = _Reader(source, loader)
        value = {} if node is None else reader.value(node, ())
    except yaml.MarkedYAMLError as error:
        raise UserErrors([_syntax_error(source, error)]) from None
    except yaml.reader.ReaderError as error:
        span = Span(source=source, start=error.position, end=error.position + 1)
        raise UserErrors([UserError("YAML: a character that no text may hold", span)]) from None
    if reader.errors:
        raise UserErrors(reader.errors)
    values = {(): Span(source=source, start=0, end=0)} | reader.values
    return Document(value=value, keys=reader.keys, values=values, offsets=reader.offsets)


def read_data(source: Source) -> Any:
    """Return the data of a YAML text that a stage wrote.

    Raises UserErrors where that is no YAML any more.
    """
    try:
        return load(source.text)
    except (yaml.YAMLError, ValueError) as error:
        read_document(source)
        raise UserError(f"{source.path} is no YAML of ours any more", hint=EDITED) from error


def find_top_key(source: Source, key: str) -> Span | None:
    """Return the place of a key at the top of a YAML text; None if it is not there.

    Raises UserErrors as `read_document` does.
    """
    return read_document(source).keys.get((key,))


def _syntax_error(source: Source, error: yaml.MarkedYAMLError) -> UserError:
    mark = error.problem_mark or error.context_mark
    problem = error.problem or error.context or ""
    if error.problem == "found unexpected end of stream" and error.context_mark is not None:
        mark = error.context_mark
    start = mark.index if mark is not None else 0
    span = Span(source=source, start=start, end=start + 1)
    is_large = isinstance(error, TooLargeError)
    remedy = "say less" if is_large else _remedy(source.text, start, problem)
    said = problem if isinstance(error, OURS) else explain_yaml(problem)
    return UserError(f"YAML: {said}", span, remedy)


def _remedy(text: str, start: int, said: str) -> str:
    """Return what to do about a text that YAML stops to understand at a character."""
    if text[start : start + 1] == "\t":
        return "YAML indents with spaces, not with tabs"
    if text[start : start + 1] in ("*", "@", "`", "%", "&", "!"):
        return f"quote a text that begins with `{text[start]}`"
    if "escape" in said:
        return "in double quotes a backslash is `\\\\`, in single quotes it stands for itself"
    if "mapping values" in said:
        return "a line is `key: value`; a text that has a `:` itself stands in quotes"
    is_open = re.match(r"expected ',' or '(.)', but got '?<stream end>", said)
    if is_open:
        return f"a `{is_open[1]}` closes it"
    lines = text.split("\n")[: text.count("\n", 0, start) + 1]
    odd = [number for number, line in enumerate(lines, 1) if line.count('"') % 2]
    if odd:
        return f"line {odd[0]} has a `\"` too few: a text ends with the quote that it begins with"
    return "isl texts stand in quotes, or below `|`"


def _node_span(source: Source, node: yaml.Node) -> Span:
    """Return the span of a node without the white space that ends a block."""
    start, end = node.start_mark.index, node.end_mark.index
    length = len(source.text[start:end].rstrip())
    return Span(source=source, start=start, end=start + length)


class _Reader:
    """Turn nodes into values; `keys`, `values` and `offsets` say where they came from."""

    def __init__(self, source: Source, loader: yaml.SafeLoader) -> None:
        self.source, self.loader = source, loader
        self.keys: dict[YamlPath, Span] = {}
        self.values: dict[YamlPath, Span] = {}
        self.offsets: dict[YamlPath, tuple[int, ...]] = {}
        self.errors: list[UserError] = []

    def value(self, node: yaml.Node, path: YamlPath) -> Any:
        self.values[path] = _node_span(self.source, node)
        match node:
            case yaml.MappingNode():
                return self._mapping(node, path)
            case yaml.SequenceNode():
                return [self.value(item, (*path, k)) for k, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        value = self._scalar(node)
        if isinstance(value, str):
            self.offsets[path] = _offsets(self.source.text, node, value)
        return value

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        try:
            return self.loader.construct_object(node)
        except FAULTS:
            span, said = _node_span(self.source, node), explain_scalar(node)
            self.errors.append(UserError(f"YAML: {said}", span, "quote the text"))
            return None

    def _mapping(self, node: yaml.MappingNode, path: YamlPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, item in node.value:
            span = _node_span(self.source, key)
            if not isinstance(key, yaml.ScalarNode):
                self.errors.append(UserError("YAML: a key is a name", span))
                continue
            if key.value in result:
                self.errors.append(UserError(f"{key.value} is given twice", span, "keep one"))
            self.keys[(*path, key.value)] = span
            result[key.value] = self.value(item, (*path, key.value))
        return result


def _offsets(text: str, node: yaml.ScalarNode, value: str) -> tuple[int, ...]:
    """Return where in the source each character of a scalar stands, and where the last ends.

    A scalar's printing characters come in the order of the source; quotes, escapes, indentation
    and line breaks between them do not count.
    """
    position, end = node.start_mark.index, node.end_mark.index
    if node.style in ("|", ">"):
        header = LINE_BREAK.search(text, position, end)
        position = header.end() if header else end
    result = []
    for character in value:
        if not character.isspace():
            found = text.find(character, position, end)
            position = found if found >= 0 else position
        result.append(position)
        following = text[position : position + 1]
        if not character.isspace() or following in (" ", "\t") or following == character:
            position += 1
    return (*result, min(position, end))


def write_document(header: str, value: Any) -> str:
    """Return YAML text for people: the header as comments, then keys in the order given."""
    comments = "".join(f"# {line}".rstrip() + "\n" for line in header.splitlines())
    return f"{comments}\n{write_yaml(value)}"

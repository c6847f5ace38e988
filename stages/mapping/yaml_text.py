"""YAML with places, read and written."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors
from lairmake.stages.nesting import too_deep
from lairmake.stages.yaml_faults import explain_scalar, explain_yaml
from lairmake.stages.yaml_limits import (
    DEEPEST,
    FAULTS,
    OURS,
    TooLargeError,
    compose,
    load,
    pause_collector,
)

# --- Writer of YAML, by the C emitter -------------------------------------------------------------
#
# Where there is an emitter in C, it writes the same bytes as that of Python. Both agree on texts of
# one line of ASCII. Other texts may be values in mappings within mappings: then a word stands in
# their place until the rest is written, and what Python's emitter makes of them is put there.

WORD = "text_written_apart_"
LINE = re.compile(r"[ -~]*")
KEY = re.compile(r"[A-Za-z_]\w*", re.ASCII)
STAND_IN = re.compile(rf"(?<=: ){WORD}(\d+)(?=\n)")
STEP = "  "
LAYOUT: dict[str, Any] = {"sort_keys": False, "default_flow_style": None, "width": 100}


@pause_collector()
def write_yaml(value: Any) -> str:
    """Return the YAML text of a value: keys in the order given, lists of scalars in one line.

    Raises yaml.YAMLError for what is no mapping, list or scalar.
    """
    emitter = getattr(yaml, "CSafeDumper", None) if isinstance(value, dict | list) else None
    apart = _Apart()
    try:
        plain = apart.set(value, 0)
    except _UnusualError:
        emitter = None
    if emitter is None:
        return _write_in_python(value)
    text: str = yaml.dump(plain, Dumper=emitter, **LAYOUT)
    return STAND_IN.sub(lambda found: apart.texts[int(found[1])], text)


def _write_in_python(value: Any) -> str:
    text: str = yaml.safe_dump(value, **LAYOUT)
    return text


class _UnusualError(Exception):
    """What the emitters may not agree on, at a place where nothing can be put in."""


class _Apart:
    """Copies a value, with words in place of `texts`; equal objects are still one."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._copies: dict[int, Any] = {}

    def set(self, value: Any, depth: int | None) -> Any:
        """Return a copy; `depth` is how many mappings it is in, None for other places."""
        if isinstance(value, dict | list):
            if id(value) not in self._copies:
                self._copies[id(value)] = self._inside(value, depth)
            return self._copies[id(value)]
        if isinstance(value, tuple):
            for each in value:
                self.set(each, None)
        elif isinstance(value, str) and (WORD in value or not LINE.fullmatch(value)):
            raise _UnusualError
        return value

    def _inside(self, value: Any, depth: int | None) -> Any:
        if isinstance(value, list):
            return [self.set(each, None) for each in value]
        is_block = any(isinstance(each, dict | list | tuple) for each in value.values())
        own = depth if is_block else None
        if "" in value:
            raise _UnusualError
        return {self.set(k, None): self._value(k, each, own) for k, each in value.items()}

    def _value(self, key: Any, value: Any, depth: int | None) -> Any:
        if not isinstance(value, str) or LINE.fullmatch(value):
            return self.set(value, None if depth is None else depth + 1)
        if depth is None:
            raise _UnusualError
        self.texts.append(_write_alone(key, value, depth))
        return f"{WORD}{len(self.texts) - 1}"


@functools.lru_cache(1024)
def _write_alone(key: Any, text: str, depth: int) -> str:
    """Return how a text is written as the value of a key, in so many mappings within each other."""
    nested: dict[str, Any] = {key: text, "end": [[]]}
    for _ in range(depth):
        nested = {"in": nested}
    written = _write_in_python(nested)
    inset = STEP * depth
    head = "".join(f"{STEP * k}in:\n" for k in range(depth)) + f"{inset}{key}: "
    tail = f"\n{inset}end:\n{inset}- []\n"
    if not KEY.fullmatch(str(key)) or not (written.startswith(head) and written.endswith(tail)):
        raise _UnusualError
    return written.removeprefix(head).removesuffix(tail)

# --- Reader of YAML, with places ------------------------------------------------------------------
#
# Keys are names, whatever YAML makes of `on` or `no`; a key that comes twice is an error.

EDITED = "undo the edit, or delete it: a build writes it anew"

YamlPath = tuple[str | int, ...]
LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""The end of a line of YAML."""


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

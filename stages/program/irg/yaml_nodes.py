"""Nodes of YAML, read by hand: large texts quickly, and an error at whatever is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar, TypeAlias

import yaml

from lairmake.stages.diagnose import Source, Span, UserError, nearest
from lairmake.stages.limits import check_depth, compose
from lairmake.stages.mapping.yaml_text import EDITED, read_document

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
INTEGER = re.compile(r"-?\d{1,30}", re.ASCII)
REALS = {".nan": "nan", ".inf": "inf", "-.inf": "-inf"}
MOST = 2**31 - 1

Fields: TypeAlias = dict[str, yaml.Node]
"""The values of a mapping by their keys."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Makes nodes alone: what a scalar means those say who read it."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[object]]] = {}


def compose_text(source: Source) -> yaml.Node | None:
    """Return the node of a YAML text, None for an empty one. Raises UserErrors if it is none."""
    try:
        check_depth(source.text)
        return _composed(_Loader(source.text))
    except (yaml.YAMLError, ValueError) as error:
        read_document(source)
        raise UserError(f"{source.path} is no YAML of ours any more", hint=EDITED) from error


def _composed(loader: _Loader) -> yaml.Node | None:
    try:
        return compose(loader)
    finally:
        loader.dispose()


def span_of(source: Source, node: yaml.Node) -> Span:
    """Return the place of a node; of one that has several lines, the first."""
    start, end = node.start_mark.index, node.end_mark.index
    line = source.text.find("\n", start)
    return Span(source=source, start=start, end=min(end, line) if line >= 0 else end)


class Reading:
    """Reads the nodes of one text. All methods raise UserError at the node that is wrong."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def error(self, node: yaml.Node, message: str, hint: str | None = None) -> UserError:
        """Return an error at a node."""
        return UserError(message, span_of(self.source, node), hint)

    def pairs(self, node: yaml.Node, what: str) -> list[tuple[yaml.Node, yaml.Node]]:
        """Return the keys and values of a mapping, in order; an empty value is an empty one."""
        if isinstance(node, yaml.ScalarNode) and not node.value:
            return []
        if not isinstance(node, yaml.MappingNode):
            raise self.error(node, f"{what} is no mapping", "`key: value`")
        pairs: list[tuple[yaml.Node, yaml.Node]] = node.value
        seen: set[str] = set()
        for key, _ in pairs:
            if not isinstance(key, yaml.ScalarNode):
                raise self.error(key, "a key is a name or a number")
            if key.value in seen:
                raise self.error(key, f"{key.value} is given twice", "keep one")
            seen.add(key.value)
        return pairs

    def fields(
        self, node: yaml.Node, what: str, needed: Iterable[str], optional: Iterable[str] = ()
    ) -> Fields:
        """Return the values of a mapping that has the keys needed, and no unknown ones."""
        needed = tuple(needed)
        known = (*needed, *optional)
        found: Fields = {}
        for key, value in self.pairs(node, what):
            if key.value not in known:
                near = nearest(key.value, known)
                hint = f"did you mean {near}?" if near else f"{what} has {', '.join(known)}"
                raise self.error(key, f"unknown key {key.value}", hint)
            found[key.value] = value
        missing = [key for key in needed if key not in found]
        if missing:
            raise self.error(node, f"{what} lacks {', '.join(missing)}")
        return found

    def items(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        """Return the nodes of a list."""
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(node, f"{what} is no list", "`[1, 2]`")
        items: list[yaml.Node] = node.value
        return items

    def text(self, node: yaml.Node, what: str) -> str:
        """Return a text."""
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(node, f"{what} is no text")
        return str(node.value)

    def name(self, node: yaml.Node, what: str) -> str:
        """Return a name."""
        found = self.text(node, what)
        if not NAME.fullmatch(found):
            raise self.error(node, f"{what} is no name", "letters, digits and _, no digit first")
        return found

    def choice(self, node: yaml.Node, what: str, known: Iterable[str]) -> str:
        """Return one of the words that are known."""
        found = self.text(node, what)
        known = tuple(known)
        if found not in known:
            near = nearest(found, known) if found else None
            hint = f"did you mean {near}?" if near else f"known: {', '.join(known)}"
            raise self.error(node, f"unknown {what} {found}", hint)
        return found

    def known(self, node: yaml.Node, what: str, known: Mapping[str, object]) -> str:
        """Return a name that is known."""
        found = self.text(node, what)
        if found not in known:
            near = nearest(found, known) if found else None
            hint = f"did you mean {near}?" if near else "objects.yaml lists them"
            raise self.error(node, f"{what} {found} is nowhere defined", hint)
        return found

    def integer(self, node: yaml.Node, what: str, least: int = 0, most: int = MOST) -> int:
        """Return an integer between limits."""
        found = self.text(node, what)
        if not INTEGER.fullmatch(found) or not least <= int(found) <= most:
            raise self.error(node, f"{what} is {found}, no integer from {least} to {most}")
        return int(found)

    def truth(self, node: yaml.Node, what: str) -> bool:
        """Return true or false."""
        found = self.text(node, what)
        if found not in ("true", "false"):
            raise self.error(node, f"{what} is {found}, neither true nor false")
        return found == "true"

    def number(self, node: yaml.Node, what: str) -> int | float:
        """Return a number: an integer where it is written as one."""
        found = self.text(node, what)
        if INTEGER.fullmatch(found):
            return int(found)
        try:
            if "_" in found or (found[-1:].isalpha() and found not in REALS):
                raise ValueError
            return float(REALS.get(found, found))
        except ValueError:
            raise self.error(node, f"{what} is {found}, no number") from None

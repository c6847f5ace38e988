"""The sizes that inputs of a graph leave open, and what network.yaml says of them.

An open size may have a name, which it shares with all others of that name, or none; its place says
which one it is in any case: `x_2` is dimension 2 of the input x.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lairmake.stages.diagnose import UserError, nearest, plural
from lairmake.stages.mapping.network_yaml import Graph

PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
"""A name that can only be meant as one: neither `?` nor `2*n`."""
WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null"})
"""What YAML takes for something else than a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSize:
    """A dimension of an input: its size, None where that is open, and its name there, or ""."""

    input: str
    axis: int
    size: int | None
    name: str = ""

    @property
    def place(self) -> str:
        """How the size is called by its place."""
        return f"{self.input}_{self.axis}"

    @property
    def key(self) -> str:
        """How to call it in network.yaml."""
        return self.name if PLAIN.fullmatch(self.name) else self.place

    def find(self, sizes: Mapping[str, int]) -> int | None:
        """Return the size, as the graph or `sizes` have it: what is said of its place first."""
        if self.size is not None:
            return self.size
        return sizes.get(self.place, sizes.get(self.name or self.place))

    def __str__(self) -> str:
        return f"{self.name} ({self.place})" if self.name else self.place


def check_sizes(found: Sequence[InputSize], given: Graph) -> Iterator[UserError]:
    """Yield an error for each size that network.yaml has and the graph does not leave open."""
    open_ = [each for each in found if each.size is None]
    known = {each.place: each.size for each in found if each.size is not None}
    names = {each.place for each in open_} | {each.name for each in open_ if each.name}
    keys = list(dict.fromkeys(each.key for each in open_))
    spans = {name: given.key_span("sizes", name) for name in given.sizes}
    for name, span in sorted(spans.items(), key=lambda each: each[1].start):
        size = given.sizes[name]
        if name in names or known.get(name) == size:
            continue
        others = f"sizes that the graph leaves open: {', '.join(keys)}" if keys else (
            "the graph leaves no size open")
        if name in known:
            yield UserError(f"{name} is {known[name]} in the graph, and not {size}", span, others)
        else:
            near = nearest(name, names, cutoff=0.5)
            hint = f"did you mean {near}?" if near else others
            yield UserError(f"unknown size {name}", span, hint)


def list_open(
    found: Sequence[InputSize], sizes: Mapping[str, int], file: str
) -> Iterator[UserError]:
    """Yield one error for all sizes that are open, and that nobody says."""
    open_ = [each for each in found if each.find(sizes) is None]
    if not open_:
        return
    said = {**sizes, **dict.fromkeys((each.key for each in open_), 1)}
    text = ", ".join(f"{write_key(name)}: {size}" for name, size in said.items())
    hint = f"say {'it' if len(open_) == 1 else 'them'} in network.yaml: `sizes: {{{text}}}`"
    if len(open_) == 1:
        (only,) = open_
        message = f"size {only.name or only.place} of input {only.input} is open"
        yield UserError(f"{file}: {message}", hint=hint)
        return
    by_input = itertools.groupby(open_, key=lambda each: each.input)
    listed = [f"of input {name}: {', '.join(map(str, those))}" for name, those in by_input]
    count = plural(len(open_), "size")
    yield UserError(f"{file}: {count} are open, {'; '.join(listed)}", hint=hint)


def write_key(name: str) -> str:
    """Return a key as YAML writes it between brackets."""
    plain = re.fullmatch(r"[A-Za-z_][\w.]*", name) and name.lower() not in WORDS
    return name if plain else json.dumps(name, ensure_ascii=False)

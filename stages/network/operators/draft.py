"""Draft of a network, while its graph is read."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import UserError, UserErrors, nearest, plural
from lairmake.stages.lair.tree import make_plain_name
from lairmake.stages.mapping.network_yaml import GraphMapping
from lairmake.stages.poly.canonical import unite_sets
from lairmake.stages.volumes.operation import (
    VolumeOperation,
    VolumeProgram,
    make_domain,
    read_program,
)

# --- Impossible volumes ---------------------------------------------------------------------------
#
# Frameworks infer the shapes of results, but check the operands of few operators. So operands may
# not fit each other.

TERM = re.compile(r"(?:(?P<factor>\d+)\*)?d(?P<of>\d+)|(?P<number>\d+)")


class NoVolumeError(ValueError):
    """An impossible volume, with the `reason` and a `hint`."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


FITTING = "do its operands and attributes fit each other?"


def cannot_read(reason: str) -> NoVolumeError:
    """Return the error for operands or attributes with which an operator has no result."""
    return NoVolumeError(f"it cannot be read: {reason}", FITTING)


def check_values(name: str, values: np.ndarray[Any, Any], type_: str) -> None:
    """Raise NoVolumeError for values that are NaN, or finite but too large for a type."""
    if not np.issubdtype(values.dtype, np.floating) and values.dtype.name != "bfloat16":
        return
    if np.isnan(values).any():
        raise NoVolumeError(f"{name} holds values that are no numbers (NaN)", "export it anew")
    finite = values[np.isfinite(values)]
    most = float(np.abs(finite).max(initial=0))
    if most > float(np.finfo(type_).max):
        hint = "let `type` in network.yaml be a larger one, or scale the graph"
        raise NoVolumeError(f"{name} holds {most:g}, which no {type_} is", hint)


def write_box(shape: Sequence[int]) -> str:
    """Return 0 <= d0 < size and ..., in the syntax of isl."""
    bounds = [f"0 <= d{k} < {size}" for k, size in enumerate(shape)]
    return " and ".join(bounds) or "true"


def check_inside(
    volume: str, sizes: Sequence[int], at: Sequence[str], over: Sequence[int], where: str = "true"
) -> None:
    """Raise NoVolumeError for an access beyond the sizes of a volume, or of another rank.

    The access is { d -> volume[at] : d in the box of `over`, and where }.
    """
    if len(at) != len(sizes) or not _is_inside(at, sizes, over, where):
        shape = " x ".join(map(str, sizes)) or "one number"
        reason = f"it reads more of {volume} than there is: {shape}"
        raise NoVolumeError(reason, FITTING)


def _is_inside(at: Sequence[str], sizes: Sequence[int], over: Sequence[int], where: str) -> bool:
    """Return whether { [d] -> [at] : d in the box of `over`, and where } lies in the box of sizes.

    A sum of iterators is largest for the last instance, which decides without isl; isl decides for
    other expressions.
    """
    ends = [_find_last(each, over) for each in at]
    if all(end is not None and end < size for end, size in zip(ends, sizes, strict=True)):
        return True
    instance = ", ".join(f"d{k}" for k in range(len(over)))
    read = isl.Map(f"{{ [{instance}] -> [{', '.join(at)}] : {write_box(over)} and ({where}) }}")
    element = ", ".join(f"d{k}" for k in range(len(sizes)))
    return read.range().is_subset(isl.Set(f"{{ [{element}] : {write_box(sizes)} }}"))


def _find_last(expression: str, over: Sequence[int]) -> int | None:
    """Return the largest value of a sum of iterators times numbers; None for other expressions."""
    last = 0
    for term in expression.split(" + "):
        found = TERM.fullmatch(term)
        if found is None:
            return None
        of, factor, number = found["of"], found["factor"], found["number"]
        last += int(number) if of is None else int(factor or 1) * (over[int(of)] - 1)
    return last

# --- Network draft --------------------------------------------------------------------------------
#
# Operations are in the form of operations.yaml, with numbers as sizes. Every value of the graph is
# a volume, except known values: an operator takes single ones as numbers, others as weights.

MOST_ELEMENTS = 2**27
"""Largest number of elements of a volume; larger ones would fill the memory of a computer."""

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
WIDE = "float32"
"""The type of sums."""
SUM = "_sum"
"""Suffix of a sum that is rounded before others take it."""
Indices = Sequence[str]
"""The index of an element: for each dimension an affine expression of the iterators `d0`, `d1`,
..., in the syntax of isl; quotients and remainders by numbers are allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaddedPiece:
    """A piece of a copy: elements `volume[at]` where `where` holds."""

    volume: str
    at: Indices
    where: str = "true"


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """An access of an instance of a computation: the element `at` of a volume."""

    volume: str
    at: Indices


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The node of a graph from which operations come: its operator, and its number from 1."""

    operator: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPlace:
    """The place of a node: the file as the user writes it, and the node's name or result."""

    file: str
    node: str
    operator: str

    def error(self, message: str, hint: str | None = None) -> UserError:
        """Return an error at the node."""
        return UserError(f"{self.file}: node {self.node} ({self.operator}): {message}", hint=hint)


class NetworkDraft:
    """A network that is being read.

    `shapes` has the sizes of every volume, `weights` the values of volumes that the graph gives.
    Volumes have the one type of the network, except sums, which are of float32.
    """

    def __init__(self, type_: str) -> None:
        self.type = type_
        self.shapes: dict[str, Shape] = {}
        self.weights: dict[str, Array] = {}
        self.origin = Origin(operator="graph", number=1)
        self._operations: dict[str, dict[str, Any]] = {}
        self._numbers: dict[float, str] = {}
        self._taken: set[str] = set()
        self._wide: set[str] = set()

    def name(self, wish: str) -> str:
        """Return a free name for isl, LAIR and files, as close to `wish` as possible.

        Volumes are files as well, so two names never differ in capitals alone.
        """
        plain = name = make_plain_name(wish)
        number = 1
        while name.lower() in self._taken:
            number += 1
            name = f"{plain}_{number}"
        return name

    def give(self, wish: str, shape: Shape) -> str:
        """Add an input volume. Return its name."""
        return self._add(wish, shape, {"kind": "input"})

    def weigh(self, wish: str, values: Array) -> str:
        """Add a volume of known values, which are kept apart. Return its name.

        Raises NoVolumeError for values that are not numbers, or are not values of the network's
        type.
        """
        check_values(wish, values, self.type)
        name = self.give(wish, values.shape)
        self.weights[name] = values
        return name

    def number(self, value: float) -> str:
        """Return a volume that is one number."""
        if value not in self._numbers:
            entry = {"kind": "constant", "constant": value}
            self._numbers[value] = self._add("number", (), entry)
        return self._numbers[value]

    def copy(self, wish: str, shape: Shape, pieces: Sequence[PaddedPiece]) -> str:
        """Add a volume of elements of others, in disjoint pieces. Return its name.

        Raises NoVolumeError where the others lack these elements.
        """
        for piece in pieces:
            sizes = self.shapes[piece.volume]
            check_inside(piece.volume, sizes, piece.at, shape, piece.where)
        name = self.name(wish)
        own = write_element(name, iterators(shape))
        maps = [
            f"{{ {own} -> {write_element(p.volume, p.at)} : {write_box(shape)} and ({p.where}) }}"
            for p in pieces
        ]
        if any(piece.volume in self._wide for piece in pieces):
            self._wide.add(name)
        return self._add(name, shape, {"kind": "copy", "copies": maps})

    def compute(
        self, wish: str, shape: Shape, reads: Mapping[str, Read], value: str, *,
        loops: Shape | None = None, writes: Indices | None = None, operator: str = "=",
        where: str = "true",
    ) -> str:
        """Add a volume that is computed: `volume[writes] operator value`. Return its name.

        `value` is an expression of LAIR with the labels of `reads`. By default, loops are the
        dimensions of the result, and each instance writes its own element. A reduction uses only
        the instances for which `where` holds. Sums are of float32. Raises NoVolumeError for reads
        beyond a volume.
        """
        for read in reads.values():
            over = shape if loops is None else loops
            check_inside(read.volume, self.shapes[read.volume], read.at, over)
        is_wide = operator == "+=" and self.type != WIDE
        name = self.name(f"{wish}{SUM}" if is_wide else wish)
        loops = shape if loops is None else loops
        instance = write_element(f"{name}_loops", iterators(loops))
        element = write_element(name, iterators(shape) if writes is None else writes)
        if is_wide:
            self._wide.add(name)
        return self._add(name, shape, {
            "kind": "compute",
            "loops": f"{{ {instance} : {write_box(loops)} and ({where}) }}",
            "reads": {
                label: f"{{ {instance} -> {write_element(read.volume, read.at)} }}"
                for label, read in reads.items()
            },
            "results": {
                name: {
                    "writes": f"{{ {instance} -> {element} }}", "operator": operator,
                    "value": value,
                }
            },
        })

    def rounded(self, volume: str) -> str:
        """Return a volume in the type of the network: a sum is rounded, others stay."""
        if volume not in self._wide:
            return volume
        shape = self.shapes[volume]
        reads = {volume: Read(volume=volume, at=iterators(shape))}
        return self.compute(volume.removesuffix(SUM), shape, reads, volume)

    def program(self, name: str, outputs: Sequence[str]) -> VolumeProgram:
        """Return the operations that some outputs need, in order."""
        every = read_program({
            "kernel": name, "outputs": list(outputs), "inputs": [],
            "types": self._types(self.shapes), "operations": self._operations,
        })
        kept = _needed(every)
        volumes = [each.name for each in kept]
        return VolumeProgram(
            name=name, operations=tuple(kept), types=self._types(volumes),
            outputs=tuple(outputs),
            inputs=tuple(each.name for each in kept if each.kind in ("input", "constant")),
        )

    def volumes(self, names: Sequence[str]) -> isl.UnionSet:
        """Return the index domains of volumes."""
        return unite_sets(make_domain(n, [str(s) for s in self.shapes[n]], ()) for n in names)

    def _types(self, names: Iterable[str]) -> dict[str, str]:
        return {name: WIDE if name in self._wide else self.type for name in names}

    def _add(self, wish: str, shape: Shape, entry: Mapping[str, Any]) -> str:
        if min(shape, default=1) < 1:
            raise NoVolumeError(f"{wish} has no elements", "use larger inputs")
        if count(shape) > MOST_ELEMENTS:
            reason = f"{wish} has {count(shape)} elements, more than {MOST_ELEMENTS}"
            raise NoVolumeError(reason, "use smaller inputs")
        name = self.name(wish)
        said = {"kind": entry["kind"], "source": self.origin.operator, "line": self.origin.number}
        self._operations[name] = said | dict(entry)
        self.shapes[name] = tuple(shape)
        self._taken.add(name.lower())
        return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """Operations on volumes, and the volume of every input and output of a graph."""

    draft: NetworkDraft
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]


def _needed(program: VolumeProgram) -> list[VolumeOperation]:
    """Return the operations whose results are outputs, or are needed for outputs."""
    used = set(program.outputs)
    for operation in reversed(program.operations):
        if operation.name in used:
            used.update(operation.operands)
    return [each for each in program.operations if each.name in used]


def label(reads: Sequence[Read]) -> dict[str, Read]:
    """Return reads by their labels in an expression: the names of volumes.

    A volume that is read twice has another label the second time.
    """
    found: dict[str, Read] = {}
    for read in reads:
        name, number = read.volume, 1
        while name in found:
            number += 1
            name = f"{read.volume}_{number}"
        found[name] = read
    return found


def iterators(shape: Sequence[int]) -> list[str]:
    """Return d0, d1, ..., one for each dimension."""
    return [f"d{k}" for k in range(len(shape))]


def write_element(volume: str, at: Indices) -> str:
    """Return `volume[at]`."""
    return f"{volume}[{', '.join(at)}]"


def broadcast(volume: str, shape: Shape, rank: int, first: int = 0) -> Read:
    """Return the read of a volume by the iterators `first`, ... of a result of `rank` dimensions.

    The volume's dimensions are the last ones of the result; dimensions of size 1 are broadcast.
    """
    start = first + rank - len(shape)
    at = ["0" if size == 1 else f"d{start + k}" for k, size in enumerate(shape)]
    return Read(volume=volume, at=at)


def count(shape: Sequence[int]) -> int:
    """Return the number of elements of a shape."""
    return math.prod(shape)

# --- Errors of a graph, collected -----------------------------------------------------------------

def list_unknown(nodes: Iterable[tuple[str, UserError]]) -> Iterator[UserError]:
    """Yield the first error of each operator, with the number of further nodes."""
    first: dict[str, UserError] = {}
    counts: dict[str, int] = {}
    for operator, error in nodes:
        first.setdefault(operator, error)
        counts[operator] = counts.get(operator, 0) + 1
    for operator, error in first.items():
        more = counts[operator] - 1
        have = "has" if more == 1 else "have"
        added = f"; {plural(more, 'more node')} {have} it" if more else ""
        yield UserError(f"{error.message}{added}", hint=error.hint)


def raise_all(errors: Iterable[UserError]) -> None:
    """Raise errors if there are any: the only one as it is, or UserErrors."""
    found = list(errors)
    if len(found) == 1:
        raise found[0]
    if found:
        raise UserErrors(found)

# --- Open sizes of inputs -------------------------------------------------------------------------
#
# network.yaml has the sizes that inputs of a graph leave open. An open size may have a name, which
# all sizes of that name share. Its place names it in any case: `x_2` is dimension 2 of the input x.

PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
"""A name that YAML and users can only read as one: neither `?` nor `2*n`."""
WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML does not read as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSize:
    """A dimension of an input: its size, None for an open one, and its name in the graph, or ""."""

    input: str
    axis: int
    size: int | None
    name: str = ""

    @property
    def place(self) -> str:
        """Return the name of the size by its place."""
        return f"{self.input}_{self.axis}"

    @property
    def key(self) -> str:
        """Return the key of the size in network.yaml."""
        return self.name if PLAIN.fullmatch(self.name) else self.place

    def find(self, sizes: Mapping[str, int]) -> int | None:
        """Return the size from the graph or from `sizes`, in which the place comes first."""
        if self.size is not None:
            return self.size
        return sizes.get(self.place, sizes.get(self.name or self.place))

    def __str__(self) -> str:
        return f"{self.name} ({self.place})" if self.name else self.place


def check_sizes(found: Sequence[InputSize], given: GraphMapping) -> Iterator[UserError]:
    """Yield an error for each size in network.yaml that the graph does not leave open."""
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
    """Yield one error for all open sizes without a value."""
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
    """Return a key as YAML writes it in brackets."""
    plain = re.fullmatch(r"[A-Za-z_][\w.]*", name) and name.lower() not in WORDS
    return name if plain else json.dumps(name, ensure_ascii=False)

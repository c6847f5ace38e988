"""Draft of a kernel, while its text is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerType,
    ShapedType,
    TensorType,
    UnrankedMemRefType,
    UnrankedTensorType,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.kernel.mlir.dialect import Text
from lairmake.stages.kernel.mlir.syntax import ELEMENTS, HINT, UNCUT, VALUES
from lairmake.stages.lair.tree import is_reserved, make_plain_name
from lairmake.stages.volumes.sizes import Claim, Sizes

# --- Kernel draft ---------------------------------------------------------------------------------
#
# Operations are in the form of operations.yaml. Every value is a volume. Each of its dimensions has
# a size with the name `volume_dimension`, until the different sizes are known.

TYPES = {**ELEMENTS, **UNCUT}
Entry = dict[str, Any]


class KernelDraft:
    """A kernel that is being read."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.operations: dict[str, Entry] = {}
        self.types: dict[str, str] = {}
        self.claims: list[Claim] = []
        self.spans: dict[str, Span] = {}
        self.symbols: list[str] = []
        self.indices: dict[int, str] = {}
        self.truths: set[int] = set()
        self.at: Operation | None = None
        self._sizes: dict[str, list[str]] = {}
        self._names: dict[int, str] = {}
        self._taken: set[str] = set()

    def error(self, operation: Operation, message: str, hint: str | None = None) -> UserError:
        """Return an error at an operation."""
        return UserError(message, self.text.span(operation), hint)

    def new_name(self, wish: str) -> str:
        """Return a free name for isl and LAIR, as close to `wish` as possible."""
        plain = name = make_plain_name(wish)
        number = 1
        while name in self._taken or is_reserved(name):
            number += 1
            name = f"{plain}_{number}"
        self._taken.add(name)
        return name

    def symbol(self, wish: str) -> str:
        """Return a new symbolic constant."""
        self.symbols.append(self.new_name(wish))
        return self.symbols[-1]

    def claim(
        self, operation: Operation, name: str, text: str, factors: Sequence[str] = ()
    ) -> None:
        """Note a claim of an operation on sizes.

        `name` is that of its result; `factors` are sizes with which others are multiplied.
        """
        self._claim(f"{operation.name} {name}", text, self.text.span(operation), factors)

    def _claim(
        self, operation: str, text: str, span: Span, factors: Sequence[str] = ()
    ) -> None:
        self.claims.append(
            Claim(text=text, operation=operation, span=span, factors=tuple(factors))
        )

    def volume(self, value: SSAValue) -> str:
        """Return the volume of a value. Raises UserError for an index, which has none."""
        if id(value) not in self._names and self.at is not None:
            name = self.text.names.get(id(value), "an operand")
            message = f"%{name} of the type {value.type} is no tensor, and no element of one"
            raise self.error(self.at, message, HINT)
        return self._names[id(value)]

    def sizes(self, value: SSAValue) -> list[str]:
        """Return the names of the sizes of a value, one for each dimension."""
        return self._sizes[self.volume(value)]

    def define(self, value: SSAValue, entry: Entry, operation: Operation, said: str) -> str:
        """Add the operation that defines a value; `said` is how it was written."""
        name = self.introduce(value, operation, said)
        self.add(name, entry, operation, said)
        return name

    def add(self, name: str, entry: Entry, operation: Operation, said: str) -> None:
        """Add an operation by the name of its first result."""
        self.spans[name] = self.text.span(operation)
        line = self.spans[name].line
        kind = {"kind": entry.pop("kind")}
        self.operations[name] = kind | {"source": said, "line": line} | entry

    def introduce(self, value: SSAValue, operation: Operation, said: str) -> str:
        """Name a value and its sizes; sizes in its type become claims. Return the name."""
        type_ = self.type_of(value.type, operation)
        name = self._name(value, operation, said)
        self.types[name] = type_
        return name

    def introduce_truth(self, value: SSAValue, operation: Operation) -> str:
        """Name a truth, which is no volume: its readers compute the comparison."""
        self.truths.add(id(value))
        return self._name(value, operation, operation.name)

    def new_volume(self, wish: str, type_: str, sizes: Sequence[str]) -> str:
        """Return the name of a new volume without a value in MLIR, with the sizes of others."""
        name = self.new_name(wish)
        self.types[name], self._sizes[name] = type_, list(sizes)
        return name

    def _name(self, value: SSAValue, operation: Operation, said: str) -> str:
        name = self.new_name(self.text.names.get(id(value), "v"))
        self._names[id(value)] = name
        shape = value.type.get_shape() if isinstance(value.type, TensorType) else ()
        self._sizes[name] = [self.symbol(f"{name}_{k}") for k in range(len(shape))]
        for size, given in zip(self._sizes[name], shape, strict=True):
            if given != DYNAMIC_INDEX:
                self._claim(f"{said} {name}", f"{size} = {given}", self.text.span(operation))
        return name

    def type_of(self, found: Attribute, operation: Operation) -> str:
        """Return LAIR's name of a type of elements. Raises UserError for other types."""
        element = found.get_element_type() if isinstance(found, TensorType) else found
        if str(element) in TYPES:
            return TYPES[str(element)]
        hint = HINT
        if element == IntegerType(1):
            hint = "compare where the result selects, or convert it: arith.uitofp, arith.extui"
        elif isinstance(element, ShapedType | UnrankedTensorType | UnrankedMemRefType):
            hint = VALUES
        raise self.error(operation, f"{element} is no type of elements here", hint)

    def is_volume(self, value: SSAValue) -> bool:
        """Return whether a value is a volume."""
        return id(value) in self._names

    def shape(self, name: str, sizes: Sizes) -> list[str]:
        """Return the sizes of a volume: numbers, and expressions of symbolic constants."""
        return [sizes.fill(each) for each in self._sizes[name]]

    def described(self, sizes: Sizes, kernel: str, outputs: Sequence[str]) -> Entry:
        """Return the content of operations.yaml.

        Constants and empty tensors that nobody reads are left out. Volumes that no operation gives
        are inputs.
        """
        symbols = ", ".join(name for name in self.symbols if name not in sizes.values)
        texts = {name: _filled(e, sizes, f"[{symbols}] -> ") for name, e in self.operations.items()}
        read = {*outputs, *re.findall(r"\w+(?=\[)", str(texts)), *_inits(texts)}
        optional = ("constant", "empty")
        kept = {n: e for n, e in texts.items() if e["kind"] not in optional or n in read}
        names = [n for e in kept.values() for n in (e.get("results") or ())]
        names = [n for n in self.types if n in kept or n in names]
        return {
            "kernel": kernel,
            "outputs": list(outputs),
            "inputs": [name for name, e in kept.items() if e["kind"] in ("input", "constant")],
            "types": {name: self.types[name] for name in names},
            "operations": kept,
        }


def _filled(entry: Any, sizes: Sizes, prefix: str) -> Any:
    """Return an entry with known sizes put into its isl texts, which get a prefix."""
    if isinstance(entry, dict):
        return {key: _filled(value, sizes, prefix) for key, value in entry.items()}
    if isinstance(entry, list):
        return [_filled(value, sizes, prefix) for value in entry]
    if isinstance(entry, str) and entry.startswith("{"):
        return prefix + sizes.fill(entry)
    return entry


def _inits(entries: Mapping[str, Entry]) -> Iterator[str]:
    """Yield the volumes that reductions start from."""
    for entry in entries.values():
        for result in entry.get("results", {}).values():
            yield from [result["init"]] if "init" in result else []


def find_rank(value: SSAValue) -> int:
    """Return the number of dimensions of a value; a scalar has none."""
    return len(value.type.get_shape()) if isinstance(value.type, TensorType) else 0


def write_tuple(name: str, indices: Sequence[str]) -> str:
    """Return `name[indices]`."""
    return f"{name}[{', '.join(indices)}]"


def name_dimensions(prefix: str, count: int) -> list[str]:
    """Return names of dimensions: i0, i1, ..."""
    return [f"{prefix}{k}" for k in range(count)]


def write_box(indices: Sequence[str], sizes: Sequence[str]) -> str:
    """Return 0 <= index < size for every dimension."""
    bounds = [f"0 <= {i} < {s}" for i, s in zip(indices, sizes, strict=True)]
    return " and ".join(bounds) or "true"

# --- Types of loops -------------------------------------------------------------------------------
#
# Source   MLIR, dialect linalg: iterator_types of linalg.generic

def check_loops(
    draft: KernelDraft, operation: LinalgStructuredOperation, maps: Sequence[AffineMap]
) -> None:
    """Raise UserError for types of loops that contradict the maps.

    Instances of a parallel loop must write elements of their own.
    """
    kinds = [each.data for each in operation.get_iterator_types()]
    loops = maps[0].num_dims if maps else 0
    if len(kinds) != loops or any(each.num_dims != loops for each in maps):
        dims = ", ".join(str(each.num_dims) for each in maps)
        message = f"{operation.name} has iterator_types of {len(kinds)} loops, and maps of {dims}"
        raise draft.error(operation, message, "each loop is a dimension of every map")
    for k, kind in enumerate(kinds):
        written = all(_mentions(by, k) for by in maps[len(operation.inputs):])
        if kind is IteratorType.WINDOW:
            hint = 'say "parallel", or "reduction" for what is no index of the result'
            raise draft.error(operation, f"loop d{k} is of the old type window", hint)
        if kind is IteratorType.PARALLEL and not written:
            message = f"loop d{k} is parallel, and no index of the result"
            raise draft.error(operation, message, 'what is reduced is of type "reduction"')


def _mentions(by: AffineMap, loop: int) -> bool:
    return any(loop in each.used_dims() for each in by.results)

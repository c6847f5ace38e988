"""Operations of a kernel, and operations.yaml, their text between stages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.mapping.yaml_text import write_document
from lairmake.stages.poly.canonical import letters, list_sets
from lairmake.stages.poly.iscc import read_map, read_set
from lairmake.stages.poly.text import spell_object

OUT = isl.dim_type.out

# --- Operations of a kernel -----------------------------------------------------------------------
#
# Source   F Def. 4.10 and 4.14: a program is a set of assignments,
#          each of results of an operation on its operands

Kind = Literal["input", "constant", "empty", "index", "copy", "compute"]
OPERATIONS_HEADER = """The operations of a kernel, in order: each defines the volume of its name.
input: given from outside. constant: one value everywhere, or those of a dense tensor, row by row.
empty: no values yet. index: every element is its own index. copy: an element of the result is the
element of an operand that one of the maps under `copies` gives; these are disjoint. compute: an
instance of `loops` puts `value`, of the elements that the maps under `reads` give, into the element
of each result that its `writes` gives.
`init` is what a reduction starts from; without it, from the neutral element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationResult:
    """What a computation does to a volume: `volume[writes] operator value`.

    `operator` is one of LAIR's; `value` is a LAIR expression of the operation's reads by their
    names. A reduction starts from the volume `init`, element by element; None: from the neutral
    element of the operator.
    """

    volume: str
    writes: isl.Map
    operator: str
    value: str
    init: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeOperation:
    """An assignment; `name` is that of its (first) result.

    `source` is how it was written, at a `line` counted from 1. `copies` are disjoint maps
    { result[e] -> operand[e'] }; `loops` is the set of instances, `reads` the element that each of
    them reads, by the names that `value` has for them. `constant` has the value of a constant: a
    number, or a list of them.
    """

    name: str
    kind: Kind
    source: str
    line: int
    constant: Any = None
    copies: tuple[isl.Map, ...] = ()
    loops: isl.Set | None = None
    reads: Mapping[str, isl.Map] = field(default_factory=dict)
    results: tuple[OperationResult, ...] = ()

    @property
    def volumes(self) -> tuple[str, ...]:
        """The volumes that it defines."""
        return tuple(result.volume for result in self.results) or (self.name,)

    @property
    def operands(self) -> tuple[str, ...]:
        """The volumes that it reads, each once."""
        inits = [result.init for result in self.results if result.init is not None]
        maps = (*self.copies, *self.reads.values())
        return tuple(dict.fromkeys([*(read.get_tuple_name(OUT) or "" for read in maps), *inits]))


NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeProgram:
    """A kernel: its operations in order, the type of every volume, and what is asked of it.

    `outputs` and `inputs` are the volumes between which the program map goes.
    """

    name: str
    operations: tuple[VolumeOperation, ...]
    types: Mapping[str, str]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    _writers: dict[str, VolumeOperation] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pairs = {name: each for each in reversed(self.operations) for name in each.volumes}
        object.__setattr__(self, "_writers", pairs)

    def writer(self, volume: str) -> VolumeOperation:
        """Return the operation that defines a volume."""
        return self._writers[volume]


def write_program(program: VolumeProgram) -> str:
    """Return operations.yaml; `read_program` gives an equal program back."""
    return write_document(OPERATIONS_HEADER, program_data(program))


def program_data(program: VolumeProgram) -> dict[str, Any]:
    """Return the data of a program, as a YAML text holds it."""
    return {
        "kernel": program.name,
        "outputs": list(program.outputs),
        "inputs": list(program.inputs),
        "types": dict(program.types),
        "operations": {each.name: dict(_describe(each)) for each in program.operations},
    }


def _describe(operation: VolumeOperation) -> Iterator[tuple[str, Any]]:
    yield "kind", operation.kind
    yield "source", operation.source
    yield "line", operation.line
    if operation.kind == "constant":
        yield "constant", operation.constant
    if operation.copies:
        yield "copies", [str(each) for each in operation.copies]
    if operation.kind == "compute" and operation.loops is not None:
        yield "loops", spell_object(operation.loops)
        yield "reads", {name: spell_object(read) for name, read in operation.reads.items()}
        yield "results", {result.volume: dict(_result(result)) for result in operation.results}


def _result(result: OperationResult) -> Iterator[tuple[str, str]]:
    yield "writes", spell_object(result.writes)
    yield "operator", result.operator
    yield "value", result.value
    if result.init is not None:
        yield "init", result.init


def read_program(data: Mapping[str, Any]) -> VolumeProgram:
    """Return the program that the data of operations.yaml is.

    Raises UserError for a name that no kernel or volume may have: these become files.
    """
    for name in (data["kernel"], *data["types"]):
        if not NAME.fullmatch(str(name)):
            hint = "letters, digits and _, no digit first"
            raise UserError(f"operations.yaml: {name} cannot be a name", hint=hint)
    return VolumeProgram(
        name=data["kernel"],
        operations=tuple(_operation(name, each) for name, each in data["operations"].items()),
        types=data["types"],
        outputs=tuple(data["outputs"]),
        inputs=tuple(data["inputs"]),
    )


def _operation(name: str, data: Mapping[str, Any]) -> VolumeOperation:
    results = [
        OperationResult(volume=volume, **{**each, "writes": read_map(each["writes"])})
        for volume, each in data.get("results", {}).items()
    ]
    return VolumeOperation(
        name=name, kind=data["kind"], source=data["source"], line=data["line"],
        constant=data.get("constant"),
        copies=tuple(map(read_map, data.get("copies", ()))),
        loops=read_set(data["loops"]) if "loops" in data else None,
        reads={label: read_map(read) for label, read in data.get("reads", {}).items()},
        results=tuple(results),
    )

# --- The index domains of volumes -----------------------------------------------------------------
#
# Source   F Def. 4.1 (volume) and 4.2 (element)

DOMAINS_HEADER = """Index domains (Friebel et al., IMPACT 2023, definitions 4.1 and 4.2).
context: which values the symbolic constants may have; they are sizes, volume_dimension.
volumes: { volume[element] }, rectangular from zero."""


def make_domain(name: str, sizes: Sequence[str], symbols: Sequence[str]) -> isl.Set:
    """Return { name[i0, ...] : 0 <= i0 < size, ... }; sizes are expressions of the symbols."""
    dims = letters(len(sizes))
    bounds = [f"0 <= {i} < {s}" for i, s in zip(dims, sizes, strict=True)]
    text = f"{name}[{', '.join(dims)}] : {' and '.join(bounds) or 'true'}"
    return read_set(f"[{', '.join(symbols)}] -> {{ {text} }}").drop_unused_params()


def make_domains(volumes: isl.UnionSet) -> dict[str, isl.Set]:
    """Return the index domain of every volume by its name."""
    return {each.get_tuple_name() or "": each for each in list_sets(volumes)}

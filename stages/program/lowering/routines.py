"""What the function of a procedure of workers is made of: operands, instruction, charges.

A procedure is a vector instruction where the machine has one that gives the same bits, else a loop.

Paper    E Sec. 6.1.4
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stages.machine.profile import Profile
from stages.machine.types import is_integer
from stages.program.lowering.arguments import ONE, SAME, Arguments, Operand, find_arguments
from stages.program.lowering.c_operations import (
    count_scalars,
    write_number,
    write_operation,
)
from stages.program.sections.program import (
    ARRAY,
    TAKE_SUM,
    Procedure,
)
from stages.program.values.forms import Number
from stages.program.values.sums import STEPS, find_accumulator, find_neutral
from stages.program.vm.colours import GLOBAL_BROADCAST, REDUCTION_BROADCAST

VECTORS = {
    "copy": "COPY", "add": "ADD", "sub": "SUB", "mul": "MUL", "div": "DIV", "neg": "SUB",
    "maximum": "MAX", "minimum": "MIN", "and": "AND", "or": "OR", "xor": "XOR", "shl": "SLL",
    "shr": "SAR", "shr_logical": "SLR", "cast": "COPY",
}
"""Vector instructions that give the bits of an operation; neg subtracts from a zero."""

NAMES = ("a", "b", "c")
"""What a loop calls its sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A loop: its variable, how often it runs, and what its body is charged."""

    name: str
    size: str
    indent: str
    charged: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class KeptSize:
    """A size of what a sum over axes in memory gives: 1 along these, where the stride is 0."""

    stride: str
    size: str
    once: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Routine:
    """The function of a procedure; `form` says which macro of the template prints it.

    `sources` are those of the instruction; `number` is a constant among them, `kept` where a worker
    adds up. `sent` goes to a neighbour. `charged` are scalar operations and addresses.
    """

    name: str
    comment: str
    form: str
    operation: str = ""
    arguments: Arguments | None = None
    destination: Operand | None = None
    sources: tuple[Operand, ...] = ()
    number: str = ""
    element: str = ""
    expression: str = ""
    loops: tuple[Loop, ...] = ()
    kept: str = ""
    kept_sizes: tuple[KeptSize, ...] = ()
    sent: Operand | None = None
    side: str = ""
    colour: str = ""
    charged: tuple[int, int] = (0, 0)

    @property
    def a(self) -> Operand:
        """The first source."""
        return self.sources[0]

    @property
    def b(self) -> Operand | None:
        """The second one, if there is one."""
        return self.sources[1] if len(self.sources) > 1 else None

    @property
    def kept_names(self) -> tuple[str, ...]:
        """What the sizes are called of what is kept."""
        return tuple(f"kept{k}" for k in range(len(self.kept_sizes)))

    @property
    def added_sizes(self) -> tuple[str, ...]:
        """The sizes of what is added up to one element: 1 along the axes that are kept."""
        return tuple(f"{each.stride} != 0 ? 1 : {each.size}" for each in self.kept_sizes)

    @property
    def zero(self) -> str:
        """A number as an operand beside a destination."""
        assert self.destination is not None
        return replace(self.destination, strides=(SAME,) * len(self.kept_sizes)).text

    @property
    def wide(self) -> str:
        """Where sums of float16 are added up, as an operand."""
        return Operand(type="float32", place="", strides=(SAME,) * len(self.kept_sizes)).text

    @property
    def beside(self) -> Operand | None:
        """What lies in memory beside a source that comes from a neighbour, if anything does."""
        return self.sources[0] if self.sources else None


def write_routine(procedure: Procedure, profile: Profile) -> Routine:
    """Return what the function of a procedure is made of on a machine."""
    match procedure.kind:
        case "compute":
            return _write_compute(procedure, profile)
        case "accumulate":
            return _write_accumulate(procedure)
        case "reduce":
            return _write_reduce(procedure)
        case "take_sum" | "take_global":
            return _write_take(procedure)
    return Routine(name=procedure.name, comment="End.", form=procedure.kind)


def _write_compute(procedure: Procedure, profile: Profile) -> Routine:
    arguments = find_arguments(procedure)
    destination, *sources = arguments.operands
    common = Routine(
        name=procedure.name, comment=_describe(procedure), form="vector", arguments=arguments,
        destination=destination, operation=find_instruction(procedure, profile) or "",
        sources=tuple(sources), charged=arguments.charged,
    )
    if procedure.streamed is not None:
        sent = sources.pop(procedure.streamed)
        return replace(common, form="side", side=procedure.side.upper(), sent=sent,
                       sources=tuple(sources))
    if not common.operation:
        return _write_loops(common, procedure)
    if procedure.op == "neg":
        zero = Operand(type=destination.type, place="&number",
                       strides=(SAME,) * len(destination.strides))
        return replace(common, number=write_number(_minus_zero(zero.type), zero.type),
                       sources=(zero, *sources))
    return common


def _minus_zero(type_: str) -> Number:
    return 0 if is_integer(type_) else -0.0


def find_instruction(procedure: Procedure, profile: Profile) -> str | None:
    """Return the vector instruction that gives the bits of a procedure; None if none does."""
    result, *of = procedure.types
    operation = VECTORS.get(procedure.op)
    if operation is None or _truncates(procedure):
        return None
    in_memory = [type_ for type_, kind in zip(of, procedure.sources, strict=True) if kind == ARRAY]
    return operation if profile.find_lanes(operation, result, *in_memory) else None


def _truncates(procedure: Procedure) -> bool:
    """Whether a float becomes an integer: it is cut, and what is too large is the largest."""
    result, *of = procedure.types
    return procedure.op == "cast" and is_integer(result) and not is_integer(of[0])


def _write_loops(common: Routine, procedure: Procedure) -> Routine:
    assert common.arguments is not None and common.destination is not None
    names = tuple(f"i{k}" for k in range(len(common.arguments.sizes)))
    sizes = ("size", *(f"argument[{at}]" for at in common.arguments.sizes[1:]))
    elements = [f"{name}[{each.find_element(names)}]"
                for name, each in zip(NAMES, common.sources, strict=False)]
    arrays = sum(each.is_array for each in (common.destination, *common.sources))
    loops = [Loop(name=name, size=size, indent="    " * k, charged=(0, 0))
             for k, (name, size) in enumerate(zip(names, sizes, strict=True))]
    loops[-1] = replace(loops[-1], charged=(count_scalars(procedure.op), arrays))
    return replace(
        common, form="loops", loops=tuple(loops), element=common.destination.find_element(names),
        expression=write_operation(procedure.op, procedure.types, elements),
    )


def _write_accumulate(procedure: Procedure) -> Routine:
    """Return a sum over axes in memory; of float16 each is added up in float32, then rounded."""
    arguments = find_arguments(procedure)
    destination, source = arguments.operands
    ranks = range(len(arguments.sizes))
    sizes = ("size", *(f"argument[{at}]" for at in arguments.sizes[1:]))
    once = (f"takes_part(pe, argument[{arguments.filter}])", *("1" for _ in ranks[1:]))
    scalars, addresses = arguments.charged
    common = Routine(
        name=procedure.name, comment=_describe(procedure), form="accumulate", arguments=arguments,
        destination=destination, sources=(source,), operation=VECTORS[STEPS[procedure.op]],
        number=write_neutral(procedure), charged=(scalars + len(ranks), addresses),
        kept_sizes=tuple(map(KeptSize, destination.strides, sizes, once)),
    )
    wide = find_accumulator(procedure.op, procedure.types[-1])
    if wide == procedure.types[-1]:
        return common
    names = tuple(f"i{k}" for k in ranks)
    loops = [Loop(name=name, size=kept, indent="    " * k)
             for k, (name, kept) in enumerate(zip(names, common.kept_names, strict=True))]
    loops[-1] = replace(loops[-1], charged=(1, 2))
    return replace(
        common, form="widened", loops=tuple(loops), kept=f"kept_{wide}",
        element=destination.find_element(names), expression=source.find_element(names),
    )


def _write_reduce(procedure: Procedure) -> Routine:
    arguments = find_arguments(procedure)
    return Routine(
        name=procedure.name, comment=_describe(procedure), form="reduce", arguments=arguments,
        destination=keep(procedure, len(arguments.sizes)), sources=arguments.operands,
        operation=VECTORS[STEPS[procedure.op]], number=write_neutral(procedure),
        kept=f"kept_{find_accumulator(procedure.op, procedure.types[-1])}",
        charged=arguments.charged,
    )


def keep(procedure: Procedure, rank: int) -> Operand:
    """Return where a PE adds up what it has of a reduction: the same for all instances."""
    type_ = find_accumulator(procedure.op, procedure.types[-1])
    return Operand(type=type_, place=f"&my->kept_{type_}", strides=(SAME,) * rank)


def write_neutral(procedure: Procedure) -> str:
    """Return what a reduction begins with, as an expression in C."""
    type_ = find_accumulator(procedure.op, procedure.types[-1])
    return write_number(find_neutral(procedure.op, procedure.types[-1]).item(), type_)


def _write_take(procedure: Procedure) -> Routine:
    is_sum = procedure.kind == TAKE_SUM
    said = "the result of a reduction" if is_sum else "a scalar of the executive"
    colour = REDUCTION_BROADCAST if is_sum else GLOBAL_BROADCAST
    place = Operand(type=procedure.types[0], place="entry(my, 0)", strides=(ONE,))
    return Routine(name=procedure.name, comment=f"Take {said}.", form="take", destination=place,
                   colour=colour, charged=(0, 1))


def _describe(procedure: Procedure) -> str:
    """Return a line about a procedure: what it computes, and of what."""
    result, *of = procedure.types
    whose = [f"the {procedure.side} neighbour's" if k == procedure.streamed else
             "an array" if kind == ARRAY else "a scalar"
             for k, kind in enumerate(procedure.sources)]
    rank = f", rank {procedure.rank}" if procedure.rank else ""
    types = result if set(of) == {result} else f"{result} of {', '.join(of)}"
    return f"{procedure.op} of {' and '.join(whose)}: {types}{rank}."

"""Steps of a task: several instructions, loops, and tables."""

from __future__ import annotations

import typing
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from lairmake.stages.lair.expressions import MULTIPLY_ADDS, ExpressionPart, Leaf, VectorOperation
from lairmake.stages.layer.texts.simd_yaml import EntryType, TableDecision
from lairmake.stages.layer.texts.task_graph import Fills, Operate
from lairmake.stages.layer.vector.loops import find_streamed
from lairmake.stages.layer.vector.operands import (
    GivenOperand,
    InPart,
    Operand,
    along,
    extend,
    in_memory,
)
from lairmake.stages.layer.vector.situation import (
    Situation,
    VectorCandidate,
    find_negated,
    negate,
    pad_rows,
    take_apart,
    turn,
)
from lairmake.stages.machine.types import BYTES, OPERATIONS, find_integers, is_integer
from lairmake.stages.pe.block import count_kinds, count_moves
from lairmake.stages.poly.box import Shape
from lairmake.stages.poly.expression import express
from lairmake.stages.poly.functions import (
    PE_NAMES,
    find_function,
    find_greatest,
    find_index_constants,
    find_least,
    greatest_value,
    is_affine_function,
    project_names,
)

PARAM = isl.dim_type.param

# --- Steps of a task ------------------------------------------------------------------------------
#
# Steps are vector instructions one after another, and loops for what none computes. What an earlier
# step gives to later ones lies in parts, in the order of the box, and varies along no more
# dimensions of it than what it is computed from.
#
# Paper    V Sec. 5, condition 1; several steps go beyond it

RESULT = ExpressionPart(number=-1)
"""The result of a loop, before it is copied to the target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorStep:
    """A vector instruction, or a loop: its operation, and its operands d, a, b, c.

    `along` are the dimensions of the box that it runs over.
    """

    operation: str
    operands: tuple[Operand, ...]
    along: tuple[int, ...]

    @property
    def looped(self) -> bool:
        """Whether it is a function, or an operator, that no vector instruction computes here."""
        return self.operation not in OPERATIONS


def find_steps(
    situation: Situation,
    operations: Sequence[VectorOperation],
    candidate: VectorCandidate,
    *,
    in_place: bool = False,
) -> tuple[VectorStep, ...]:
    """Return the steps of a task. Raises NotPossibleError if an access is not linear.

    `in_place`: what loops compute is copied before or after, so that they need one address only.
    """
    every = tuple(range(len(candidate.sizes)))
    if isinstance(situation.task, Operate):
        name, streamed = find_streamed(situation, situation.task, operations, candidate)
        return (VectorStep(operation=name, operands=streamed, along=every),)
    if not situation.runs:
        (operation,), (tensor,) = operations, situation.accesses
        memory = in_memory(situation, tensor, candidate)
        value = typing.cast(str, operation.sources[0])
        filled = GivenOperand(kind="number", value=value, type=memory.type)
        fills = isinstance(situation.task, Fills)
        operands: tuple[Operand, ...] = (memory, filled) if fills else (memory,)
        return (VectorStep(operation=operation.name, operands=operands, along=every),)
    builder = _Builder(situation, candidate)
    steps = [
        step
        for operation in operations
        for each in builder.found(operation)
        for step in builder.steps(each, every)
    ]
    return tuple(placed(list(_in_place(steps)) if in_place else steps))


class _Builder:
    """Turns the operations of a statement into steps, each part of which has its own number."""

    def __init__(self, situation: Situation, candidate: VectorCandidate) -> None:
        self.situation, self.candidate = situation, candidate
        assert situation.target is not None, "a statement writes its target"
        self.target = situation.target
        self.type = situation.type_of(self.target)
        types = [self.type, *map(situation.type_of, situation.accesses)]
        self.computed = find_integers(types) if is_integer(self.type) else "float32"
        self.sizes = _greatest(candidate)
        self.parts: dict[int, InPart] = {}
        self.operation_of: dict[ExpressionPart, VectorOperation] = {}
        self.reciprocals: dict[Leaf, ExpressionPart] = {}
        self.products = 0
        self.summed: set[ExpressionPart] = set()

    def found(self, operation: VectorOperation) -> Iterator[VectorOperation]:
        """Yield an operation, or those that a machine has instead: without quotients in lanes, or
        that multiplies and adds by a scalar.
        """
        if operation.to is not None:
            self.operation_of[operation.to] = operation
        if operation.name == "DIV":
            yield from self._quotient(operation)
        elif operation.name not in MULTIPLY_ADDS or self.situation.profile.vector_multiply_add:
            yield operation
        elif not self._is_by_scalar(operation):
            yield from self._apart(operation)
        elif operation.name in ("MAC", "FMA"):
            yield operation
        else:
            yield from self._turned(operation)

    def _quotient(self, operation: VectorOperation) -> Iterator[VectorOperation]:
        """Yield a quotient; or a product with a reciprocal, one for all that have a divisor.

        It is a product where loops would divide, and several quotients have the same divisor.
        """
        dividend, divisor = operation.sources
        sources = [self.operand(leaf) for leaf in operation.sources]
        type_ = self.type if operation.to is None else self._type_of(operation.to)
        shared = self._varying(sources[0]) - self._varying(sources[1])
        if not shared or self._divides(type_, sources) or not self._inverts(operation):
            yield operation
            return
        if isinstance(divisor, int | float):
            yield replace(operation, name="MUL", sources=(dividend, 1 / divisor))
            return
        if divisor not in self.reciprocals:
            self.reciprocals[divisor] = self._new(rounded=False)
            to = self.reciprocals[divisor]
            yield VectorOperation(name="reciprocal", sources=(divisor,), to=to)
        yield replace(operation, name="MUL", sources=(dividend, self.reciprocals[divisor]))

    def _inverts(self, operation: VectorOperation) -> bool:
        """Whether a product with a reciprocal is off by two roundings at most, for any values.

        It is where the reciprocal neither overflows nor loses digits: that of a float16, an integer
        or a square root does not, whatever its value. That of a float32 may: below 2^-126 it
        overflows, above 2^126 it has fewer digits. But a float16 that is divided by the former is
        beyond 2^102, or 0, and one that is divided by the latter below 2^-110. As a float16 these
        are infinite, or 0, with a product as well; `reciprocal` of pe.h is infinite for 0 only, so
        that 0 is never multiplied by infinity.
        """
        dividend, divisor = operation.sources
        if self.computed != "float32":
            return False
        if isinstance(divisor, int | float):
            return 2.0**-126 <= abs(divisor) <= 2.0**126
        of = self.operation_of.get(divisor) if isinstance(divisor, ExpressionPart) else None
        if self.operand(divisor).type != "float32" or (of is not None and of.name == "sqrt"):
            return True
        ends = operation.to is None and self.type == "float16"
        return ends and self.operand(dividend).type == "float16"

    def _turned(self, operation: VectorOperation) -> Iterator[VectorOperation]:
        """Yield the multiply-add that a difference is with a scalar turned around, if there is one.
        """
        at = find_negated(operation, self._varies)
        if at is None:
            yield from self._apart(operation)
            return
        source = operation.sources[at]
        negative: Leaf | None = negate(source, self.computed)
        if negative is None:
            negative = self._new(rounded=self.operand(source).type == self.type)
            yield VectorOperation(name="MUL", sources=(source, -1), to=negative)
        yield turn(operation, at, negative)

    def _apart(self, operation: VectorOperation) -> Iterator[VectorOperation]:
        """Yield a product and a sum."""
        product = self._new(rounded=self._is_rounded(operation))
        if operation.to is None and not self._writes_each_once():
            self.summed.add(product)
        yield from take_apart(operation, self.target, product)

    def _new(self, *, rounded: bool) -> ExpressionPart:
        """Return a part for what no operation of the statement gives."""
        self.products += 1
        return ExpressionPart(number=RESULT.number - self.products, rounded=rounded)

    def _is_by_scalar(self, operation: VectorOperation) -> bool:
        """Whether one factor does not vary, and no two points of the box have the same result."""
        if all(map(self._varies, operation.sources[:2])):
            return False
        return operation.to is not None or self._writes_each_once()

    def _writes_each_once(self) -> bool:
        """Whether each point of the box has an element of the target of its own."""
        target = self._varying(self.operand(self.target))
        return target == {k for k, size in enumerate(self.sizes) if size != 1}

    def _is_rounded(self, operation: VectorOperation) -> bool:
        """Whether a product has the type of the target: it goes there, and so have its factors."""
        factors = [self.operand(leaf) for leaf in operation.sources[:2]]
        types = {f.type for f in factors if not isinstance(f, GivenOperand) or f.kind == "element"}
        return (operation.to is None or operation.to.rounded) and types <= {self.type}

    def _varies(self, leaf: Leaf) -> bool:
        return bool(self._varying(self.operand(leaf)))

    def _varying(self, operand: Operand) -> set[int]:
        """Return the dimensions of the box along which an operand has several values."""
        return {k for k in along(operand) if self.sizes[k] != 1}

    def steps(self, operation: VectorOperation, every: tuple[int, ...]) -> Iterator[VectorStep]:
        """Yield the steps of an operation.

        Whatever is no tensor is computed in float32, or in the widest type of the integers. A loop
        computes no value of the target twice: what is the same for several is copied.
        """
        name, sources = operation.name, tuple(self.operand(leaf) for leaf in operation.sources)
        own = tuple(sorted({k for source in sources for k in along(source)}))
        to = None if operation.to is None else self._part(operation.to, own)
        if name == "DIV" and not self._divides(to.type if to else self.type, sources):
            name = "divide"
        if to is None and name not in OPERATIONS and own != every:
            part = self._part(RESULT, own)
            yield VectorStep(operation=name, operands=(part, *sources), along=own)
            name, sources = "COPY", (part,)
        if to is not None:
            yield VectorStep(operation=name, operands=(to, *sources), along=own)
        else:
            target = self.operand(self.target)
            yield VectorStep(operation=name, operands=(target, *sources), along=every)

    def _divides(self, type_: str, sources: Sequence[Operand]) -> bool:
        """Whether vector instructions of the machine give such quotients, of a type."""
        types = [source.type for source in sources if along(source)]
        return self.situation.profile.find_lanes("DIV", type_, *types) > 0

    def operand(self, leaf: Leaf) -> Operand:
        """Return what is there before a step. Raises NotPossibleError."""
        if isinstance(leaf, ExpressionPart):
            return self.parts[leaf.number]
        if not isinstance(leaf, str):
            return GivenOperand(kind="number", value=leaf, type=self.computed)
        if leaf == self.situation.arriving:
            return GivenOperand(kind="element", value=leaf, type=self.situation.type_of(leaf))
        return in_memory(self.situation, leaf, self.candidate)

    def _part(self, part: ExpressionPart, dimensions: tuple[int, ...]) -> InPart:
        shape = tuple(self.sizes[k] for k in dimensions)
        if part in self.summed:
            shape = pad_rows(shape, self.situation.profile.stride_limits)
        found = InPart(
            number=part.number, type=self._type_of(part), along=dimensions, shape=shape)
        self.parts[part.number] = found
        return found

    def _type_of(self, part: ExpressionPart) -> str:
        return self.type if part.rounded and self.computed == "float32" else self.computed


def _greatest(candidate: VectorCandidate) -> Shape:
    """Return the greatest size of each dimension of the box."""
    domain = candidate.box.params()
    sizes = (greatest_value(size.intersect_params(domain).floor()) for size in candidate.sizes)
    return tuple(size.to_python() for size in sizes)


def _in_place(steps: Sequence[VectorStep]) -> Iterator[VectorStep]:
    """Yield the steps, those of loops on one operand where copies before or after allow that."""
    last = _last_uses(steps)
    for at, step in enumerate(steps):
        single = step.looped and len(step.operands) == 2
        to, source = step.operands if single else (None, None)
        ends = isinstance(source, InPart) and last[source.number] == at
        if to is None or source is None or isinstance(source, GivenOperand):
            yield step
        elif _holds(to.type, source.type) and not (ends and _is_alike(to, source)):
            yield replace(step, operation="COPY")
            yield replace(step, operands=(to, to))
        elif ends and not _is_alike(to, source):
            yield replace(step, operands=(source, source))
            yield replace(step, operation="COPY")
        else:
            yield step


def _holds(type_: str, other: str) -> bool:
    """Return whether a copy has the values with which a loop would compute."""
    return type_ in (other, "float32")


def placed(steps: Sequence[VectorStep]) -> Iterator[VectorStep]:
    """Yield the steps with as few parts as memory needs.

    What a step uses for the last time, its result may replace, if it is of the same kind.
    """
    last = _last_uses(steps)
    free: dict[InPart, list[int]] = {}
    numbers: dict[int, int] = {}
    for at, step in enumerate(steps):
        used = [operand for operand in step.operands[1:] if isinstance(operand, InPart)]
        for part in reversed(list(dict.fromkeys(used))):
            if last[part.number] == at:
                free.setdefault(_kind(part), []).append(numbers[part.number])
        to = step.operands[0]
        if isinstance(to, InPart) and to.number not in numbers:
            same = free.get(_kind(to))
            numbers[to.number] = same.pop() if same else len(set(numbers.values()))
        yield replace(step, operands=tuple(_numbered(o, numbers) for o in step.operands))


def _last_uses(steps: Sequence[VectorStep]) -> Mapping[int, int]:
    """Return, by the number of a part, the step that uses it last."""
    return {
        operand.number: at
        for at, step in enumerate(steps)
        for operand in step.operands
        if isinstance(operand, InPart)
    }


def _is_alike(one: Operand, other: Operand) -> bool:
    """Return whether two are parts that may have the same memory."""
    if not (isinstance(one, InPart) and isinstance(other, InPart)):
        return False
    return _kind(one) == _kind(other)


def _kind(part: InPart) -> InPart:
    return replace(part, number=0)


def _numbered(operand: Operand, numbers: Mapping[int, int]) -> Operand:
    if not isinstance(operand, InPart):
        return operand
    return replace(operand, number=numbers[operand.number])


def find_parts(steps: Sequence[VectorStep]) -> list[InPart]:
    """Return the parts that steps give to later ones, by their numbers."""
    parts = {o.number: o for step in steps for o in step.operands if isinstance(o, InPart)}
    return [parts[number] for number in sorted(parts)]

# --- Tables of functions of one index -------------------------------------------------------------
#
# An element looks such a function up, and does not compute it again. A table holds the values for
# each value of the index, and is filled in main. It is kept where the operations of the function
# cost more than the address of an entry.
#
# Source   strength reduction; V Sec. 5.4, computes sizes at run time


class StepTables:
    """The tables of a task, by the symbolic constants that stand for what is looked up."""

    def __init__(self, situation: Situation) -> None:
        """Start without any; they may take a share of the memory that tensors and code leave."""
        self.profile = situation.profile
        self.context = situation.elements.params()
        self.firsts = {f"first{k}": each for k, each in enumerate(situation.exact.minimum)}
        self.found: dict[str, TableDecision] = {}
        self.places: dict[str, str] = {}
        files, tasks = situation.files, len(situation.files.graph.tasks)
        free = self.profile.memory - files.code - (3 + 2 * tasks) * self.profile.code_task
        free -= extend(files.local, ()).bytes(situation.local_type)
        self.room = free // (2 * tasks)

    def holds(self, name: str, function: isl.PwAff) -> bool:
        """Return whether [p] -> { [f(p)] } is looked up under a name, in a new table.

        It may depend on the least value first0 of a dimension, which is one of the same index.
        """
        computed = self.profile.find_cost(count_kinds(express(function, self.context)))
        if computed <= self.profile.address:
            return False
        for least, value in self.firsts.items():
            function = _composed(function, least, value)
        simple = function.gist(self.context).coalesce()
        names = simple.get_var_names_not_none(PARAM)
        used = [n for k, n in enumerate(names) if simple.involves_dims(PARAM, k, 1)]
        used = [name for name in used if name not in PE_NAMES]
        if len(used) != 1 or used[0] not in find_index_constants(self.context):
            return False
        first, last = _ends(self.context, used[0])
        entries, type_ = last - first + 1, _find_type(simple.intersect_params(self.context))
        looked_up = Counter(address=1) + count_moves([type_], [])
        if computed <= self.profile.find_cost(looked_up):
            return False
        if entries * BYTES[type_] > self.room:
            return False
        self.room -= entries * BYTES[type_]
        self.found[name] = TableDecision(
            by=used[0], least=first, entries=entries, type=type_, value=str(simple)
        )
        return True

    def place(self, base: int | str) -> int | str:
        """Return an index of an operand's base, or the constant that it is looked up as."""
        if isinstance(base, int) or is_affine_function(isl.PwAff(base), self.context):
            return base
        if base not in self.places:
            name = f"at{len(self.places)}"
            held = self.holds(name, isl.PwAff(base))
            self.places[base] = f"[{name}] -> {{ [({name})] }}" if held else base
        return self.places[base]


def _find_type(function: isl.PwAff) -> EntryType:
    """Return the type of a table of the values of a function."""
    values = isl.Set.from_pw_aff(function)
    values = project_names(values, values.get_var_names_not_none(PARAM))
    ends = find_least(values, 0), find_greatest(values, 0)
    return "int16" if all(abs(end.to_python()) < 1 << 15 for end in ends) else "int32"


def _composed(function: isl.PwAff, name: str, value: isl.PwAff) -> isl.PwAff:
    """Return [p] -> { [f(p, v(p))] } of [p, name] -> { [f(p, name)] } and [p] -> { [v(p)] }."""
    position = function.find_dim_by_name(PARAM, name)
    if position < 0 or not function.involves_dims(PARAM, position, 1):
        return function
    same = isl.PwAff(f"[{name}] -> {{ [({name})] }}").eq_set(value)
    graph = isl.Set.from_pw_aff(function).intersect_params(same)
    at = graph.find_dim_by_name(PARAM, name)
    return find_function(graph.project_out(PARAM, at, 1)).get_at(0)


def _ends(context: isl.Set, name: str) -> tuple[int, int]:
    """Return the least and the greatest value of a symbolic constant."""
    others = [n for n in context.get_var_names_not_none(PARAM) if n != name]
    values = project_names(context, others)
    values = values.unbind_params(isl.MultiId(f"[{name}] -> {{ [{name}] }}"))
    return find_least(values, 0).to_python(), find_greatest(values, 0).to_python()

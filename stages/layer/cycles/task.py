"""Cycles of a task, from the code that would be written."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import prod

import islpy as isl

from lairmake.stages.layer.codegen.instruction import (
    add_task_loops,
    add_vector_call,
    count_buffers,
)
from lairmake.stages.layer.codegen.model import ProgramModel
from lairmake.stages.layer.texts.simd_yaml import (
    Decision,
    GivenDecision,
    LocalDecision,
    OperandDecision,
    StepDecision,
)
from lairmake.stages.layer.vector.instruction import (
    find_rate,
    find_step_rate,
    instruction,
    is_single,
)
from lairmake.stages.layer.vector.operands import (
    CallValues,
    Counts,
    FirstIndex,
    InPart,
    LinearIndex,
    MemoryOperand,
    Operand,
    OperandMemory,
    count_first_words,
    count_turns,
    extend,
    find_calls,
    turn_buffer,
)
from lairmake.stages.layer.vector.situation import Situation, VectorCandidate, configurations
from lairmake.stages.layer.vector.steps import VectorStep
from lairmake.stages.machine.banks import WORD, Banks, Words, count_waits
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.types import BYTES
from lairmake.stages.pe.block import Block, BlockCharge
from lairmake.stages.pe.names import new_naming
from lairmake.stages.poly.box import find_full
from lairmake.stages.poly.cardinality import count
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_set,
    find_index_constants,
    find_least,
    greatest_value,
    least_value,
    project_names,
    simplify,
)
from lairmake.stages.poly.quota import TooManyOperations, limit_operations

# --- Costs of a task ------------------------------------------------------------------------------
#
# A task runs as a vector instruction, or as loops. It is charged for what would be written, on one
# PE with the largest sizes, for all elements of a stream: calls x (selection, addresses and
# start-up + elements / lanes), and the configuration, which is once for all invocations.

MOST_OPERATIONS = 500_000
"""Operations that isl may spend on finding the busiest PE: half a second."""


@dataclass(frozen=True, kw_only=True)
class Charged:
    """The costs of one task, on a PE: that which `busiest` returns, if none is given.

    `place` is [PE_X, PE_Y] -> { : one PE }.
    """

    situation: Situation
    place: isl.Set | None = None

    @cached_property
    def charge(self) -> BlockCharge:
        """Charges on that PE."""
        place = busiest(self.situation) if self.place is None else self.place
        here = self.situation.known.intersect_params(place)
        return BlockCharge(profile=self.situation.profile, here=here)

    @cached_property
    def other(self) -> Charged | None:
        """The costs on the busiest PE of those where the instances are no box, if there is one."""
        place = find_other(self.situation)
        return None if place is None else replace(self, place=place)

    @cached_property
    def known(self) -> int:
        """The number of invocations of the task."""
        return count(self.charge.here)

    @cached_property
    def calls(self) -> int:
        """The number of invocations in which there are instances."""
        return count(self.situation.elements.params().intersect(self.charge.here))

    def loops(self) -> int:
        """Return the cycles of the loops."""
        block, name = Block(), self.situation.name
        memory = extend(self.situation.files.local, ())
        work = self._work(memory, Decision(by="loops", why=""))
        naming = new_naming()
        add_task_loops(block, name, work, naming, self._elements())
        block.charge(scalar=count_buffers(block, work.find_buffers(naming)))
        return self.charge.of(block, self.known) * self.situation.files.invocations

    def vector(self, candidate: VectorCandidate, steps: Sequence[VectorStep]) -> int:
        """Return the cycles of the vector instructions of a statement.

        Of rows of several sizes, those on a PE where instances are no box count, if they are more.
        """
        cycles = self._vector(candidate, steps)
        in_rows = candidate.outer is not None and candidate.each_call
        if not in_rows or self.other is None:
            return cycles
        return max(cycles, self.other._vector(candidate, steps))

    def _vector(self, candidate: VectorCandidate, steps: Sequence[VectorStep]) -> int:
        memory = extend(self.situation.files.local, candidate.touched)
        guard = None if self.situation.guard is None else str(self.situation.guard)
        begun = Decision(guard=guard, by=candidate.way, why=candidate.why)
        described = instruction(begun, self.situation, candidate, steps, memory)
        work = self._work(memory, replace(described, by=candidate.way))
        block, naming = Block(), new_naming()
        add_vector_call(block, self.situation.name, work, naming, self._elements())
        block.charge(scalar=count_buffers(block, work.find_buffers(naming)))
        vectors = [step for step in steps if not step.looped]
        runs = self._count_runs(candidate)
        lanes = {n: self._run(candidate, s, memory, runs) for n, s in enumerate(steps)
                 if not s.looped}
        scalar = self._guarded(block)
        charged = scalar + sum(lanes.values())
        if self.situation.profile.vector_latency:
            charged += self._wait(candidate, steps, lanes, CallCosts(runs=runs, scalar=scalar,
                                                                 loads=_loads(block)))
        at_calls = candidate.each_call or candidate.in_turn
        once = 0 if at_calls else len(vectors) * configurations(candidate)
        configured = once * self.situation.profile.configuration
        return charged * self.situation.files.invocations + configured

    def _guarded(self, block: Block) -> int:
        """Return the charge of a block whose inner ones run only where there are instances."""
        inner = [each for each in block.statements if isinstance(each, Block)]
        own = Block(operations=block.operations)
        within = sum(self.charge.within(b, self.calls) for b in inner)
        return self.charge.of(own, self.known) + within

    def _count_runs(self, candidate: VectorCandidate) -> int:
        """Return how often the instructions of the task run."""
        if candidate.outer is None:
            return self.calls
        return count(candidate.outer.intersect_params(self.charge.here))

    def _wait(
        self,
        candidate: VectorCandidate,
        steps: Sequence[VectorStep],
        lanes: Mapping[int, int],
        called: CallCosts,
    ) -> int:
        """Return the cycles in which instructions, loops and the end of the task wait for results.

        `lanes` are the cycles of each instruction, by its number. A call is as all of them are in
        the mean; the first one of a task waits for none before it.
        """
        if not self.calls or not called.runs:
            return 0
        follows, results = max(0, called.runs - self.calls), ResultTimes(
            self.situation.profile, self.situation.files.graph.count_buffers())
        moves = f"outer{candidate.outer.dim(isl.dim_type.set) - 1}" if candidate.outer else None
        waited = []
        for _ in range(3):
            before = results.waited
            results.go_on(called.scalar / called.runs, loads=called.loads)
            for number, step in enumerate(steps):
                if step.looped:
                    results.go_on(0, loads=True)
                else:
                    results.run(step, lanes[number] / called.runs)
            waited.append(results.waited - before)
            end = results.ready - results.now
            results.forget_moving(moves)
        return round(self.calls * (waited[0] + end) + follows * waited[2])

    def _run(
        self, candidate: VectorCandidate, step: VectorStep, memory: OperandMemory, runs: int
    ) -> int:
        """Return the cycles of an instruction itself, all that it `runs`.

        Where two sizes vary, and the others leave lanes empty, for their mean.
        """
        here, found = self.charge.here, candidate.sizes
        box = _along(candidate.box, step.along).intersect_params(here)
        if candidate.outer is not None and candidate.each_call:
            found = tuple(simplify(size, box.params()) for size in found)
        sizes = [found[k] for k in step.along]
        single = [is_single(size) for size in found]
        lanes = find_step_rate(self.situation, step, memory, single)
        varying = [size for size in sizes if _constant(size) is None]
        fixed = prod(_constant(size) or 1 for size in sizes)
        if varying and fixed % lanes == 0:
            running = count(box) // lanes
        elif len(varying) == 1:
            running = count(_vectors(varying[0].intersect_params(box.params()), fixed, lanes))
        else:
            mean = -(-count(box) // max(1, runs))
            running = runs * -(-mean // lanes)
        start = self.situation.profile.vector_start_up
        if candidate.each_call or candidate.in_turn:
            start += self.situation.profile.configuration
        return runs * start + running

    def _work(self, memory: OperandMemory, decision: Decision) -> ProgramModel:
        files, situation = self.situation.files, self.situation
        return ProgramModel(
            graph=files.graph,
            simd={situation.name: decision},
            schedule=files.schedule,
            instances=files.instances,
            compressed=files.compressed,
            local=memory.local(),
            allocation=memory.moved(files.to_local),
        )

    def _elements(self) -> dict[str, str]:
        """Return the variable of the element that arrives, by its tensor."""
        tensor = self.situation.arriving
        return {} if tensor is None else {tensor: tensor}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCosts:
    """The calls of a task's instructions: how many, and the cycles of scalar code around them.

    `loads`: it reads memory, and waits for all results.
    """

    runs: int
    scalar: int
    loads: bool


class ResultTimes:
    """The results of vector instructions, and when they can be read, as vector.c has them."""

    def __init__(self, profile: Profile, buffers: Counts) -> None:
        """Begin without any."""
        self.latency, self.buffers = profile.vector_latency, buffers
        self.now = self.waited = 0.0
        self.results: dict[str, tuple[float, Operand]] = {}

    @property
    def ready(self) -> float:
        """When all can be read."""
        return max([self.now, *(ready for ready, _ in self.results.values())])

    def go_on(self, cycles: float, *, loads: bool) -> None:
        """Run scalar code, behind what it waits for."""
        if loads:
            self._wait_until(self.ready)
        self.now += cycles

    def run(self, step: VectorStep, cycles: float) -> None:
        """Run a vector instruction, behind what it reads."""
        read = step.operands if step.operation == "MAC" else step.operands[1:]
        found = [self.results[place] for place in map(self._place, read) if place in self.results]
        self._wait_until(max([self.now, *(ready for ready, _ in found)]))
        self.now += cycles
        target = self._place(step.operands[0])
        if target is not None:
            self.results[target] = (self.now + self.latency, step.operands[0])

    def forget_moving(self, name: str | None) -> None:
        """Forget the results that lie elsewhere at the next call: by a symbolic constant."""
        self.results = {
            place: (ready, operand) for place, (ready, operand) in self.results.items()
            if not _involves(operand, name)
        }

    def _wait_until(self, ready: float) -> None:
        self.waited += max(0.0, ready - self.now)
        self.now = max(ready, self.now)

    def _place(self, operand: Operand) -> str | None:
        """Return the array in which an operand lies, or its buffer, if it lies in memory."""
        match operand:
            case MemoryOperand() if operand.local in self.buffers:
                return f"{operand.local} {_constant(operand.base[0])}"
            case MemoryOperand():
                return operand.local
            case InPart():
                return f"part {operand.number}"
        return None


def _involves(operand: Operand, name: str | None) -> bool:
    """Whether the first element of an operand depends on a symbolic constant."""
    if not isinstance(operand, MemoryOperand) or name is None:
        return False
    found = ((b, b.find_dim_by_name(isl.dim_type.param, name)) for b in operand.base)
    return any(at >= 0 and b.involves_dims(isl.dim_type.param, at, 1) for b, at in found)


def _loads(block: Block) -> bool:
    """Whether any scalar code of a block reads memory."""
    return block.operations["load"] > 0 or any(
        _loads(each) for each in block.statements if isinstance(each, Block))


def busiest(situation: Situation) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : one PE }, with the largest sizes, the outermost first.

    Of several such PEs one where the instances are a box. Sizes of which isl needs long to tell
    where they are largest do not count.
    """
    domain = _largest(situation, situation.elements.params())
    full = domain.intersect(_full(situation))
    return _one_pe(domain if full.is_empty() else full)


def find_other(situation: Situation) -> isl.Set | None:
    """Return the busiest PE of those where the instances are no box; None if there is none."""
    rest = situation.elements.params().subtract(_full(situation))
    return None if rest.is_empty() else _one_pe(_largest(situation, rest))


def _full(situation: Situation) -> isl.Set:
    """Return the symbolic constants for which the instances are a box."""
    if situation.exact.is_box:
        return situation.exact.domain
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        return find_full(situation.elements, situation.exact)
    return isl.Set.empty(situation.exact.domain.space)


def _largest(situation: Situation, domain: isl.Set) -> isl.Set:
    """Return the part of a domain with the largest sizes, the outermost first."""
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        for size in situation.exact.size:
            here = size.intersect_params(domain).floor()
            greatest = isl.Aff.val_on_domain_space(domain.space, greatest_value(here))
            domain = domain.intersect(here.eq_set(isl.PwAff.from_aff(greatest)))
    return domain


def _one_pe(domain: isl.Set) -> isl.Set:
    """Return [PE_X, PE_Y] -> { : the first PE } of a domain of symbolic constants."""
    pes = project_names(domain, find_index_constants(domain))
    places = pes.unbind_params(isl.MultiId("[PE_X, PE_Y] -> { PE[PE_X, PE_Y] }"))
    return bind_set(_first(places), PE_NAMES)


def _first(places: isl.Set) -> isl.Set:
    """Return the lexicographic minimum of a set that has one: a coordinate after the other.

    isl's lexmin may take hours where places are told with several moduli.
    """
    first = isl.Set.universe(places.space)
    for position in range(places.dim(isl.dim_type.set)):
        least = find_least(places, position)
        places = places.fix_val(isl.dim_type.set, position, least)
        first = first.fix_val(isl.dim_type.set, position, least)
    return first


def _constant(size: isl.PwAff) -> int | None:
    least, greatest = least_value(size), greatest_value(size)
    return int(least.to_python()) if least.is_int() and least.eq(greatest) else None


def _vectors(size: isl.PwAff, fixed: int, lanes: int) -> isl.Set:
    """Return [p] -> { [c] : 0 <= c and lanes c < fixed size }, as many as there are vectors."""
    elements = isl.Set.from_pw_aff(size.scale_val(isl.Val(fixed)).floor())
    below = isl.Map(f"{{ [n] -> [c] : 0 <= c and {lanes}c < n }}")
    return elements.apply(below)


def _along(box: isl.Set, dimensions: Sequence[int]) -> isl.Set:
    """Return a box without its other dimensions."""
    for k in reversed(range(box.dim(isl.dim_type.set))):
        box = box if k in dimensions else box.project_out(isl.dim_type.set, k, 1)
    return box

# --- Waits for banks of memory --------------------------------------------------------------------
#
# Vector instructions wait by strides, and by where tensors lie. Where operands start in a bank that
# depends on the PE, on what arrives, or on loops, the mean of the calls is expected.
#
# Source   stages/fabric/rate.c, which charges what happens

@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """The shapes of local tensors, and the addresses of these and of the parts of tasks, by name.

    `buffers` is how many of them tensors take turns with.
    """

    shapes: Mapping[str, tuple[int, ...]]
    addresses: Mapping[str, int]
    buffers: Counts = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """A vector instruction of a task, with the largest sizes that it runs over."""

    task: str
    step: StepDecision
    sizes: tuple[int, ...]


def find_waiting(
    task: str,
    decision: Decision,
    arrays: Arrays,
    profile: Profile,
    known: isl.Set | None = None,
) -> float:
    """Return the cycles for each instance of a task in which its instructions wait for banks.

    `known` are the symbolic constants with which the task is invoked; None: any.
    """
    if not profile.banks.count:
        return 0.0
    guard = decision.guard if isinstance(decision.guard, str) else None
    any_calls = isl.Set("{ : }") if known is None else known
    values = CallValues(find_calls(any_calls, guard, decision.outer))
    return sum(
        float(_find_share(each, arrays, values, profile.banks)) / _rate(each, profile)
        for each in _list_vectors(task, decision)
    )


def _list_vectors(task: str, decision: Decision) -> Iterator[Instruction]:
    """Yield the vector instructions of a task."""
    extents = [each if isinstance(each, int) else each[1] for each in decision.extents or ()]
    steps, operands = decision.steps, decision.operands
    if decision.operation is not None:
        steps = (StepDecision(operation=decision.operation, over=decision.over, operands=operands),)
    for step in steps:
        if step.by != "loops":
            over = range(len(extents)) if step.over is None else step.over
            yield Instruction(task=task, step=step, sizes=tuple(extents[k] for k in over))


def _rate(each: Instruction, profile: Profile) -> int:
    none = (0,) * len(each.sizes)
    operands = [(o.type, _strides(o) or none) for o in each.step.operands]
    single = [size == 1 for size in each.sizes]
    return max(1, find_rate(profile, each.step.operation, operands, single))


def _find_share(each: Instruction, arrays: Arrays, values: CallValues, banks: Banks) -> Fraction:
    """Return the cycles of a point in which it waits for banks, of as many as it has otherwise."""
    there = [(k, o) for k, o in enumerate(each.step.operands) if isinstance(o, InMemory)]
    read = [o for k, o in there if (any(o.strides) if k else each.step.operation == "MAC")]
    written = [o for k, o in there if k == 0 and banks.write_latency]
    accessed, found, turns = [*read, *written], Fraction(0), count_turns(arrays.buffers)
    for turn in range(turns):
        firsts = [_begin(o, each.task, arrays, values, turn) for o in accessed]
        for first, share in count_first_words(firsts, values, banks.words).items():
            words = [Words(*of) for of in zip(first, map(_words, accessed), strict=True)]
            write = next(iter(words[len(read):]), None)
            found += share * count_waits(words[: len(read)], write, each.sizes, banks)
    return found / max(1, prod(each.sizes)) / turns


InMemory = LocalDecision | GivenDecision


def _strides(operand: OperandDecision) -> tuple[int, ...]:
    return operand.strides if isinstance(operand, InMemory) else ()


def _words(operand: InMemory) -> tuple[int, ...]:
    return tuple(stride * BYTES[operand.type] // WORD for stride in operand.strides)


def _begin(
    operand: InMemory, task: str, arrays: Arrays, values: CallValues, turn: int
) -> FirstIndex:
    """Return where an operand starts so many invocations after the first one; where nobody knows
    where its array does, anywhere.
    """
    name, indices = f"{task}_part", tuple[int | str, ...]()
    if isinstance(operand, GivenDecision):
        name += str(operand.part)
    else:
        name, indices = operand.local, operand.base
    shape, word = arrays.shapes.get(name, ()), BYTES[operand.type] // WORD
    begins = (
        LinearIndex(arrays.addresses[name] // WORD) if name in arrays.addresses
        else LinearIndex(0, ((f"[{name}] -> {{ [{word}{name}] }}", 1),))
    )
    steps = (prod(shape[k + 1 :]) * word for k in range(len(indices)))
    here = turn_buffer([*map(values.read, indices)], name, turn, arrays.buffers)
    return (begins, *here), (1, *steps)

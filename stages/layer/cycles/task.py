"""What a task costs in cycles: as a vector instruction, and as loops.

That is the charge of what would be written, on one PE with the largest sizes, for all
elements of a stream: calls x (selection, addresses and start-up + elements / lanes), and the
configuration, which is once for all invocations.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import islpy as isl

from lairmake.stages.layer.codegen.instruction import add_task_loops, add_vector_call
from lairmake.stages.layer.codegen.model import Work
from lairmake.stages.layer.texts.yaml_files import Decision
from lairmake.stages.layer.vector.instruction import find_step_rate, instruction, is_single
from lairmake.stages.layer.vector.operands import Memory, extend
from lairmake.stages.layer.vector.situation import Candidate, Situation, configurations
from lairmake.stages.layer.vector.steps import Step
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

MOST_OPERATIONS = 500_000
"""How much isl may work to find the busiest PE, in its own unit: half a second."""


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
        """How often the task is invoked."""
        return count(self.charge.here)

    @cached_property
    def calls(self) -> int:
        """How often there are instances then."""
        return count(self.situation.elements.params().intersect(self.charge.here))

    def loops(self) -> int:
        """Return the cycles of the loops."""
        block, name = Block(), self.situation.name
        memory = extend(self.situation.files.local, ())
        work = self._work(memory, Decision(by="loops", why=""))
        add_task_loops(block, name, work, new_naming(), self._elements())
        return self.charge.of(block, self.known) * self.situation.files.invocations

    def vector(self, candidate: Candidate, steps: Sequence[Step]) -> int:
        """Return the cycles of the vector instructions of a statement.

        Of rows of several sizes those on a PE where they are no box, if these are more.
        """
        cycles = self._vector(candidate, steps)
        in_rows = candidate.outer is not None and candidate.each_call
        if not in_rows or self.other is None:
            return cycles
        return max(cycles, self.other._vector(candidate, steps))

    def _vector(self, candidate: Candidate, steps: Sequence[Step]) -> int:
        memory = extend(self.situation.files.local, candidate.touched)
        guard = None if self.situation.guard is None else str(self.situation.guard)
        begun = Decision(guard=guard, by=candidate.way, why=candidate.why)
        described = instruction(begun, self.situation, candidate, steps, memory)
        work = self._work(memory, replace(described, by=candidate.way))
        block = Block()
        add_vector_call(block, self.situation.name, work, new_naming(), self._elements())
        vectors = [step for step in steps if not step.looped]
        charged = self._guarded(block) + sum(self._run(candidate, s, memory) for s in vectors)
        once = 0 if candidate.each_call else len(vectors) * configurations(candidate)
        configured = once * self.situation.profile.configuration
        return charged * self.situation.files.invocations + configured

    def _guarded(self, block: Block) -> int:
        """Return the charge of a block whose inner ones run only where there are instances."""
        inner = [each for each in block.statements if isinstance(each, Block)]
        own = Block(loop=block.loop, scalar=block.scalar, address=block.address)
        within = sum(self.charge.within(b, self.calls) for b in inner)
        return self.charge.of(own, self.known) + within

    def _run(self, candidate: Candidate, step: Step, memory: Memory) -> int:
        """Return the cycles of the instruction itself.

        Where two sizes vary, and the others leave lanes empty, for their mean.
        """
        runs, here, found = self.calls, self.charge.here, candidate.sizes
        box = _along(candidate.box, step.along).intersect_params(here)
        if candidate.outer is not None:
            runs = count(candidate.outer.intersect_params(here))
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
        if candidate.each_call:
            start += self.situation.profile.configuration
        return runs * start + running

    def _work(self, memory: Memory, decision: Decision) -> Work:
        files, situation = self.situation.files, self.situation
        return Work(
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

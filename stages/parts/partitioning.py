"""Split the results of operations into parts, each computed by code of its own.

Source   F Alg. 1: code for disjoint hyperrectangles

A part is a hyperrectangle of a volume of which all elements are computed alike: the instances that
get their operands in one way are the same for each of them. There, a read of a padded volume is a
read of what was padded, or a constant.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.lair.expressions import write_expression
from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.lair.layer import NEUTRAL
from lairmake.stages.lair.tree import Number
from lairmake.stages.machine.types import find_integers, is_integer
from lairmake.stages.parts.boxes import SIGNS, find_boxes
from lairmake.stages.parts.folding import combine, fold, in_type, list_numbers, repeat
from lairmake.stages.parts.masking import as_masked, is_cut_up, list_pieces
from lairmake.stages.parts.reached import Variant, find_constants, find_ends, find_variants
from lairmake.stages.parts.splitting import split_loops
from lairmake.stages.poly.box import NotRectangularError, split_into_rectangles
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.volumes.operation import Operation, Program, Result

IN, OUT = isl.dim_type.in_, isl.dim_type.out


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Operations whose results are parts: `parts` has their domains by volume and part.

    `terms` are what is summed up to a part, with what a tile that has one part calls them, and
    `constants` the values of volumes and parts that have one value everywhere.
    """

    operations: list[Operation] = field(default_factory=list)
    parts: dict[str, dict[str, isl.Set]] = field(default_factory=dict)
    terms: dict[str, str] = field(default_factory=dict)
    constants: dict[str, float] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """What one way to get operands adds to a part: `writes operator value` for a box of instances.

    `writes` goes for other instances, too. `number` is all that is added to an element where that
    is a constant.
    """

    instances: isl.Set
    writes: isl.Map
    operator: str
    reads: Mapping[str, isl.Map]
    value: str
    number: float | None


def partition(
    program: Program, volumes: Mapping[str, isl.Set], facts: Sequence[isl.Set]
) -> Partition:
    """Return the parts of all results that the output of a program needs.

    `facts` are sets of elements of the output: no part lies in one of them and outside of it too.
    Raises UserError where elements are computed in too many ways for a few hyperrectangles.
    """
    done = Partition(constants=find_constants(program))
    output = program.outputs[0]
    for operation in find_needed(program):
        if operation.kind in ("input", "index") or isinstance(operation.constant, list):
            done.operations.append(operation)
            done.types[operation.name] = program.types[operation.name]
        elif operation.kind == "compute" or output in operation.volumes:
            computed = split_loops(
                as_computation(operation, volumes), lambda read: find_ends(read, program, {})
            )
            for result in computed.results:
                cut = facts if result.volume == output else ()
                _split(computed, result, program, volumes[result.volume], cut, done)
    return done


def find_needed(program: Program) -> list[Operation]:
    """Return the operations that the outputs of a program need, in order."""
    wanted, found = set(program.outputs), []
    for operation in reversed(program.operations):
        if wanted & set(operation.volumes):
            found.append(operation)
            wanted |= set(operation.operands)
    return found[::-1]


def as_computation(operation: Operation, volumes: Mapping[str, isl.Set]) -> Operation:
    """Return a computation; for a copy, or a constant, the one that reads each element of it."""
    if operation.kind == "compute":
        return operation
    name = operation.name
    loops = volumes[name].set_tuple_name(f"{name}_loops")
    read = isl.Map.identity(loops.space.map_from_set()).set_tuple_name(OUT, name)
    result = Result(volume=name, writes=read, operator="=", value=name)
    return Operation(
        name=name, kind="compute", source=operation.source, line=operation.line,
        loops=loops, reads={name: read}, results=(result,),
    )


def _split(
    operation: Operation, result: Result, program: Program, domain: isl.Set,
    facts: Sequence[isl.Set], done: Partition,
) -> None:
    """Add the parts of a result, and the operations that compute them."""
    try:
        _add_parts(operation, result, program, domain, facts, done)
    except NotRectangularError:
        raise UserError(
            f"{result.volume} of {operation.source} on line {operation.line} is computed in too"
            f" many ways for a few hyperrectangles",
            hint="its operands change from element to element, as in a mirror or an interleaving",
        ) from None


def _add_parts(
    operation: Operation, result: Result, program: Program, domain: isl.Set,
    facts: Sequence[isl.Set], done: Partition,
) -> None:
    found = find_variants(operation, program, done.parts, done.constants)
    if result.init is not None:
        start = isl.Map.identity(domain.space.map_from_set()).intersect_domain(domain)
        inits = list(find_ends(start.set_tuple_name(OUT, result.init), program, done.parts))
    else:
        inits = []
    whole = find_integers([program.types[result.volume]])
    boxes, masked = _find_parts(result, domain, found, inits, facts, whole)
    result, divide = masked or result, list_pieces if masked else split_into_rectangles
    stem = _stem(result.volume, {*program.types, *done.types, *done.terms.values()})
    named = {f"{stem}_{n}": box for n, box in enumerate(boxes)}
    done.parts[result.volume] = {n: box.set_tuple_name(n) for n, box in named.items()}
    for name, box in named.items():
        done.types[name] = program.types[result.volume]
        terms = [t for v in found for t in _terms(operation, result, v, box, whole, divide)]
        terms += [t for each in inits for t in _start(each, box, done.constants)]
        _compute(operation, result, name, box, _kept(result, terms), done)


def _find_parts(
    result: Result, domain: isl.Set, found: Sequence[Variant], inits: Sequence[isl.Map],
    facts: Sequence[isl.Set], whole: str,
) -> tuple[list[isl.Set], Result | None]:
    """Return the hyperrectangles of a result, and the reduction that it is if they have conditions.

    They have where it would be cut up otherwise. Raises NotRectangularError.
    """
    masked = as_masked(result, found, whole)
    try:
        boxes = find_boxes(result, domain, found, inits, facts)
    except NotRectangularError:
        if masked is None:
            raise
        boxes = []
    if boxes and (masked is None or not is_cut_up(boxes)):
        return boxes, None
    return find_boxes(result, domain, (), inits, facts), masked


def _stem(volume: str, taken: Collection[str]) -> str:
    """Return what the parts of a volume are called, apart from their numbers."""
    stem = volume
    while any(re.fullmatch(rf"{stem}_(\d+_)?(term)?\d+", name) for name in taken):
        stem += "_"
    return stem


def _check_finite(operation: Operation, result: Result, values: Iterable[float]) -> None:
    """Raise UserError for numbers that LAIR has not."""
    if not all(map(math.isfinite, values)):
        message = f"{result.volume} of {operation.source} on line {operation.line}"
        hint = "give the constant a finite value"
        raise UserError(f"{message} computes with infinity", hint=hint)


def _terms(
    operation: Operation, result: Result, variant: Variant, box: isl.Set, whole: str,
    divide: Callable[[isl.Set], list[isl.Set]],
) -> Iterator[Term]:
    """Yield what a way to get operands adds to a part, by the sets into which instances divide.

    Operations on integers wrap to the type `whole`.
    """
    instances = result.writes.intersect_range(box).domain().intersect(variant.instances)
    expr = fold(parse_expression(result.value), variant.known, whole)
    for each in divide(instances):
        number = None
        if isinstance(expr, Number):
            times = cardinality(each) // cardinality(box)
            number = repeat(result.operator, expr.value, times)
        else:
            _check_finite(operation, result, list_numbers(expr))
        value = write_expression(expr)
        yield Term(
            instances=each, writes=result.writes, operator=result.operator,
            reads=variant.reads, value=value, number=number,
        )


def _start(
    start: isl.Map, box: isl.Set, constants: Mapping[str, float]
) -> Iterator[Term]:
    """Yield what a part of a reduction starts from."""
    read = start.intersect_domain(box)
    if not read.is_empty():
        name = read.get_tuple_name(OUT) or ""
        number = constants.get(name)
        yield Term(
            instances=box, writes=isl.Map.identity(box.space.map_from_set()), operator="=",
            reads={name: read}, value=name, number=number,
        )


def _kept(result: Result, terms: Sequence[Term]) -> list[Term]:
    """Return the terms that count: those that are not neutral."""
    neutral = NEUTRAL.get(result.operator)
    return [term for term in terms if neutral is None or term.number != neutral]


def _compute(
    operation: Operation, result: Result, name: str, box: isl.Set, terms: Sequence[Term],
    done: Partition,
) -> None:
    """Add the operations that compute a part: one, or one per term and their sum."""
    known = [term.number for term in terms if term.number is not None]
    open_ = [term for term in terms if term.number is None]
    total, type_ = combine(result.operator, known), done.types[name]
    if not open_:
        done.constants[name] = in_type(total, type_)
        done.operations.append(Operation(
            name=name, kind="constant", constant=done.constants[name],
            source=operation.source, line=operation.line,
        ))
        return
    _check_finite(operation, result, known)
    single = len(open_) == 1 and not known
    labels = [name] if single else [f"{name}_term{n}" for n in range(len(open_))]
    for n, (label, term) in enumerate(zip(labels, open_, strict=True)):
        done.types[label] = done.types[name]
        if not single:
            done.terms[label] = f"{result.volume}_term{n}"
        done.operations.append(_one(label, term, operation))
    if not single:
        rest = [repr(in_type(total, type_) if is_integer(type_) else total)] if known else []
        values = [*labels, *rest]
        sign = SIGNS[result.operator]
        text = functools.reduce(sign.format, values)
        same = isl.Map.identity(box.space.map_from_set())
        whole = {label: same.set_tuple_name(OUT, label) for label in labels}
        term = Term(
            instances=box, writes=same, operator="=", reads=whole, value=text, number=None
        )
        done.operations.append(_one(name, term, operation))


def _one(label: str, term: Term, operation: Operation) -> Operation:
    """Return the operation that computes a term; instances are called by what they compute."""
    loops = f"{label}_loops"
    writes = term.writes.set_tuple_name(IN, loops).set_tuple_name(OUT, label)
    instances = term.instances.set_tuple_name(loops)
    reads = {
        name: read.set_tuple_name(IN, loops).intersect_domain(instances).coalesce()
        for name, read in term.reads.items()
    }
    result = Result(volume=label, writes=writes, operator=term.operator, value=term.value)
    return Operation(
        name=label, kind="compute", source=operation.source, line=operation.line,
        loops=instances.coalesce(), reads=reads, results=(result,),
    )

"""Partition of results into parts whose elements are computed alike."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.lair.expressions import write_expression
from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.lair.layer import NEUTRAL
from lairmake.stages.lair.tree import NumberSyntax
from lairmake.stages.machine.types import find_integers, is_integer
from lairmake.stages.parts.rewrites import combine, fold, in_type, list_numbers, repeat, split_loops
from lairmake.stages.poly.box import (
    NotRectangularError,
    bounding_box,
    list_slabs,
    split_into_rectangles,
)
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.poly.functions import depends_on, find_function_in
from lairmake.stages.volumes.operation import OperationResult, VolumeOperation, VolumeProgram

IN, OUT, SET, DIV = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.div

# --- Operands of instances through copies ---------------------------------------------------------
#
# Copies (padding, slices, transposition, ...) have no values of their own. A read goes through them
# to a volume with values; where a copy has several operands, the instance decides between them.

@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way in which instances get their operands: `reads` by name.

    `known` has the values of constant operands; `instances` are those that get operands in this
    way.
    """

    instances: isl.Set
    reads: Mapping[str, isl.Map]
    known: Mapping[str, float]


def find_variants(
    operation: VolumeOperation, program: VolumeProgram, parts: Mapping[str, Mapping[str, isl.Set]],
    constants: Mapping[str, float],
) -> list[Variant]:
    """Return the ways in which the instances of a computation get their operands.

    `parts` has the parts of split volumes, with their domains; `constants` has the values of
    volumes and parts with one value everywhere. Ensures that every instance has exactly one way.
    """
    assert operation.loops is not None
    every = [
        [(label, end) for end in find_ends(read.intersect_domain(operation.loops), program, parts)]
        for label, read in operation.reads.items()
    ]
    found = []
    for chosen in itertools.product(*every):
        instances = operation.loops
        for _, end in chosen:
            instances = instances.intersect(end.domain())
        if not instances.is_empty():
            found.append(_variant(instances.coalesce(), dict(chosen), constants))
    return found


def _variant(
    instances: isl.Set, chosen: Mapping[str, isl.Map], constants: Mapping[str, float]
) -> Variant:
    known, reads = {}, {}
    for label, end in chosen.items():
        name = end.get_tuple_name(OUT) or ""
        if name in constants:
            known[label] = constants[name]
        else:
            reads[label] = end
    return Variant(instances=instances, reads=reads, known=known)


def find_constants(program: VolumeProgram) -> dict[str, float]:
    """Return the volumes with one value everywhere; volumes without values count as zero."""
    return {
        each.name: in_type(0 if each.kind == "empty" else each.constant, program.types[each.name])
        for each in program.operations
        if each.kind in ("constant", "empty") and not isinstance(each.constant, list)
    }


def find_ends(
    read: isl.Map, program: VolumeProgram, parts: Mapping[str, Mapping[str, isl.Set]]
) -> Iterator[isl.Map]:
    """Yield disjoint maps to volumes that are no copies, or to their parts."""
    name = read.get_tuple_name(OUT) or ""
    if name in parts:
        for part, domain in parts[name].items():
            inside = read.set_tuple_name(OUT, part).intersect_range(domain)
            if not inside.is_empty():
                yield inside.coalesce()
        return
    writer = program.writer(name)
    if writer.kind != "copy":
        yield read
        return
    for copy in itertools.chain.from_iterable(map(affine_pieces, writer.copies)):
        through = read.apply_range(copy).coalesce()
        if not through.is_empty():
            yield from find_ends(through, program, parts)


def affine_pieces(copy: isl.Map) -> list[isl.Map]:
    """Return the affine pieces of a function; a periodic boundary has several."""
    found: list[isl.Map] = []

    def add(where: isl.Set, by: isl.MultiAff) -> None:
        found.append(by.as_map().intersect_domain(where))

    find_function_in(copy).coalesce().foreach_piece(add)
    return found

# --- Hyperrectangles of elements computed alike ---------------------------------------------------
#
# Source   F Alg. 1: code for disjoint hyperrectangles

SIGNS = {"+=": "{} + {}", "*=": "{} * {}", "max=": "max({}, {})", "min=": "min({}, {})"}


def find_boxes(
    result: OperationResult, domain: isl.Set, found: Sequence[Variant], inits: Sequence[isl.Map],
    facts: Sequence[isl.Set],
) -> list[isl.Set]:
    """Return the hyperrectangles of a result on which all elements are computed alike.

    Elements are computed alike if { [n, r] : instances with the reduction indices r get operands in
    the nth way } is the same for them. Raises NotRectangularError for too many hyperrectangles.
    """
    sums = find_reduced(result)
    ways = isl.Set("{ [-1] }").flat_product(isl.Set(f"{{ [{', '.join(['0'] * len(sums))}] }}"))
    every = _plain(domain).flat_product(ways)
    for n, variant in enumerate(found):
        every = every.union(_numbered(result, variant.instances, n))
    marks = [each.domain() for each in inits] + list(facts)
    for n, mark in enumerate(marks):
        every = every.union(_plain(mark).flat_product(_mark(-2 - n, len(sums))))
    name = domain.get_tuple_name() or ""
    boxes = [box.set_tuple_name(name) for box, _ in list_slabs(every, domain.dim(SET))]
    return [part for box in boxes for part in _rectangular(result, found, box)]


def _rectangular(
    result: OperationResult, found: Sequence[Variant], box: isl.Set
) -> Iterator[isl.Set]:
    """Yield parts of a hyperrectangle, each written by a hyperrectangle of instances.

    Where loops were split, a box of elements may need several: { x[i] : 1 <= i <= 4 } of i = 2a + b
    is one for a = 0, for a = 1 and for a = 2. The terms of a reduction are added up instead.
    """
    pieces: list[isl.Set] = []
    if result.operator not in SIGNS:
        writers = result.writes.intersect_range(box).domain()
        met = (writers.intersect(way.instances) for way in found)
        pieces = [r for each in met for r in split_into_rectangles(each)]
    if len(pieces) <= 1:
        yield box
        return
    every = isl.Set.empty(_plain(box).flat_product(_mark(0, 0)).space)
    for n, piece in enumerate(pieces):
        own = _plain(result.writes.intersect_domain(piece).range())
        every = every.union(own.flat_product(_mark(n, 0)))
    for part, _ in list_slabs(every, box.dim(SET)):
        yield from _rectangular(result, found, part.set_tuple_name(box.get_tuple_name() or ""))


def _plain(domain: isl.Set) -> isl.Set:
    return domain.reset_tuple_id() if domain.has_tuple_id() else domain


def _mark(number: int, width: int) -> isl.Set:
    """Return { [number, 0, ...] }."""
    return isl.Set(f"{{ [{', '.join([str(number), *['0'] * width])}] }}")


def find_reduced(result: OperationResult) -> list[int]:
    """Return the dimensions of instances that do not determine the element that they write."""
    used = set[int]().union(*depends_on(result.writes))
    return [k for k in range(result.writes.dim(IN)) if k not in used]


def _numbered(result: OperationResult, instances: isl.Set, number: int) -> isl.Set:
    """Return { [element, number, r] } for instances with the reduction indices r."""
    sums = find_reduced(result)
    width = result.writes.dim(IN)
    names = [f"d{k}" for k in range(width)]
    keys = ", ".join([str(number), *(names[k] for k in sums)])
    mark = isl.Map(f"{{ [{', '.join(names)}] -> [{keys}] }}")
    mark = mark.set_tuple_name(IN, instances.get_tuple_name() or "")
    both = result.writes.intersect_domain(instances).flat_range_product(mark)
    return both.range()

# --- Parts with conditions ------------------------------------------------------------------------
#
# Source   F Alg. 1 has hyperrectangles of elements that are computed alike; here those are, too, of
#          which only instances under affine conditions count
#
# A mask that would cut a result up, row by row, becomes a condition: then the terms of the result
# are polyhedra. An element without any instance gets the neutral element of its reduction. A result
# without a reduction becomes one: of sums if other elements are zero, of maxima if they are -inf.

MOST_ALONG = 8
"""Largest number of intervals along a dimension; parts of results with more have conditions."""
MOST_PIECES = 4
"""Largest number of conjunctions of a term with conditions."""


def is_cut_up(boxes: Sequence[isl.Set]) -> bool:
    """Return whether hyperrectangles have more than a few intervals along some dimension."""
    ends = zip(*(bounding_box(box) for box in boxes), strict=True)
    return any(len(set(each)) > MOST_ALONG for each in ends)


def as_masked(
    result: OperationResult, found: Sequence[Variant], whole: str
) -> OperationResult | None:
    """Return a result as a reduction of terms under conditions; None if that is not possible.

    Elements outside of the conditions must be neutral, so only neutral constants may be left out.
    Operations on integers wrap to the type `whole`.
    """
    values = [fold(parse_expression(result.value), each.known, whole) for each in found]
    numbers = {value.value for value in values if isinstance(value, NumberSyntax)}
    if result.operator in SIGNS:
        return result if numbers <= {NEUTRAL[result.operator]} else None
    lowest, greatest = {-math.inf}, {math.inf}
    operator = {True: "+="}.get(numbers <= {0}) or (
        "max=" if numbers == lowest else "min=" if numbers == greatest else None
    )
    return None if operator is None or result.init else replace(result, operator=operator)


def list_pieces(instances: isl.Set) -> list[isl.Set]:
    """Return disjoint conjunctions that make up a set. Raises NotRectangularError for too many."""
    plain = instances.coalesce().compute_divs()
    pieces = plain if plain.n_basic_set() == 1 else plain.make_disjoint().coalesce()
    if pieces.n_basic_set() > MOST_PIECES:
        raise NotRectangularError
    return [isl.Set.from_basic_set(each) for each in pieces.get_basic_sets()]


def spell_conditions(elements: isl.Set, names: Mapping[int, str]) -> list[str]:
    """Return the constraints of { [l] }, a single conjunction, in the syntax of LAIR.

    `names` are those of the dimensions that may differ from 0.
    """
    (basic,) = elements.get_basic_sets()
    return [_spell(each, names) for each in basic.get_constraints()]


def _spell(constraint: isl.Constraint, names: Mapping[int, str]) -> str:
    aff = constraint.get_aff()
    sides = [_sum(aff, names, sign) for sign in (1, -1)]
    return f"{sides[0]} {'=' if constraint.is_equality() else '>='} {sides[1]}"


def _sum(aff: isl.Aff, names: Mapping[int, str], sign: int) -> str:
    """Return the terms of one sign of an affine function, all of them positive; 0 for none."""
    found = []
    for factor, name in _affine_terms(aff, names):
        if factor * sign > 0:
            found.append(name if abs(factor) == 1 else f"{abs(factor)}*{name}")
    constant = _whole(aff.get_constant_val().mul(aff.get_denominator_val())) * sign
    if constant > 0 or not found:
        found.append(str(max(0, constant)))
    return " + ".join(found)


def _affine_terms(aff: isl.Aff, names: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """Yield factors times the denominator, each with its iterator or quotient."""
    below = aff.get_denominator_val()
    for k, name in names.items():
        yield _whole(aff.get_coefficient_val(isl.dim_type.in_, k).mul(below)), name
    for k in range(aff.dim(DIV)):
        factor = _whole(aff.get_coefficient_val(DIV, k).mul(below))
        if factor:
            yield factor, _quotient(aff.get_div(k), names)


def _quotient(aff: isl.Aff, names: Mapping[int, str]) -> str:
    """Return floor(e / m) in the syntax of LAIR."""
    above, taken = _sum(aff, names, 1), _sum(aff, names, -1)
    numerator = above if taken == "0" else f"{above} - ({taken})"
    return f"(({numerator}) // {_whole(aff.get_denominator_val())})"


def _whole(value: isl.Val) -> int:
    return int(value.to_python())

# --- Parts of results -----------------------------------------------------------------------------
#
# Source   F Alg. 1: code for disjoint hyperrectangles
#
# A part is a hyperrectangle of a volume whose elements are all computed alike, by code of its own:
# the instances that get their operands in one way are the same for each element. In a part, a read
# of a padded volume is a read of the volume inside the padding, or a constant.

@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Operations whose results are parts: `parts` has their domains by volume and part.

    `terms` maps each term of a part to the name that it has in a tile with one part; `constants`
    has the values of volumes and parts with one value everywhere.
    """

    operations: list[VolumeOperation] = field(default_factory=list)
    parts: dict[str, dict[str, isl.Set]] = field(default_factory=dict)
    terms: dict[str, str] = field(default_factory=dict)
    constants: dict[str, float] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """The term that one way to get operands adds to a part, for a box of instances.

    The term is `writes operator value`; `writes` also covers other instances. `number` is the sum
    of a constant term for an element, else None.
    """

    instances: isl.Set
    writes: isl.Map
    operator: str
    reads: Mapping[str, isl.Map]
    value: str
    number: float | None


def partition(
    program: VolumeProgram, volumes: Mapping[str, isl.Set], facts: Sequence[isl.Set]
) -> Partition:
    """Return the parts of all results that the output of a program needs.

    `facts` are sets of elements of the output: no part lies both in one of them and outside of it.
    Raises UserError for elements computed in too many ways for a few hyperrectangles.
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


def find_needed(program: VolumeProgram) -> list[VolumeOperation]:
    """Return the operations that the outputs of a program need, in order."""
    wanted, found = set(program.outputs), []
    for operation in reversed(program.operations):
        if wanted & set(operation.volumes):
            found.append(operation)
            wanted |= set(operation.operands)
    return found[::-1]


def as_computation(operation: VolumeOperation, volumes: Mapping[str, isl.Set]) -> VolumeOperation:
    """Return a copy, or a constant, as a computation of each element; a computation as it is."""
    if operation.kind == "compute":
        return operation
    name = operation.name
    loops = volumes[name].set_tuple_name(f"{name}_loops")
    read = isl.Map.identity(loops.space.map_from_set()).set_tuple_name(OUT, name)
    result = OperationResult(volume=name, writes=read, operator="=", value=name)
    return VolumeOperation(
        name=name, kind="compute", source=operation.source, line=operation.line,
        loops=loops, reads={name: read}, results=(result,),
    )


def _split(
    operation: VolumeOperation, result: OperationResult, program: VolumeProgram, domain: isl.Set,
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
    operation: VolumeOperation, result: OperationResult, program: VolumeProgram, domain: isl.Set,
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
    result: OperationResult, domain: isl.Set, found: Sequence[Variant], inits: Sequence[isl.Map],
    facts: Sequence[isl.Set], whole: str,
) -> tuple[list[isl.Set], OperationResult | None]:
    """Return the hyperrectangles of a result, and the reduction for parts with conditions, if any.

    Parts have conditions if the result would be cut up otherwise. Raises NotRectangularError.
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
    """Return the stem of the names of a volume's parts, before their numbers."""
    stem = volume
    while any(re.fullmatch(rf"{stem}_(\d+_)?(term)?\d+", name) for name in taken):
        stem += "_"
    return stem


def _check_finite(
    operation: VolumeOperation, result: OperationResult, values: Iterable[float]
) -> None:
    """Raise UserError for infinities and NaN, which LAIR does not have."""
    if not all(map(math.isfinite, values)):
        message = f"{result.volume} of {operation.source} on line {operation.line}"
        hint = "give the constant a finite value"
        raise UserError(f"{message} computes with infinity", hint=hint)


def _terms(
    operation: VolumeOperation, result: OperationResult, variant: Variant, box: isl.Set, whole: str,
    divide: Callable[[isl.Set], list[isl.Set]],
) -> Iterator[Term]:
    """Yield the terms that a way to get operands adds to a part, one for each divided set.

    Operations on integers wrap to the type `whole`.
    """
    instances = result.writes.intersect_range(box).domain().intersect(variant.instances)
    expr = fold(parse_expression(result.value), variant.known, whole)
    for each in divide(instances):
        number = None
        if isinstance(expr, NumberSyntax):
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
    """Yield the term with which a part of a reduction starts, if there is one."""
    read = start.intersect_domain(box)
    if not read.is_empty():
        name = read.get_tuple_name(OUT) or ""
        number = constants.get(name)
        yield Term(
            instances=box, writes=isl.Map.identity(box.space.map_from_set()), operator="=",
            reads={name: read}, value=name, number=number,
        )


def _kept(result: OperationResult, terms: Sequence[Term]) -> list[Term]:
    """Return the terms that are not neutral."""
    # None of `=`, which is no reduction: then every term counts. A term's number is None where it
    # is no constant, and then no neutral element equals it.
    neutral = NEUTRAL.get(result.operator)
    return [term for term in terms if neutral is None or term.number != neutral]


def _compute(
    operation: VolumeOperation,
    result: OperationResult,
    name: str,
    box: isl.Set,
    terms: Sequence[Term],
    done: Partition,
) -> None:
    """Add the operations that compute a part: one, or one for each term, and their sum."""
    known = [term.number for term in terms if term.number is not None]
    open_ = [term for term in terms if term.number is None]
    total, type_ = combine(result.operator, known), done.types[name]
    if not open_:
        done.constants[name] = in_type(total, type_)
        done.operations.append(VolumeOperation(
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


def _one(label: str, term: Term, operation: VolumeOperation) -> VolumeOperation:
    """Return the operation that computes a term; its loops are named by the term."""
    loops = f"{label}_loops"
    writes = term.writes.set_tuple_name(IN, loops).set_tuple_name(OUT, label)
    instances = term.instances.set_tuple_name(loops)
    reads = {
        name: read.set_tuple_name(IN, loops).intersect_domain(instances).coalesce()
        for name, read in term.reads.items()
    }
    result = OperationResult(volume=label, writes=writes, operator=term.operator, value=term.value)
    return VolumeOperation(
        name=label, kind="compute", source=operation.source, line=operation.line,
        loops=instances.coalesce(), reads=reads, results=(result,),
    )

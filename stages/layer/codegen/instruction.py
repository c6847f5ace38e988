"""Code of a task: a vector instruction, or loops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.lair import tree
from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.lair.tree import AccessSyntax, Binary, Expr
from lairmake.stages.layer.codegen.bases import share_bases
from lairmake.stages.layer.codegen.model import Buffers, ProgramModel, holds, value
from lairmake.stages.layer.texts import simd_yaml
from lairmake.stages.layer.texts.simd_yaml import (
    Arriving,
    Decision,
    LocalDecision,
    NumberDecision as Numeral,
    TableDecision,
)
from lairmake.stages.layer.texts.task_graph import AT_RUN_TIME, Compute, Fills, Runs
from lairmake.stages.machine.scalar_code import kind_of
from lairmake.stages.machine.types import BYTES, find_integers, is_integer
from lairmake.stages.pe.block import (
    Block,
    count_kinds,
    count_moves,
    find_declared,
    find_iterated,
    write_nest,
)
from lairmake.stages.pe.names import IdentifierNaming
from lairmake.stages.pe.nodes import (
    Address,
    Assign,
    Computed,
    Configure,
    CountCall,
    CountInstance,
    Declare,
    Element,
    Field,
    For,
    Literal,
    Loaded,
    Multiple,
    Nothing,
    Offset,
    Point,
    Pointed,
    RunVector,
    StatementNode,
    Store,
    find_names,
    make_operand,
)
from lairmake.stages.poly.cardinality import cardinality
from lairmake.stages.poly.expression import (
    Instance,
    Loop,
    Name,
    Nest,
    Number,
    Operation,
    Value,
    compare,
    express,
    interval,
    is_affine,
    make_element_loops,
    make_loop_nest,
)
from lairmake.stages.poly.functions import (
    PE_NAMES,
    bind_domain,
    bind_set,
    find_function,
    find_same,
    is_affine_function,
)

PARAM = isl.dim_type.param

# --- Values of statements of LAIR -----------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionOperands:
    """The places in memory, and the types, of the elements that a statement reads.

    `known` are the parts of its expression that have been computed before.
    """

    values: Mapping[str, Value]
    types: Mapping[str, str]
    known: Mapping[Expr, Value] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """The type in which the statement is computed: float32, or the widest of integers."""
        whole = all(map(is_integer, self.types.values()))
        return find_integers(self.types.values()) if whole else "float32"


def make_literal(value: float | str, type_: str) -> Literal:
    """Return a number, inf and -inf included, as an element of a type: the nearest integer."""
    number = float(value)
    if not is_integer(type_):
        return Literal(number, type_)
    least = -(2 ** (8 * BYTES[type_] - 1))
    return Literal(int(min(max(number, least), -least - math.isinf(number))), type_)


def load(element: Value, type_: str, computed: str) -> Value:
    """Return an element as a value of the type in which a statement is computed."""
    return element if is_integer(computed) else Loaded(element, type_)


def make_value(expr: tree.Expr, operands: InstructionOperands) -> Value:
    """Return the value of an expression."""
    if expr in operands.known:
        return operands.known[expr]
    match expr:
        case tree.NumberSyntax():
            return make_literal(expr.value, operands.type)
        case tree.AccessSyntax():
            tensor = expr.tensor
            return load(operands.values[tensor], operands.types[tensor], operands.type)
        case tree.Unary():
            return Computed("negative", (make_value(expr.operand, operands),), operands.type)
        case tree.CallSyntax():
            arguments = tuple(make_value(a, operands) for a in expr.arguments)
            return Computed(expr.function, arguments, operands.type)
        case tree.Binary():
            sides = make_value(expr.left, operands), make_value(expr.right, operands)
            return Computed(expr.op, sides, operands.type)
    raise AssertionError(f"{expr} is no expression of a specialised statement")


def combine(op: str, left: Value, right: tree.Expr, operands: InstructionOperands) -> Value:
    """Return `left op right`, left an element; op is one of + * max min."""
    return Computed(op, (left, make_value(right, operands)), operands.type)


def count_computed(
    expr: tree.Expr, type_: str, known: Collection[tree.Expr] = ()
) -> Counter[str]:
    """Return the operations of an expression that is computed in a type, by kind.

    Nothing for parts of it that are `known`.
    """
    if expr in known:
        return Counter()
    match expr:
        case tree.Unary():
            operation, parts = "-", [expr.operand]
        case tree.CallSyntax():
            operation, parts = expr.function, list(expr.arguments)
        case tree.Binary():
            operation, parts = expr.op, [expr.left, expr.right]
        case _:
            return Counter()
    found = Counter([kind_of(operation, type_)])
    for each in parts:
        found += count_computed(each, type_, known)
    return found

# --- Steps of a task, and addresses of operands ---------------------------------------------------
#
# Paper    V Sec. 5

@dataclass(frozen=True, slots=True, kw_only=True)
class InField:
    """The result of an earlier step, in a field of memory."""

    field: str
    type: str
    strides: tuple[int, ...]


Given = (
    simd_yaml.LocalDecision
    | simd_yaml.Arriving
    | simd_yaml.Streamed
    | simd_yaml.NumberDecision
    | InField
)
"""An operand, with the field of memory of a part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionStep:
    """One of a task's vector instructions: its field of memory and its counter.

    `first` is the number of its first operand among those of all steps; `over` are the dimensions
    of the box that it runs over. `looped` says that it is a loop instead.
    """

    field: str
    counter: Name | None
    operation: str
    operands: tuple[Given, ...]
    first: int
    over: tuple[int, ...]
    looped: bool


def find_steps(name: str, decision: Decision, naming: IdentifierNaming) -> list[InstructionStep]:
    """Return the vector instructions of a task, and its loops; the last one counts."""
    listed = decision.steps or (_only_step(decision),)
    every = tuple(range(len(decision.sizes or ())))
    last = len(listed) - 1
    shared = range(len(listed)) if decision.in_turn else [last]
    return [
        InstructionStep(
            field=naming.of(name) if k in shared else naming.of(f"{name} {k}", f"{name}_{k}"),
            counter=naming.counter(name) if k == last else None,
            operation=step.operation,
            operands=tuple(_spelled(o, name, naming) for o in step.operands),
            first=3 * k,
            over=every if step.over is None else step.over,
            looped=step.by == "loops",
        )
        for k, step in enumerate(listed)
    ]


def _only_step(decision: Decision) -> simd_yaml.StepDecision:
    assert decision.operation is not None, "a vector instruction has an operation"
    return simd_yaml.StepDecision(
        operation=decision.operation,
        by=decision.by,
        over=decision.over,
        operands=decision.operands,
    )


def find_part_field(name: str, number: int, naming: IdentifierNaming) -> str:
    """Return the field of memory for a part of a task's statement."""
    return naming.of(f"{name} part {number}", f"{name}_part{number}")


def _spelled(operand: simd_yaml.OperandDecision, name: str, naming: IdentifierNaming) -> Given:
    """Return an operand, a part as the field that it lies in."""
    if not isinstance(operand, simd_yaml.GivenDecision):
        return operand
    field = find_part_field(name, operand.part, naming)
    return InField(field=field, type=operand.type, strides=operand.strides)


def find_strides(operand: Given) -> tuple[int, ...]:
    """Return over how many elements each dimension steps; nothing for an operand of one value."""
    return operand.strides if isinstance(operand, simd_yaml.LocalDecision | InField) else ()


def find_vectors(name: str, decision: Decision, naming: IdentifierNaming) -> list[InstructionStep]:
    """Return the vector instructions of a task."""
    return [step for step in find_steps(name, decision, naming) if not step.looped]


def find_operand_address(
    operand: Given,
    position: int,
    block: Block,
    context: isl.Set,
    elements: Mapping[str, str],
    buffers: Buffers,
) -> Value:
    """Return the address of an operand; a number gets a variable of its own."""
    match operand:
        case simd_yaml.Streamed():
            return Nothing()
        case simd_yaml.Arriving():
            return Address(Name(elements[operand.element]))
        case InField():
            return Field(operand.field)
        case simd_yaml.NumberDecision():
            name = f"number{position}"
            block.add(Declare(name, operand.type, make_literal(operand.number, operand.type)))
            return Address(Name(name))
        case simd_yaml.LocalDecision():
            return find_base_address(operand, block, context, buffers)


def find_base_address(
    operand: simd_yaml.LocalDecision, block: Block, context: isl.Set, buffers: Buffers
) -> Value:
    """Return the address of the first element of an operand in memory.

    Affine indices are part of the address, as they are in loops; others take their operations.
    """
    indices = [value(b, context) for b in operand.base]
    listed = zip(operand.base, indices, strict=True)
    block.charge(address=1)
    for base, index in listed:
        if not _is_free(base, context):
            block.charge(**count_kinds(index))
    return Address(find_element(operand.local, indices, buffers))


def find_element(local: str, indices: Sequence[Value], buffers: Buffers) -> Element:
    """Return an element of a local tensor: in the buffer that is now that of its tensor.

    Indices are those in the first invocation.
    """
    first = indices[0] if indices else None
    if isinstance(first, Number) and (local, first.value) in buffers:
        indices = [buffers[local, first.value], *indices[1:]]
    return Element(Field(local), tuple(indices))


def count_buffers(block: Block, buffers: Buffers) -> int:
    """Return how many numbers of buffers a function reads: each once, a scalar operation.

    Addresses are affine in them.
    """
    return len(block.names() & find_names(buffers.values()))


def _is_free(index: int | str, context: isl.Set) -> bool:
    return isinstance(index, int) or is_affine_function(isl.PwAff(index), context)

# --- Steps that are loops -------------------------------------------------------------------------
#
# A loop computes a function that no vector instruction does, for each element of a box.
#
# Paper    V Sec. 5, condition 1

OPERATORS = {"divide": "/"}
"""Operators of LAIR, by the names of steps; other steps are functions."""

POINTERS = ("to", "from", "from1", "from2")
"""Names of variables that say where the operands of a step start."""


def call_loops(
    block: Block,
    step: InstructionStep,
    sizes: Sequence[int | str],
    context: isl.Set,
    elements: Mapping[str, str],
    naming: IdentifierNaming,
    buffers: Buffers,
) -> None:
    """Append the loops of a step; `sizes` are those of the whole box.

    `elements` gives the variable of each tensor whose element arrives.
    """
    dimensions = _merged(step, [_function(sizes[k]) for k in step.over])
    names = [naming.own(f"i{k}") for k in range(len(dimensions))]
    nest = make_element_loops(_box([size for size, _ in dimensions]), context, names)
    # A block of its own where elements are read outside a loop: its charge waits for results of
    # instructions before it, and that of the block around it came before these.
    local = any(isinstance(operand, LocalDecision) for operand in step.operands)
    around = block.nest() if local or _is_single(nest) else block
    arrays = _arrays(around, step, context, naming, buffers)
    to, *sources = (
        _element(operand, array, _offset([steps[k] for _, steps in dimensions], names), elements)
        for k, (operand, array) in enumerate(zip(step.operands, arrays, strict=True))
    )
    operation = OPERATORS.get(step.operation, step.operation)
    computed, type_ = _computed_in(step.operands[0].type), step.operands[0].type
    kind = kind_of(operation, computed)

    def instance(inner: Block, at: Instance) -> None:
        run, values, places = Block(), list[Value](), {arrays[0]}
        indices = dict(zip(names, at.arguments, strict=True))
        varying = find_iterated(inner)
        varying |= {n for n, index in indices.items() if find_names([index]) & varying}
        for k, (source, operand) in enumerate(zip(sources, step.operands[1:], strict=True), 1):
            read, array = load(source, operand.type, computed), arrays[k]
            is_fixed = array is not None and not find_names([source]) & varying
            if inner.before is not None and is_fixed:
                variable = naming.of(f"fixed {k}", f"fixed{k}")
                found = Block(statements=[Declare(variable, computed, read)])
                known = find_declared(inner.before)
                inner.before.declare(
                    {n: i for n, i in indices.items() if n not in varying | known}, found)
                inner.before.absorb(found)
                inner.before.charge(**count_moves([operand.type], []), address=1)
                values.append(Name(variable))
                continue
            if array is not None:
                inner.charge(**count_moves([operand.type], []))
                places.add(array)
            values.append(read)
        if step.counter is not None:
            run.add(CountInstance(step.counter))
        run.add(Store(to, Computed(operation, tuple(values), computed), type_))
        inner.charge(**{kind: 1}, address=len(places), **count_moves([], [type_]))
        inner.declare(indices, run)
        inner.absorb(run)

    write_nest(around, nest, instance)


def _is_single(nest: Nest) -> bool:
    """Whether a nest is one instance, with no loop around it."""
    while isinstance(nest, Loop) and nest.condition is None:
        nest = nest.body
    return isinstance(nest, Instance)


def _computed_in(type_: str) -> str:
    """Return the type in which a step computes an element of a type."""
    return type_ if is_integer(type_) else "float32"


Dimension = tuple[isl.PwAff, tuple[int, ...]]
"""The size of a dimension, and over how many elements of each operand it steps."""


def _merged(step: InstructionStep, sizes: Sequence[isl.PwAff]) -> list[Dimension]:
    """Return the dimensions of a step, one for those that are like one in all operands."""
    strides = [find_strides(o) or (0,) * len(sizes) for o in step.operands]
    found: list[Dimension] = []
    for size, *steps in zip(sizes, *strides, strict=True):
        whole = find_same(size)
        outer = found[-1] if found else None
        if outer is not None and whole is not None and all(
            o == s * whole for o, s in zip(outer[1], steps, strict=True)
        ):
            found[-1] = (outer[0].scale_val(isl.Val(whole)), tuple(steps))
        else:
            found.append((size, tuple(steps)))
    return found


def _box(sizes: Sequence[isl.PwAff]) -> isl.Set:
    """Return [p] -> { [i] : 0 <= i < size(p) }."""
    found, below = isl.Set("{ [] }"), isl.Map("{ [n] -> [i] : 0 <= i < n }")
    for size in sizes:
        found = found.flat_product(isl.Set.from_pw_aff(size).apply(below))
    return found


def _function(size: int | str) -> isl.PwAff:
    return isl.PwAff(f"{{ [({size})] }}" if isinstance(size, int) else size)


def _arrays(
    block: Block, step: InstructionStep, context: isl.Set, naming: IdentifierNaming,
    buffers: Buffers,
) -> list[Value | None]:
    """Return where the operands start, None for values; what tensors hold gets a pointer."""
    found: list[Value | None] = []
    for at, operand in enumerate(step.operands):
        known = step.operands.index(operand)
        if known < at:
            found.append(found[known])
        elif isinstance(operand, LocalDecision):
            base, name = find_base_address(operand, block, context, buffers), POINTERS[at]
            pointer = naming.of(f"pointer {name}", name)
            block.add(Point(pointer, operand.type, base))
            found.append(Name(pointer))
        else:
            found.append(Field(operand.field) if isinstance(operand, InField) else None)
    return found


def _element(
    operand: Given, array: Value | None, index: Value, elements: Mapping[str, str]
) -> Value:
    """Return an element of an array, or a value."""
    if isinstance(operand, Numeral):
        return make_literal(operand.number, operand.type)
    if isinstance(operand, Arriving):
        return Name(elements[operand.element])
    assert array is not None, "what lies in memory has a place"
    return Element(array, (index,))


def _offset(strides: Sequence[int], names: Sequence[str]) -> Offset:
    """Return strides * names."""
    pairs = zip(strides, names, strict=True)
    return Offset(tuple(Multiple(stride, Name(name)) for stride, name in pairs if stride))

# --- Configuration and calls of a vector instruction ----------------------------------------------
#
# Paper    V Sec. 5

MOST_UNROLLED = 16
"""The most iterations of loops around an instruction that are written out: as taps of a stencil."""


def add_vector_call(
    block: Block,
    name: str,
    model: ProgramModel,
    naming: IdentifierNaming,
    elements: Mapping[str, str],
) -> None:
    """Append the vector instruction of a task, under its guard.

    `elements` gives the variable of each tensor whose element arrives.
    """
    decision, context = model.simd[name], model.known(name)
    if isinstance(decision.guard, str):
        domain = isl.Set(decision.guard)
        block = block.when(holds(domain, context))
        context = context.intersect(domain)
    block.add(CountCall(naming.counter(name)))
    if decision.outer is None:
        decision = share_bases(block, decision, context, (), naming)
        _run(block, name, decision, model, naming, elements, context)
        return
    outer = isl.Set(decision.outer)
    names = [f"outer{k}" for k in range(outer.dim(isl.dim_type.set))]
    every = context.intersect(bind_set(outer, names))
    decision = share_bases(block, decision, every, names, naming)

    fixed = isinstance(model.tasks[name], Compute) and not is_configured_at_call(decision)
    steps = [step for step in find_steps(name, decision, naming) if not step.looped]
    found = _find_fixed(block, steps, names, model, naming, every) if fixed else {}
    unrolled, ahead, shared = fixed and _are_few(outer, context), Block(), dict[Value, str]()

    def instance(inner: Block, at: Instance) -> None:
        here = outer if at.instances is None else outer.intersect(at.instances)
        run = Block()
        inside = context.intersect(bind_set(here, names))
        _run(run, name, decision, model, naming, elements, inside, found)
        indices = dict(zip(names, at.arguments, strict=True))
        given = {n for n, index in indices.items() if index != Name(n)}
        if unrolled:
            hoist_divisions(ahead, run, given, naming, shared)
        elif inner.before is not None:
            hoist_divisions(inner.before, run, given | find_iterated(inner), naming)
        inner.declare(indices, run)
        inner.absorb(run)

    loops = make_element_loops(outer, context, names, unrolled=unrolled)
    body = Block()
    write_nest(body, loops, instance)
    block.absorb(ahead)
    block.absorb(body)


def _find_fixed(
    block: Block,
    steps: Sequence[InstructionStep],
    loops: Sequence[str],
    model: ProgramModel,
    naming: IdentifierNaming,
    context: isl.Set,
) -> dict[Given, Value]:
    """Put before loops the addresses of operands of vector instructions that do not change; return
    what they are called.
    """
    found: dict[Given, Value] = {}
    for operand in (each for step in steps for each in step.operands):
        if not isinstance(operand, LocalDecision) or operand in found:
            continue
        names = find_names([value(base, context) for base in operand.base])
        if names.isdisjoint(loops):
            place = find_base_address(operand, block, context, model.find_buffers(naming))
            pointer = naming.of(f"place {len(found)}", f"place{len(found)}")
            block.add(Point(pointer, operand.type, place))
            found[operand] = Name(pointer)
    return found


def _are_few(outer: isl.Set, context: isl.Set) -> bool:
    """Say whether loops have few iterations, the same ones wherever a task runs."""
    simple = outer.gist_params(context).coalesce()
    if simple.involves_dims(PARAM, 0, simple.dim(PARAM)):
        return False
    return cardinality(simple.project_out_all_params()) <= MOST_UNROLLED


DIVISIONS = {"division", "constant_division"}


def hoist_divisions(
    before: Block, run: Block, varying: Set[str], naming: IdentifierNaming,
    shared: dict[Value, str] | None = None,
) -> None:
    """Put before a loop the divisions in addresses of instructions that use nothing `varying`.

    Where iterations are written out these share quotients and remainders, `shared` by the names of
    their values; addresses are affine in them, and what they are more is part of the address.
    """
    inside, found = varying | find_declared(run), {} if shared is None else shared

    def fix(index: Value) -> Value:
        kinds = count_kinds(index)
        if not kinds.keys() & DIVISIONS:
            return index
        assert isinstance(index, Operation), "a division is an operation"
        within = any(count_kinds(each).keys() & DIVISIONS for each in index.arguments)
        if find_names([index]) & inside or (shared is not None and within):
            return replace(index, arguments=tuple(map(fix, index.arguments)))
        if index not in found:
            found[index] = naming.of(f"fixed {len(found)}", f"fixed{len(found)}")
            before.add(Declare(found[index], "int", index))
            before.charge(**kinds)
        run.operations -= kinds
        return Name(found[index])

    def fix_whole(index: Value) -> Value:
        fixed = fix(index)
        if shared is not None and fixed != index and not count_kinds(fixed).keys() & DIVISIONS:
            run.operations -= count_kinds(fixed)
        return fixed

    for at, each in enumerate(run.statements):
        if isinstance(each, RunVector):
            operands = tuple(
                Address(replace(o.of, indices=tuple(map(fix_whole, o.of.indices))))
                if isinstance(o, Address) and isinstance(o.of, Element) else o
                for o in each.operands
            )
            run.statements[at] = replace(each, operands=operands)


def _run(
    block: Block,
    name: str,
    decision: Decision,
    model: ProgramModel,
    naming: IdentifierNaming,
    elements: Mapping[str, str],
    context: isl.Set,
    fixed: Mapping[Given, Value] | None = None,
) -> None:
    """Append a vector instruction for the symbolic constants of the context.

    `fixed` are the addresses of operands that were found before.
    """
    run, buffers = Block(), model.find_buffers(naming)
    selected = _selected(run, decision, context)
    for step in find_steps(name, decision, naming):
        if step.looped:
            call_loops(run, step, decision.sizes or (), context, elements, naming, buffers)
            continue
        operands = tuple(
            (fixed or {}).get(o)
            or find_operand_address(o, step.first + k, run, context, elements, buffers)
            for k, o in enumerate(step.operands)
        )
        vector = Address(Element(Field(step.field), selected))
        if is_configured_at_call(decision):
            run.add(_configure(step, vector, find_sizes_at_run_time(run, decision)))
        run.add(RunVector(vector, operands))
    looked_up = _look_up(block, name, decision, naming, run)
    if decision.outer is not None or decision.in_turn:
        sizes = enumerate(decision.sizes or ())
        block.declare({f"size{k}": value(size, context) for k, size in sizes}, run)
    if decision.by in AT_RUN_TIME:
        ends = find_ends(name, model, context)
        block.declare({n: e for n, e in ends.items() if n not in looked_up}, run)
    block.absorb(run)


def find_table_field(task: str, table: str, naming: IdentifierNaming) -> str:
    """Return the field of memory for a table of a task."""
    return naming.of(f"{task} table {table}", f"{task}_{table}")


def _look_up(
    block: Block, name: str, decision: Decision, naming: IdentifierNaming, run: Block
) -> set[str]:
    """Append a constant for each entry of a table that is used, and return their names."""
    used = decision.tables.keys() & run.names()
    for constant in sorted(used):
        field, table = find_table_field(name, constant, naming), decision.tables[constant]
        block.add(Declare(constant, "int", find_table_entry(field, table)))
        block.charge(**count_moves([table.type], []), address=1)
    return set(used)


def find_table_entry(field: str, table: TableDecision) -> Value:
    """Return the entry for an index of a table in memory."""
    index, low = Name(table.by), table.least
    entry = Operation("-" if low > 0 else "+", (index, Number(abs(low)))) if low else index
    return Element(Field(field), (entry,))


def find_ends(name: str, model: ProgramModel, context: isl.Set) -> dict[str, Value]:
    """Return the least and the greatest value of each dimension, first0, last0, ..."""
    elements = model.compressed.of(name)
    found: dict[str, Value] = {}
    for k in range(elements.dim(isl.dim_type.set)):
        after = elements.dim(isl.dim_type.set) - k - 1
        values = elements.project_out(isl.dim_type.set, k + 1, after)
        ends = interval(values.project_out(isl.dim_type.set, 0, k), context)
        found |= dict(zip((f"first{k}", f"last{k}"), ends, strict=True))
    return found


def _selected(block: Block, decision: Decision, context: isl.Set) -> tuple[Value, ...]:
    """Return the subscripts of a size's configuration; they count from the least size."""
    subscripts: list[Value] = []
    for k, (count, least) in enumerate(_several(decision)):
        if count == 1:
            subscripts.append(Number(0))
            continue
        start = value(least, context)
        between = Operation("-", (Name(f"last{k}"), Name(f"first{k}")))
        if f"size{k}" in decision.tables:
            subscripts.append(Operation("-", (Name(f"size{k}"), start)))
            continue
        block.charge(scalar=1)
        if start != Number(1):
            between = Operation("-", (Operation("+", (between, Number(1))), start))
            block.charge(**(count_kinds(start) + Counter(scalar=2)))
        subscripts.append(between)
    return tuple(subscripts)


def is_configured_at_call(decision: Decision) -> bool:
    """Return whether an instruction is configured before each call, as its sizes differ."""
    within = decision.outer is not None and any(map(_differs, decision.sizes or ()))
    return decision.by == "configure" or within or decision.in_turn


def _differs(size: int | str) -> bool:
    """Return whether a size is another one from call to call on a PE."""
    if isinstance(size, int):
        return False
    function = isl.PwAff(size)
    names = function.get_var_names_not_none(PARAM)
    used = (n for k, n in enumerate(names) if function.involves_dims(PARAM, k, 1))
    return not set(PE_NAMES).issuperset(used)


def find_sizes_at_run_time(block: Block, decision: Decision) -> list[Value]:
    """Return sizes: fixed, looked up or those of a row, or last - first + 1."""
    return [
        Number(size) if isinstance(size, int) else _size_at_run_time(block, decision, k)
        for k, size in enumerate(decision.sizes or ())
    ]


def _size_at_run_time(block: Block, decision: Decision, k: int) -> Value:
    if f"size{k}" in decision.tables or decision.outer is not None or decision.in_turn:
        return Name(f"size{k}")
    block.charge(scalar=2)
    return Operation("+", (Operation("-", (Name(f"last{k}"), Name(f"first{k}"))), Number(1)))


def configuration(
    name: str, model: ProgramModel, naming: IdentifierNaming, context: isl.Set
) -> Block:
    """Return the configuration of a task's vector instructions in main.

    There is one for each size that occurs on a PE; none where it is configured before each call.
    """
    decision = model.simd[name]
    if is_configured_at_call(decision):
        return Block()
    sizes = [value(s, context) for s in decision.sizes or ()]
    subscripts: tuple[Value, ...] = ()
    block = outermost = Block()
    for k, (count, least) in enumerate(_several(decision)):
        start, size = value(least, context), Name(f"s{k}")
        sizes[k] = size if start == Number(0) else Operation("+", (start, size))
        subscripts = (*subscripts, size)
        block = block.nest(For(size, Number(0), compare(size, "<", count)))
    block = block.when(_needed(decision, context))
    for step in find_vectors(name, decision, naming):
        block.add(_configure(step, Address(Element(Field(step.field), subscripts)), sizes))
    return outermost


def _needed(decision: Decision, context: isl.Set) -> Value | None:
    """Return the condition that the size s0, ... occurs on a PE; None if all sizes do."""
    if decision.needed is None:
        return None
    for k, (count, _) in enumerate(_several(decision)):
        context = context.intersect(isl.Set(f"[s{k}] -> {{ : 0 <= s{k} < {count} }}"))
    names = [f"s{k}" for k in range(len(decision.several))]
    return holds(bind_set(isl.Set(decision.needed), names), context)


def _configure(step: InstructionStep, vector: Value, sizes: Sequence[Value]) -> Configure:
    """Return the statement that configures a vector instruction."""
    operands = tuple(make_operand(o.type, find_strides(o)) for o in step.operands)
    own = tuple(sizes[k] for k in step.over)
    return Configure(vector, step.counter, step.operation, own, operands)


def _several(decision: Decision) -> list[tuple[int, int | str]]:
    """Return how many sizes are enumerated, and the least of them, per dimension."""
    return list(zip(decision.several, decision.least, strict=True))

# --- Loops of a task ------------------------------------------------------------------------------
#
# Paper    V Sec. 5

COMBINE = {"+=": "+", "*=": "*", "max=": "max", "min=": "min"}
ELEMENT = "element"
"""The variable that says where the target of a sum lies."""


def add_task_loops(
    block: Block,
    name: str,
    model: ProgramModel,
    naming: IdentifierNaming,
    elements: Mapping[str, str],
) -> None:
    """Append the loops of a task that fills a tensor or runs a statement."""
    task = model.tasks[name]
    if isinstance(task, Fills):
        block.add(CountCall(naming.counter(name)))
        filled = make_literal(task.value, model.type_of(f"{task.tensor}_local"))
        transfer_loops(block, name, model, naming, lambda e: Assign(e, filled), counts=True)
    else:
        statement_loops(block, name, model, naming, elements)


def statement_loops(
    block: Block,
    name: str,
    model: ProgramModel,
    naming: IdentifierNaming,
    elements: Mapping[str, str],
) -> None:
    """Append the loops that run a task's statement, one instance at a time."""
    task = model.tasks[name]
    assert isinstance(task, Runs), "a task without a statement fills a tensor"
    expr = parse_expression(task.expression)
    iterators = [naming.own(i) for i in task.iterators]
    time = model.time_of(name)
    accesses = model.accesses(name)
    arriving = {tensor: Name(variable) for tensor, variable in elements.items()}
    target, op, buffers = task.target, task.op, model.find_buffers(naming)

    def instance(inner: Block, at: Instance) -> None:
        context = bind_set(_reaching(at, name, model), iterators).intersect(model.known(name))
        found = {t: local_element(a, iterators, context, buffers) for t, a in accesses.items()}
        types = {t: model.graph.tensors[t].type for t in (*found, *elements)}
        indices = dict(zip(iterators, at.arguments, strict=True))
        run = Block()
        run.add(CountInstance(naming.counter(name)))
        operands = InstructionOperands(values=found | arriving, types=types)
        hoisted = _hoist(inner, indices, task, expr, operands, naming)
        held = [t for t in found if t not in elements and t not in hoisted.before]
        inner.charge(
            **_count_of_instance(op, expr, operands.type, hoisted.known), address=len(held))
        loaded = [types[t] for t in held if t != target] + [types[target]] * (op != "=")
        inner.charge(**count_moves(loaded, [types[target]]))
        assigned = assignment(target, op, expr, replace(operands, known=hoisted.known))
        run.add(*assigned[1 if hoisted.target else 0 :])
        for iterator, index in indices.items():
            if iterator not in hoisted.before:
                inner.declare({iterator: index}, run, free=is_affine(index))
        inner.absorb(run)

    names = _time_names(time, iterators, naming)
    block.add(CountCall(naming.counter(name)))
    write_nest(block, make_loop_nest(time, model.known(name), names), instance)


def _time_names(time: isl.Map, iterators: list[str], naming: IdentifierNaming) -> list[str]:
    """Name each dimension of time: as the iterator that it equals, if there is one."""
    free, names = list(iterators), []
    for position in range(time.dim(isl.dim_type.out)):
        equal = [i for i in free if _equals(time, iterators.index(i), position)]
        names.append(equal[0] if equal else naming.of(f"time {position}", f"t{position}"))
        free = [i for i in free if i not in equal[:1]]
    return names


def _equals(time: isl.Map, iterator: int, position: int) -> bool:
    same = isl.Map.universe(time.get_space())
    same = same.equate(isl.dim_type.in_, iterator, isl.dim_type.out, position)
    return time.is_subset(same)


def local_element(
    access: isl.Map, names: list[str], context: isl.Set, buffers: Buffers
) -> Value:
    """Return the element of { instance -> T_local[l] }, the instance by its names."""
    indices = element_expressions(access, names, context)
    return find_element(access.get_tuple_name(isl.dim_type.out), indices, buffers)


def assignment(
    target: str, op: str, expr: Expr, operands: InstructionOperands
) -> list[StatementNode]:
    """Return `target op expr`, rounded once to the target's type."""
    type_, element = operands.types[target], operands.values[target]
    if op == "=":
        return [Store(element, make_value(expr, operands), type_)]
    pointed = Pointed(Name(ELEMENT))
    old = load(pointed, type_, operands.type)
    computed = combine(COMBINE[op], old, expr, operands)
    return [Point(ELEMENT, type_, Address(element)), Store(pointed, computed, type_)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedParts:
    """What a loop needs to find once: iterators and elements `before` it, and values by expression.

    `target`: where the target lies, too.
    """

    before: frozenset[str] = frozenset()
    known: Mapping[Expr, Value] = field(default_factory=dict)
    target: bool = False


def _hoist(
    inner: Block,
    indices: Mapping[str, Value],
    task: Runs,
    expr: Expr,
    operands: InstructionOperands,
    naming: IdentifierNaming,
) -> FixedParts:
    """Put before a loop what is the same for all its iterations, but for the target's value.

    To read an element before the first iteration is as good as in each of them: nothing but the
    target is written meanwhile, and no other element that is still read lies where it does.
    """
    target, op = task.target, task.op
    if inner.before is None:
        return FixedParts()
    varying = find_iterated(inner)
    varying |= {i for i, index in indices.items() if find_names([index]) & varying}
    fixed = {
        t for t, value in operands.values.items()
        if t != target and not find_names([value]) & varying
    }
    fixed = {t for t in fixed if isinstance(operands.values[t], Element)}
    known, before, run = dict[Expr, Value](), inner.before, Block()
    for number, part in enumerate(dict.fromkeys(_list_fixed(expr, fixed))):
        variable = naming.of(f"fixed {number}", f"fixed{number}")
        run.add(Declare(variable, operands.type, make_value(part, operands)))
        known[part] = Name(variable)
        before.charge(**count_computed(part, operands.type))
    held = {a.tensor for part in known for a in tree.walk(part) if isinstance(a, AccessSyntax)}
    before.charge(**count_moves([operands.types[t] for t in held], []), address=len(held))
    element = operands.values[target]
    stays = op != "=" and not find_names([element]) & varying
    if stays:
        run.add(Point(ELEMENT, operands.types[target], Address(element)))
        before.charge(address=1)
        held.add(target)
    for iterator, index in indices.items():
        if iterator not in varying:
            before.declare({iterator: index}, run, free=is_affine(index))
    used = run.names()
    before.absorb(run)
    return FixedParts(before=frozenset(held | (used & set(indices))), known=known, target=stays)


def _list_fixed(expr: Expr, fixed: Set[str]) -> Iterator[Expr]:
    """Yield the largest parts of an expression that read tensors, and only `fixed` ones."""
    tensors = [each.tensor for each in tree.walk(expr) if isinstance(each, AccessSyntax)]
    if not tensors:
        return
    if fixed >= set(tensors):
        yield expr
        return
    match expr:
        case tree.Unary():
            yield from _list_fixed(expr.operand, fixed)
        case tree.CallSyntax():
            for each in expr.arguments:
                yield from _list_fixed(each, fixed)
        case Binary():
            yield from _list_fixed(expr.left, fixed)
            yield from _list_fixed(expr.right, fixed)


def _count_of_instance(
    op: str, expr: Expr, type_: str, known: Collection[Expr] = ()
) -> Counter[str]:
    """Return the operations of an instance of a statement, by kind; a multiply-add is one."""
    own = count_computed(expr, type_, known)
    if op == "=":
        return own or Counter(scalar=1)
    fused = op == "+=" and own.total() == 1 and isinstance(expr, Binary) and expr.op == "*"
    return own if fused else own + Counter([kind_of(COMBINE[op], type_)])


def transfer_loops(
    block: Block,
    name: str,
    model: ProgramModel,
    naming: IdentifierNaming,
    moved: Callable[[Value], StatementNode],
    *,
    then: Block | None = None,
    counts: bool = False,
) -> None:
    """Append loops over a task's instances in lexicographic order; each is `moved`, in memory.

    The instance gives the element, and the element its place in memory: two short expressions.
    `then` is what follows the statement. Instances are i0, ..., as the naming has them.
    """
    instances, known = model.instance_set(name), model.known(name)
    names = [naming.own(f"i{k}") for k in range(instances.dim(isl.dim_type.set))]
    tensor, access = next(iter(model.elements(name).items()))
    buffers = model.find_buffers(naming)

    def instance(inner: Block, at: Instance) -> None:
        here = _reaching(at, name, model)
        found = element_expressions(access, names, bind_set(here, names).intersect(known))
        elements = _element_names(found, names, naming)
        context = bind_set(here.apply(access), elements).intersect(known)
        statement = moved(local_element(model.to_local[tensor], elements, context, buffers))
        run, after = Block(statements=[statement]), then or Block()
        inner.charge(scalar=1, address=1)
        located = Block()
        located.declare(dict(zip(elements, found, strict=True)), run)
        everything = Block(statements=[*located.statements, statement, *after.statements])
        inner.declare(dict(zip(names, at.arguments, strict=True)), everything)
        inner.absorb(located)
        if counts:
            inner.add(CountInstance(naming.counter(name)))
        inner.absorb(run)
        inner.absorb(after)

    with working_on(f"task {name}"):
        write_nest(block, make_element_loops(instances, known, names), instance)


def _reaching(at: Instance, name: str, model: ProgramModel) -> isl.Set:
    """Return the instances of a task that reach a place in its loops."""
    whole = model.instance_set(name)
    return whole if at.instances is None else whole.intersect(at.instances)


def _element_names(found: Sequence[Value], names: list[str], naming: IdentifierNaming) -> list[str]:
    """Return a name for each dimension of an element: the instance's own where they are equal."""
    return [
        each.name
        if isinstance(each, Name) and each.name in names and each not in found[:k]
        else naming.own(f"e{k}")
        for k, each in enumerate(found)
    ]


def element_expressions(access: isl.Map, names: list[str], context: isl.Set) -> list[Value]:
    """Return the element of { instance -> T[e] }, the instance by its names."""
    element = find_function(bind_domain(access, names))
    positions = range(access.dim(isl.dim_type.out))
    return [express(element.get_pw_aff(k), context) for k in positions]

"""A task's vector instruction: its configuration, and its calls.

Paper    V Sec. 5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from lairmake.stages.layer.pe.call import call_loops
from lairmake.stages.layer.pe.model import Work, holds, value
from lairmake.stages.layer.pe.operands import (
    Step,
    find_operand_address,
    find_steps,
    find_strides,
    find_vectors,
)
from lairmake.stages.layer.texts.task_graph import AT_RUN_TIME
from lairmake.stages.layer.texts.yaml_files import Decision, Table
from lairmake.stages.pe.block import Block, write_nest
from lairmake.stages.pe.names import Naming
from lairmake.stages.pe.nodes import (
    Address,
    Configure,
    CountCall,
    Declare,
    Element,
    Field,
    For,
    RunVector,
    make_operand,
)
from lairmake.stages.poly.expression import (
    Instance,
    Name,
    Number,
    Operation,
    Value,
    compare,
    count_operations,
    interval,
    make_element_loops,
)
from lairmake.stages.poly.functions import PARAM, PE_NAMES, bind_set


def add_vector_call(
    block: Block, name: str, model: Work, naming: Naming, elements: Mapping[str, str]
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
        _run(block, name, model, naming, elements, context)
        return
    outer = isl.Set(decision.outer)
    names = [f"outer{k}" for k in range(outer.dim(isl.dim_type.set))]

    def instance(inner: Block, at: Instance) -> None:
        here = outer if at.instances is None else outer.intersect(at.instances)
        run = Block()
        _run(run, name, model, naming, elements, context.intersect(bind_set(here, names)))
        inner.declare(dict(zip(names, at.arguments, strict=True)), run)
        inner.absorb(run)

    write_nest(block, make_element_loops(outer, context, names), instance)


def _run(
    block: Block,
    name: str,
    model: Work,
    naming: Naming,
    elements: Mapping[str, str],
    context: isl.Set,
) -> None:
    """Append a vector instruction for the symbolic constants of the context."""
    decision, run = model.simd[name], Block()
    selected = _selected(run, decision, context)
    for step in find_steps(name, decision, naming):
        if step.looped:
            call_loops(run, step, decision.sizes or (), context, elements, naming)
            continue
        operands = tuple(
            find_operand_address(o, step.first + k, run, context, elements)
            for k, o in enumerate(step.operands)
        )
        vector = Address(Element(Field(step.field), selected))
        if is_configured_at_call(decision):
            run.add(_configure(step, vector, find_sizes_at_run_time(run, decision)))
        run.add(RunVector(vector, operands))
    looked_up = _look_up(block, name, decision, naming, run)
    if decision.outer is not None:
        sizes = enumerate(decision.sizes or ())
        block.declare({f"size{k}": value(size, context) for k, size in sizes}, run)
    if decision.by in AT_RUN_TIME:
        ends = find_ends(name, model, context)
        block.declare({n: e for n, e in ends.items() if n not in looked_up}, run)
    block.absorb(run)


def find_table_field(task: str, table: str, naming: Naming) -> str:
    """Return the field of memory for a table of a task."""
    return naming.of(f"{task} table {table}", f"{task}_{table}")


def _look_up(
    block: Block, name: str, decision: Decision, naming: Naming, run: Block
) -> set[str]:
    """Append a constant for each entry of a table that is used, and return their names."""
    used = decision.tables.keys() & run.names()
    for constant in sorted(used):
        field = find_table_field(name, constant, naming)
        block.add(Declare(constant, "int", find_table_entry(field, decision.tables[constant])))
        block.charge(address=1)
    return set(used)


def find_table_entry(field: str, table: Table) -> Value:
    """Return the entry for an index of a table in memory."""
    index, low = Name(table.by), table.least
    entry = Operation("-" if low > 0 else "+", (index, Number(abs(low)))) if low else index
    return Element(Field(field), (entry,))


def find_ends(name: str, model: Work, context: isl.Set) -> dict[str, Value]:
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
            block.charge(scalar=count_operations(start) + 2)
        subscripts.append(between)
    return tuple(subscripts)


def is_configured_at_call(decision: Decision) -> bool:
    """Return whether an instruction is configured before each call, as its sizes differ."""
    within = decision.outer is not None and any(map(_differs, decision.sizes or ()))
    return decision.by == "configure" or within


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
    if f"size{k}" in decision.tables or decision.outer is not None:
        return Name(f"size{k}")
    block.charge(scalar=2)
    return Operation("+", (Operation("-", (Name(f"last{k}"), Name(f"first{k}"))), Number(1)))


def configuration(name: str, model: Work, naming: Naming, context: isl.Set) -> Block:
    """Return what configures a task's vector instructions in main.

    One for each size that occurs on a PE; empty where it is configured before each call.
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


def _configure(step: Step, vector: Value, sizes: Sequence[Value]) -> Configure:
    """Return the statement that configures a vector instruction."""
    operands = tuple(make_operand(o.type, find_strides(o)) for o in step.operands)
    own = tuple(sizes[k] for k in step.over)
    return Configure(vector, step.counter, step.operation, own, operands)


def _several(decision: Decision) -> list[tuple[int, int | str]]:
    """Return how many sizes are enumerated, and the least of them, per dimension."""
    return list(zip(decision.several, decision.least, strict=True))

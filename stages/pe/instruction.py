"""A task's vector instruction in C: its configuration, and its calls.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from stages.pe.code import C_TYPES, Block, literal, words, write_nest
from stages.pe.model import Description, Work, holds, value
from stages.pe.work import Spelling
from stages.poly.ast import Expression, Instance, element_loops, held, interval
from stages.poly.bind import bind_set
from stages.poly.function import is_affine

AT_RUN_TIME = ("enumerate", "configure")
"""Ways to an instruction whose size is found before each call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One of a task's vector instructions, in C: its field of memory and its counter.

    `first` is the number of its first operand among those of all steps.
    """

    field: str
    counter: str
    operation: str
    operands: tuple[Description, ...]
    first: int


def steps_of(name: str, decision: Description, spelling: Spelling) -> list[Step]:
    """Return the vector instructions of a task; the last one counts."""
    listed = decision.get("steps", [decision])
    last = len(listed) - 1
    return [
        Step(
            field=spelling.of(name) if k == last else spelling.of(f"{name} {k}", f"{name}_{k}"),
            counter=spelling.counter(name) if k == last else "NO_COUNTER",
            operation=step["operation"],
            operands=tuple(_spelled(o, name, spelling) for o in step["operands"]),
            first=3 * k,
        )
        for k, step in enumerate(listed)
    ]


def part_field(name: str, number: int, spelling: Spelling) -> str:
    """Return the field of memory for a part of a task's statement."""
    return spelling.of(f"{name} part {number}", f"{name}_part{number}")


def _spelled(operand: Description, name: str, spelling: Spelling) -> Description:
    """Return an operand, the field of a part with it."""
    if "part" not in operand:
        return operand
    return operand | {"field": part_field(name, operand["part"], spelling)}


def vector_call(
    block: Block, name: str, model: Work, spelling: Spelling, elements: Mapping[str, str]
) -> None:
    """Append the vector instruction of a task, under its guard.

    `elements` gives the C variable of each tensor whose element arrives.
    """
    decision, context = model.simd[name], model.known(name)
    guard = decision.get("guard")
    if guard is not None:
        domain = isl.Set(guard)
        block = block.when(holds(domain, context))
        context = context.intersect(domain)
    block.add(f"COUNT_CALL(pe, {spelling.counter(name)});")
    if "outer" not in decision:
        _run(block, name, model, spelling, elements, context)
        return
    outer = isl.Set(decision["outer"])
    names = [f"outer{k}" for k in range(outer.dim(isl.dim_type.set))]

    def instance(inner: Block, at: Instance) -> None:
        here = outer if at.instances is None else outer.intersect(at.instances)
        run = Block()
        _run(run, name, model, spelling, elements, context.intersect(bind_set(here, names)))
        inner.declare(dict(zip(names, at.arguments, strict=True)), run.text())
        inner.absorb(run)

    write_nest(block, element_loops(outer, context, names), instance)


def _run(
    block: Block,
    name: str,
    model: Work,
    spelling: Spelling,
    elements: Mapping[str, str],
    context: isl.Set,
) -> None:
    """Append a vector instruction for the symbolic constants of the context."""
    decision, run = model.simd[name], Block()
    selected = _selected(run, decision, context)
    for step in steps_of(name, decision, spelling):
        operands = [
            operand_text(o, step.first + k, run, context, elements)
            for k, o in enumerate(step.operands)
        ]
        operands += ["NULL"] * (3 - len(operands))
        fused = "_fused" if len(operands) > 3 else ""
        vector = f"&my->{step.field}{selected}"
        if decision["by"] == "configure":
            run.add(*_configure(step, vector, sizes_at_run_time(run, decision)))
        run.add(f"vector_run{fused}(pe, {vector}, {', '.join(operands)});")
    looked_up = _look_up(block, name, decision, spelling, run.text())
    if decision["by"] in AT_RUN_TIME:
        ends = ends_of(name, model, context)
        block.declare({n: e for n, e in ends.items() if n not in looked_up}, run.text())
    block.absorb(run)


def table_field(task: str, table: str, spelling: Spelling) -> str:
    """Return the field of memory for a table of a task."""
    return spelling.of(f"{task} table {table}", f"{task}_{table}")


def _look_up(
    block: Block, name: str, decision: Description, spelling: Spelling, lines: Sequence[str]
) -> set[str]:
    """Append a constant for each entry of a table that lines use, and return their names."""
    used = decision.get("tables", {}).keys() & words(lines)
    for constant in sorted(used):
        entry = table_entry(decision["tables"][constant])
        block.add(f"const int {constant} = my->{table_field(name, constant, spelling)}{entry};")
        block.charge(address=1)
    return set(used)


def table_entry(table: Description) -> str:
    """Return the subscript of the entry for an index."""
    index, low = table["by"], table["from"]
    return f"[{index} - {low}]" if low > 0 else f"[{index} + {-low}]" if low else f"[{index}]"


def ends_of(name: str, model: Work, context: isl.Set) -> dict[str, Expression]:
    """Return the least and the greatest value of each dimension, first0, last0, ..."""
    elements = isl.Set.from_union_set(model.compressed[name])
    found: dict[str, Expression] = {}
    for k in range(elements.dim(isl.dim_type.set)):
        after = elements.dim(isl.dim_type.set) - k - 1
        values = elements.project_out(isl.dim_type.set, k + 1, after)
        ends = interval(values.project_out(isl.dim_type.set, 0, k), context)
        found |= dict(zip((f"first{k}", f"last{k}"), ends, strict=True))
    return found


def _selected(block: Block, decision: Description, context: isl.Set) -> str:
    """Return the subscripts of a size's configuration; they count from the least size."""
    subscripts = ""
    for k, (count, least) in enumerate(_several(decision)):
        if count == 1:
            subscripts += "[0]"
            continue
        start, subscript = value(least, context), f"last{k} - first{k}"
        if f"size{k}" in decision.get("tables", {}):
            subscripts += f"[size{k} - {held(start, '-')}]"
            continue
        block.charge(scalar=1)
        if start.text != "1":
            subscript += f" + 1 - {held(start, '-')}"
            block.charge(scalar=start.operations + 2)
        subscripts += f"[{subscript}]"
    return subscripts


def sizes_at_run_time(block: Block, decision: Description) -> list[str]:
    """Return sizes: fixed, looked up, or last - first + 1."""
    return [
        str(size) if isinstance(size, int) else _size_at_run_time(block, decision, k)
        for k, size in enumerate(decision["sizes"])
    ]


def _size_at_run_time(block: Block, decision: Description, k: int) -> str:
    if f"size{k}" in decision.get("tables", {}):
        return f"size{k}"
    block.charge(scalar=2)
    return f"last{k} - first{k} + 1"


def operand_text(
    operand: Description,
    position: int,
    block: Block,
    context: isl.Set,
    elements: Mapping[str, str],
) -> str:
    """Return the address of an operand; a number gets a variable of its own."""
    if "element" in operand:
        return f"&{elements[operand['element']]}"
    if "part" in operand:
        return f"my->{operand['field']}"
    if "number" in operand:
        type_, name = operand["type"], f"number{position}"
        block.add(f"const {C_TYPES[type_]} {name} = {literal(operand['number'], type_)};")
        return f"&{name}"
    return base_text(operand, block, context)


def base_text(operand: Description, block: Block, context: isl.Set) -> str:
    """Return the address of the first element of an operand in memory.

    Affine indices are part of the address, as they are in loops; others take their operations.
    """
    indices = [value(b, context) for b in operand["base"]]
    listed = zip(operand["base"], indices, strict=True)
    costly = (i.operations for b, i in listed if not _is_free(b, context))
    block.charge(address=1, scalar=sum(costly))
    return f"&my->{operand['local']}{''.join(f'[{i.text}]' for i in indices)}"


def _is_free(index: int | str, context: isl.Set) -> bool:
    return isinstance(index, int) or is_affine(isl.PwAff(index), context)


def configuration(name: str, model: Work, spelling: Spelling, context: isl.Set) -> list[str]:
    """Return the lines that configure a task's vector instructions in main.

    One for each size that occurs on a PE; none where it is configured before each call.
    """
    decision = model.simd[name]
    if decision["by"] == "configure":
        return []
    sizes, subscripts = [value(s, context).text for s in decision["sizes"]], ""
    block = outermost = Block()
    for k, (count, least) in enumerate(_several(decision)):
        start = value(least, context)
        sizes[k] = f"s{k}" if start.text == "0" else f"{held(start, '+', first=True)} + s{k}"
        subscripts += f"[s{k}]"
        block = block.nest(f"for (int s{k} = 0; s{k} < {count}; s{k} += 1)")
    block = block.when(_needed(decision, context))
    for step in steps_of(name, decision, spelling):
        block.add(*_configure(step, f"&my->{step.field}{subscripts}", sizes))
    return outermost.text()


def _needed(decision: Description, context: isl.Set) -> Expression | None:
    """Return the condition that the size s0, ... occurs on a PE; None if all sizes do."""
    if "needed" not in decision:
        return None
    for k, (count, _) in enumerate(_several(decision)):
        context = context.intersect(isl.Set(f"[s{k}] -> {{ : 0 <= s{k} < {count} }}"))
    names = [f"s{k}" for k in range(len(decision["several"]))]
    return holds(bind_set(isl.Set(decision["needed"]), names), context)


def _configure(step: Step, vector: str, sizes: Sequence[str]) -> list[str]:
    """Return the statement that configures a vector instruction."""
    operands = [_configured(o) for o in step.operands]
    operands += ["NO_OPERAND"] * (3 - len(operands))
    call = "configure_fused" if len(operands) > 3 else "configure"
    return [
        f"{call}(pe, {vector}, {step.counter}, {step.operation}, "
        f"SIZES({', '.join(sizes) or '1'}),",
        f"{' ' * len(call)} {', '.join(operands)});",
    ]


def _several(decision: Description) -> list[tuple[int, int | str]]:
    """Return how many sizes are enumerated, and the least of them, per dimension."""
    return list(zip(decision.get("several", ()), decision.get("least", ()), strict=True))


def _configured(operand: Description) -> str:
    type_ = operand["type"].upper()
    strides = ", ".join(map(str, operand.get("strides", []))) or "0"
    return f"{type_}_OPERAND({strides})"

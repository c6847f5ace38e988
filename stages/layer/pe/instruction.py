"""A task's vector instruction in C: its configuration, and its calls.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from stages.layer.pe.call import call_loops
from stages.layer.pe.code import Block, words, write_nest
from stages.layer.pe.model import Description, Work, holds, value
from stages.layer.pe.operands import Step, operand_text, steps_of, vectors_of
from stages.layer.pe.work import Spelling
from stages.layer.streams.tasks import AT_RUN_TIME
from stages.poly.ast import Expression, Instance, element_loops, held, interval
from stages.poly.bind import bind_set


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
        if step.looped:
            call_loops(run, step, decision["sizes"], context, elements, spelling)
            continue
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
    for step in vectors_of(name, decision, spelling):
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
    own = [sizes[k] for k in step.over]
    call = "configure_fused" if len(operands) > 3 else "configure"
    return [
        f"{call}(pe, {vector}, {step.counter}, {step.operation}, "
        f"SIZES({', '.join(own) or '1'}),",
        f"{' ' * len(call)} {', '.join(operands)});",
    ]


def _several(decision: Description) -> list[tuple[int, int | str]]:
    """Return how many sizes are enumerated, and the least of them, per dimension."""
    return list(zip(decision.get("several", ()), decision.get("least", ()), strict=True))


def _configured(operand: Description) -> str:
    type_ = operand["type"].upper()
    strides = ", ".join(map(str, operand.get("strides", []))) or "0"
    return f"{type_}_OPERAND({strides})"

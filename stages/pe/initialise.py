"""Give all of a local tensor one value: with a vector instruction, or with loops.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 4.2
"""

from __future__ import annotations

from stages.pe.code import Block, literal
from stages.pe.program import Program
from stages.pe.work import transfer_loops, vector_call


def initialise(program: Program, block: Block, name: str) -> None:
    """Append what a task does that fills a local tensor."""
    model, spelling, task = program.model, program.spelling, program.model.tasks[name]
    if program.vectors and model.simd[name]["by"] != "loops":
        program.configure(name, f"{task['tensor']} = {task['value']}")
        vector_call(block, name, model, spelling, {})
        return
    block.add(f"COUNT_CALL(pe, {spelling.counter(name)});")
    filled = literal(task["value"], model.type_of(f"{task['tensor']}_local"))
    transfer_loops(block, name, model, spelling, f"{{}} = {filled};", counts=True)

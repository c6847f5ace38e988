"""What a task does that runs at once: with vector instructions, or with loops.

Paper    V Sec. 5
"""

from __future__ import annotations

from collections.abc import Mapping

from lairmake.stages.layer.pe.instruction import add_vector_call
from lairmake.stages.layer.pe.program import Program
from lairmake.stages.layer.pe.work import add_task_loops
from lairmake.stages.layer.texts.task_graph import AnyTask, Fills, Runs
from lairmake.stages.pe.block import Block


def run_task(program: Program, block: Block, name: str, elements: Mapping[str, str]) -> None:
    """Append what a task does; both programs have the same memory, for one layout.

    `elements` gives the variable of each tensor whose element arrives.
    """
    program.keep_parts(name)
    if program.vectors and program.model.simd[name].by != "loops":
        program.configure(name, formula(program.model.tasks[name]))
        add_vector_call(block, name, program.model, program.naming, elements)
    else:
        add_task_loops(block, name, program.model, program.naming, elements)


def formula(task: AnyTask) -> str:
    """Return the statement of a task, or the value that it gives a tensor."""
    if isinstance(task, Fills):
        return f"{task.tensor} = {task.value}"
    assert isinstance(task, Runs), "what runs at once computes, or fills"
    return f"{task.target} {task.op} {task.expression}"

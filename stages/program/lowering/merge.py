"""The program of the merge PE, which has neither tasks nor memory.

Paper    E Sec. 4.1, 6.1: its template has no variables but the numbers of colours
"""

from __future__ import annotations

from pathlib import Path

from stages.jinja import template_in
from stages.program.lowering.lowered import MERGE, Material, PeProgram
from stages.program.vm.colours import ARGS, ARGS_DIST, CTRL, CTRL_DIST

DATA = ("templates/merge.c.j2",)


def write_merge(material: Material) -> PeProgram:
    """Return the program of the merge PE."""
    text = template_in(Path(__file__).parent / "templates", "merge.c.j2", __name__).render(
        colours=[(name.upper(), material.colours[name])
                 for name in (ARGS_DIST, CTRL_DIST, ARGS, CTRL)])
    return PeProgram(role=MERGE, text=text, data=0, tensors={}, functions=1)

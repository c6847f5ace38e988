"""The program of the merge PE, which has neither tasks nor memory.

Paper    E Sec. 4.1, 6.1: nothing in it varies but the numbers of colours
"""

from __future__ import annotations

from lairmake.stages.pe.nodes import Done, PassAsControl, PassBy
from lairmake.stages.poly.expression import Name
from lairmake.stages.program.lowering.calls import begin, make_listing
from lairmake.stages.program.lowering.lowered import MERGE, Material, PeProgram
from lairmake.stages.program.vm.colours import ARGS, ARGS_DIST, CTRL, CTRL_DIST


def write_merge(material: Material) -> PeProgram:
    """Return the program of the merge PE."""
    body, colours = begin(), (ARGS_DIST, CTRL_DIST, ARGS, CTRL)
    arguments, procedures, to_args, to_ctrl = (Name(each.upper()) for each in colours)
    body.block.add(PassBy(arguments, to_args), PassAsControl(procedures, to_ctrl), Done())
    does = "which passes on to all workers what comes in turn from both sides"
    listing = make_listing(MERGE, does, colours, material.colours, [body.finished()])
    return PeProgram(role=MERGE, listing=listing, data=0, tensors={}, functions=1)

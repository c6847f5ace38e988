"""What the loops take that bring elements into the order of a stream, or out of it.

Programs have them where addresses of elements are not linear in that order. Each is charged for
what would be written, on PEs that stand for all that run it.

Source   stages/layer/codegen/streams.py, which writes them
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import islpy as isl

from lairmake.stages.layer.codegen.instruction import transfer_loops
from lairmake.stages.layer.codegen.model import Work
from lairmake.stages.layer.estimate.facts import PE, list_places
from lairmake.stages.machine.profile import Profile
from lairmake.stages.pe.block import Block, BlockCharge
from lairmake.stages.pe.names import new_naming
from lairmake.stages.pe.nodes import Assign
from lairmake.stages.poly.cardinality import count
from lairmake.stages.poly.expression import Name


def find_ordering(
    task: str, work: Work, profile: Profile, places: Iterable[PE]
) -> Mapping[PE, int]:
    """Return the cycles of the loops of a stream in an invocation, on some PEs and the task's own.

    What moves an element is no operation besides those that find it.
    """
    block, known = Block(), work.known(task)
    transfer_loops(block, task, work, new_naming(), lambda e: Assign(e, Name("n")))
    found = {}
    for pe in dict.fromkeys((*places, *list_places([task], work.instances))):
        here = known.intersect_params(_at(pe))
        found[pe] = BlockCharge(profile=profile, here=here).of(block, count(here))
    return found


def _at(pe: PE) -> isl.Set:
    x, y = pe
    return isl.Set(f"[PE_X, PE_Y] -> {{ : PE_X = {x} and PE_Y = {y} }}")

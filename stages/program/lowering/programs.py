"""The programs of all roles.

Paper    E Sec. 6.1
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.poly.expression import Value
from lairmake.stages.program.lowering.conditions import find_geo_condition, find_geo_number
from lairmake.stages.program.lowering.executive import write_executive
from lairmake.stages.program.lowering.lowered import REDUCTION, WORKER, Material, PeProgram
from lairmake.stages.program.lowering.merge import write_merge
from lairmake.stages.program.lowering.reduction import write_reduction
from lairmake.stages.program.lowering.response import write_response
from lairmake.stages.program.lowering.tensors import list_worker_tensors
from lairmake.stages.program.lowering.worker import write_worker


def make_programs(material: Material) -> tuple[PeProgram, ...]:
    """Return the program of each role."""
    return (
        write_worker(material, _ask(material, WORKER), list_worker_tensors(material)),
        write_reduction(material, _ask(material, REDUCTION)),
        write_response(material), write_executive(material), write_merge(material),
    )


def _ask(material: Material, role: str) -> dict[str, Value]:
    """Return the geo-vars of the PEs of a role as values."""
    here = material.roles[role]
    return {
        name: find_geo_condition(material, name, role) if isinstance(variable, isl.Set)
        else find_geo_number(material, name, role)
        for name, variable in material.variables.items()
        if isinstance(variable, isl.Set) or not variable.domain().is_disjoint(here)
    }

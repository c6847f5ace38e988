"""The layout that the programs of the virtual machine run on.

Paper    E Sec. 4, 6.2
"""

from __future__ import annotations

from collections.abc import Sequence

from lairmake.stages.fabric.layout import Layout, Memory, Role
from lairmake.stages.program.lowering.lowered import Material, PeProgram
from lairmake.stages.program.lowering.needs import count_code
from lairmake.stages.program.lowering.queues import Ends, assign_queues, find_ends
from lairmake.stages.program.vm.colours import number_colours
from lairmake.stages.program.vm.paint_isl import spell_pes
from lairmake.stages.program.vm.regions import Painting


def make_layout(
    material: Material, painting: Painting, programs: Sequence[PeProgram]
) -> Layout:
    """Return the layout. Raises UserError where a PE has too few queues, or a machine colours."""
    geometry, ends = material.geometry, find_ends(painting)
    return Layout(
        grid=f"{{ PE[x, y] : 0 <= x < {geometry.width} and 0 <= y < {geometry.rows} }}",
        roles={each.role: _make_role(material, painting, ends, each) for each in programs},
        colours=number_colours(painting.colours, material.profile),
        arrivals={}, departures={},
    )


def _make_role(material: Material, painting: Painting, ends: Ends, program: PeProgram) -> Role:
    pes = painting.roles[program.role]
    taken, sent = assign_queues(program, pes, ends, material.sections, material.profile)
    return Role(
        at=spell_pes(pes), counters=(),
        input_queues=taken, output_queues=sent,
        memory=Memory(data=program.data, code=count_code(program, material.profile)),
        tensors=program.tensors,
    )

"""The roles of PEs, and how the rows of the virtual machine are put together."""

from __future__ import annotations

from lairmake.stages.program.regions.properties import paint_code
from lairmake.stages.program.regions.region import Region, hstack, tile, vstack
from lairmake.stages.program.vm.geometry import Geometry

WORKER, REDUCTION, RESPONSE = "worker", "reduction", "response"
EXECUTIVE, MERGE = "executive", "merge"
ROLES = (WORKER, REDUCTION, RESPONSE, EXECUTIVE, MERGE)


def paint_roles(geometry: Geometry) -> Region:
    """Return all PEs with the programs that they run; the reserve of the control row has none."""
    width, upper = geometry.width, geometry.upper
    strip = paint_code(tile(width), REDUCTION)
    return vstack(
        paint_code(tile(width, upper), WORKER), strip, _paint_control_row(geometry), strip,
        paint_code(tile(width, geometry.height - upper), WORKER),
    )


def _paint_control_row(geometry: Geometry) -> Region:
    responses = paint_code(tile(geometry.responses), RESPONSE)
    return hstack(
        tile(geometry.merge - geometry.responses), responses, paint_code(tile(), MERGE),
        paint_code(tile(), EXECUTIVE), responses,
        tile(geometry.width - geometry.executive - 1 - geometry.responses),
    )

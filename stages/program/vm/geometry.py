"""Geometry of the virtual machine: places of roles, and machines that have room for them."""

from __future__ import annotations

from dataclasses import dataclass

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.program.sections.calls import NARROWEST
from lairmake.stages.program.vm.colours import COLOURS, assign_numbers
from lairmake.stages.program.vm.regions import PaintedRegion, hstack, paint_code, tile, vstack

# --- Places of roles ------------------------------------------------------------------------------
#
# A field of W x H workers takes W x (H + 3) PEs. The rows, from north to south, are: the upper half
# of the field, a reduction strip, the control row, a strip, the lower half. In the control row the
# merge PE lies left of the middle, the executive right of it; the response PEs follow on both
# sides.
#
# Paper    E Sec. 4, Fig. 2 to 4

BETWEEN = 3
"""Rows between both halves of the field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """The rectangle of a field of `width` x `height` workers with `responses` a side."""

    width: int
    height: int
    responses: int

    @property
    def upper(self) -> int:
        """Return the rows of workers in the upper half; also the row of the upper strip."""
        return self.height // 2

    @property
    def control(self) -> int:
        """Return the row of the control row."""
        return self.upper + 1

    @property
    def rows(self) -> int:
        """Return the number of all rows."""
        return self.height + BETWEEN

    @property
    def merge(self) -> int:
        """Return the column of the merge PE, and of the inner PEs on the left."""
        return self.width // 2 - 1

    @property
    def executive(self) -> int:
        """Return the column of the executive, and of the inner PEs on the right."""
        return self.width // 2

# --- Roles of PEs by rows -------------------------------------------------------------------------

WORKER, REDUCTION, RESPONSE = "worker", "reduction", "response"
EXECUTIVE, MERGE = "executive", "merge"
ROLES = (WORKER, REDUCTION, RESPONSE, EXECUTIVE, MERGE)


def paint_roles(geometry: Geometry) -> PaintedRegion:
    """Return all PEs with their programs; spare PEs of the control row have none."""
    width, upper = geometry.width, geometry.upper
    strip = paint_code(tile(width), REDUCTION)
    return vstack(
        paint_code(tile(width, upper), WORKER), strip, _paint_control_row(geometry), strip,
        paint_code(tile(width, geometry.height - upper), WORKER),
    )


def _paint_control_row(geometry: Geometry) -> PaintedRegion:
    responses = paint_code(tile(geometry.responses), RESPONSE)
    return hstack(
        tile(geometry.merge - geometry.responses), responses, paint_code(tile(), MERGE),
        paint_code(tile(), EXECUTIVE), responses,
        tile(geometry.width - geometry.executive - 1 - geometry.responses),
    )

# --- Limits of a machine --------------------------------------------------------------------------
#
# Paper    E Sec. 4: a layout of any size that is smaller than the array of PEs

def check_machine(geometry: Geometry, profile: Profile, span: Span) -> None:
    """Raise UserError, at `span`, for routers without multicast, or a field that is too large."""
    width, height, name = geometry.width, geometry.height, profile.name
    if not profile.multicast:
        raise UserError(
            f"routers of {name} send to one side only; the virtual machine needs some that copy",
            span, "a machine with `multicast: true`, such as wse2")
    columns, rows = profile.grid
    if columns < NARROWEST or rows <= BETWEEN:
        raise UserError(
            f"{name} has {columns} x {rows} PEs: the row that controls workers takes {NARROWEST} "
            f"columns, and {BETWEEN} rows have no workers", span,
            f"a machine with at least {NARROWEST} x {1 + BETWEEN} PEs: `grid`")
    if width > columns or geometry.rows > rows:
        raise UserError(
            f"a field of {width} x {height} workers takes {width} x {geometry.rows} PEs, and {name}"
            f" has {columns} x {rows}{note_grade(profile, 'grid')}", span,
            f"at most {columns} x {rows - BETWEEN} workers, or a larger machine")


def check_colours(region: PaintedRegion, profile: Profile, span: Span) -> None:
    """Raise UserError, at `span`, for a machine with too few colours, or positions of switches."""
    names = [each for each in COLOURS if f"{each}_0" in region.painted]
    try:
        assign_numbers(names, profile)
    except UserError as error:
        raise UserError(error.message, span, error.hint) from None
    for name in names:
        positions = sum(f"{name}_{k}" in region.painted for k in range(4))
        if positions > profile.positions:
            raise UserError(
                f"{name} has up to {positions} positions, and switches of {profile.name} have "
                f"{profile.positions}{note_grade(profile, 'positions')}", span,
                f"a machine with `positions: {positions}`")

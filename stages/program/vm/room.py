"""Whether a machine can be the virtual machine of a field.

Paper    E Sec. 4: a layout of any size that is smaller than the array of PEs
"""

from __future__ import annotations

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.program.regions.region import Region
from lairmake.stages.program.sections.width_checks import NARROWEST
from lairmake.stages.program.vm.colours import COLOURS
from lairmake.stages.program.vm.geometry import BETWEEN, Geometry
from lairmake.stages.program.vm.numbers import assign_numbers


def check_machine(geometry: Geometry, profile: Profile, span: Span) -> None:
    """Raise UserError, at `span`, where routers copy nothing, or a field is too large."""
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


def check_colours(region: Region, profile: Profile, span: Span) -> None:
    """Raise UserError, at `span`, where a machine has too few colours, or positions of them."""
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

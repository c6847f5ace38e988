"""Whether a machine has room for the virtual machine of a field, and what that needs.

Paper    E Sec. 4: a layout of any size that is smaller than the array of PEs
"""

from __future__ import annotations

from stages.diagnose import UserError
from stages.machine.profile import Profile
from stages.mapping.program_yaml import Program
from stages.program.vm.geometry import BETWEEN, Geometry, find_most_responses

LEAST_WIDTH = 4
"""Columns that the control row needs: merge PE, executive, and a response PE on each side."""


def check_machine(geometry: Geometry, positions: int, profile: Profile, program: Program) -> None:
    """Raise UserError where a machine cannot be the virtual one.

    `positions` is how many the switch of a router needs at most.
    """
    width, height, name = geometry.width, geometry.height, profile.name
    machine = program.span("machine")
    if width < LEAST_WIDTH:
        raise UserError(
            f"the field has {width} x {height} workers, and the control row needs {LEAST_WIDTH} "
            "columns", hint=f"`field({LEAST_WIDTH}, {height})` at the beginning: arrays may be "
            "smaller than the field")
    if not profile.multicast:
        raise UserError(
            f"routers of {name} send to one side only; programs need some that copy to several",
            machine, "a machine with `multicast: true`, such as wse2")
    if width > profile.grid[0] or geometry.rows > profile.grid[1]:
        columns, rows = profile.grid
        raise UserError(
            f"a field of {width} x {height} workers takes {width} x {geometry.rows} PEs, and {name}"
            f" has {columns} x {rows}", machine,
            f"at most {columns} x {rows - BETWEEN} workers, or a larger machine")
    if positions > profile.positions:
        raise UserError(
            f"switches of the virtual machine have up to {positions} positions, and those of {name}"
            f" {profile.positions}", machine, f"a machine with `positions: {positions}`")
    check_responses(geometry, program)


def check_responses(geometry: Geometry, program: Program) -> None:
    """Raise UserError where the control row has no room for as many response PEs."""
    most = find_most_responses(geometry.width)
    if geometry.responses > most:
        raise UserError(
            f"{geometry.responses} response PEs a side, and the control row of {geometry.width} "
            f"PEs has room for {most}", program.span("control", "responses"),
            f"`control: {{responses: {most}}}`, or a wider field: `field(W, H)`")


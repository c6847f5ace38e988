"""What a layout takes of a machine that the machine does not have: colours, PEs, memory, queues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from lairmake.stages.fabric.check import Fault
from lairmake.stages.fabric.elements import DTYPES
from lairmake.stages.fabric.grid import Grid
from lairmake.stages.fabric.layout_yaml import Layout, Queue, Role
from lairmake.stages.fabric.library import Program
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scarcity import note_grade


def find_excess(layout: Layout, profile: Profile) -> Iterator[Fault]:
    """Yield what a layout has more of than a machine, a sentence each. Raises nothing."""
    yield from _of_colours(layout, profile)
    for name, role in layout.roles.items():
        yield from _of_memory(name, role, profile)
        for key, depths, given in (("input_queues", profile.input_queues, role.input_queues),
                                   ("output_queues", profile.output_queues, role.output_queues)):
            yield from _of_queues((name, key), given or {}, depths, profile)


def find_lack(
    layout: Layout, grid: Grid, programs: list[Program], profile: Profile
) -> Iterator[Fault]:
    """Yield where the grid, or the memory of a program as it was compiled, is too large.

    Vectors of a program lie in its memory here, and elsewhere in a machine: of one that says where
    its operands lie, only these count.
    """
    columns, rows = profile.grid
    if grid.width > columns or grid.height > rows:
        yield Fault(said=f"the grid has {grid.width} x {grid.height} PEs; {profile.name} has "
                         f"{columns} x {rows}{note_grade(profile, 'grid')}", place=("grid",))
    for name, program in zip(layout.roles, programs, strict=True):
        most = program.operands or program.memory
        if most > profile.memory:
            yield Fault(said=f"the program of role {name} keeps {most} bytes; a PE of "
                             f"{profile.name} has {profile.memory}"
                             f"{note_grade(profile, 'memory')}", place=("roles", name))


def _of_colours(layout: Layout, profile: Profile) -> Iterator[Fault]:
    count, most = len(layout.colours), profile.colours
    if count > most:
        yield Fault(said=f"the layout has {count} colours; {profile.name} has {most}"
                    f"{note_grade(profile, 'colours')}", place=("colours",))
    for name, colour in layout.colours.items():
        if not 0 <= colour.number < most:
            yield Fault(said=f"colour {name} has number {colour.number}; those of {profile.name} "
                             f"are 0 to {most - 1}{note_grade(profile, 'colours')}",
                        place=("colours", name, "number"))


def _of_memory(name: str, role: Role, profile: Profile) -> Iterator[Fault]:
    has = f"a PE of {profile.name} has {profile.memory}{note_grade(profile, 'memory')}"
    needs = role.memory.data + role.memory.code
    if needs > profile.memory:
        yield Fault(said=f"role {name} needs {needs} bytes; {has}", place=("roles", name, "memory"))
    for local, tensor in role.tensors.items():
        end = tensor.address + prod(tensor.shape) * DTYPES[tensor.type].itemsize
        if end > profile.memory:
            yield Fault(said=f"{local} of role {name} ends at byte {end}; {has}",
                        place=("roles", name, "tensors", local))


def _of_queues(
    of: tuple[str, str], given: Mapping[str, Queue], depths: tuple[int, ...], profile: Profile
) -> Iterator[Fault]:
    """Yield which queues there are not, or not so deep; a machine without any is not asked."""
    name, key = of
    kind = key.replace("_", " ")
    for colour, queue in given.items() if depths else ():
        place = ("roles", name, key, colour)
        if not 0 <= queue.number < len(depths):
            yield Fault(said=f"role {name} has {colour} in {kind[:-1]} {queue.number}; those of "
                             f"{profile.name} are 0 to {len(depths) - 1}"
                             f"{note_grade(profile, key)}", place=place)
        elif queue.holds > depths[queue.number]:
            yield Fault(said=f"{kind[:-1]} {queue.number} of role {name} holds {queue.holds} "
                             f"wavelets of {colour}; that of {profile.name} holds "
                             f"{depths[queue.number]}{note_grade(profile, key)}", place=place)

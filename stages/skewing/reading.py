"""The statements of a layer in time and space, and what orders them, as its stages wrote it.

Paper    M Sec. III.F to III.H
"""

from __future__ import annotations

import typing

from stages.machine.types import BYTES
from stages.mapping.machine import read_machine
from stages.skewing.skewing import Group
from stages.skewing.statements import Machine, Space, given_by, groups_of, space_of, wishes_of
from stages.skewing.topology import Topology

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs


def read_groups(inputs: Inputs, network: Topology) -> tuple[Space, list[Group]]:
    """Return the statements of a layer, and the groups of those that share loops."""
    mapping, placement = inputs.mapping(), inputs.objects("placement.isl")["placement"]
    lair, schedule = inputs.objects("lair.isl"), inputs.objects("schedule.isl")["schedule"]
    space = space_of(lair, placement, schedule, given_by(mapping), network)
    machine = Machine(
        memory=read_machine(inputs, mapping).memory,
        sizes={name: BYTES[tensor.type] for name, tensor in inputs.lair().tensors.items()},
        wishes=wishes_of(mapping, placement),
    )
    return space, groups_of(space, machine)

"""The statements of a layer in time and space, and what orders them, as its stages wrote them.

Paper    M Sec. III.F to III.H
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from lairmake.stages.lair.layer import Layer
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.types import BYTES
from lairmake.stages.mapping.layer_yaml import LayerMapping
from lairmake.stages.poly.text import Objects
from lairmake.stages.skewing.elements import Lair
from lairmake.stages.skewing.skewing import Group
from lairmake.stages.skewing.statements import (
    Machine,
    Space,
    find_given,
    find_space,
    find_wishes,
    group_statements,
)
from lairmake.stages.skewing.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """A layer whose statements have a PE and a time, and its machine.

    `places` is what placement.isl says, `schedule` { S[i] -> [time] }.
    """

    mapping: LayerMapping
    profile: Profile
    layer: Layer
    lair: Lair
    places: Objects
    schedule: isl.UnionMap


def groups_in(scheduled: Scheduled, network: Topology) -> tuple[Space, list[Group]]:
    """Return the statements of a layer, and the groups of those that share loops."""
    mapping, placement = scheduled.mapping, scheduled.places["placement"]
    tensors = scheduled.layer.tensors
    space = find_space(scheduled.lair, placement, scheduled.schedule, find_given(mapping), network)
    machine = Machine(
        memory=scheduled.profile.memory,
        sizes={name: BYTES[tensor.type] for name, tensor in tensors.items()},
        wishes=find_wishes(mapping, placement),
        remote=scheduled.profile.remote,
        lanes={name: scheduled.profile.find_most_lanes(t.type) for name, t in tensors.items()},
    )
    return space, group_statements(space, machine)

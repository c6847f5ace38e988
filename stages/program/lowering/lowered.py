"""What programs of the virtual machine are made of, and what each of them needs of a PE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.fabric.layout import LocalTensor
from lairmake.stages.machine.profile import Profile
from lairmake.stages.pe.listing import Listing
from lairmake.stages.program.irg.addresses import Addresses
from lairmake.stages.program.irg.graph import Graph
from lairmake.stages.program.irg.regions import Accesses
from lairmake.stages.program.sections.program import Sections
from lairmake.stages.program.vm.geometry import Geometry

WORKER, REDUCTION, RESPONSE = "worker", "reduction", "response"
EXECUTIVE, MERGE = "executive", "merge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What the stages before wrote.

    `colours` has the number of each colour that is used; `roles` the PEs { PE[x, y] } of each;
    `variables` what programs may ask of the place of theirs: such sets, and { PE[x, y] -> [n] }.
    """

    graph: Graph
    accesses: Mapping[int, Accesses]
    addresses: Addresses
    sections: Sections
    geometry: Geometry
    profile: Profile
    colours: Mapping[str, int]
    variables: Mapping[str, isl.Set | isl.Map]
    roles: Mapping[str, isl.Set] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeProgram:
    """The program of a role, and what it needs of a PE.

    `data` is the bytes of its memory, which begins with `tensors`. `activated` are the tasks
    that are activated, at once or behind a stream; `reacting` the colours to whose wavelets tasks
    react; `functions` all functions, of which code is estimated; `vectors` the descriptors of
    instructions and streams.
    """

    role: str
    listing: Listing
    data: int
    tensors: Mapping[str, LocalTensor]
    functions: int
    activated: tuple[str, ...] = ()
    reacting: tuple[str, ...] = ()
    vectors: int = 0

"""What of the virtual machine a program uses: colours that it does not use are not painted.

Paper    E Sec. 6.2: optional features are added and removed as operations ask for them
"""

from __future__ import annotations

from dataclasses import dataclass

from lairmake.stages.program.sections.hops import CENTER
from lairmake.stages.program.sections.program import REDUCE, TAKE_GLOBAL, Sections
from lairmake.stages.program.vm.colours import (
    ARGS,
    ARGS_DIST,
    CHECKER,
    COLOURS,
    CTRL,
    CTRL_COORD,
    CTRL_DIST,
    GLOBAL_BROADCAST,
    REDUCTION_1,
    REDUCTION_2,
    REDUCTION_3,
    REDUCTION_4,
    REDUCTION_BROADCAST,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Whether workers take from neighbours, whether sums go to all workers, or to the executive,
    and whether workers get scalars of the executive.
    """

    neighbours: bool = False
    worker_sums: bool = False
    executive_sums: bool = False
    global_scalars: bool = False

    @property
    def sums(self) -> bool:
        """Whether there are sums."""
        return self.worker_sums or self.executive_sums


def find_features(sections: Sections) -> Features:
    """Return what procedures and their calls use."""
    reduces = [call.arguments[0] for section in sections.sections for call in section
               if sections.procedures[call.procedure].kind == REDUCE]
    procedures = sections.procedures
    return Features(
        neighbours=any(each.side != CENTER for each in procedures),
        worker_sums=any(to_workers == 1 for to_workers in reduces),
        executive_sums=any(to_workers == 0 for to_workers in reduces),
        global_scalars=any(each.kind == TAKE_GLOBAL for each in procedures),
    )


def list_colours(features: Features) -> list[str]:
    """Return the colours that are used, in the order of their numbers."""
    used = {CTRL_COORD, ARGS_DIST, CTRL_DIST, ARGS, CTRL}
    for feature, colours in (
        (features.neighbours, CHECKER),
        (features.sums, (REDUCTION_1, REDUCTION_2, REDUCTION_4)),
        (features.executive_sums, (REDUCTION_3,)),
        (features.worker_sums, (REDUCTION_BROADCAST,)),
        (features.global_scalars, (GLOBAL_BROADCAST,)),
    ):
        used |= set(colours) if feature else set()
    return [each for each in COLOURS if each in used]

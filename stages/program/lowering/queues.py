"""The queues of PEs: which each colour gets that a PE takes, or sends on.

Colours that no PE of a role takes both share a queue. The deepest queues are for what moves arrays,
then for the widest wavelets; where tasks that react take the ids of their colours, those need none.

Paper    ours
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence

import islpy as isl

from lairmake.stages.diagnose import UserError
from lairmake.stages.fabric.layout import Queue, number_queues
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.machine.types import BYTES
from lairmake.stages.movement.flow import find_busiest_router, share
from lairmake.stages.program.lowering.lowered import PeProgram
from lairmake.stages.program.sections.program import REDUCE, TAKE_GLOBAL, Sections
from lairmake.stages.program.vm.colours import (
    ARGS,
    ARGS_DIST,
    CHECKER,
    CTRL_COORD,
    CTRL_DIST,
    GLOBAL_BROADCAST,
    LEFT_OUT,
    REDUCTION_1,
    REDUCTION_2,
    REDUCTION_3,
    REDUCTION_4,
    REDUCTION_BROADCAST,
)
from lairmake.stages.program.vm.regions import Painting

Queues = Mapping[str, Queue] | None
Ends = Mapping[str, tuple[isl.UnionSet, isl.UnionSet]]
RAMP = isl.UnionSet("{ ramp[] }")
WIDE = 2
"""Words of 16 bits of a wavelet with an element of 32 bits, or of a control wavelet."""

WORDS = {"input_queues": "takes what comes on", "output_queues": "sends on"}


def find_ends(painting: Painting) -> Ends:
    """Return by colour the PEs that send, and those that take."""
    routes = {name: functools.reduce(isl.UnionMap.union, map(isl.UnionMap, each.positions))
              for name, each in painting.colours.items()}
    return {name: (_find_senders(each),
                   each.intersect_range(RAMP).domain().unwrap().domain())
            for name, each in routes.items()}


def assign_queues(
    program: PeProgram, pes: isl.Set, ends: Ends, sections: Sections, profile: Profile
) -> tuple[Queues, Queues]:
    """Return the input and the output queues of a role, by colour. None: as many as are wanted.

    `pes` are those of the role. Raises UserError where a PE has too few.
    """
    apart = program.reacting if profile.data_tasks == "colours" else ()
    here = isl.UnionSet.from_set(pes)
    sent = {name: senders.intersect(here) for name, (senders, _) in ends.items()}
    taken = {name: takers.intersect(here) for name, (_, takers) in ends.items()
             if name not in apart}
    words = find_words(sections)
    output = _assign("output_queues", sent, words, profile)
    threads = {queue.number for queue in (output or {}).values()}
    return _assign("input_queues", taken, words, profile, threads), output


def find_words(sections: Sections) -> dict[str, int]:
    """Return the words of 16 bits of wavelets of each colour that has no wide ones."""
    found = dict.fromkeys((CTRL_COORD, ARGS, ARGS_DIST, CTRL_DIST), 1)
    kinds = {
        CHECKER: [p for p in sections.procedures if p.side != "center"],
        (GLOBAL_BROADCAST,): [p for p in sections.procedures if p.kind == TAKE_GLOBAL],
    }
    for colours, procedures in kinds.items():
        if all(BYTES[type_] == 2 for p in procedures for type_ in p.types):
            found |= dict.fromkeys(colours, 1)
    summed = [p for p in sections.procedures if p.kind == REDUCE]
    if all(BYTES[p.types[-1]] == 2 and (p.op, p.types[-1]) != ("sum", "float16") for p in summed):
        found |= dict.fromkeys(
            (REDUCTION_1, REDUCTION_2, REDUCTION_3, REDUCTION_4, REDUCTION_BROADCAST), 1)
    return found


def _find_senders(routes: isl.UnionMap) -> isl.UnionSet:
    return routes.domain().unwrap().intersect_range(RAMP).domain()


def _assign(
    figure: str, pes: Mapping[str, isl.UnionSet], words: Mapping[str, int], profile: Profile,
    used: Collection[int] = (),
) -> Queues:
    """Return the queue of each colour that some of the PEs have to do with.

    Numbers that are `used` come last, for queues of one number share a thread on some machines.
    """
    depths: Sequence[int] = getattr(profile, figure)
    pes = {name: each for name, each in pes.items() if not each.is_empty()}
    if not depths:
        return None
    groups = sorted(share(pes), key=lambda group: (
        not set(group) & set(CHECKER), -max(words.get(name, WIDE) for name in group)))
    if len(groups) > len(depths):
        pe, colours = find_busiest_router(pes)
        remedies = [f"a machine with {len(groups)} `{figure}`", *(
            f"a program without {what}" for what, left_out in LEFT_OUT.items()
            if len(set(colours) - left_out) <= len(depths))]
        raise UserError(
            f"{pe} {WORDS[figure]} {len(colours)} colours, {profile.name} has {len(depths)} "
            f"{figure}{note_grade(profile, figure)}: {', '.join(colours)}",
            hint=", or ".join(remedies))
    wide = {name: words.get(name, WIDE) for name in pes}
    return number_queues(groups, wide, depths, used, is_output=figure == "output_queues")

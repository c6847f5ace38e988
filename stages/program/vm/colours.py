"""Colours of the virtual machine, by name and by number, and its geo-vars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lairmake.stages.diagnose import UserError
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.movement.flow import RouterColour
from lairmake.stages.program.sections.hops import CENTER
from lairmake.stages.program.sections.program import REDUCE, TAKE_GLOBAL, Sections
from lairmake.stages.program.vm.regions import Painted

# --- Colours by name ------------------------------------------------------------------------------
#
# They are in the order of their numbers.
#
# Paper    E Sec. 4.1, 4.2, 6.2

CTRL_COORD = "ctrl_coord"
"""The number of a section, from the executive to the response PEs."""

ARGS_DIST, CTRL_DIST = "args_dist", "ctrl_dist"
"""Arguments and procedures, from the response PEs to the merge PE."""

ARGS, CTRL = "args", "ctrl"
"""The same, from the merge PE to all workers and reduction PEs."""

CHECKER = ("C0", "C1")
"""Transfers between neighbours: PEs of the field with even x + y send on C1, odd ones on C0."""

REDUCTION_1, REDUCTION_2 = "reduction_1", "reduction_2"
"""Sums of columns to the strips, sums of strips to the inner PEs."""

REDUCTION_3, REDUCTION_4 = "reduction_3", "reduction_4"
"""The result to the executive; sums of the inner PEs to the upper right one, which adds them up."""

REDUCTION_BROADCAST, GLOBAL_BROADCAST = "reduction_broadcast", "global_broadcast"
"""To all workers: the result of a reduction, a scalar of the executive."""

TURNING = (ARGS_DIST, CTRL_DIST, *CHECKER, REDUCTION_1, REDUCTION_2, REDUCTION_4)
"""Colours whose switches have positions; they get no number without switches on a machine."""

COLOURS = (
    CTRL_COORD, ARGS_DIST, CTRL_DIST, ARGS, CTRL, *CHECKER, REDUCTION_1, REDUCTION_2, REDUCTION_3,
    REDUCTION_4, REDUCTION_BROADCAST, GLOBAL_BROADCAST,
)
"""All colours, in the order of their numbers."""

LEFT_OUT = {
    "sums": {REDUCTION_1, REDUCTION_2, REDUCTION_3, REDUCTION_4, REDUCTION_BROADCAST},
    "scalars for workers": {GLOBAL_BROADCAST},
}
"""Colours that a program without sums, or without scalars for workers, does not need."""

MEANINGS = {
    CTRL_COORD: "the number of a section, from the executive to the response PEs",
    ARGS_DIST: "arguments, from the response PEs to the merge PE",
    CTRL_DIST: "procedures, from the response PEs to the merge PE",
    ARGS: "arguments, from the merge PE to all workers and reduction PEs",
    CTRL: "procedures, from the merge PE to all workers and reduction PEs",
    CHECKER[0]: "between neighbours, from odd workers to even ones",
    CHECKER[1]: "between neighbours, from even workers to odd ones",
    REDUCTION_1: "sums, along columns to the strips",
    REDUCTION_2: "sums, along strips to the inner PEs",
    REDUCTION_3: "sums, from the upper right inner PE to the executive",
    REDUCTION_4: "sums, from the inner PEs to the upper right one",
    REDUCTION_BROADCAST: "sums, from the upper right inner PE to all workers",
    GLOBAL_BROADCAST: "scalars, from the executive to all workers",
}
"""The values on each colour, with their source and destination."""

# --- Colours by number on a machine ---------------------------------------------------------------
#
# Paper    E Sec. 4: of 24 colours

def number_colours(painted: Mapping[str, Painted], profile: Profile) -> dict[str, RouterColour]:
    """Return the colours of a layout, by name. Raises UserError where the machine has too few."""
    numbers = assign_numbers(list(painted), profile)
    return {
        name: RouterColour(
            number=numbers[name],
            routes=each.positions[0] if len(each.positions) == 1 else None,
            positions=each.positions if len(each.positions) > 1 else None,
            counts=each.counts, ring=each.ring, pop=each.pop,
        )
        for name, each in painted.items()
    }


def assign_numbers(names: Sequence[str], profile: Profile) -> dict[str, int]:
    """Return a number for each colour, in the order of colours as far as possible.

    Colours that turn get no number that the machine lists as unswitched. Other colours get a
    switched number only if enough of them are left. Raises UserError where there are too few.
    """
    free = list(range(profile.colours))
    turning = [each for each in names if each in TURNING]
    switched = [each for each in free if each not in profile.unswitched]
    if len(names) > len(free):
        raise _too_few(
            names, len(free), profile, "colours", f"`colours: {len(names)}`", "colours")
    if len(turning) > len(switched):
        raise _too_few(turning, len(switched), profile, "colours whose switches turn",
                       "fewer colours `unswitched`", "unswitched")
    result, wanted = {}, len(turning)
    for name in names:
        if name in turning:
            number, wanted = switched[0], wanted - 1
        else:
            number = next(each for each in free
                          if each not in switched or len(switched) > wanted)
        result[name] = number
        free.remove(number)
        if number in switched:
            switched.remove(number)
    return result


def _too_few(
    names: Sequence[str], count: int, profile: Profile, what: str, machine: str, figure: str
) -> UserError:
    wants = "".join(f"\n  {name}: {MEANINGS[name]}" for name in names)
    remedies = [f"a machine with {machine}", *(
        f"a program without {what}" for what, colours in LEFT_OUT.items()
        if len(set(names) - colours) <= count)]
    return UserError(f"the virtual machine needs {len(names)} {what}, and {profile.name} has "
                     f"{count}{note_grade(profile, figure)}:{wants}", hint=", or ".join(remedies))

# --- Features that a program uses -----------------------------------------------------------------
#
# The painting has only the colours of these features.
#
# Paper    E Sec. 6.2: optional features are added and removed as operations ask for them

@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """The features of the virtual machine that a program uses.

    They are transfers between neighbours, sums to all workers, sums to the executive, and scalars
    of the executive for workers.
    """

    neighbours: bool = False
    worker_sums: bool = False
    executive_sums: bool = False
    global_scalars: bool = False

    @property
    def sums(self) -> bool:
        """Return whether there are sums."""
        return self.worker_sums or self.executive_sums


def find_features(sections: Sections) -> Features:
    """Return the features that procedures and their calls use."""
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
    """Return the colours of some features, in the order of their numbers."""
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

# --- Geo-vars by name -----------------------------------------------------------------------------
#
# Paper    E Sec. 6.2

CONDITIONS = (
    "even", "has_west", "has_east", "has_north", "has_south", "farthest", "upper_left",
    "upper_right", "lower_left", "lower_right", "outermost",
)
"""Geo-vars that are conditions: sets of PEs."""

NUMBERS = ("rows", "columns", "part")
"""Geo-vars that are numbers, on some PEs."""

"""The colours of the virtual machine as layouts have them, with the numbers of a machine.

Paper    E Sec. 4: of 24 colours
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lairmake.stages.diagnose import UserError
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.movement.flow import Colour
from lairmake.stages.program.vm.colours import LEFT_OUT, MEANINGS, TURNING
from lairmake.stages.program.vm.painting import Painted


def number_colours(painted: Mapping[str, Painted], profile: Profile) -> dict[str, Colour]:
    """Return the colours of a layout, by name. Raises UserError where the machine has too few."""
    numbers = assign_numbers(list(painted), profile)
    return {
        name: Colour(
            number=numbers[name],
            routes=each.positions[0] if len(each.positions) == 1 else None,
            positions=each.positions if len(each.positions) > 1 else None,
            counts=each.counts, ring=each.ring, pop=each.pop,
        )
        for name, each in painted.items()
    }


def assign_numbers(names: Sequence[str], profile: Profile) -> dict[str, int]:
    """Return a number for each colour, in their order as far as can be.

    Those that turn get no number that the machine lists as unswitched, and none that is left to
    them goes to another one. Raises UserError where there are too few.
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

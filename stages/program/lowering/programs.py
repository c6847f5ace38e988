"""Programs of all roles, with their arrays, queues, needs and layout."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from math import prod

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.fabric.layout import FabricLayout, Queue, Role, RoleMemory, number_queues
from lairmake.stages.machine.profile import Profile
from lairmake.stages.machine.scarcity import note_grade
from lairmake.stages.machine.types import BYTES
from lairmake.stages.movement.flow import find_busiest_router, share
from lairmake.stages.poly.expression import Value
from lairmake.stages.program.irg.addresses import (
    EXECUTIVE as OF_EXECUTIVE,
    FEWER,
    ONE_PE,
    SHOWN,
    WORKERS as OF_WORKERS,
    find_constructor,
    find_peak,
)
from lairmake.stages.program.irg.graph import ProgramGraph
from lairmake.stages.program.lowering.c import find_geo_condition, find_geo_number
from lairmake.stages.program.lowering.control import (
    lay_tables,
    write_merge,
    write_reduction,
    write_response,
)
from lairmake.stages.program.lowering.executive import write_executive
from lairmake.stages.program.lowering.lowered import (
    EXECUTIVE,
    REDUCTION,
    RESPONSE,
    WORKER,
    Material,
    PeProgram,
)
from lairmake.stages.program.lowering.tensors import (
    ARGUMENTS,
    CONTROL,
    FILTERS,
    SECTIONS,
    list_worker_tensors,
)
from lairmake.stages.program.lowering.worker import write_worker
from lairmake.stages.program.sections.program import REDUCE, TAKE_GLOBAL, Sections
from lairmake.stages.program.values.arithmetic import DTYPES, Array, round_number
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
    number_colours,
)
from lairmake.stages.program.vm.geometry import Geometry
from lairmake.stages.program.vm.paint_isl import spell_pes
from lairmake.stages.program.vm.regions import Painting

# --- Programs of all roles ------------------------------------------------------------------------
#
# Paper    E Sec. 6.1

def make_programs(material: Material) -> tuple[PeProgram, ...]:
    """Return the program of each role."""
    return (
        write_worker(material, _ask(material, WORKER), list_worker_tensors(material)),
        write_reduction(material, _ask(material, REDUCTION)),
        write_response(material), write_executive(material), write_merge(material),
    )


def _ask(material: Material, role: str) -> dict[str, Value]:
    """Return the geo-vars of the PEs of a role as values."""
    here = material.roles[role]
    return {
        name: find_geo_condition(material, name, role) if isinstance(variable, isl.Set)
        else find_geo_number(material, name, role)
        for name, variable in material.variables.items()
        if isinstance(variable, isl.Set) or not variable.domain().is_disjoint(here)
    }

# --- Arrays in memory before the start ------------------------------------------------------------
#
# Paper    E Sec. 6.1.1, 6.1.2

def make_arrays(
    graph: ProgramGraph, sections: Sections, geometry: Geometry, data: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the array of each tensor in memory before the start: data, filters and tables.

    `data` has the arrays of entries whose `initial` is not a single number.
    """
    found = {
        entry.name: _fill(entry.initial, entry.type, entry.shape)
        if isinstance(entry.initial, int | float) else data[entry.name]
        for entry in graph.entries.values() if entry.initial is not None
    }
    found |= {f"{WORKER}.{slot.name}": _fill(slot.value, slot.type, ())
              for slot in sections.slots if slot.value is not None}
    tables = lay_tables(sections)
    found |= {SECTIONS: tables.sections, CONTROL: tables.control, ARGUMENTS: tables.arguments}
    if sections.filters:
        found[FILTERS] = _make_filters(sections, geometry)
    return found


def _fill(number: int | float, type_: str, shape: tuple[int, ...]) -> Array:
    return np.full(shape, round_number(number, type_), DTYPES[type_])


def _make_filters(sections: Sections, geometry: Geometry) -> Array:
    """Return the filters as [filter][column][row] of the field: 1 inside the box of the filter."""
    found = np.zeros((len(sections.filters), geometry.width, geometry.height), np.int16)
    for number, (left, right, top, bottom) in enumerate(sections.filters):
        found[number, left : right + 1, top : bottom + 1] = 1
    return found

# --- Queues of colours ----------------------------------------------------------------------------
#
# Each colour that a PE takes, or sends on, gets a queue. Colours of which no PE of a role takes
# both share one. The deepest queues go to colours that move arrays, then to those with the widest
# wavelets. On machines whose data tasks take the ids of colours, these colours need no queue.
#
# Paper    ours

Queues = Mapping[str, Queue] | None
Ends = Mapping[str, tuple[isl.UnionSet, isl.UnionSet]]
RAMP = isl.UnionSet("{ ramp[] }")
WIDE = 2
"""Words of 16 bits of a wavelet with 32 bits, or of a control wavelet."""

WORDS = {"input_queues": "takes what comes on", "output_queues": "sends on"}


def find_ends(painting: Painting) -> Ends:
    """Return, for each colour, the PEs that send on it, and the PEs that take it."""
    routes = {name: functools.reduce(isl.UnionMap.union, map(isl.UnionMap, each.positions))
              for name, each in painting.colours.items()}
    return {name: (_find_senders(each),
                   each.intersect_range(RAMP).domain().unwrap().domain())
            for name, each in routes.items()}


def assign_queues(
    program: PeProgram, pes: isl.Set, ends: Ends, sections: Sections, profile: Profile
) -> tuple[Queues, Queues]:
    """Return the input and the output queues of a role, by colour; None for unlimited queues.

    `pes` are those of the role. Raises UserError where a PE has too few queues.
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
    """Return the words of 16 bits of a wavelet, by colour, for colours without wide wavelets."""
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
    """Return the queue of each colour that some of the PEs use.

    Numbers in `used` come last, since queues of one number share a thread on some machines.
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

# --- Needs of programs on a machine ---------------------------------------------------------------
#
# Paper    ours

SPACES = {WORKER: OF_WORKERS, EXECUTIVE: OF_EXECUTIVE}


def count_code(program: PeProgram, profile: Profile) -> int:
    """Return an estimate of the bytes of code of a program."""
    return profile.code_base + profile.code_task * program.functions


def check_needs(program: PeProgram, material: Material, source: Source | None) -> None:
    """Raise UserError for a program that needs more memory, tasks or descriptors than a PE has.

    `source` is the source of the program; the error has the place of its largest objects.
    """
    profile = material.profile
    _check_memory(program, material, source)
    reacting = program.reacting if profile.data_tasks == "colours" else ()
    need = len(program.activated) + len(reacting)
    if 0 < profile.task_ids < need:
        also = f", and those that react to {', '.join(reacting)}" if reacting else ""
        raise UserError(
            f"role {program.role} has {need} tasks, {profile.name} has {profile.task_ids} "
            f"task_ids{note_grade(profile, 'task_ids')}: {', '.join(program.activated)}{also}",
            hint=f"a machine with `task_ids: {need}`, or 0: as many as are wanted")
    if program.vectors > profile.descriptors:
        raise UserError(
            f"role {program.role} has {program.vectors} instructions, {profile.name} has "
            f"{profile.descriptors} descriptors{note_grade(profile, 'descriptors')}",
            hint=f"a machine with `descriptors: {program.vectors}`")


def _check_memory(program: PeProgram, material: Material, source: Source | None) -> None:
    profile, code = material.profile, count_code(program, material.profile)
    need = program.data + code
    if need <= profile.memory:
        return
    largest: dict[str, int] = {}
    if program.role in SPACES:
        space = SPACES[program.role]
        live = find_peak(p for p in material.addresses.places.values() if p.space == space)
        largest = {p.name: p.bytes for p in live}
        if program.role == WORKER:
            largest |= {slot.name: slot.bytes for slot in material.sections.slots}
            largest["filters"] = 2 * len(material.sections.filters)
    else:
        largest = {name: prod(each.shape) * BYTES[each.type]
                   for name, each in program.tensors.items()}
    ordered = sorted(largest, key=lambda name: -largest[name])[:SHOWN]
    spans = (find_constructor(source, name) for name in ordered)
    raise UserError(
        f"a PE of role {program.role} needs {need} bytes, {profile.name} has {profile.memory}"
        f"{note_grade(profile, 'memory')}",
        next(filter(None, spans), None),
        f"code {code}, {', '.join(f'{name} {largest[name]}' for name in ordered)}; "
        f"{_find_remedy(program, code, profile)}",
    )


def _find_remedy(program: PeProgram, code: int, profile: Profile) -> str:
    if code > profile.memory:
        return "a machine with more `memory`, or fewer kinds of operations: each has its own code"
    if program.role == RESPONSE:
        return "`control: {responses: n}` with a larger n"
    return ONE_PE if program.role == EXECUTIVE else FEWER

# --- Layout of the virtual machine ----------------------------------------------------------------
#
# Paper    E Sec. 4, 6.2

def make_layout(
    material: Material, painting: Painting, programs: Sequence[PeProgram]
) -> FabricLayout:
    """Return the layout. Raises UserError for too few queues of a PE, or colours of a machine."""
    geometry, ends = material.geometry, find_ends(painting)
    return FabricLayout(
        grid=f"{{ PE[x, y] : 0 <= x < {geometry.width} and 0 <= y < {geometry.rows} }}",
        roles={each.role: _make_role(material, painting, ends, each) for each in programs},
        colours=number_colours(painting.colours, material.profile),
        arrivals={}, departures={},
    )


def _make_role(material: Material, painting: Painting, ends: Ends, program: PeProgram) -> Role:
    pes = painting.roles[program.role]
    taken, sent = assign_queues(program, pes, ends, material.sections, material.profile)
    return Role(
        at=spell_pes(pes), counters=(),
        input_queues=taken, output_queues=sent,
        memory=RoleMemory(data=program.data, code=count_code(program, material.profile)),
        tensors=program.tensors,
    )

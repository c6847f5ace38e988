"""The control path by itself: workers that write down what they are told, and do nothing else."""

import functools

import islpy as isl
import numpy as np

from lairmake.stages.diagnose import Source
from lairmake.stages.fabric.driver import run_fabric
from lairmake.stages.fabric.layout import LocalTensor
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.pe.speller import spell
from lairmake.stages.program.irg.addresses import Addresses
from lairmake.stages.program.irg.graph import ProgramGraph
from lairmake.stages.program.lowering.control import write_merge, write_response
from lairmake.stages.program.lowering.executive import write_executive
from lairmake.stages.program.lowering.lowered import Material, PeProgram
from lairmake.stages.program.lowering.programs import make_arrays, make_layout
from lairmake.stages.program.sections.program import (
    Procedure,
    SectionCall,
    Sections,
    SendSection,
    StopState,
)
from lairmake.stages.program.vm.colours import Features, number_colours
from lairmake.stages.program.vm.geometry import Geometry
from lairmake.stages.program.vm.machine import paint_machine
from lairmake.stages.program.vm.paint_isl import read_painting, write_painting
from tests.program.built import build_texts

COUNTS = (0, 1, 3, 7)
"""How many arguments each procedure has; the first one halts."""

LOGGED = 4000
WORKER = """\
#include "pe.h"
enum { ARGS = %(args)d, CTRL = %(ctrl)d };
struct memory {
    int16_t log[%(logged)d], argument[8];
    int32_t count, called;
    struct vector taking;
};
static const int counts[] = { 0, 1, 3, 7 };
static void run(struct pe *pe)
{
    struct memory *my = pe->memory;
    CHARGE(pe, .scalar = %(work)d);
    my->log[my->count++] = (int16_t)my->called;
    for (int k = 0; k < counts[my->called]; k += 1)
        my->log[my->count++] = my->argument[k];
    if (my->called == 0)
        (void)invocation_done(pe);
    unblock(pe, CTRL);
}
static void on_call(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;
    block(pe, CTRL);
    my->called = argument_of(w);
    configure(pe, &my->taking, NO_COUNTER, COPY, SIZES(counts[my->called]), INT16_OPERAND(1),
              INT16_FABRIC, NO_OPERAND);
    stream_receive(pe, &my->taking, ARGS, my->argument, run);
}
static void pe_main(struct pe *pe)
{
    on_control(pe, CTRL, on_call);
}
const struct program program_%(role)s = {
    .name = "%(role)s", .memory = sizeof(struct memory), .main = pe_main, .counters = 0,
};
"""


def make_sections(rng, responses, count, most):
    """Return sections of random calls, some without, with random shares, and the last one halts."""
    sections, shares = [], []
    for _ in range(count):
        procedures = rng.integers(1, len(COUNTS), rng.integers(0, most + 1))
        sections.append(
            tuple(
                SectionCall(
                    procedure=int(p),
                    arguments=tuple(rng.integers(-(2**15), 2**15, COUNTS[p]).tolist()),
                )
                for p in procedures
            )
        )
        cuts = np.sort(rng.integers(0, len(procedures) + 1, 2 * responses - 1))
        shares.append(tuple(np.diff([0, *cuts, len(procedures)]).tolist()))
    return finish(sections, shares, responses)


def finish(sections, shares, responses):
    """Return sections, one sent after the other, and one that halts."""
    last = ((SectionCall(procedure=0, arguments=()),), (1, *[0] * (2 * responses - 1)))
    return Sections(
        procedures=tuple(Procedure(name=f"log_{n}", kind="take_sum", count=n) for n in COUNTS),
        sections=(*sections, last[0]), shares=(*shares, last[1]), responses=responses,
        states=(*(SendSection(section=k) for k in range(len(sections) + 1)), StopState()),
    )


@functools.cache
def _painting(geometry):
    text = write_painting(paint_machine(geometry, Features()))
    return read_painting(Source(path="paint.isl", text=text))


def _make_log(role, pieces):
    """Return what PEs of a role have written down, by column and row."""
    stored = "; ".join(f"[PE[x, y] -> local[i]] -> log[x, {row}, i] : {where} and 0 <= i < {LOGGED}"
                       for where, row in pieces)
    return LocalTensor(type="int16", shape=(LOGGED,), address=0, tensor=role, transfer="out",
                       stored=f"{{ {stored} }}")


def run_control(sections, field, machine, work=0, probes=None):
    """Return a run in which each worker logs its calls, which take `work` scalar operations more.

    `probes` are PEs by colour, as texts.
    """
    geometry = Geometry(width=field[0], height=field[1], responses=sections.responses)
    painting, profile = _painting(geometry), load_profile(machine, {})
    numbers = {n: c.number for n, c in number_colours(painting.colours, profile).items()}
    material = Material(
        graph=ProgramGraph(field=field, entries={}, items=()), accesses={},
        addresses=Addresses(places={}, workers=0, executive=0), sections=sections,
        geometry=geometry, profile=profile, colours=numbers, variables=painting.variables,
        roles=painting.roles,
    )
    given = {"args": numbers["args"], "ctrl": numbers["ctrl"], "logged": LOGGED, "work": work}
    rows = {"worker": ((f"y < {geometry.upper}", "y"), (f"y >= {geometry.upper + 3}", "y - 3")),
            "reduction": ((f"y = {geometry.upper}", "0"), (f"y = {geometry.upper + 2}", "1"))}
    written = [write_response(material), write_executive(material), write_merge(material)]
    loggers = [
        PeProgram(role=role, listing=written[0].listing, data=0, functions=2,
                  tensors={"log": _make_log(role, pieces)}, reacting=("ctrl",))
        for role, pieces in rows.items()]
    programs = [*loggers, *written]
    return run_fabric(
        build_texts({each.role: spell(each.listing) for each in written}
                    | {role: WORKER % {**given, "role": role} for role in rows}),
        make_layout(material, painting, programs), profile,
        make_arrays(material.graph, sections, geometry, {}), cycle_limit=10**6,
        shapes={"worker": (*field, LOGGED), "reduction": (field[0], 2, LOGGED)},
        probes={c: isl.Set(text) for c, text in (probes or {}).items()},
    )

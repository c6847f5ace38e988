"""What it takes to note what PEs and links are used for, and to record a run.

Runs that are compared go on at once and share one core: what disturbs one disturbs all.
"""

import contextlib
import multiprocessing
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from statistics import median
from unittest import mock

from lairmake.stages.fabric import compiler
from lairmake.stages.fabric.compiler import build_library, users_cache
from tests.bench.fabric import build_busy, run_built
from tests.bench.figures import Figure
from tests.bench.layers import build, fc
from tests.bench.reporting import measured

RUNS = {"far, 14 colours": (128, 16, 14), "near, 14 colours": (128, 2, 14),
        "near, 4 colours": (128, 2, 4)}
"""Sizes, how far streams go, and how many colours there are."""
FIELD = 250, 330
"""Columns and rows of PEs of fc, with 8 x 4 elements of W on each: their state fits in no cache."""
TURNS = 11
USED = 1.03
"""At most so many times the CPU of an engine that does not note what PEs and links are used for."""
NOTES = {
    "engine.h": ["    node->waits |= (uint8_t)(1 << state);\n"],
    "engine.c": [
        "        if (engine->now == engine->binning->next)\n            end_bin(engine);\n",
        "    if (engine.binning != NULL)\n        tell_usage(&engine);\n",
    ],
    "pe.c": [
        "    state = state_of(node, moved);\n"
        "    if (state != node->state)\n        change_state(node, state);\n",
    ],
    "router.c": [
        "    link_of(engine, node, into->side)->wavelets += 1;\n",
        "    to->received += 1;\n",
        "        link_of(engine, node, channel->side)->stalls += (int32_t)waited;\n",
    ],
}
"""The lines of the engine that note it, by file."""
WITHOUT, PLAIN, RECORDED = range(3)
STARTS = []
"""In a process that shares a core: the barrier at which it waits for the others."""


def noted(folder):
    """What noting the use of PEs and links takes, and recording a run: over engines without."""
    engine = write_without_notes(folder / "engine")
    for what, sizes in RUNS.items():
        built = partial(build_busy, span=sizes[1], colours=sizes[2])
        yield from compared(what, [
            partial(time_busy, library, *sizes, recorded=recorded)
            for library, recorded in built_thrice(folder / what, engine, built)
        ])
    columns, rows = FIELD
    layer = fc(folder / "fc", 8 * rows, 4 * columns, columns, rows)
    build(layer, "render")
    yield from compared(f"fc on {columns} x {rows} PEs", [
        partial(time_layer, layer, library, recorded=recorded)
        for library, recorded in built_thrice(folder / "built", engine, partial(built_of, layer))
    ])


def built_thrice(folder, engine, built):
    """Yield libraries that note nothing, note the use, and record a run; and whether they do."""
    flags = [flag for flag in compiler.FLAGS if flag != "-Werror"]
    with contextlib.ExitStack() as stack:
        for name, value in {"HERE": engine, "FLAGS": flags}.items():
            stack.enter_context(mock.patch.object(compiler, name, value))
        yield built(folder / "without"), False
    yield built(folder / "plain"), False
    yield built(folder / "recorded", recorded=True), True


def built_of(layer, folder, *, recorded=False):
    """Return the library of the programs of a layer with vector instructions."""
    programs = sorted((layer / "build" / "simd").glob("pe_*.c"))
    return build_library(programs, folder, cache=users_cache(), recorded=recorded)


def compared(what, runs):
    """Yield the seconds of a plain run; and what noting, and recording, take."""
    turns = take_turns(runs)
    yield Figure(what=f"{what}: plain", value=min(turn[PLAIN] for turn in turns), unit="s")
    yield ratio(f"{what}: over noting no use", turns, PLAIN, WITHOUT, USED)
    yield ratio(f"{what}: recorded, over plain", turns, RECORDED, PLAIN)


def ratio(what, turns, run, other, limit=None):
    """Return the median over turns of the seconds of a run over those of another one.

    In 99 of 100 cases the true median is between the second and the second last of eleven.
    """
    found = sorted(turn[run] / turn[other] for turn in turns)
    return Figure(what=what, value=median(found), limit=limit, between=(found[1], found[-2]))


def take_turns(runs):
    """Return the seconds of each of the runs, by turn."""
    barrier = multiprocessing.Barrier(len(runs))
    with ProcessPoolExecutor(len(runs), initializer=share_core, initargs=[barrier]) as pool:
        return [list(pool.map(start_together, runs)) for _ in range(TURNS)]


def share_core(barrier):
    """Let this process run on the first core only, where the system can."""
    STARTS.append(barrier)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


def start_together(run):
    """Run as soon as the others do."""
    STARTS[0].wait()
    return run()


def time_busy(library, *sizes, recorded):
    """Return the seconds of CPU of a run of streams."""
    return run_built(library, *sizes, recorded=recorded)[0]


def time_layer(layer, library, *, recorded):
    """Return the seconds of CPU of a run of a layer on the fabric."""
    from lairmake.stages.layer import outcome, simulate
    from lairmake.stages.make.core.inputs import FolderInputs
    from lairmake.stages.make.core.layers import open_folder
    from lairmake.stages.reference.data import input_samples

    inputs = FolderInputs(open_folder(layer), simulate.READS)
    node = inputs.lair()
    samples = input_samples(inputs.mapping(), node, inputs.arrays())
    with (
        mock.patch.object(outcome, "build_library", return_value=library),
        measured(outcome, "run_fabric") as spent,
    ):
        outcome.run_programs(inputs, "simd", samples, node, recorded=recorded)
    return spent["ran"]


def write_without_notes(folder):
    """Write the engine without the lines that note what is used; return the folder.

    Raises SystemExit where the engine has other lines.
    """
    shutil.copytree(compiler.HERE, folder, dirs_exist_ok=True)
    for name, lines in NOTES.items():
        text = (compiler.HERE / name).read_text(encoding="utf-8")
        for line in lines:
            if text.count(line) != 1:
                raise SystemExit(f"{name} has no such line, or several:\n{line}")
            text = text.replace(line, "")
        (folder / name).write_text(text, encoding="utf-8")
    return folder

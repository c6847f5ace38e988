"""How fast wavelets move where all colours of all PEs are in use, and what it takes to note it."""

import contextlib
import shutil
import time
from statistics import median
from unittest import mock

from stages.fabric import compiler
from stages.fabric.compiler import build_library, users_cache
from stages.fabric.driver import run_fabric
from stages.fabric.layout_yaml import Layout
from stages.machine.profile import load_profile
from stages.mapping.record_reader import reader_of
from tests.bench.figures import Figure
from tests.bench.process import ROOT

COLOURS, FEW = 14, 4
ELEMENTS = 32
PROGRAM = ROOT / "tests" / "bench" / "pe_busy.c"
WAYS = (("-y - 1", "S", "N"), ("x", "W", "E"), ("y", "N", "S"), ("-x - 1", "E", "W"))
"""Of a colour to the north, east, south and west: how far it is, side from, side to."""
RUNS = {"far, 14 colours": (128, 16, 14), "near, 14 colours": (128, 2, 14),
        "near, 4 colours": (128, 2, 4)}
"""Sizes, how far streams go, and how many colours there are."""
TURNS = 9
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


def busy128(folder):
    """Streams on 14 colours, across 16 PEs and to the next one, on 128 x 128 PEs."""
    yield from busy(folder / "far", 128, 16)
    yield from busy(folder / "near", 128, 2)


def busy256(folder):
    """Streams on 14 colours, across 16 PEs and to the next one, on 256 x 256 PEs."""
    yield from busy(folder / "far", 256, 16)
    yield from busy(folder / "near", 256, 2)


def noted(folder):
    """What noting the use of PEs and links takes, and recording a run: over engines without."""
    for what, sizes in RUNS.items():
        turns = [list(take_turn(folder, sizes)) for _ in range(TURNS)]
        used = median(plain / without for without, plain, _ in turns)
        recorded = median(recorded / plain for _, plain, recorded in turns)
        yield Figure(what=f"{what}: plain", value=min(turn[1] for turn in turns), unit="s")
        yield Figure(what=f"{what}: over noting no use", value=used, limit=USED)
        yield Figure(what=f"{what}: recorded, over plain", value=recorded)


def take_turn(folder, sizes):
    """Yield the seconds of CPU of engines that note nothing, note the use, and record a run."""
    yield run_without_notes(folder / "without", *sizes)[0]
    yield run_busy(folder / "plain", *sizes)[0]
    yield run_busy(folder / "recorded", *sizes, recorded=True)[0]


def busy(folder, size, span):
    """Yield the hops in a second of CPU, set-up included, and what colours in use cost each."""
    all_ = hop(folder / "all", size, span, COLOURS)
    few = hop(folder / "few", size, span, FEW)
    yield Figure(what=f"across {span} PEs: hops", value=1 / all_, unit="/s")
    what = f"across {span} PEs: a hop on {COLOURS} colours, over one on {FEW}"
    yield Figure(what=what, value=all_ / few, limit=2)


def hop(folder, size, span, colours):
    """Return the seconds of CPU of a hop, the least of three runs."""
    runs = [run_busy(folder, size, span, colours) for _ in range(3)]
    return min(seconds / run.hops for seconds, run in runs)


def run_busy(folder, size, span, colours, *, recorded=False):
    """Return the seconds of CPU of a run, and what it gave."""
    programs = [busy_program(folder, span, colours)]
    library = build_library(programs, folder, cache=users_cache(), recorded=recorded)
    layout = reader_of(Layout)(busy_layout(size, span, colours), ())
    start = time.process_time()
    run = run_fabric(library, layout, load_profile("ideal", {"ramp": 2}), {}, recorded=recorded)
    return time.process_time() - start, run


def run_without_notes(folder, size, span, colours):
    """Return what `run_busy` does, of an engine that notes nothing of PEs and links."""
    engine = write_without_notes(folder / "engine")
    flags = [flag for flag in compiler.FLAGS if flag != "-Werror"]
    with contextlib.ExitStack() as stack:
        for name, value in {"HERE": engine, "FLAGS": flags}.items():
            stack.enter_context(mock.patch.object(compiler, name, value))
        return run_busy(folder, size, span, colours)


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


def busy_program(folder, span, colours):
    """Return the path of the program, with streams across `span` PEs on so many colours."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PROGRAM.name
    text = PROGRAM.read_text(encoding="utf-8")
    text = text.replace("SPAN = 16, COLOURS = 14", f"SPAN = {span}, COLOURS = {colours}")
    path.write_text(text, encoding="utf-8")
    return path


def busy_layout(size, span, colours):
    """Return the layout, as data: `size` x `size` PEs, a multiple of `span`."""
    pes = f"{{ PE[x, y] : 0 <= x < {size} and 0 <= y < {size} }}"
    return {
        "grid": pes,
        "roles": {"busy": {"at": pes, "memory": {"data": 0, "code": 0}, "tensors": {}}},
        "colours": {
            f"c{number}": {"number": number, "routes": routes(span, *WAYS[number % 4])}
            for number in range(colours)
        },
        "arrivals": {},
        "departures": {},
    }


def routes(span, passed, side, to):
    """Return the routes of a colour from one end of its ways to the other."""
    at = f"({passed}) mod {span}"
    return (
        f"{{ [PE[x, y] -> ramp[]] -> {to}[] : {at} = 0;"
        f" [PE[x, y] -> {side}[]] -> {to}[] : 0 < {at} < {span - 1};"
        f" [PE[x, y] -> {side}[]] -> ramp[] : {at} = {span - 1} }}"
    )

"""How fast wavelets move where all colours of all PEs are in use."""

import time

from lairmake.stages.fabric.compiler import build_library, users_cache
from lairmake.stages.fabric.driver import run_fabric
from lairmake.stages.fabric.layout import FabricLayout
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.mapping.records import reader_of
from tests.bench.figures import Figure
from tests.bench.process import ROOT

COLOURS, FEW = 14, 4
ELEMENTS = 32
PROGRAM = ROOT / "tests" / "bench" / "pe_busy.c"
WAYS = (("-y - 1", "S", "N"), ("x", "W", "E"), ("y", "N", "S"), ("-x - 1", "E", "W"))
"""Of a colour to the north, east, south and west: how far it is, side from, side to."""


def busy128(folder):
    """Streams on 14 colours, across 16 PEs and to the next one, on 128 x 128 PEs."""
    yield from busy(folder / "far", 128, 16)
    yield from busy(folder / "near", 128, 2)


def busy256(folder):
    """Streams on 14 colours, across 16 PEs and to the next one, on 256 x 256 PEs."""
    yield from busy(folder / "far", 256, 16)
    yield from busy(folder / "near", 256, 2)


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


def run_busy(folder, size, span, colours):
    """Return the seconds of CPU of a run, and what it gave."""
    return run_built(build_busy(folder, span, colours), size, span, colours)


def build_busy(folder, span, colours, *, recorded=False):
    """Return the library of the program of `busy_program`."""
    programs = [busy_program(folder, span, colours)]
    return build_library(programs, folder, cache=users_cache(), recorded=recorded)


def run_built(library, size, span, colours, *, recorded=False):
    """Return the seconds of CPU of a run of a library, and what it gave."""
    layout = reader_of(FabricLayout)(busy_layout(size, span, colours), ())
    start = time.process_time()
    run = run_fabric(library, layout, load_profile("ideal", {"ramp": 2}), {}, recorded=recorded)
    return time.process_time() - start, run


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

"""What reports and traces take beyond running the programs once more: seconds of CPU, and bytes.

As a program: `python -m tests.bench.reporting page FOLDER`, or `trace FOLDER`, for a layer folder
that is built up to simulate.
"""

import contextlib
import json
import sys
import time
from pathlib import Path
from unittest import mock

from tests.bench.figures import Figure
from tests.bench.layers import build, fc, results, shipped
from tests.bench.process import run

WAFER = 750, 993
"""Columns and rows of PEs that compute; with the row of adapters all that wse2 has."""
SECONDS, BYTES = 30, 5_000_000
"""What a report may take beyond the run, and how large it may be."""
EVENTS, TRACE_SECONDS, TRACE_BYTES = 1_000_000, 2, 60_000_000
"""Of so many events a trace may take so many seconds beyond the run, and be so large."""


def reports(folder):
    """Reports of fc, and of fc on all of wse2: 8 x 4 elements of W on 750 x 993 PEs."""
    layers = {"fc": shipped(folder / "fc", "fc"), "a whole wafer": write_wafer(folder / "wafer")}
    for what, layer in layers.items():
        build(layer, "simulate")
        results(layer)
        found = reported(layer)
        yield Figure(what=f"{what}: recording the run", value=found["ran"], unit="s")
        yield Figure(what=f"{what}: beyond it", value=found["seconds"], unit="s", limit=SECONDS)
        yield Figure(what=f"{what}: the page", value=found["bytes"], unit="bytes", limit=BYTES)


def traces(folder):
    """A trace of some million events, of fc at M = N = 4096 on 64 x 65 PEs."""
    layer = fc(folder / "fc", 4096, 4096, 64, 64)
    build(layer, "simulate")
    found = json.loads(run("tests.bench.reporting", "trace", layer).out)
    yield Figure(what="events", value=found["events"])
    for unit, key, limit in (("s", "seconds", TRACE_SECONDS), ("bytes", "bytes", TRACE_BYTES)):
        value = found[key] / found["events"] * EVENTS
        yield Figure(what="a million of them", value=value, unit=unit, limit=limit)


def write_wafer(folder):
    """Write fc so that all PEs of wse2 have something of it."""
    columns, rows = WAFER
    return fc(folder, 8 * rows, 4 * columns, columns, rows)


def reported(layer):
    """Return what `draw_page` gives, from a process of its own."""
    return json.loads(run("tests.bench.reporting", "page", layer).out)


def draw_page(folder):
    """Draw build/report.html. Return the `seconds` of CPU beyond those of the fabric, which `ran`
    so many, and the `bytes` of the page. C compilation is left out."""
    from lairmake.stages.layer import outcome
    from lairmake.stages.make.core.inputs import FolderInputs
    from lairmake.stages.make.core.layers import open_folder
    from lairmake.stages.picture import report

    inputs = FolderInputs(open_folder(folder), report.READS)
    with measured(outcome, "run_fabric") as spent:
        contents = report.run(inputs)
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {**spent, "bytes": (folder / "build/report.html").stat().st_size}


def write_events(folder):
    """Trace a layer. Return the `seconds` of CPU beyond recording the run, which `ran` so many, how
    many `events` there are, and the `bytes` of the trace."""
    from lairmake.stages.layer import outcome, simulate
    from lairmake.stages.make.core.inputs import FolderInputs
    from lairmake.stages.make.core.layers import open_folder
    from lairmake.stages.picture.trace import trace

    inputs = FolderInputs(open_folder(folder), simulate.READS)
    source = inputs.source("build/layout.yaml")
    with measured(outcome, "record") as spent:
        found = trace(
            source, lambda asked: outcome.record(inputs, asked), "", (0, 2**30), 2**23
        )
    return {**spent, "events": found.count, "bytes": len(found.content)}


@contextlib.contextmanager
def measured(module, name):
    """Yield a mapping that has, at the end, for how many `seconds` of CPU a function of a module
    `ran`, and how many passed besides."""
    function, spent = getattr(module, name), {"ran": 0.0}

    def timed(*given, **named):
        begin = time.process_time()
        try:
            return function(*given, **named)
        finally:
            spent["ran"] += time.process_time() - begin

    start = time.process_time()
    with mock.patch.object(module, name, timed):
        yield spent
    spent["seconds"] = time.process_time() - start - spent["ran"]


if __name__ == "__main__":
    what = {"page": draw_page, "trace": write_events}[sys.argv[1]]
    print(json.dumps(what(Path(sys.argv[2]))))

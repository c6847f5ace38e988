"""The command `doit trace`: work of PEs, cycle by cycle, as a trace that Perfetto opens."""

from __future__ import annotations

import functools
import importlib
import os
import re

from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.workers import Progress
from lairmake.stages.make.doit.commands.command import LayerCommand, Options, hint_of_fabric
from lairmake.stages.make.doit.commands.inert import option
from lairmake.stages.make.store.folders import (
    LayerFolder,
    every_stage,
    file_of,
    shown_path,
    user_folder,
)

FILE = "build/trace.pftrace"
MOST = 1_000_000
LAYOUTS = {
    "operate": "layout.yaml", "execute": "build/layout.yaml", "simulate": "build/layout.yaml",
}
"""The layout of the programs that each stage runs."""
RUNS = {
    "operate": "lairmake.stages.network.whole.joined",
    "execute": "lairmake.stages.program.lowering.running",
    "simulate": "lairmake.stages.layer.outcome",
}
"""The module whose `record` runs these programs once more."""
EVERY_CYCLE = 2**30
PES = option("pes", "the PEs that are meant, `{ PE[x, 0] : x < 4 }`; default: all", default="")
CYCLES = option("cycles", "the cycles that are meant, 0:500; default: all", default="")
LIMIT = option("most", f"of how many events a trace may be; default: {MOST}", default=MOST)


class Trace(LayerCommand):
    """Write what PEs did as a trace."""

    name = "trace"
    runs_stages = True
    doc_purpose = "write what PEs of a layer, network or program did, for Perfetto"
    doc_usage = "LAYER [--pes SET] [--cycles FROM:TO] [--most EVENTS]"
    doc_description = (
        "Builds it, runs it once more, and writes build/trace.pftrace, which "
        "https://ui.perfetto.dev opens: for each PE tasks, vector instructions, streams by "
        "colour, what it waits for and why, how many wavelets wait in its queues, and arrows from "
        "where a wavelet was sent to the task that it starts. A cycle is shown as a nanosecond. Of "
        "a network that is the fabric of the whole (`run: whole`), else name one of its parts. Of "
        "a fabric that stops, the trace is what happened until then."
    )
    cmd_options = (PES, CYCLES, LIMIT)

    def act(self, options: Options, words: list[str]) -> int:
        """Run the layer that is meant once more, and write the trace."""
        folders, rest = self.select(words)
        for word in rest:
            raise self.refuse_unknown(word)
        folders = [each for each in folders if each.name in words] or folders
        if len(folders) != 1 or not words:
            raise self.refuse("one layer is traced at a time", "name it: `trace fc`")
        folder = folders[0]
        stage = next((name for name in LAYOUTS if name in every_stage(folder)), None)
        if stage is None:
            said = f"{folder.name} does not run on one fabric"
            raise self.refuse(said, hint_of_fabric(folder))
        begin, end = self._cycles(options["cycles"])
        most = self._most(options["most"])
        loader = self.loader_of([folder])
        os.chdir(user_folder())
        run = self.cmds.get_plugin("run")(task_loader=loader, cmds=self.cmds, **self._kwargs)
        code: int = run.parse_execute([f"{folder.name}:{stage}"])
        if code == 0 or f"{folder.name}:{stage}" in run.session.stops:
            _write(folder, stage, options["pes"], (begin, end), most)
        return code

    def _cycles(self, text: str) -> tuple[int, int]:
        """Return the first cycle that is meant, and the one after the last."""
        found = re.fullmatch(r"(\d*):(\d*)", text.strip() or ":")
        begin, end = (found[1], found[2]) if found else ("", "")
        first, last = int(begin or 0), int(end or EVERY_CYCLE)
        if found is None or first >= last:
            raise self.refuse(f"--cycles {text} names no cycle", "from and to: `--cycles 0:500`")
        return first, last

    def _most(self, most: int) -> int:
        from lairmake.stages.picture import LARGEST_TRACE

        if not 0 < most <= LARGEST_TRACE:
            raise self.refuse(f"--most {most} is no number from 1 to {LARGEST_TRACE}")
        return most


def _write(
    folder: LayerFolder, stage: str, pes: str, cycles: tuple[int, int], most: int
) -> None:
    """Run a layer once more, and write the trace; say how far a long run is. Raises UserError."""
    from lairmake.stages.make.core.inputs import FolderInputs
    from lairmake.stages.make.core.outputs import write_beside
    from lairmake.stages.picture.trace import trace

    tell = functools.partial(Progress().tell, f"{folder.name}:trace")
    inputs = FolderInputs(folder, declaration(stage).inputs, tell=tell)
    record = functools.partial(importlib.import_module(RUNS[stage]).record, inputs)
    found = trace(inputs.source(LAYOUTS[stage]), record, pes, cycles, most)
    path = file_of(folder, FILE)
    write_beside(folder, path, found.content)
    end = f", until the fabric stops after cycle {found.stop}" if found.stop is not None else ""
    print(f"{shown_path(path)}: {found.count} events{end}; https://ui.perfetto.dev opens it")

"""The command `doit evaluate`: gain of vector instructions over a catalogue of layers."""

from __future__ import annotations

import importlib
import sys

from lairmake.stages.make.doit.commands.command import (
    JSON,
    LayerCommand,
    Options,
)
from lairmake.stages.make.doit.commands.inert import option
from lairmake.stages.shipped import STAGES

BROADCAST = option(
    "broadcast", "count what eliminating broadcasts gains, and write docs/broadcast.md",
)
CHOSEN = option(
    "chosen", "run layers with half and double of chosen figures, and write docs/chosen.md",
)
MULTICAST = option("multicast", "measure what multicast is worth, and write docs/multicast.md")
PLACEMENTS = option(
    "placements",
    "build layers without their placements and ports, simulate candidates of some, and write "
    "docs/placements.md",
)

PROGRAMS = option(
    "programs", "run programs on the virtual machine, and write docs/machine_cycles.md",
)
STENCILS = option(
    "stencils", "measure steps of the layers below projects/stencils, and write docs/stencils.md",
)


class Evaluate(LayerCommand):
    """Say what vector instructions gain."""

    name = "evaluate"
    doc_purpose = "measure what vector instructions gain, and write docs/evaluation.md"
    doc_usage = "[LAYER ...]"
    doc_description = (
        "Builds the layers below projects/catalogue on wse2 and on ideal, and layers of which one "
        "figure changes at a time, in a temporary folder; writes tables and plots to docs/. Where "
        "layers are named, prints the tables of these and writes nothing."
    )
    cmd_options = (JSON, BROADCAST, CHOSEN, MULTICAST, PLACEMENTS, PROGRAMS, STENCILS)

    def act(self, options: Options, words: list[str]) -> int:
        """Build the layers, and print or write the results."""
        if not (STAGES.parent / "tools").is_dir():
            raise self.refuse("only a checkout of Lairmake measures and writes documents",
                              "clone its repository, and run ./do evaluate there")
        sys.path.insert(0, str(STAGES.parent))
        writing = importlib.import_module("tools.evaluation.writing")
        code: int = writing.evaluate(self, options, words)
        return code

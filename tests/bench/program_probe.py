"""A program on x86, as a graph, and as a graph at addresses: seconds of CPU of each.

As a program: `python -m tests.bench.program_probe FOLDER`, for a program folder that is built up to
remember.
"""

import json
import sys
import time
from pathlib import Path

from tests.bench.process import run

ROUNDS = 3


def probe_program(folder):
    """Return what `probe` gives, from a process of its own."""
    return json.loads(run("tests.bench.program_probe", folder).out)


def probe(folder):
    """Return the least of some seconds of CPU of each way to run a program, in turn."""
    ways = list(find_ways(folder))
    turns = [[seconds(way) for _, way in ways] for _ in range(ROUNDS)]
    times = map(min, zip(*turns, strict=True))
    return {name: value for (name, _), value in zip(ways, times, strict=True)}


def seconds(way):
    """Return the seconds of CPU that a call takes."""
    start = time.process_time()
    way()
    return time.process_time() - start


def find_ways(folder):
    """Yield the names and functions of the ways to run a program: each begins anew."""
    from lairmake.stages.make.core.inputs import FolderInputs
    from lairmake.stages.make.core.layers import open_folder
    from lairmake.stages.program import interpret
    from lairmake.stages.program.front.source_on_x86 import strip_source
    from lairmake.stages.program.front.value import WORLD
    from lairmake.stages.program.interpreter.run import make_addressed_store, make_store, run_graph
    from lairmake.stages.program.irg.addresses import read_addresses
    from lairmake.stages.program.irg.graph_yaml import read_graph
    from lairmake.stages.program.irg.regions import read_regions
    from lairmake.stages.program.values.api import execute, set_parameters

    inputs = FolderInputs(open_folder(folder), (*interpret.READS, "program.yaml", "*.py"))
    graph = read_graph(inputs.source("graph.yaml"), inputs.source("objects.yaml"))
    accesses = read_regions(inputs.source("accesses.isl"), graph)
    addresses = read_addresses(inputs.source("addresses.yaml"), graph)
    data = {name: inputs.array(f"build/data/{name}.npy")
            for name, entry in graph.entries.items() if entry.initial == "file"}
    source = inputs.program_source()
    tree = strip_source(source.text, source.path)

    def run_source():
        WORLD.begin()
        set_parameters(dict(inputs.program().parameters))
        execute(tree, source.path)

    yield "x86", run_source
    yield "graph", lambda: run_graph(graph, accesses, make_store(graph, accesses, data))
    yield "addresses", lambda: run_graph(
        graph, accesses, make_addressed_store(graph, addresses, data))


if __name__ == "__main__":
    print(json.dumps(probe(Path(sys.argv[1]))))

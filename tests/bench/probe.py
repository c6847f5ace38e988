"""One run of the programs of a layer, and what the engine knows of it.

As a program: `python -m tests.bench.probe FOLDER`, for a layer folder that is built up to render.
"""

import json
import sys
import time
from pathlib import Path

from tests.bench.process import run


def probed(layer):
    """Return what `probe` gives, from a process of its own."""
    return json.loads(run("tests.bench.probe", layer).out)


def probe(layer):
    """Run the programs with vector instructions once.

    `seconds`: of CPU, from the layout and the inputs to the outputs, C compilation left out.
    `cycles`: of the run. `hops`, `tasks`: of the fabric. `multiply-adds`: points of vector
    instructions. `lanes`: elements that a vector instruction computes in a cycle. `usage`: what
    the cycles of the busiest PE went into, as `struct usage` of engine.h; of several, the first.
    """
    from lairmake.stages.layer import outcome, simulate
    from lairmake.stages.make.core.inputs import FolderInputs
    from lairmake.stages.make.core.layers import open_folder
    from lairmake.stages.mapping.machine import read_machine
    from lairmake.stages.reference.data import input_samples

    inputs = FolderInputs(open_folder(layer), simulate.READS)
    node = inputs.lair()
    samples = input_samples(inputs.mapping(), node, inputs.arrays())
    start = time.process_time()
    ran = outcome.run_programs(inputs, "simd", samples, node)
    seconds = time.process_time() - start
    profile = read_machine(inputs.mapping(), inputs)
    lanes = max(profile.find_most_lanes(tensor.type) for tensor in node.outputs)
    busiest = ran.usage[ran.usage["busy"].argmax()]
    return {
        "seconds": seconds, "cycles": ran.cycles, "hops": ran.hops, "tasks": ran.tasks,
        "multiply-adds": int(ran.usage["points"].sum()), "lanes": lanes,
        "usage": {name: int(busiest[name]) for name in ran.usage.dtype.names},
    }


if __name__ == "__main__":
    print(json.dumps(probe(Path(sys.argv[1]))))

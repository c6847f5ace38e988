"""The virtual machine of a field, painted and written: seconds of CPU.

As a program: `python -m tests.bench.painting`.
"""

import json
import time

from lairmake.stages.program.vm.colours import Features
from lairmake.stages.program.vm.geometry import Geometry
from lairmake.stages.program.vm.machine import paint_machine
from lairmake.stages.program.vm.paint_isl import write_painting
from tests.bench.figures import Figure
from tests.bench.process import run

ALL = Features(neighbours=True, worker_sums=True, executive_sums=True, global_scalars=True)
SIZES = {"16 x 16": (16, 16, 2), "512 x 512": (512, 512, 2), "750 x 991": (750, 991, 300)}
REPEATS = 3


def paint(_folder):
    """Paint small and large fields, each in processes of its own."""
    found = {name: min(json.loads(run("tests.bench.painting", name).out) for _ in range(REPEATS))
             for name in SIZES}
    yield Figure(what="painting 16 x 16 workers", value=found["16 x 16"], unit="s")
    yield Figure(what="painting 750 x 991 workers", value=found["750 x 991"], unit="s", limit=3)
    ratio = found["512 x 512"] / found["16 x 16"]
    yield Figure(what="512 x 512 over 16 x 16", value=ratio, limit=1.3)


def measure(name):
    """Return the seconds that a field takes."""
    width, height, responses = SIZES[name]
    begun = time.process_time()
    geometry = Geometry(width=width, height=height, responses=responses)
    write_painting(paint_machine(geometry, ALL))
    return time.process_time() - begun


if __name__ == "__main__":
    import sys

    print(json.dumps(measure(sys.argv[1])))

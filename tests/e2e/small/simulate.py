"""Count the programs and the inputs.

Paper    none: a small stage for the tests of the Make
Reads    build/simd/pe_*.c, build/layout.yaml, inputs/*.npy
Writes   build/outputs/*.npy, build/results.json
"""

import json

from lairmake.stages.noted import go_on, note

READS = ("build/simd/pe_*.c", "build/layout.yaml", "inputs/*.npy")
WRITES = ("build/outputs/*.npy", "build/results.json")


def run(inputs):
    programs = [inputs.text(name) for name in inputs.names("build/simd/pe_*.c")]
    inputs.text("build/layout.yaml")
    for name in inputs.names("inputs/*.npy"):
        inputs.content(name)
    go_on(inputs)
    note("simulate", inputs)
    return {
        "build/outputs/y.npy": "".join(programs).encode(),
        "build/results.json": json.dumps(results(len(programs))),
    }


def results(programs):
    return {
        "top": "small", "machine": "ideal", "invocations": 1,
        "cycles": {"simd": programs, "loops": 2 * programs}, "speedup": 2.0,
        "bound": {"cycles": 1, "by": "operations"},
        "tasks": {
            "on_x": {
                "by": "hull", "why": "", "sizes": [8], "calls": 1, "instances": 8, "extra": 0,
            }
        },
        "data": {"x": "integers, seed 0"},
        "check": {"y": {"exact": True, "right": True, "max_abs_error": 0.0}},
        "memory": {"bytes_per_pe": 96, "of": 49152},
        "fabric": {"wavelets": 3, "hops": 4, "stalls": 0},
    }

"""Run a program in this process, and note the files that it opens by `see`, of which it has `n`.

Paper    none: a small stage for the tests of the Make
Reads    program.yaml, program.il
Writes   graph.yaml, build/data/*.npy
"""

import os

from lairmake.stages.noted import note

READS = ("program.yaml", "program.il")
WRITES = ("graph.yaml", "build/data/*.npy")


def run(inputs):
    opened = {}
    seen = []

    def see(name):
        path = inputs.path("program.yaml").parent / name
        try:
            state = os.stat(path)
        except OSError:
            opened[name] = None
            return
        opened[name] = (state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)
        seen.append(sorted(os.listdir(path)) if path.is_dir() else path.read_text())

    exec(inputs.text("program.il"), {"see": see, "seen": seen, **inputs.program().parameters})
    inputs.note_opened(opened)
    note("capture", inputs)
    return {"graph.yaml": f"seen: {seen!r}\n", "build/data/x.npy": b""}

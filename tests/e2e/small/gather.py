"""Take the words of a kernel.

Paper    none: a small stage for the tests of the Make
Reads    *.mlir
Writes   words.isl
"""

from lairmake.stages.noted import note

READS = ("*.mlir",)
WRITES = ("words.isl",)


def run(inputs):
    words = [inputs.text(name) for name in inputs.names("*.mlir")]
    note("gather", inputs)
    return {"words.isl": "".join(words)}

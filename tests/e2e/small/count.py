"""Count the words of a layer.

Paper    none: a small stage for the tests of the Make
Reads    placement.isl
Writes   counted.isl
"""

from lairmake.stages.noted import note

READS = ("placement.isl",)
WRITES = ("counted.isl",)


def run(inputs):
    count = len(inputs.text("placement.isl").split())
    note("count", inputs)
    return {"counted.isl": f"{count}\n"}

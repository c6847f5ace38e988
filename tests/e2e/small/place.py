"""Take the words over, but for their case.

Paper    none: a small stage for the tests of the Make
Reads    layer.yaml, lair.isl
Writes   placement.isl
"""

from lairmake.stages.noted import note

READS = ("layer.yaml", "lair.isl")
WRITES = ("placement.isl",)


def run(inputs):
    inputs.text("layer.yaml")
    text = inputs.text("lair.isl")
    note("place", inputs)
    return {"placement.isl": text.lower()}

"""Take the words over, but for their case.

Paper    none: a small stage for the tests of the Make
Reads    layer.yaml, lair.isl
Writes   placement.isl
"""

READS = ("layer.yaml", "lair.isl")
WRITES = ("placement.isl",)


def run(inputs):
    inputs.text("layer.yaml")
    return {"placement.isl": inputs.text("lair.isl").lower()}

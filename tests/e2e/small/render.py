"""Write one program for every line.

Paper    none: a small stage for the tests of the Make
Reads    placement.isl
Writes   build/simd/pe_*.c, build/layout.yaml
"""

from lairmake.stages.noted import note

READS = ("placement.isl",)
WRITES = ("build/simd/pe_*.c", "build/layout.yaml")


def run(inputs):
    words = inputs.text("placement.isl").split()
    programs = {f"build/simd/pe_{word}.c": f"/* {word} */\n" for word in words}
    note("render", inputs)
    return {**programs, "build/layout.yaml": "grid: one\n"}

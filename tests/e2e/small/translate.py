"""Leave the comments of a program out.

Paper    none: a small stage for the tests of the Make
Reads    program.yaml, *.py
Writes   program.il
"""

from lairmake.stages.noted import note

READS = ("program.yaml", "*.py")
WRITES = ("program.il",)


def run(inputs):
    inputs.program()
    lines = [line.split("#")[0].rstrip() for line in inputs.program_source().text.splitlines()]
    note("translate", inputs)
    return {"program.il": "\n".join(filter(None, lines)) + "\n"}

"""Texts of the graphs that pieces of the intermediate language give."""

import textwrap

from lairmake.stages.program.il.run import record_program, write_captured

IMPORTS = """
from lairmake.stages.program.il import numpy as np
from lairmake.stages.program.il.objects import *
import numpy
"""
OBJECTS = """
x = LocalArray("x", 1.0, shape=(4, 4, 8))
y = LocalArray("y", 2.0, shape=(4, 4, 8))
h = LocalArray("h", 2.0, shape=(4, 4, 8), dtype="float16")
q = LocalArray("q", 2, shape=(4, 4, 3, 8), dtype="int16")
l = LocalScalar("l", 1.0, shape=(4, 4))
u = UniformLocalScalar("u", 1.0)
g = GlobalScalar("g", 1.0)
n = GlobalScalar("n", 1)
a = GlobalArray("a", numpy.arange(6, dtype="float32"))
b = GlobalArray("b", 1.0, shape=(3, 6))
"""


def capture(text, objects=OBJECTS):
    """Return the texts of the graph, without their first lines, by the names of the files."""
    il = IMPORTS + objects + textwrap.dedent(text)
    files = write_captured(record_program(il, "program.py"))
    return {name: content.decode().split("\n", 1)[1] for name, content in files.items()
            if not name.endswith(".npy")}


def list_nodes(text, objects=OBJECTS):
    """Return the nodes of the graph: `0 add x x y`, blocks without their bodies left out."""
    lines = capture(text, objects)["graph.yaml"].splitlines()
    found = []
    for line in lines:
        head, _, rest = line.strip().partition(": {")
        if rest.startswith("op: "):
            fields = dict(part.split(": ", 1) for part in _split(rest.rstrip("}")))
            src = fields["src"].strip("[]").replace(",", "")
            words = [head, fields["op"], fields.get("dst", ""), src]
            found.append(" ".join(word for word in words if word))
    return found


def _split(text):
    parts, depth = [""], 0
    for character in text:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def list_accesses(text, objects=OBJECTS):
    """Return the relations by their names, without the names of their nodes."""
    found = capture(text, objects)["accesses.isl"]
    statements = [each for each in found.split("\n\n") if ":=" in each]
    return {each.split(" := ")[0].strip(): each.split(" := ")[1].strip("{}; \n")
            for each in statements}


def list_entries(text, objects=OBJECTS):
    """Return the lines of objects.yaml by the names of the entries."""
    lines = capture(text, objects)["objects.yaml"].splitlines()
    return dict(line.split(": ", 1) for line in lines)

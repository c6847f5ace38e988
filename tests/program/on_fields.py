"""The programs of projects/ on fields of other sizes, with few steps; and which to run on what."""

import itertools
from pathlib import Path

from lairmake.stages.program.sections.program import find_most_responses

PROJECTS = Path(__file__).resolve().parents[2] / "projects"
FIELDS = (4, 2), (5, 7), (16, 16), (64, 33)
PROFILES = "wse2", "wse3", "ideal", "paper"
RESPONSES = 1, 2, 5
PROGRAMS = "listing1", "heat", "cg", "cavity", "ising"
FLAT = {"[1:-1, 1:-1, ": "[1:-1, :, ", "[2:, 1:-1, ": "[2:, :, "}
"""Slices of listing1 on a field of two rows, which has none inside."""


def is_there(program, _, field, responses):
    """Whether a program has room on a field, and its row room for the response PEs."""
    columns, rows = field
    has_inside = rows > 2 or program in ("listing1", "ising")
    return responses <= find_most_responses(columns) and has_inside


EVERY = [each for each in itertools.product(PROGRAMS, PROFILES, FIELDS, RESPONSES)
         if is_there(*each)]


def choose_pairs():
    """Return some of all combinations, in which each pair of values occurs that does in any."""
    missing = {pair for each in EVERY for pair in find_pairs(each)}
    chosen = []
    while missing:
        best = max(EVERY, key=lambda each: len(find_pairs(each) & missing))
        chosen.append(best)
        missing -= find_pairs(best)
    return chosen


def find_pairs(each):
    """Return the pairs of values in a combination, with where they stand in it."""
    return set(itertools.combinations(enumerate(each), 2))


def source_on(program, field):
    """Return the source of a program for a field, and its parameters."""
    columns, rows = field
    text = (PROJECTS / program / f"{program}.py").read_text("utf-8")
    n = min(columns, rows)
    if program == "listing1":
        text = text.replace("field", "start").replace("(6, 6, 8)", f"({columns}, {rows}, 8)")
        for inside, flat in FLAT.items() if rows < 3 else ():
            text = text.replace(inside, flat)
    lines = text.splitlines(keepends=True)
    at = next(k for k, line in enumerate(lines) if line.startswith("from lairmake.objects"))
    lines.insert(at, "from lairmake.objects import field\n")
    at = next(k for k, line in enumerate(lines) if line.startswith("with Run_On_Host"))
    lines.insert(at, f"field({columns}, {rows})\n")
    parameters = {
        "listing1": {}, "heat": {"n": n, "z": 4, "steps": 2},
        "cg": {"n": n, "z": 4, "most": 2}, "cavity": {"n": n, "steps": 1, "sweeps": 2},
        "ising": {"n": n, "blocks": 1, "sweeps": 1},
    }
    return "".join(lines).replace("margin = 10", f"margin = {n // 6}"), parameters[program]

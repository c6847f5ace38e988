"""How long entries live: the seed's three rules, and what loops ask for."""

import pytest

from lairmake.stages.program.irg.addresses import END, START, find_lifespans
from tests.program.given import read_texts

OBJECTS = """\
a: {kind: LocalArray, type: float32, shape: [1, 1, 4]}
b: {kind: LocalArray, type: float32, shape: [1, 1, 4]}
c: {kind: LocalArray, type: float32, shape: [1, 1, 4]}
data: {kind: LocalArray, type: float32, shape: [1, 1, 4], initial: 0.0}
out: {kind: LocalArray, type: float32, shape: [1, 1, 4], output: true}
t: {kind: LocalArray, type: float32, shape: [1, 1, 4], temporary: true}
g: {kind: GlobalScalar, type: float32, initial: 0.0}
h: {kind: GlobalScalar, type: float32}
l: {kind: GlobalScalar, type: int32}
m: {kind: GlobalScalar, type: int32}
"""


def spell(number, item):
    """Return the lines of one item: `a = b c`, `a[] = b`, `for l`, `while w g`, `if i g` ..."""
    words = item.split()
    if words[0] == "for":
        return f"{number}:\n  for_loop: {words[1]}\n  range: [0, 9, 1]\n"
    if words[0] in ("while", "if"):
        key = "while_loop" if words[0] == "while" else "if"
        return f"{number}:\n  {key}: {words[1]}\n  when: '{{0}} > 0'\n  src: [{words[2]}]\n"
    if words[0] in ("break", "continue"):
        return f"{number}: {{op: {words[0]}, loop: {words[1]}, when: '{{0}} > 0', src: [g]}}\n"
    op = "copy" if len(words) == 3 else "add"
    return f"{number}: {{op: {op}, dst: {words[0].strip('[]')}, src: [{', '.join(words[2:])}]}}\n"


def make(program):
    """Return graph.yaml and accesses.isl of lines, of which those in a body are indented."""
    graph, accesses, number = "field: [1, 1]\nnodes:\n", "", 0
    for line in program.splitlines():
        indent = "  " * (len(line) - len(line.lstrip()) + 1)
        item = line.strip()
        if item in ("do", "else"):
            graph += f"{indent}{'body' if item == 'do' else 'else'}:\n"
            continue
        graph += "".join(f"{indent}{each}\n" for each in spell(number, item).splitlines())
        if "=" in item:
            dst, _, *src = item.split()
            bound = "1 <= z <= 3" if dst.endswith("[]") else "0 <= z <= 3"
            named = [(dst.strip("[]"), "dst"), *((s, f"src{k}") for k, s in enumerate(src))]
            for name, which in named:
                tuples = (f"n{number}[] -> {name}[]" if dst in "gh" else
                          f"n{number}[x = 0, y = 0, z] -> {name}[x, y, z] : {bound}")
                accesses += f"n{number}_{which} := {{ {tuples} }};\n"
        number += 1
    return graph, accesses


def lifespans(program):
    return find_lifespans(*read_texts(*[make(program)[0], OBJECTS, make(program)[1]]))


LOOP = "for l\n do\n"
CASES = {
    "data live from the start to the last reference":
        ("a = data\nb = a", {"data": (START, 0), "a": (0, 1), "b": (1, 1)}),
    "an output lives to the end": ("out = data\na = data", {"out": (0, END)}),
    "what nothing refers to has no life": ("a = data", {"b": None, "out": (END, END)}),
    "data that a loop reads live through it":
        (LOOP + "  a = data\n  b = a", {"data": (START, 2), "a": (1, 2), "b": (2, 2)}),
    "what is written first and wholly is of one iteration":
        (LOOP + "  t = data\n  data = t\n  b = data", {"t": (1, 2), "b": (3, 3)}),
    "a part is not the whole": (LOOP + "  a[] = data\n  data = a", {"a": (0, 2)}),
    "what is read first comes from the last iteration":
        (LOOP + "  data = a\n  a = data\n  b = data", {"a": (0, 3)}),
    "what is referred to behind the loop, too, lives through it":
        (LOOP + "  a = data\n  data = b\nb = a", {"a": (0, 3), "b": (0, 3)}),
    "a branch may not write":
        (LOOP + "  if i g\n   do\n    a = data\n  data = a", {"a": (0, 3)}),
    "both branches write":
        (LOOP + "  if i g\n   do\n    a = data\n   else\n    a = data\n  data = a",
         {"a": (2, 4)}),
    "what only one branch has":
        (LOOP + "  if i g\n   do\n    a = data\n    data = a\n  b = data", {"a": (2, 3)}),
    "a loop within may run no iteration":
        (LOOP + "  for m\n   do\n    a = data\n  data = a", {"a": (0, 3)}),
    "what a loop within takes of before it, not of the last iteration":
        (LOOP + "  a = data\n  for m\n   do\n    data = a\n    b = data\n  c = data",
         {"a": (1, 4), "b": (4, 4)}),
    "what a loop within keeps":
        (LOOP + "  for m\n   do\n    data = a\n    a = data", {"a": (0, 3)}),
    "`continue` before the write, which skips the read as well":
        (LOOP + "  continue l\n  a = data\n  data = a", {"a": (2, 3), "g": (START, 3)}),
    "the value of a loop, and its counter":
        (LOOP + "  a = data\nb = data",
         {"l": (0, 1), "l.counter": (0, 1)}),
    "conditions of while are looked at after the body":
        ("h = g\nwhile w h\n do\n  a = data\nb = data", {"h": (0, 2)}),
    "conditions of while that the body writes":
        ("h = g\nwhile w h\n do\n  a = data\n  h = g\n  b = data\nb = data", {"h": (0, 4)}),
}


@pytest.mark.parametrize("case", CASES)
def test_lifespans(case):
    program, wanted = CASES[case]
    found = lifespans(program)
    assert {name: found.get(name) for name in wanted} == wanted

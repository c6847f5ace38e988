"""Loops, branches and what leaves them run as Python runs them, apart and at addresses."""

import random

import numpy as np
import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.program import interpret, remember
from lairmake.stages.program.interpreter import run as machine
from lairmake.stages.program.interpreter.run import make_addressed_store, make_store, run_graph
from lairmake.stages.program.irg.addresses import place_entries
from tests.program.given import Given, read_texts

SYMBOLS = {"add": "+", "sub": "-", "mul": "*"}
VARIABLES = ("a", "b", "c", "d")


class Flow:
    """A random program on global scalars, as Python and as a graph."""

    def __init__(self, rng):
        self.rng, self.id, self.left = rng, -1, 25
        self.python, self.graph, self.accesses = [], [], []
        self.entries = list(VARIABLES)
        self.loops = []
        while self.left > 0:
            self.statement(0)

    def write(self, depth, python, *graph):
        self.python.append("    " * depth + python)
        self.graph += ["  " + "    " * depth + line for line in graph]

    def next(self):
        self.id += 1
        self.left -= 1
        return self.id

    def node(self, depth, op, dst, *src):
        n = self.next()
        said = [f"np.int32({s})" if isinstance(s, int) else s for s in src]
        self.write(depth, f"{dst} = {f' {SYMBOLS[op]} '.join(said)}",
                   f"{n}: {{op: {op}, dst: {dst}, src: [{', '.join(map(str, src))}]}}")
        self.accesses += [f"n{n}_{which} := {{ n{n}[] -> {name}[] }};" for which, name in (
            ("dst", dst), ("src0", src[0]), ("src1", src[1])) if isinstance(name, str)]

    def condition(self):
        rng = self.rng
        names = rng.choices([*self.entries, *(loop for loop, _ in self.loops)], k=2)
        text = rng.choice(("{0} > {1}", "{0} > 3 and not {1} == 2", "{0} < 0 or {1} >= 0",
                           "not ({0} > 5)", "-9 < {0} <= {1}", "{0}"))
        return text, names[: 1 + ("{1}" in text)], text.format(*names)

    def statement(self, depth):
        choice = self.rng.random()
        if choice < 0.2 and self.loops:
            return self.leave(depth)
        if choice < 0.55 and depth < 3 and self.left > 0:
            return self.rng.choice((self.for_loop, self.while_loop, self.branch))(depth)
        source = [*self.entries, *(loop for loop, _ in self.loops), self.rng.randint(-3, 9)]
        return self.node(depth, self.rng.choice(list(SYMBOLS)), self.rng.choice(VARIABLES),
                         self.rng.choice(self.entries), self.rng.choice(source))

    def leave(self, depth):
        """`break` and `continue` of the loop around; the graph may leave outer ones, too."""
        op, (text, names, python) = self.rng.choice(("break", "continue")), self.condition()
        self.write(depth, f"if {python}: {op}",
                   f"{self.next()}: {{op: {op}, loop: {self.loops[-1][1]}, when: '{text}', "
                   f"src: [{', '.join(names)}]}}")

    def body(self, depth):
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth + 1)

    def for_loop(self, depth):
        n, start = self.next(), self.rng.randint(-3, 3)
        stop, step = self.rng.choice(((start + 5, 2), (start - 4, -1), (start, 1)))
        self.write(depth, f"for l{n} in map(np.int32, range({start}, {stop}, {step})):",
                   f"{n}:", f"  for_loop: l{n}", f"  range: [{start}, {stop}, {step}]", "  body:")
        self.loops.append((f"l{n}", f"l{n}"))
        self.body(depth)
        self.loops.pop()

    def while_loop(self, depth):
        name = f"w{len(self.entries)}"
        self.entries.append(name)
        self.node(depth, "mul", name, name, 0)
        n = self.next()
        self.write(depth, f"while {name} < 4:", f"{n}:", f"  while_loop: k{n}",
                   "  when: '{0} < 4'", f"  src: [{name}]", "  body:")
        self.loops.append((name, f"k{n}"))
        self.node(depth + 1, "add", name, name, 1)
        self.body(depth)
        self.loops.pop()

    def branch(self, depth):
        n, (text, names, python) = self.next(), self.condition()
        self.write(depth, f"if {python}:", f"{n}:", f"  if: i{n}", f"  when: '{text}'",
                   f"  src: [{', '.join(names)}]", "  body:")
        self.body(depth)
        if self.rng.random() < 0.5:
            self.write(depth, "else:", "  else:")
            self.body(depth)

    def texts(self):
        loops = [line.split()[1] for line in self.graph if "for_loop:" in line]
        entries = [f"{name}: {{kind: GlobalScalar, type: int32, initial: {n}, output: true}}"
                   for n, name in enumerate(self.entries)]
        entries += [f"{name}: {{kind: GlobalScalar, type: int32}}" for name in loops]
        graph = "field: [1, 1]\nnodes:\n" + "\n".join(self.graph)
        return graph, "\n".join(entries), "\n".join(self.accesses)


@pytest.mark.wide
def test_random_flow_is_that_of_python():
    for seed in range(300):
        flow = Flow(random.Random(seed))
        names = {name: np.int32(n) for n, name in enumerate(flow.entries)}
        with np.errstate(all="ignore"):
            exec("\n".join(flow.python), {"np": np}, names)
        graph, accesses = read_texts(*flow.texts())
        addresses = place_entries(graph, accesses, 2)
        for store in (make_store(graph, accesses, {}),
                      make_addressed_store(graph, addresses, {})):
            run_graph(graph, accesses, store)
            found = {name: int(store.arrays[name][()]) for name in flow.entries}
            assert found == {name: int(names[name]) for name in flow.entries}, seed


NESTED = """\
field: [1, 1]
nodes:
  0:
    for_loop: i
    range: [0, 4, 1]
    body:
      1:
        while_loop: w
        when: 'True'
        src: []
        body:
          2: {op: add, dst: n, src: [n, 1]}
          3: {op: continue, loop: i, when: '{0} == 1', src: [i]}
          4: {op: break, loop: i, when: '{0} == 2', src: [i]}
          5: {op: break, loop: w, when: 'True', src: []}
      6: {op: add, dst: m, src: [m, 1]}
"""
COUNTS = """\
i: {kind: GlobalScalar, type: int32}
n: {kind: GlobalScalar, type: int32, initial: 0, output: true}
m: {kind: GlobalScalar, type: int32, initial: 0, output: true}
"""


def spell_scalars(graph):
    """Return the accesses of nodes on scalars alone."""
    lines = [line.split() for line in graph.splitlines() if "dst:" in line]
    return "".join(
        f"n{n}_{which} := {{ n{n}[] -> {name}[] }};\n"
        for n, name in ((words[0].strip(":"), words[4].strip(",")) for words in lines)
        for which in ("dst", "src0"))


def test_an_outer_loop_is_left_from_an_inner_one():
    graph, accesses = read_texts(NESTED, COUNTS, spell_scalars(NESTED))
    store = make_store(graph, accesses, {})
    run_graph(graph, accesses, store)
    assert (store.arrays["n"], store.arrays["m"]) == (3, 1)


def test_the_value_of_a_loop_is_a_copy_and_elements_are_read_when_their_turn_comes():
    text = ("field: [1, 1]\nnodes:\n  0:\n    for_loop: i\n    over: a\n    body:\n"
            "      1: {op: copy, dst: a, src: [7]}\n      2: {op: add, dst: n, src: [n, i]}\n")
    entries = COUNTS + "a: {kind: GlobalArray, type: int32, shape: [3], initial: 1}\n"
    accesses = ("n1_dst := { n1[i] -> a[i] : 0 <= i <= 2 };\nn2_dst := { n2[] -> n[] };\n"
                "n2_src0 := { n2[] -> n[] };\nn2_src1 := { n2[] -> i[] };\n")
    graph, found = read_texts(text, entries, accesses)
    store = make_store(graph, found, {})
    run_graph(graph, found, store)
    assert store.arrays["n"] == 1 + 7 + 7


def test_numbers_of_conditions_have_the_type_of_the_argument_beside_them():
    """0.1 as a float64 is less than 0.1 as a float32, and more than that as a float16."""
    text = ("field: [1, 1]\nnodes:\n  0:\n    if: i0\n    when: '{0} == 0.1 and 0.1 <= {1}'\n"
            "    src: [x, y]\n    body:\n      1: {op: copy, dst: n, src: [1]}\n")
    entries = COUNTS + ("x: {kind: GlobalScalar, type: float32, initial: 0.1}\n"
                        "y: {kind: GlobalScalar, type: float16, initial: 0.1}\n")
    graph, found = read_texts(text, entries, "n1_dst := { n1[] -> n[] };\n")
    store = make_store(graph, found, {})
    run_graph(graph, found, store)
    assert store.arrays["n"] == 1


def test_a_graph_without_end_is_stopped(monkeypatch):
    monkeypatch.setattr(machine, "LONGEST", 0.1)
    monkeypatch.setattr(interpret, "LONGEST", 0.1)
    text = ("field: [1, 1]\nnodes:\n  0:\n    while_loop: w\n    when: 'True'\n    src: []\n"
            "    il: 2\n    body:\n      1: {op: add, dst: n, src: [n, 1]}\n")
    files = {"program.yaml": "", "graph.yaml": text, "objects.yaml": COUNTS,
             "accesses.isl": "n1_dst := { n1[] -> n[] };\nn1_src0 := { n1[] -> n[] };\n",
             "program.il": "# forever\nwith while_loop('w', 'True', []) as w:\n",
             "build/numpy/n.npy": np.array(0, "int32"), "build/numpy/m.npy": np.array(0, "int32")}
    given = Given({**files, **remember.run(Given(files))})
    with pytest.raises(UserError) as error:
        interpret.run(given)
    said = "program.il:2:1: error: the graph takes more than 0 s of a processor: w, node 0, is in"
    assert said in str(error.value)
    assert given.told and 0 <= min(given.told) <= max(given.told) <= 1


def test_a_condition_on_memory_that_something_else_writes():
    text = ("field: [1, 1]\nnodes:\n  0:\n    for_loop: i\n    range: [0, 4, 1]\n    body:\n"
            "      1: {op: add, dst: n, src: [n, 1], il: 2}\n"
            "      2: {op: break, loop: i, when: '{0} > 2', src: [g]}\n"
            "      3: {op: copy, dst: h, src: [7], il: 3}\n")
    entries = COUNTS + ("g: {kind: GlobalScalar, type: int32, initial: 0}\n"
                        "h: {kind: GlobalScalar, type: int32}\n")
    files = {"program.yaml": "", "graph.yaml": text, "objects.yaml": entries,
             "accesses.isl": "n1_dst := { n1[] -> n[] };\nn1_src0 := { n1[] -> n[] };\n"
                             "n3_dst := { n3[] -> h[] };\n",
             "program.il": "# loop\nn[...] = n[...] + 1\nh[...] = 7\n",
             "build/numpy/n.npy": np.array(4, "int32"), "build/numpy/m.npy": np.array(0, "int32")}
    files |= remember.run(Given(files))
    line = next(n for n in files["addresses.yaml"].splitlines() if n.startswith("  g:"))
    other = next(n for n in files["addresses.yaml"].splitlines() if n.startswith("  h:"))
    files["addresses.yaml"] = files["addresses.yaml"].replace(line, "  g:" + other[4:])
    with pytest.raises(UserError) as error:
        interpret.run(Given(files))
    assert error.value.message == (
        "after node 1, add, in iteration 2 of i, node 3, copy, in iteration 2 of i, follows apart, "
        "and the program ends at addresses")

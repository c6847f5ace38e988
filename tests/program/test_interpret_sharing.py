"""Temporaries have one array in turn, unless a loop, or anything else, may see that they do."""

import numpy as np

from lairmake.stages.program.interpreter.run import make_store, run_graph, share_temporaries
from tests.program.given import read_texts

LIKE = "kind: LocalArray, type: float32, shape: [2, 2, 4]"
OBJECTS = f"a: {{{LIKE}, initial: 1.0, output: true}}\nl: {{kind: GlobalScalar, type: int32}}\n"


def make(nodes, count, indent="", head="", bounds=None):
    """Return a graph of nodes (op, dst, src ...), of which t1, t2 ... are temporaries."""
    graph, accesses = f"field: [2, 2]\nnodes:\n{head}", ""
    for n, (op, dst, *src) in enumerate(nodes, 1):
        graph += f"  {indent}{n}: {{op: {op}, dst: {dst}, src: [{', '.join(src)}]}}\n"
        box = f"0 <= x <= 1 and 0 <= y <= 1 and {(bounds or {}).get(n, 0)} <= z <= 3"
        for which, name in (("dst", dst), *((f"src{k}", each) for k, each in enumerate(src))):
            accesses += f"n{n}_{which} := {{ n{n}[x, y, z] -> {name}[x, y, z] : {box} }};\n"
    temporaries = "".join(f"t{n}: {{{LIKE}, temporary: true}}\n" for n in range(1, count + 1))
    return read_texts(graph, OBJECTS + temporaries, accesses)


def test_a_long_chain_takes_two_arrays():
    chain = [("add", f"t{n + 1}", f"t{n}", "a") for n in range(1, 40)]
    graph, accesses = make([("neg", "t1", "a"), *chain, ("copy", "a", "t40")], 40)
    store = make_store(graph, accesses, {})
    assert len({id(store.arrays[f"t{n}"]) for n in range(1, 41)}) == 2
    run_graph(graph, accesses, store)
    np.testing.assert_array_equal(store.arrays["a"], np.full((2, 2, 4), 38, "float32"))


def test_what_lives_longer_keeps_its_array():
    nodes = [("neg", "t1", "a"), ("add", "t2", "a", "a"), ("add", "t3", "t2", "t1"),
             ("add", "t4", "t3", "t1"), ("copy", "a", "t4")]
    graph, accesses = make(nodes, 4)
    assert share_temporaries(graph, accesses) == {"t4": "t2"}


def test_what_a_loop_keeps_has_an_array_of_its_own():
    """t1 is read before it is written, t2 is written in part."""
    head = "  0:\n    for_loop: l\n    range: [0, 3, 1]\n    body:\n"
    nodes = [("neg", "t4", "t1"), ("copy", "t1", "t4"), ("copy", "t2", "a"), ("neg", "t5", "t2"),
             ("copy", "a", "t5")]
    graph, accesses = make(nodes, 5, "    ", head, bounds={3: 1})
    assert share_temporaries(graph, accesses) == {"t5": "t4"}

"""What the graph of a program is when its intermediate language runs."""

import textwrap

from stages.program.il.run import record_program, write_captured

IMPORTS = """
from stages.program.il import numpy as np
from stages.program.il.objects import *
import numpy
"""


def capture(text):
    """Return the lines of graph.yaml, without the first two, and the other texts."""
    il = IMPORTS + textwrap.dedent(text)
    files = write_captured(record_program(il, "", "program.py"))
    return {name: content.decode().split("\n", 1)[1] for name, content in files.items()
            if not name.endswith(".npy")}


def test_listing_1_becomes_the_graph_of_its_loop_and_sum():
    found = capture("""\
        myGA = GlobalArray("myGA", init_data=numpy.arange(10, dtype="float32"))
        myGs = GlobalScalar("myGs", init_data=0.0)
        myLA = LocalArray("myLA", init_data=1.0, shape=(6, 6, 8), output=True)
        with for_loop('fl_0', myGA) as fl_0:
            myGs[...] = myGs[...] + fl_0[0]
            fl_0.conditional_break('{0} > 100.0', [myGs])
            inner = slice(1, -1)
            myLA.apply_length_filter(inner, inner)[1:] = (
                myLA.apply_length_filter(inner, inner)[1:]
                + myLA.apply_length_filter(slice(2, None), inner)[:-1])
        whole = myLA.apply_length_filter(slice(None), slice(None))[:]
        total: MACHScalar = np.sum(whole).named('total', output=True)
        """)
    assert found["graph.yaml"] == textwrap.dedent("""\
        field: [6, 6]
        nodes:
          0:
            for_loop: fl_0
            over: myGA
            il: 8
            body:
              1: {op: subgraph_transfer, src: [myGs, myLA]}
              2: {op: add, dst: myGs, src: [myGs, fl_0], il: 9}
              3: {op: break, loop: fl_0, when: '{0} > 100.0', src: [myGs], il: 10}
              4: {op: add, dst: myLA, src: [myLA, myLA], il: 13}
          5: {op: sum, dst: total, src: [myLA], il: 16}
        """)
    assert found["objects.yaml"] == textwrap.dedent("""\
        myGA: {kind: GlobalArray, type: float32, shape: [10], initial: file}
        myGs: {kind: GlobalScalar, type: float32, initial: 0.0}
        myLA: {kind: LocalArray, type: float32, shape: [6, 6, 8], initial: 1.0, output: true}
        total: {kind: UniformLocalScalar, type: float32, output: true}
        fl_0: {kind: GlobalScalar, type: float32}
        """)
    ranges = "1 <= x <= 4 and 1 <= y <= 4 and 1 <= z <= 7"
    assert f"n4_src1 := {{ n4[x, y, z] -> myLA[1 + x, y, z - 1] : {ranges} }};" in (
        found["accesses.isl"])

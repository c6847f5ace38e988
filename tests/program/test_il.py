"""What the graph of a program is when its intermediate language runs."""

import textwrap

import pytest

from lairmake.stages.diagnose import Source
from lairmake.stages.program.capture import find_place
from lairmake.stages.program.il.run import capture_program, record_program, write_captured
from lairmake.stages.program.sandbox.faults import SourcePlace
from lairmake.stages.program.source.translation import translate_source
from lairmake.stages.program.values.forms import ProgramError
from tests.program.captured import capture


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
        """, "")
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


SOURCE = """\
from lairmake import numpy as np
from lairmake.objects import GlobalScalar, LocalArray, MACH_Compiler_Ignore

x = LocalArray("x", 1.0, shape=(4, 4, 8), output=True)
# a comment, which the intermediate language does not have
g = GlobalScalar("g", 1.0)
with MACH_Compiler_Ignore():
    print(x)
while g < 3.0:
    g[...] += 1.0
    if g > 2.0:
        break
    x[1:] = (x[:-1] +
             g)
    x[1:] = x[:{}] * 2.0
"""


def test_nodes_have_lines_of_the_intermediate_language():
    source = SOURCE.format(-1)
    il = translate_source(Source(path="a.py", text=source)).text
    files = write_captured(record_program(il, "a.py"))
    lines = il.splitlines()
    nodes = [line for line in files["graph.yaml"].decode().splitlines() if "il: " in line]
    said = [lines[int(node.rpartition("il: ")[2].rstrip("}")) - 1].strip() for node in nodes]
    assert said == [
        "with while_loop('wl_0', '{0} < 3.0', [g]) as wl_0:",
        "g[...] = g[...] + 1.0",
        "wl_0.conditional_break('{0} > 2.0', [g])",
        "x.apply_length_filter(slice(None, -1), slice(None))[...] + g[...]",
        "x.apply_length_filter(slice(None, -1), slice(None))[...] * 2.0",
    ]


@pytest.mark.parametrize("edit", [
    lambda il: il,
    lambda il: f"# edited\n\n{il}",
    lambda il: il.replace("g = Glo", "h = GlobalScalar('h', 1.0)\ng = Glo"),
    lambda il: il.replace("g = Glo", "h = {**{}, 'a': [1][0], **{}}\ng = Glo"),
    lambda il: il.replace("('g', 1.0)", "('g', 1.0, *[], **{})"),
])
def test_what_goes_wrong_has_its_place_in_the_source(edit):
    source = SOURCE.format(-2)
    il = edit(translate_source(Source(path="a.py", text=source)).text)
    with pytest.raises(ProgramError) as error:
        capture_program(il, source, "a.py")
    traces = [each for each in error.traceback if str(each.path).endswith("a.py")]
    trace = traces[-1]._rawentry
    place = list(trace.tb_frame.f_code.co_positions())[trace.tb_lasti // 2]
    keys = ("line", "end_line", "column", "end_column")
    raised = SourcePlace(file="a.py", **dict(zip(keys, place, strict=True)))
    found = find_place(il, Source(path="a.py", text=source), raised)
    assert (found.line, found.column) == (15, 4)

"""The files of a program folder, in memory, as stages read them; and texts of a program."""

import io
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from lairmake.stages.diagnose import Source
from lairmake.stages.mapping.inputs import Inputs
from lairmake.stages.program.irg.graph_yaml import read_graph
from lairmake.stages.program.irg.regions import read_regions

OBJECTS = """\
myGA: {kind: GlobalArray, type: float32, shape: [10], initial: file}
myGs: {kind: GlobalScalar, type: float32, initial: 0.0}
myLA: {kind: LocalArray, type: float32, shape: [6, 6, 8], initial: file, output: true}
fl_0: {kind: GlobalScalar, type: float32}
total: {kind: UniformLocalScalar, type: float32, output: true}
"""
GRAPH = """\
field: [6, 6]
nodes:
  0:
    for_loop: fl_0
    over: myGA
    il: 14
    body:
      1: {op: subgraph_transfer, src: [myGs, myLA]}
      2: {op: add, dst: myGs, src: [myGs, fl_0], il: 15}
      3: {op: break, loop: fl_0, when: '{0} > 100.0', src: [myGs], il: 16}
      4: {op: add, dst: myLA, src: [myLA, myLA], il: 17}
  5: {op: sum, dst: total, src: [myLA], il: 18}
"""
INSIDE = "1 <= x <= 4 and 1 <= y <= 4 and 1 <= z <= 7"
WHOLE = "0 <= x <= 5 and 0 <= y <= 5 and 0 <= z <= 7"
ACCESSES = f"""\
n2_dst := {{ n2[] -> myGs[] }};
n2_src0 := {{ n2[] -> myGs[] }};
n2_src1 := {{ n2[] -> fl_0[] }};
n4_dst := {{ n4[x, y, z] -> myLA[x, y, z] : {INSIDE} }};
n4_src0 := {{ n4[x, y, z] -> myLA[x, y, z] : {INSIDE} }};
n4_src1 := {{ n4[x, y, z] -> myLA[1 + x, y, z - 1] : {INSIDE} }};
n5_dst := {{ n5[x, y, z] -> total[] : {WHOLE} }};
n5_src0 := {{ n5[x, y, z] -> myLA[x, y, z] : {WHOLE} }};
"""
IL = "\n" * 13 + """\
with for_loop('fl_0', myGA) as fl_0:
    myGs[...] = myGs[...] + fl_0[0]
    fl_0.conditional_break('{0} > 100.0', [myGs])
    myLA[1:-1, 1:-1, 1:] = myLA[1:-1, 1:-1, 1:] + myLA[2:, 1:-1, :-1]
total: MACHScalar = np.sum(myLA).named('total', output=True)
"""


class Given(Inputs):
    """Files by name; texts or arrays."""

    def __init__(self, files):
        self.files = files
        self.told = []

    def content(self, name):
        found = self.files[name]
        if isinstance(found, np.ndarray):
            buffer = io.BytesIO()
            np.save(buffer, found)
            return buffer.getvalue()
        return found.encode() if isinstance(found, str) else found

    def path(self, name):
        return Path(name)

    def shown(self, name):
        return name

    def names(self, pattern):
        return sorted(name for name in self.files if fnmatch(name, pattern))

    def further_path(self, given, span):
        raise AssertionError

    def note_figures(self, given, files, write):
        pass

    def beside(self, name):
        raise AssertionError

    def note_opened(self, opened):
        raise AssertionError

    def part(self, name):
        raise AssertionError

    def unnoted(self):
        return self

    def tell(self, share):
        self.told.append(share)


def listing_files():
    """Return the files of listing1, but for those that remember and interpret write."""
    rng = np.random.default_rng(0)
    data = {
        "myGA": rng.integers(1, 30, 10).astype("float32"),
        "myLA": rng.integers(-4, 5, (6, 6, 8)).astype("float32"),
    }
    total, values = np.float32(0), data["myLA"].copy()
    for each in data["myGA"]:
        total += each
        if total > 100:
            break
        values[1:-1, 1:-1, 1:] += values[2:, 1:-1, :-1].copy()
    return {
        "program.yaml": "", "program.il": IL, "graph.yaml": GRAPH, "objects.yaml": OBJECTS,
        "accesses.isl": ACCESSES,
        "listing1.py": "myLA = LocalArray('myLA')\n",
        **{f"build/data/{name}.npy": array for name, array in data.items()},
        "build/numpy/myLA.npy": values, "build/numpy/total.npy": np.array(values.sum()),
    }


def read_texts(graph, objects, accesses):
    """Return a graph and its operands."""
    found = read_graph(
        Source(path="graph.yaml", text=graph), Source(path="objects.yaml", text=objects))
    return found, read_regions(Source(path="accesses.isl", text=accesses), found)

"""What a stranger wrote into the texts of a graph is refused where it stands."""

import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from tests.program.counted import count_calls
from tests.program.given import ACCESSES, GRAPH, OBJECTS, read_texts


def find_error(graph=GRAPH, objects=OBJECTS, accesses=ACCESSES):
    with pytest.raises((UserError, UserErrors)) as error:
        read_texts(graph, objects, accesses)
    found = getattr(error.value, "errors", [error.value])[0]
    place = f"{found.span.source.path}:{found.span.line}: " if found.span else ""
    return f"{place}{found.message}"


IN_GRAPH = {
    "graph.yaml:12: id 3 comes after 4: ids are in order of execution":
        ("  5: {op: sum", "  3: {op: sum"),
    "graph.yaml:12: an id is x, no integer": ("  5: {op: sum", "  x: {op: sum"),
    "graph.yaml:12: 0 is given twice": ("  5: {op: sum", "  0: {op: sum"),
    "graph.yaml:1: field is not [columns, rows]": ("field: [6, 6]", "field: [6]"),
    "graph.yaml:1: field is 0, no integer from 1 to 1000000": ("field: [6, 6]", "field: [0, 6]"),
    "graph.yaml:1: unknown key fields": ("field:", "fields:"),
    "graph.yaml:9: unknown op ad": ("{op: add, dst: myGs", "{op: ad, dst: myGs"),
    "graph.yaml:9: dst myGx is nowhere defined": ("dst: myGs", "dst: myGx"),
    "graph.yaml:11: src myLB is nowhere defined": ("[myLA, myLA]", "[myLA, myLB]"),
    "graph.yaml:9: add has 1 sources, not 2": ("src: [myGs, fl_0]", "src: [myGs]"),
    "graph.yaml:9: fl_0 is the value of a loop": ("dst: myGs", "dst: fl_0"),
    "graph.yaml:9: node 2 lacks dst": ("dst: myGs, ", ""),
    "graph.yaml:9: unknown key dts": ("dst: myGs", "dts: myGs"),
    "graph.yaml:9: add of a LocalArray, myLA, to a GlobalScalar": ("[myGs, fl_0]", "[myGs, myLA]"),
    "graph.yaml:10: break of fl_1, no loop around it": ("break, loop: fl_0", "break, loop: fl_1"),
    "graph.yaml:10: a condition on a LocalArray, myLA": ("src: [myGs], il", "src: [myLA], il"),
    "graph.yaml:10: {0} of 0 arguments": ("src: [myGs], il", "src: [], il"),
    "graph.yaml:10: `{0} >` is no condition": ("'{0} > 100.0'", "'{0} >'"),
    "graph.yaml:10: `f(_argument0)` in a condition": ("'{0} > 100.0'", "'f({0}) > 1'"),
    "graph.yaml:12: node 5 has no op, and is no loop and no branch": ("op: sum, ", ""),
    "graph.yaml:12: sum of a number": ("src: [myLA], il: 18", "src: [1], il: 18"),
    "graph.yaml:12: subgraph_transfer is the first node of a graph in another":
        ("{op: sum, dst: total, src: [myLA], il: 18}", "{op: subgraph_transfer, src: []}"),
    "graph.yaml:4: a loop over myLA, which is no GlobalArray": ("over: myGA", "over: myLA"),
    "graph.yaml:4: fl_0 is float32, and runs over int32": ("over: myGA", "range: [0, 5, 1]"),
    "graph.yaml:5: range is not [start, stop, step]": ("over: myGA", "range: [0, 5, 0]"),
    "graph.yaml:9: src is 1e, no number": ("[myGs, fl_0]", "[myGs, 1e]"),
    "graph.yaml:2: YAML: found `:`, expected `,` or `]`": ("field: [6, 6]", "field: [6, 6"),
}
IN_OBJECTS = {
    "objects.yaml:3: a LocalArray has rank 3 to 6, this has rank 2": ("[6, 6, 8]", "[6, 6]"),
    "objects.yaml:3: myLA is larger than the field, 6 x 6": ("[6, 6, 8]", "[7, 6, 8]"),
    "objects.yaml:3: elements of float64 are none": ("LocalArray, type: float32", "LocalArray,"
                                                     " type: float64"),
    "objects.yaml:2: unknown kind GlobalScaler": ("GlobalScalar, type: float32, init",
                                                  "GlobalScaler, type: float32, init"),
    "objects.yaml:2: initial is x, no number": ("initial: 0.0", "initial: x"),
    "objects.yaml:3: output is yes, neither true nor false":
        ("output: true}\nfl", "output: yes}\nfl"),
    "objects.yaml:4: an entry is no name": ("fl_0", "fl 0"),
    "graph.yaml:9: add of types that do not go together": ("GlobalScalar, type: float32, init",
                                                           "GlobalScalar, type: float16, init"),
    "objects.yaml:2: 0.0 beside elements of int16": ("type: float32, initial: 0.0",
                                                     "type: int16, initial: 0.0"),
}
IN_ACCESSES = {
    "accesses.isl has no n5_src0, an operand of graph.yaml": ("n5_src0", "# "),
    "accesses.isl:1: n2_dts is no operand of graph.yaml": ("n2_dst", "n2_dts"),
    "accesses.isl:5: n4_src0 is of other tuples than its node and myLA":
        ("n4_src0 := { n4[x, y, z] -> myLA", "n4_src0 := { n4[x, y, z] -> myLB"),
    "accesses.isl:6: n4_src1 leaves myLA: axis 2 has 0 to 7": ("y, z - 1]", "y, z + 1]"),
    "accesses.isl:6: n4_src1 is no slice of myLA": ("y, z - 1]", "y, x]"),
    "accesses.isl:6: n4_src1 has PEs that are no neighbours": ("1 + x, y, z", "6 - x, y, z"),
    "accesses.isl:5: n4_src0 has other instances than n4_dst":
        ("n4_src0 := { n4[x, y, z] -> myLA[x, y, z] : 1", "n4_src0 := { n4[x, y, z] -> myLA[x, y,"
         " z] : 2"),
    "accesses.isl:4: n4_dst has an element more than once":
        ("n4_dst := { n4[x, y, z] -> myLA[x, y, z]", "n4_dst := { n4[x, y, z] -> myLA[x, y, 3]"),
    "accesses.isl:1: n2_dst is no relation of a node":
        ("n2_dst := { n2[] ->", "n2_dst := { n2[] +"),
    "accesses.isl:1: expected `name := { ... };`": ("n2_dst := {", "n2_dst = {"),
}
BOX = ("n5_src0 := { n5[x, y, z] -> myLA[x, y, z] : ",
       "n5_src0 := { n5[x, y, z] -> myLA[x, y, z] : x + y > 0 and ")


def cases(table):
    return pytest.mark.parametrize(("wanted", "old", "new"), [
        (wanted, old, new) for wanted, (old, new) in table.items()])


@cases(IN_GRAPH)
def test_graphs(wanted, old, new):
    assert GRAPH.count(old) >= 1
    assert wanted in find_error(graph=GRAPH.replace(old, new))


@cases(IN_OBJECTS)
def test_objects(wanted, old, new):
    assert OBJECTS.count(old) >= 1
    assert wanted in find_error(objects=OBJECTS.replace(old, new))


@cases(IN_ACCESSES)
def test_accesses(wanted, old, new):
    assert ACCESSES.count(old) >= 1
    assert wanted in find_error(accesses=ACCESSES.replace(old, new, 1))


def test_instances_are_a_box():
    assert "accesses.isl:8: n5_src0 is no slice" in find_error(accesses=ACCESSES.replace(*BOX))


def test_empty_texts():
    assert find_error(graph="") == "graph.yaml is empty: it has no `field` and no `nodes`"
    assert find_error(objects="") == "graph.yaml:5: over myGA is nowhere defined"


def test_operands_of_steps_and_reversed_slices():
    """`dst = 2z + 1` on odd elements, `src = 7 - z` backwards, an axis left out."""
    graph = "field: [2, 2]\nnodes:\n  0: {op: add, dst: a, src: [a, b]}\n"
    objects = ("a: {kind: LocalArray, type: int16, shape: [2, 2, 8]}\n"
               "b: {kind: LocalArray, type: int16, shape: [2, 2, 8, 3]}\n")
    box = "0 <= x <= 1 and y = 1 and 0 <= z <= 3"
    accesses = "".join(
        f"n0_{which} := {{ n0[x, y, z] -> {element} : {box} }};\n" for which, element in (
            ("dst", "a[x, y, 2z + 1]"), ("src0", "a[x, y, 7 - 2z]"), ("src1", "b[x, 0, z, 2]")))
    _, found = read_texts(graph, objects, accesses)
    assert found[0].dst.start == (0, 1, 1)
    assert found[0].dst.step == (1, 1, 2)
    assert (found[0].src[0].start[2], found[0].src[0].step[2]) == (7, -2)
    assert found[0].src[1].axes == (0, None, 2, None)
    assert found[0].src[1].start == (0, 0, 0, 2)


def unrolled(count):
    """Return the texts of a graph of many nodes and temporaries."""
    entry = "{kind: LocalArray, type: float32, shape: [2, 2, 4]}\n"
    nodes = "".join(f"  {n}: {{op: neg, dst: t{n + 1}, src: [t{n}], il: 1}}\n"
                    for n in range(count))
    box = "0 <= x <= 1 and 0 <= y <= 1 and 0 <= z <= 3"
    accesses = "".join(
        f"n{n}_{which} := {{ n{n}[x, y, z] -> {name}[x, y, z] : {box} }};\n" for n in range(count)
        for which, name in (("dst", f"t{n + 1}"), ("src0", f"t{n}")))
    objects = "".join(f"t{n}: {entry}" for n in range(count + 1))
    return f"field: [2, 2]\nnodes:\n{nodes}", objects, accesses


@pytest.mark.wide
def test_what_is_done_to_read_a_graph_grows_with_it():
    few, many = (count_calls(read_texts, *unrolled(count)) for count in (300, 1500))
    assert few < many < 1.1 * 5 * few

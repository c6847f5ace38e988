"""Which nodes a program becomes, which PEs compute them, and what they access."""

import pytest

from tests.program.captured import capture, list_accesses, list_entries, list_nodes


@pytest.mark.parametrize(("text", "nodes"), [
    ("x[...] = x + y", ["0 add x x y"]),
    ("x[1:] = x[1:] + y[:-1]", ["0 add x x y"]),
    ("x[1:, :, 2:] = x[:-1, :, :-2] + y[1:, :, 2:]", ["0 add x x y"]),
    ("x[:, :, 1:] = x[:, :, :-1] + y[:, :, 1:]", ["0 add t0 x y", "1 copy x t0"]),
    ("x[:, :, :4] = x[:, :, 4:] + y[:, :, 4:]", ["0 add x x y"]),
    ("x[:, :, ::2] = -x[:, :, 1::2]", ["0 neg x x"]),
    ("x[:, :, ::-1] = -x", ["0 neg t0 x", "1 copy x t0"]),
    ("x[:, :, 1:] = x[:, :, :-1]", ["0 copy t0 x", "1 copy x t0"]),
    ("x[1:] = x[:-1]", ["0 copy x x"]),
    ("x[...] = x", []),
    ("x[...] = x + x[:, :, 0]", ["0 add t0 x x", "1 copy x t0"]),
    ("x[...] = l + u", ["0 add t0 l u", "1 copy x t0"]),
    ("g[...] = np.sum(x, controller=True)", ["0 sum g x"]),
    ("l[...] = np.sum(x, axis=2)", ["0 sum l x"]),
    ("l[1:] = np.sum(x[:-1], axis=2)", ["0 sum t0 x", "1 copy l t0"]),
    ("x[:, :, 0] = np.max(x, axis=2)", ["0 max t0 x", "1 copy x t0"]),
    ("a[0] = np.sum(a)", ["0 sum t0 a", "1 copy a t0"]),
    ("a[0] = np.sum(x, controller=True)", ["0 sum t0 x", "1 copy a t0"]),
    ("u[...] = g * 2", ["0 mul t0 g 2.0", "1 copy u t0"]),
    ("x[...] = x * a[2]", ["0 copy t0 a", "1 mul x x t0"]),
    ("g[...] = a[2] + a[-1]", ["0 add g a a"]),
    ("x[...] = h.astype('float32')", ["0 cast x h"]),
    ("x[...] = 3", ["0 copy x 3.0"]),
    ("v = (x + y).named('v'); v[...] = v * v", ["0 add v x y", "1 mul v v v"]),
    ("x[...] = np.where(q[:, :, 0] > 2, x, 0.1)", ["0 gt t0 q 2", "1 where x t0 x 0.1"]),
])
def test_an_assignment_needs_no_copy_unless_it_would_read_what_it_wrote(text, nodes):
    assert list_nodes(text) == nodes


@pytest.mark.parametrize(("text", "origins"), [
    ("x[1:-1] = x[2:] + (y[1:-1] + y[:-2])", {"t0": "1, 0"}),
    ("g[...] = np.sum(x[2:] + (y[2:] + y[:-2]), controller=True)", {"t1": "2, 0", "t0": "2, 0"}),
    ("t = x[2:, 1:] * y[:2, :-1]\nx[:2, :3] = t * t", {"t0": "2, 1"}),
    ("t = x[2:, 1:] * y[:2, :-1]\nx[:1, :3] = -t[1:]", {"t0": "2, 1"}),
    ("x[:2] = np.sum(q[2:].astype('float32'), axis=2) * 2.0", {"t0": "2, 0", "t1": "2, 0"}),
])
def test_what_is_computed_for_one_assignment_lies_where_that_is(text, origins):
    lines = list_entries(text)
    found = {name: line.partition("origin: [")[2].partition("]")[0] for name, line in lines.items()}
    assert {name: found[name] for name in origins} == origins


@pytest.mark.parametrize(("text", "accesses"), [
    ("x[1:3, :, ::2] = -y[:2, :, 1::2]", {
        "n0_dst": "n0[x, y, z] -> x[x, y, 2z] : 1 <= x <= 2 and 0 <= y <= 3 and 0 <= z <= 3",
        "n0_src0": "n0[x, y, z] -> y[x - 1, y, 1 + 2z] : 1 <= x <= 2 and 0 <= y <= 3"
                   " and 0 <= z <= 3"}),
    ("x[:1, :, 5::2] = -y[3:, :, 2::-2]", {
        "n0_dst": "n0[0, y, z] -> x[0, y, 1 + 2z] : 0 <= y <= 3 and 2 <= z <= 3",
        "n0_src0": "n0[0, y, z] -> y[3, y, 6 - 2z] : 0 <= y <= 3 and 2 <= z <= 3"}),
    ("x[:, 1:2, 6::-3] = 0", {
        "n0_dst": "n0[x, 1, z] -> x[x, 1, 6 - 3z] : 0 <= x <= 3 and 0 <= z <= 2"}),
    ("x[:, :, 2] = l * u + g", {
        "n1_dst": "n1[x, y] -> x[x, y, 2] : 0 <= x <= 3 and 0 <= y <= 3",
        "n0_src1": "n0[x, y] -> u[] : 0 <= x <= 3 and 0 <= y <= 3"}),
    ("x[1:] = l[:-1] * y[1:]", {
        "n0_src0": "n0[x, y, z] -> l[x - 1, y] : 1 <= x <= 3 and 0 <= y <= 3 and 0 <= z <= 7"}),
    ("u[...] = np.sum(x[1:, :, 2:4])", {
        "n0_dst": "n0[x, y, z] -> u[] : 1 <= x <= 3 and 0 <= y <= 3 and 2 <= z <= 3",
        "n0_src0": "n0[x, y, z] -> x[x, y, z] : 1 <= x <= 3 and 0 <= y <= 3 and 2 <= z <= 3"}),
    ("h[...] = np.sum(q, axis=2).astype('float16')", {
        "n0_dst": "n0[x, y, z, u] -> t0[x, y, u] : 0 <= x <= 3 and 0 <= y <= 3 and 0 <= z <= 2"
                  " and 0 <= u <= 7"}),
    ("b[1, ::2] = a[:3]", {
        "n0_dst": "n0[i] -> b[1, 2i] : 0 <= i <= 2",
        "n0_src0": "n0[i] -> a[i] : 0 <= i <= 2"}),
    ("g[...] = b[2, -1]", {"n0_dst": "n0[] -> g[]", "n0_src0": "n0[] -> b[2, 5]"}),
])
def test_accesses_count_instances_as_what_is_written(text, accesses):
    found = list_accesses(text)
    assert {name: found[name] for name in accesses} == accesses


def test_names_that_come_twice_are_told_apart():
    found = list_entries("""
        t1 = GlobalScalar("t1", 1.0)
        def double(a):
            d = (a + a).named('d')
            return d * d
        x[...] = double(x) + double(y)
        """)
    assert [name for name in found if name[0] in "dt"] == ["t1", "d", "t1_2", "d_2", "t3"]


def test_graphs_begin_with_the_entries_of_graphs_around():
    found = capture("""
        with for_loop('fl_0', a) as fl_0:
            s = (fl_0[0] * 2.0).named('s')
            with while_loop('wl_0', '{0} < 3', [n]) as wl_0:
                with if_('if_0', '{0} > {1}', [s, g]) as if_0:
                    x[...] = x * s
                with if_0.else_():
                    n[...] = n + 1
        """)["graph.yaml"]
    transfers = [line.partition("src: ")[2] for line in found.splitlines() if "transfer" in line]
    assert transfers == ["[n, g, x]}", "[s, g, x, n]}", "[x, s]}", "[n]}"]


@pytest.mark.parametrize(("made", "initial"), [
    ("numpy.full((4, 4, 8), 0.1, 'float32')", "0.1"),
    ("numpy.full((4, 4, 8), -0.0, 'float32')", "-0.0"),
    ("numpy.full((4, 4, 8), numpy.nan, 'float16')", ".nan"),
    ("numpy.full((4, 4, 8), numpy.inf, 'float16')", ".inf"),
    ("numpy.full((4, 4, 8), 1e-7, 'float32')", "1.0e-07"),
    ("numpy.full((4, 4, 8), -3, 'int16')", "-3"),
    ("numpy.arange(128, dtype='int32').reshape(4, 4, 8)", "file"),
    ("numpy.where(numpy.arange(8) > 6, 0.0, -0.0) * numpy.ones((4, 4, 8), 'float32')", None),
])
def test_data_that_are_one_number_are_no_file(made, initial):
    if initial is None:
        made, initial = f"({made}).astype('float32')", "file"
    found = list_entries(f"x = LocalArray('x', {made})", "")
    assert found["x"].partition("initial: ")[2].rstrip("}") == initial

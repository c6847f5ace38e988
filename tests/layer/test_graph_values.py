"""Graphs of several nodes: internal tensors, `next` and delays, with the values of programs."""

import numpy as np
import pytest

from tests.layer.built import build

NODES = """
lair mv(M, N): float16 W[M][N], float16 x[N] -> float16 y[M]
{ all (i, j) in (M, N) y[i] += W[i][j] * x[j] }
lair add(N): float16 a[N], float16 b[N] -> float16 s[N]
{ all (i) in (N) s[i] = a[i] + b[i] }
lair scale(N): float16 a[N] -> float16 b[N]
{ all (i) in (N) b[i] = a[i] * 3 }
"""
CHAIN = NODES + """
graph g(): float16 W[8][8], float16 x[8], float16 c[8] -> float16 z[8]
{ z = add(8)(y, c) y = mv(8, 8)(W, x) }
"""
ROWS = """target: "{ PE[1, 2] }"
placement: "{ mv[i,j] -> PE[0, i//4]; add[i] -> PE[0, i//4] }"
tensors:
  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }", sparse: true}
  z: {leaves: "{ z[i] -> [PE[1, i//4] -> index[i mod 4]] }"}
"""


def right(built):
    """Return the results of a layer, every tensor of which must be right to the last bit."""
    results = built.through("simulate").results()
    for tensor, check in results["check"].items():
        assert check == {"exact": True, "right": True, "max_abs_error": 0.0}, tensor
    return results


@pytest.mark.wide
def test_a_statement_waits_for_what_it_reads():
    built = build(CHAIN, ROWS, "simulate")
    right(built)
    assert built.yaml("tasks.yaml")["waits"] == {"add": ["mv"]}
    assert built.yaml("tasks.yaml")["tensors"]["y"]["kept"] == "internal"
    assert built.output("z").any()


@pytest.mark.wide
def test_an_output_may_leave_and_be_read():
    lair = CHAIN.replace("-> float16 z[8]", "-> float16 z[8], float16 y[8]")
    mapping = ROWS + '  y: {leaves: "{ y[i] -> [PE[-1, i//4] -> index[i mod 4]] }"}\n'
    results = right(build(lair, mapping, "simulate"))
    assert set(results["check"]) == {"z", "y"}


def test_statements_of_one_node_may_read_what_others_define():
    lair = """lair norm(): float16 x[8] -> float16 s, float16 y[8]
{ all (i) in (8) s += x[i]
  all (i) in (8) y[i] = x[i] * 8 - s }"""
    mapping = """target: "{ PE[1, 1] }"
placement: "{ norm_s[i] -> PE[0, 0]; norm_y[i] -> PE[0, 0] }"
tensors:
  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }"}
  y: {leaves: "{ y[i] -> [PE[1, 0] -> index[i]] }"}
"""
    right(build(lair, mapping, "simulate"))


@pytest.mark.wide
def test_a_reaction_does_not_read_what_is_not_complete():
    lair = NODES + """
lair weigh(M, N): float16 f[M], float16 x[N] -> float16 y[M]
{ all (i, j) in (M, N) y[i] += f[i] * x[j] }
graph g(): float16 W[8][8], float16 c[8], float16 x[8] -> float16 z[8]
{ y = mv(8, 8)(W, c) z = weigh(8, 8)(y, x) }
"""
    mapping = """target: "{ PE[1, 2] }"
placement: "{ mv[i,j] -> PE[0, i//4]; weigh[i,j] -> PE[0, i//4] }"
tensors:
  c: {arrives: "{ c[j] -> [PE[0, 2] -> index[j]] }"}
  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }", sparse: true}
  z: {leaves: "{ z[i] -> [PE[1, i//4] -> index[i mod 4]] }"}
"""
    built = build(lair, mapping, "simulate")
    right(built)
    assert built.yaml("tasks.yaml")["tensors"]["x"]["kept"] == "stored"


COUNTER = NODES + """
graph g(): float16 W[8][8], float16 x[8] -> float16 y[8], float16 W_new[8][8]
{ y = mv(8, 8)(W, x) W_new = grow(8)(W, x) }
lair grow(N): float16 W[N][N], float16 x[N] -> float16 V[N][N]
{ all (i, j) in (N, N) V[i][j] = W[i][j] + x[j] }
"""
GROWS = """top: g
target: "{ PE[2, 2] }"
placement: "{ mv[i,j] -> PE[j//4, i//4]; grow[i,j] -> PE[j//4, i//4] }"
invocations: 4
tensors:
  W: {next: W_new}
  x: {arrives: "{ x[j] -> [PE[j//4, -1] -> index[j mod 4]] }"}
  y: {leaves: "{ y[i] -> [PE[2, i//4] -> index[i mod 4]] }"}
"""


def buffers(built):
    """Return the numbers of buffers by tensor; where these are, nothing is copied."""
    graph = built.yaml("tasks.yaml")
    found = {n: t["buffer"] for n, t in graph["tensors"].items() if "buffer" in t}
    assert not found or all(t["kind"] != "carry" for t in graph["tasks"].values())
    return found


@pytest.mark.wide
def test_what_is_updated_element_by_element_changes_in_place():
    built = build(COUNTER, GROWS, "simulate")
    right(built)
    tasks = built.yaml("tasks.yaml")
    assert tasks["tensors"]["W_new"]["in"] == "W"
    assert tasks["waits"] == {"grow": ["mv"]}
    assert "carry_W" not in tasks["tasks"] and "init_W_new" not in tasks["tasks"]
    tensors = built.yaml("build/layout.yaml")["roles"]["compute"]["tensors"]
    assert tensors["W_new_local"]["address"] == tensors["W_local"]["address"]


@pytest.mark.wide
def test_an_update_in_place_waits_for_those_who_read_what_was_before():
    lair = COUNTER.replace("grow(8)(W, x)", "grow(8)(W)").replace(
        "float16 W[N][N], float16 x[N] -> float16 V", "float16 W[N][N] -> float16 V"
    ).replace("W[i][j] + x[j]", "W[i][j] + 1")
    built = build(lair, GROWS, "simulate")
    right(built)
    assert built.yaml("tasks.yaml")["tensors"]["W_new"]["in"] == "W"


@pytest.mark.wide
@pytest.mark.parametrize("change", [
    ("V[i][j] = W[i][j] + x[j]", "V[j][i] = W[i][j] + x[j]"),
    ("V[i][j] = W[i][j] + x[j]", "V[i][j] += W[i][j] + x[j]"),
])
def test_what_is_not_updated_in_place_swaps_buffers_at_the_end(change):
    mapping = GROWS.replace("PE[2, 2]", "PE[1, 1]").replace("PE[j//4, i//4]", "PE[0, 0]")
    mapping = mapping.replace("PE[j//4, -1] -> index[j mod 4]", "PE[0, -1] -> index[j]")
    mapping = mapping.replace("PE[2, i//4] -> index[i mod 4]", "PE[1, 0] -> index[i]")
    built = build(COUNTER.replace(*change), mapping, "simulate")
    right(built)
    assert buffers(built) == {"W": 0, "W_new": 1}


@pytest.mark.wide
def test_a_reader_that_needs_the_new_value_leaves_no_place_for_it():
    lair = COUNTER.replace("{ y = mv(8, 8)(W, x)", "{ y = both(8)(W, W_new, x)") + """
lair both(N): float16 a[N][N], float16 b[N][N], float16 x[N] -> float16 y[N]
{ all (i, j) in (N, N) y[i] += (a[i][j] + b[i][j]) * x[j] }"""
    built = build(lair, GROWS.replace("mv[", "both["), "simulate")
    right(built)
    assert buffers(built) == {"W": 0, "W_new": 1}


def test_tensors_that_swap_lie_in_one_place_but_for_one():
    lair = NODES + """graph g(): float16 a[8], float16 b[8] -> float16 c[8], float16 d[8]
{ c = scale(8)(b) d = scale(8)(a) }"""
    mapping = """target: "{ PE[1, 1] }"
placement: "{ c_scale[i] -> PE[0, 0]; d_scale[i] -> PE[0, 0] }"
invocations: 3
tensors: {a: {next: c}, b: {next: d}}
"""
    built = build(lair, mapping, "simulate")
    right(built)
    tensors = built.yaml("tasks.yaml")["tensors"]
    swapped = buffers(built)
    assert [n for n, t in tensors.items() if "in" in t and n not in swapped] == ["c"]
    assert swapped == {"b": 0, "d": 1}


@pytest.mark.wide
@pytest.mark.parametrize("back", [1, 2, 5])
def test_a_delayed_arrival_is_what_arrived_before(back):
    mapping = ROWS.replace("mv[i,j] -> PE[0, i//4]; ", "").replace(" x[j]", " c[j]")
    mapping = mapping.replace(" x:", " c:") + f'invocations: 4\ndelays: {{"add.b": {back}}}\n'
    lair = NODES + """graph g(): float16 a[8], float16 c[8] -> float16 z[8]
{ z = add(8)(a, c) }"""
    built = build(lair, mapping, "simulate")
    right(built)
    tensors = built.yaml("tasks.yaml")["tensors"]
    assert tensors["c"]["kept"] == "stored" and tensors[f"c_delay{back}"]["kept"] == "delayed"


def test_a_delayed_arrival_that_comes_late():
    """Nothing of an invocation waits for c, all of which is read one invocation later."""
    lair = NODES + """graph g(): float16 a[8], float16 c[8] -> float16 z[8]
{ z = add(8)(a, c) }"""
    mapping = """target: "{ PE[1, 1] }"
machine: ideal
placement: "{ add[i] -> PE[0, 0] }"
invocations: 2
delays: {add.b: 1}
tensors:
  c: {arrives: "{ c[j] -> [PE[0, -1] -> index[j]] }"}
"""
    right(build(lair, mapping, "simulate"))


def test_a_node_that_reads_its_own_result_of_before():
    lair = NODES + """graph g(): float16 x[8] -> float16 h[8]
{ h = add(8)(x, h) }"""
    mapping = ROWS.replace("mv[i,j] -> PE[0, i//4]; ", "").replace("z", "h")
    built = build(lair, mapping + 'invocations: 5\ndelays: {"add.b": 1}\n', "simulate")
    right(built)
    assert built.yaml("tasks.yaml")["tensors"]["h_delay1"]["kept"] == "delayed"


@pytest.mark.wide
def test_a_delayed_internal_tensor_and_its_value_now():
    lair = NODES + """
lair less(N): float16 a[N], float16 b[N] -> float16 d[N]
{ all (i) in (N) d[i] = a[i] - b[i] }
graph g(): float16 x[8], float16 s[8] -> float16 z[8], float16 s_new[8]
{ s_new = add(8)(s, x) t = scale(8)(s) z = less(8)(t, t) }"""
    mapping = """target: "{ PE[1, 2] }"
placement: "{ add[i] -> PE[0, i//4]; scale[i] -> PE[0, i//4]; less[i] -> PE[0, i//4] }"
invocations: 5
delays: {less.b: 2}
tensors:
  s: {next: s_new}
  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }"}
  z: {leaves: "{ z[i] -> [PE[1, i//4] -> index[i mod 4]] }"}
"""
    built = build(lair, mapping, "simulate")
    right(built)
    z = built.output("z")
    assert z.any() and np.array_equal(z % 3, z * 0)


SAMPLES = """target: "{ PE[1, 2] }"
placement: "{ mv[i,j] -> PE[0, i//4]; add[i] -> PE[0, i//4] }"
invocations: 4
tensors:
  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }", sparse: true}
  c: {arrives: "{ c[i] -> [PE[-1, i//4] -> index[i mod 4]] }"}
  z: {leaves: "{ z[i] -> [PE[1, i//4] -> index[i mod 4]] }"}
"""


@pytest.mark.wide
def test_what_arrives_differs_from_sample_to_sample():
    built = build(CHAIN, SAMPLES, "simulate")
    right(built)
    z = built.output("z")
    assert z.shape == (4, 8) and len(np.unique(z, axis=0)) == 4


@pytest.mark.wide
def test_samples_from_files():
    """W and c are the same in every invocation; x is all zeros in one of them."""
    built = build(CHAIN, SAMPLES, "allocate", copy=1)
    rng = np.random.default_rng(0)
    w, x, c = (rng.integers(-2, 3, shape) for shape in ((8, 8), (4, 8), (8,)))
    x[2] = 0
    (built.folder / "inputs").mkdir()
    for name, array in {"W": w, "x": x, "c": c}.items():
        np.save(built.folder / f"inputs/{name}.npy", array)
    right(built)
    assert np.array_equal(built.output("z"), x @ w.T + c)


@pytest.mark.wide
def test_an_update_sees_every_sample():
    built = build(COUNTER, GROWS, "allocate", copy=1)
    rng = np.random.default_rng(0)
    w, x = rng.integers(-2, 3, (8, 8)), rng.integers(-2, 3, (4, 8))
    (built.folder / "inputs").mkdir()
    for name, array in {"W": w, "x": x}.items():
        np.save(built.folder / f"inputs/{name}.npy", array)
    right(built)
    seen = [(w + x[:n].sum(axis=0)) @ x[n] for n in range(4)]
    assert np.array_equal(built.output("y"), seen)
    assert np.array_equal(built.output("W_new"), w + x.sum(axis=0))


def test_tensors_of_a_graph_may_be_called_like_iterators_of_its_nodes():
    lair = CHAIN.replace("float16 x[8], float16 c[8]", "float16 j[8], float16 i[8]")
    lair = lair.replace("(y, c)", "(y, i)").replace("(W, x)", "(W, j)")
    right(build(lair, ROWS.replace(" x: {arrives: \"{ x[j]", " j: {arrives: \"{ j[j]"), "simulate"))

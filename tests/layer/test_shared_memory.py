"""Layers whose arrays share memory build where they would not fit apart, and are right."""

import re

import numpy as np
import pytest

from tests.layer.built import build

SIZE = 32
FULL = "{{profile: wse2, memory: {}}}"


def graph(nodes, bodies):
    """Return a chain of nodes, each of which takes what the one before gave."""
    lines = [f"lair f{k}(N): {body}" for k, body in enumerate(bodies)]
    calls = [f"  t{k} = f{k}(N)(t{k - 1})" for k in range(nodes)]
    calls[0], calls[-1] = "  t0 = f0(N)(x)", f"  y = f{nodes - 1}(N)(t{nodes - 2})"
    ends = "float16 x[N] -> float16 y[N]"
    return "\n".join([*lines, f"graph n(N): {ends}", "{", *calls, "}", ""])


def element_wise(nodes):
    body = "float16 a[N] -> float16 y[N] {{ all (i) in (N) y[i] = a[i] {} {} }}"
    return graph(nodes, [body.format("+-"[k % 2], k % 5) for k in range(nodes)])


def mapping(nodes, iterators="i", **others):
    placed = "; ".join(f"f{k}[{iterators}] -> PE[0, 0]" for k in range(nodes))
    given = {"sizes": f"{{N: {SIZE}}}", "target": '"{ PE[1, 1] }"'}
    given["placement"] = f'"{{ {placed} }}"'
    return "".join(f"{key}: {text}\n" for key, text in {**given, **others}.items())


STREAMS = """
  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }"}
  y: {leaves: "{ y[i] -> [PE[0, 1] -> index[i]] }"}"""
STAYS = " {}"


def is_right(built):
    checks = built.results()["check"].values()
    return all(c["right"] and c["exact"] and c["max_abs_error"] == 0 for c in checks)


def arrays(built):
    """Return the local tensors of the computing PEs, and the bytes of memory that these take."""
    role = built.yaml("build/layout.yaml")["roles"]["compute"]
    return role["tensors"], role["memory"]["data"]


@pytest.mark.wide
@pytest.mark.parametrize("nodes", [12, pytest.param(40, marks=pytest.mark.long)])
def test_a_chain_takes_the_memory_of_two_arrays(nodes):
    """x stays where it is; of the others two are needed at a time. There is no memory for more."""
    machine = f"{{profile: wse2, code_base: 0, code_task: 0, memory: {3 * 2 * SIZE}}}"
    built = build(element_wise(nodes), mapping(nodes, machine=machine, tensors=STAYS), "simulate")
    assert is_right(built)
    assert built.results()["memory"]["bytes_per_pe"] == 3 * 2 * SIZE


@pytest.mark.wide
@pytest.mark.parametrize("invocations", [1, 3])
def test_what_streams_in_and_out_shares_memory_from_one_invocation_to_the_next(invocations):
    given = mapping(4, tensors=STREAMS, invocations=invocations)
    built = build(element_wise(4), given, "simulate")
    assert is_right(built)
    tensors, end = arrays(built)
    assert end == 2 * 2 * SIZE
    assert {t["address"] for t in tensors.values()} == {0, 2 * SIZE}


SUMS = "float16 a[N] -> float16 y[N] {{ all (i, j) in (N, N) y[i] {} a[j] }}"


@pytest.mark.wide
def test_a_sum_gets_its_first_value_late_only_where_memory_would_not_do_otherwise():
    """Four sums of all elements, and the last one of 0: each is initialised when it is computed."""
    lair = graph(4, [SUMS.format(op) for op in ("max=", "min=", "+=", "max=")])
    early = build(lair, mapping(4, "i,j", tensors=STAYS), "simulate")
    need = early.results()["memory"]["bytes_per_pe"]
    assert arrays(early)[1] == 5 * 2 * SIZE
    machine = FULL.format(need - 2 * 2 * SIZE)
    late = build(lair, mapping(4, "i,j", tensors=STAYS, machine=machine), "simulate")
    assert is_right(early)
    assert is_right(late)
    assert arrays(late)[1] == 3 * 2 * SIZE
    assert late.program("simd/pe_compute.c").count("    init_t1(pe);\n    compute_f1(pe);") == 1
    np.testing.assert_array_equal(early.output("y"), late.output("y"))


DELAYED = """lair f0(N): float16 a[N] -> float16 y[N] { all (i) in (N) y[i] = a[i] + 1 }
lair f1(N): float16 a[N] -> float16 y[N] { all (i) in (N) y[i] = a[i] + 2 }
lair f2(N): float16 a[N], float16 b[N] -> float16 y[N] { all (i) in (N) y[i] = a[i] - b[i] }
graph n(N): float16 x[N] -> float16 y[N] { t0 = f0(N)(x) t1 = f1(N)(t0) y = f2(N)(t1, t0) }
"""


@pytest.mark.wide
def test_what_later_invocations_read_shares_nothing():
    given = mapping(3, tensors=STREAMS, invocations=3, delays="{f2.b: 1}")
    built = build(DELAYED, given, "simulate")
    assert is_right(built)
    lives = str(built.objects("memory.isl")["lifetime"])
    (kept,) = re.findall(r"(\w+)\[\] -> always\[\]", lives)
    tensors, _ = arrays(built)
    own, now = tensors.pop(kept), tensors.pop("t0_local")
    assert own == now and own["shape"] == [2, SIZE]
    first, last = own["address"], own["address"] + 2 * 2 * SIZE
    ends = [(each["address"], each["address"] + 2 * SIZE) for each in tensors.values()]
    assert all(end <= first or begin >= last for begin, end in ends)


@pytest.mark.wide
def test_tensors_that_share_memory_are_members_of_a_union():
    built = build(element_wise(4), mapping(4, tensors=STREAMS), "render")
    lines = built.program("simd/pe_compute.c").splitlines()
    start = lines.index("struct memory {")
    assert lines[start + 1 : start + 6] == [
        "    union {",
        "        float16 t0_local[32];",
        "        float16 t2_local[32];",
        "    };",
        "    union {",
    ]


LEAVING = """lair f0(N): float16 a[N] -> float16 y[N] { all (i) in (N) y[i] = a[i] + 1 }
graph n(N): float16 x[N] -> float16 t0[N], float16 y[N]
{ t0 = f0(N)(x) t1 = f1(N)(t0) y = f2(N)(t1) }
lair f1(N): float16 a[N] -> float16 y[N] { all (i) in (N) y[i] = a[i] + 2 }
lair f2(N): float16 a[N] -> float16 y[N] { all (i) in (N) y[i] = a[i] - 3 }
"""


@pytest.mark.wide
def test_what_leaves_stays_in_memory_until_it_has_left():
    """t0 is brought into another order, and leaves, while t1 is computed and used."""
    away = """
  t0: {leaves: "{ t0[i] -> [PE[0, 1] -> index[(i + 5) mod 32]] }"}"""
    built = build(LEAVING, mapping(3, top="n", tensors=away), "simulate")
    assert is_right(built)
    tensors, _ = arrays(built)
    packed, own = (tensors[name]["address"] for name in ("send_t0_packed", "t1_local"))
    assert abs(packed - own) >= 2 * SIZE


TWICE = "float16 a[N] -> float16 y[N] { all (i, j) in (N, 2) y[i] += a[i] }"


@pytest.mark.wide
def test_an_arrival_is_whole_where_what_is_computed_by_its_chunks_has_no_room():
    """Sums go along with the chunks of x, all at one time; as a whole two of them are needed."""
    machine = f"{{profile: ideal, code_base: 0, code_task: 0, memory: {4 * 2 * SIZE}}}"
    given = mapping(6, "i, j", machine=machine, tensors=STREAMS)
    built = build(graph(6, [TWICE] * 6), given, "simulate")
    arrival = built.yaml("tasks.yaml")["arrivals"]["x"]
    assert arrival["whole"] == "there is no room for all that is computed by chunks of it"
    assert "chunks" not in arrival
    assert "early" not in built.yaml("tasks.yaml")["departures"]["y"]
    assert is_right(built)


@pytest.mark.wide
def test_an_arrival_is_whole_where_rings_of_many_results_have_no_room():
    """Each step of a chain needs its own memory: 34 of these take more than four tensors do."""
    machine = f"{{profile: wse2, code_base: 0, code_task: 0, memory: {4 * 2 * 512}}}"
    given = mapping(36, sizes="{N: 512}", tensors=STREAMS, machine=machine)
    arrival = build(element_wise(36), given, "route").yaml("tasks.yaml")["arrivals"]["x"]
    assert arrival["whole"] == "there is no room for all that is computed by chunks of it"

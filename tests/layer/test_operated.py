"""Dense streams of which one instruction takes each element as it comes, and none is in memory."""

from __future__ import annotations

import pytest

from tests.layer.built import build, function
from tests.layer.test_chunks import X, Y, mapping

DOUBLE = "lair f(): float16 x[96] -> float16 y[96] { all (i) in (96) y[i] = 2*x[i] }\n"
ROWS = (
    "lair f(): float16 x[8][12], float16 b[12] -> float16 y[8][12]\n"
    "{ all (i, j) in (8, 12) y[i][j] = x[i][j] - b[j] }\n"
)
SUMS = (
    "lair f(): float16 x[8][12] -> float16 y[8] { all (i, j) in (8, 12) y[i] += x[i][j] }\n"
)
SPREAD = (
    "lair f(): float16 x[96] -> float16 y[96], float16 z[96]\n"
    "{ all (i) in (96) y[i] = 2*x[i]\n  all (i) in (96) z[i] = 3*x[i] }\n"
)
BY_ROWS = ("x", "arrives", "x[i,j] -> [PE[0, -1] -> index[i, j]]")
BY_COLUMNS = ("x", "arrives", "x[i,j] -> [PE[0, -1] -> index[j, i]]")


def on_one(*ports, at="f[i]", more="machine: wse2"):
    return mapping("1, 1", f"{at} -> PE[0, 0]", ports, more)


LAYERS = {
    "into_memory": (DOUBLE, on_one(X), False),
    "on_its_way": (DOUBLE, on_one(X, Y), True),
    "in_three_invocations": (DOUBLE, on_one(X, Y, more="machine: ideal\ninvocations: 3"), True),
    "in_another_order": (
        DOUBLE, on_one(X, ("y", "leaves", "y[i] -> [PE[0, 1] -> index[95 - i]]")), False,
    ),
    "with_memory": (ROWS, on_one(BY_COLUMNS, at="f[i,j]"), False),
    "sums": (SUMS, on_one(BY_COLUMNS, at="f[i,j]"), False),
    "on_two_pes": (
        ROWS,
        mapping(
            "1, 2", "f[i,j] -> PE[0, i mod 2]",
            [("x", "arrives", "x[i,j] -> [PE[-1, i mod 2] -> index[i//2, j]]"),
             ("y", "leaves", "y[i,j] -> [PE[1, i mod 2] -> index[i//2, j]]")], "machine: wse3",
        ),
        True,
    ),
}


def operated(built):
    tasks = built.yaml("tasks.yaml")["tasks"].values()
    return [task for task in tasks if task["kind"] == "operate"]


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(("lair", "layer", "sent"), LAYERS.values(), ids=LAYERS)
def test_a_stream_is_an_operand_and_results_leave_in_its_order(lair, layer, sent):
    built = build(lair, layer, "simulate")
    (task,) = operated(built)
    assert ("departure" in task) == sent
    assert "x_local" not in {m.get_tuple_name() for m in sets(built)}
    assert all(check["exact"] for check in built.results()["check"].values())
    assert built.results()["tasks"]["operate_f"]["extra"] == 0


def sets(built):
    found = []
    built.objects("memory.isl")["local"].foreach_set(found.append)
    return found


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(
    ("lair", "layer"),
    [
        (DOUBLE.replace("2*x[i]", "3 - x[i]"), on_one(X)),
        (DOUBLE.replace("2*x[i]", "2*x[i] + 1"), on_one(X)),
        (DOUBLE, on_one(X, more="machine: wse2\nsimd: {prefer: loops}")),
        (DOUBLE, on_one(("x", "arrives", "x[i] -> [PE[0, -1] -> index[(5*i) mod 96]]"))),
        (SPREAD, on_one(X, at="f_y[i] -> PE[0, 0]; f_z[i]")),
    ],
    ids=[
        "the_second_operand", "two_operations", "loops_that_are_preferred",
        "an_order_that_memory_has_not", "two_statements",
    ],
)
def test_what_no_instruction_takes_as_it_comes_is_in_memory(lair, layer):
    built = build(lair, layer, "simulate")
    assert not operated(built)
    assert all(check["exact"] for check in built.results()["check"].values())


def test_one_instruction_doubles_what_passes():
    built = build(DOUBLE, on_one(X, Y), "simulate")
    program = built.program("simd/pe_compute.c")
    assert "stream_combine(pe, &my->operate_f, out, X, &my->operate_f_number[0], arrived_x);" in [
        line.strip() for line in function(program, "restart")
    ]
    assert built.results()["cycles"]["simd"] - built.results()["bound"]["cycles"] <= 2


def test_on_what_comes_after_the_last_output_no_cycles_rest():
    """Eight elements leave as they come; what is dispatched then takes longer than all of that."""
    results = build(DOUBLE.replace("96", "8"), on_one(X, Y), "simulate").results()
    busiest, cycles = results["busiest"]["simd"], results["cycles"]["simd"]
    assert busiest["dispatch"] > cycles // 4 and busiest["rested"] > cycles
    assert "rests" not in results

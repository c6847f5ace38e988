import numpy as np
import pytest

from lairmake.stages import PIPELINE
from lairmake.stages.fabric.engine import CHARGES
from lairmake.stages.layer.outcome import check, extent, worst
from lairmake.stages.layer.texts.results_json import Check
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.report.summary import inputs
from tests.layer.built import MV, build


@pytest.mark.parametrize(
    ("values", "expected", "allowed", "right", "error"),
    [
        ([1, 2], [1, 2], None, True, 0.0),
        ([1, 2.5], [1, 2], None, False, 0.5),
        ([-0.0, 2], [0.0, 2], None, True, 0.0),
        ([np.nan, 2], [np.nan, 2], None, True, 0.0),
        ([np.inf, 2], [np.inf, 2], None, True, 0.0),
        ([1, 2.5], [1, 2], [0, 0.5], True, 0.5),
        ([1, 2.5], [1, 2], [0, 0.25], False, 0.5),
        ([np.inf, 2], [np.inf, 2.25], [0, 0.25], True, 0.25),
        ([np.nan, 2], [1, 2], [9, 9], False, 0.0),
        ([np.nan, 2], [np.nan, 2.25], [9, 0.25], True, 0.25),
    ],
)
def test_values_are_exact_or_within_the_bound(values, expected, allowed, right, error):
    bounds = [] if allowed is None else [np.array(allowed, np.float64)]
    found = check([np.array(values, np.float16)], [np.array(expected, np.float16)], bounds)
    assert (found.right, found.max_abs_error) == (right, error)
    assert found.exact == (allowed is None)


def test_integers_that_wrap_are_exact_for_they_may_not_differ_at_all():
    """Also where the data of the layer is not exact, as a sum of integers passes their type."""
    wrapped, none = np.array([-32768, 2], np.int16), [np.zeros(2)]
    assert check([wrapped], [wrapped], none) == Check(
        exact=True, right=True, max_abs_error=0.0
    )
    assert not check([wrapped + np.int16(1)], [wrapped], none).right


def test_every_invocation_must_be_right():
    good, bad = np.array([1, 2], np.int16), np.array([1, 3], np.int16)
    assert check([good, good], [good, good], []).right
    assert check([good, bad], [good, good], []) == Check(
        exact=True, right=False, max_abs_error=1.0
    )


def test_each_invocation_has_its_own_values_and_what_stays_those_of_the_last():
    first, last = np.array([1, 2], np.int16), np.array([1, 3], np.int16)
    assert check([first, last], [first, last], []).right
    assert not check([last, first], [first, last], []).right
    assert check([last], [first, last], []).right
    assert not check([first], [first, last], []).right


def test_a_tensor_is_right_if_it_is_so_with_vectors_and_with_loops():
    good = Check(exact=True, right=True, max_abs_error=0.0)
    bad = Check(exact=True, right=False, max_abs_error=2.0)
    assert worst([good, bad]) == bad
    assert worst([good, good]) == good


def test_extent_of_a_size_that_differs_between_pes():
    assert extent(8) == 8
    assert extent((1, 3)) == "1..3"


ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ mv[i, j] -> PE[0, 0] }"\n'


@pytest.mark.wide
def test_keys_of_results():
    results = build(MV, ONE, "simulate").results()
    assert list(results) == [
        "top", "machine", "invocations", "cycles", "main_cycles", "speedup", "bound", "lanes",
        "busiest", "tasks", "data", "check", "memory", "pes", "fabric", "usage", "host",
    ]
    assert list(results["cycles"]) == ["simd", "loops"]
    for usage in results["busiest"].values():
        charges = [name for name in (*CHARGES, "lanes", "memory", "streams") if name in usage]
        assert usage["busy"] == sum(usage[name] for name in charges) > 0
    assert list(results["tasks"]) == ["init_y", "compute_mv"]
    assert list(results["tasks"]["init_y"]) == [
        "by", "why", "sizes", "configurations", "calls", "instances", "extra"
    ]


@pytest.mark.wide
def test_results_say_on_which_figures_much_of_the_cycles_rests():
    """Dispatch of `wse2` is worked out (C); one that a user gives is theirs."""
    slow, own = (
        build(MV, f"machine: {machine}\n{STREAMED}", "simulate").results()
        for machine in ("wse2", "{profile: wse2, dispatch: 20}")
    )
    charged = slow["busiest"]["simd"]["dispatch"]
    assert slow["rests"] == {"dispatch": charged} and 4 * charged > slow["cycles"]["simd"]
    assert "rests" not in own


STREAMED = (
    'target: "{ PE[3, 3] }"\nplacement: "{ mv[i, j] -> PE[j//2, 1 + i//4] }"\ntensors:\n'
    '  x: {arrives: "{ x[j] -> [PE[1, -1] -> index[j]] }", sparse: true}\n'
    '  y: {leaves: "{ y[i] -> [PE[-1, 1 + i//4] -> index[i mod 4]] }"}\n'
    "data: {seed: 3}\n"
)


def files(built):
    found = [*built.folder.glob("build/**/*"), *built.cache.glob("*")]
    return {p.relative_to(built.folder.parent.parent).parts[2:]: p.read_bytes()
            for p in found if p.is_file()}


@pytest.mark.wide
def test_equal_layers_give_equal_bytes():
    one, two = (build(MV, STREAMED, "simulate", copy=k) for k in range(2))
    assert one.folder != two.folder
    assert files(one) == files(two)


@pytest.mark.wide
def test_a_layer_built_again_gives_equal_bytes():
    built = build(MV, STREAMED, "simulate")
    before = files(built)
    for stage in PIPELINE:
        run_stage(stage, built.folder)
    assert files(built) == before


@pytest.mark.wide
def test_values_of_inputs_are_taken_from_files_in_any_numeric_type():
    built = build(MV, STREAMED + "# inputs/\n", "render")
    rng = np.random.default_rng(5)
    matrix, vector = rng.integers(-4, 5, (8, 6)), rng.integers(-4, 5, 6)
    (built.folder / "inputs").mkdir(exist_ok=True)
    np.save(built.folder / "inputs/W.npy", matrix.astype(np.int64))
    np.save(built.folder / "inputs/x.npy", vector.astype(np.float32))
    built.through("simulate")
    assert built.output("y").dtype == np.float16
    np.testing.assert_array_equal(built.output("y"), (matrix @ vector).astype(np.float16))


@pytest.mark.wide
def test_a_zero_that_is_not_sent_starts_no_task():
    built = build(MV, STREAMED + "# zeros\n", "render")
    (built.folder / "inputs").mkdir(exist_ok=True)
    np.save(built.folder / "inputs/x.npy", np.array([0, 2, 0, 0, 0, -1]))
    built.through("simulate")
    assert built.results()["data"] == {"W": "integers, seed 3", "x": "inputs/x.npy"}
    tasks = built.results()["tasks"]
    assert tasks["on_x"]["calls"] == 4
    assert tasks["on_x"]["instances"] == 16
    assert built.results()["check"]["y"]["right"]


INVERSE = """lair f(): float16 x[4], float16 a[4] -> float16 y[4]
{ all (i) in (4) y[i] = a[i] / x[i] }"""
ONE_PE = """target: "{ PE[1, 1] }"
placement: "{ f[i] -> PE[0, 0] }"
invocations: 2
tensors:
  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}
  y: {leaves: "{ y[i] -> [PE[0, 1] -> index[i]] }"}
"""


def test_a_sparse_tensor_has_no_negative_zero():
    built = build(INVERSE, ONE_PE, "render")
    (built.folder / "inputs").mkdir(exist_ok=True)
    np.save(built.folder / "inputs/x.npy", np.array([-0.0, 1, -1e-9, -1]))
    np.save(built.folder / "inputs/a.npy", np.array([1, 1, 1, -0.0], np.float16))
    results = built.through("simulate").results()
    np.testing.assert_array_equal(built.output("y"), [[np.inf, 1, np.inf, 0]] * 2)
    assert results["check"]["y"]["right"]
    assert list(inputs(results["data"])) == [
        ("inputs", "x from inputs/x.npy, with 0 for -0; a from inputs/a.npy")
    ]


@pytest.mark.wide
@pytest.mark.parametrize("sparse", ["true", "false"])
def test_every_invocation_starts_anew(sparse):
    mapping = STREAMED.replace("sparse: true", f"sparse: {sparse}")
    once = build(MV, mapping, "simulate").results()
    thrice = build(MV, mapping + "invocations: 3\n", "simulate").results()
    assert thrice["check"]["y"]["right"]
    assert thrice["tasks"]["init_y"]["calls"] == 3 * once["tasks"]["init_y"]["calls"]
    assert 2 * once["cycles"]["simd"] < thrice["cycles"]["simd"] <= 3 * once["cycles"]["simd"]


@pytest.mark.wide
def test_outputs_that_stay_are_read_back_from_the_pes():
    mapping = 'target: "{ PE[2, 2] }"\nplacement: "{ mv[i, j] -> PE[i mod 2, i//4] }"\n'
    results = build(MV, mapping + "invocations: 2\n", "simulate").results()
    assert results["check"]["y"] == {"exact": True, "right": True, "max_abs_error": 0.0}
    assert results["fabric"] == {"wavelets": 0, "hops": 0, "stalls": 0}


COPY = """lair n(): float16 x[4][6] -> float16 y[4][6]
{ all (i, j) in (4, 6) y[i][j] = 2 * x[i][j] }
"""
ORDERS = {
    "diagonal": "i + j, i",
    "blocks of three, the last one ragged": "j//4, i, j mod 4",
    "every third, ragged": "j mod 4, i, j//4",
    "reversed": "-i, -j",
    "columns first": "j, i",
    "with gaps": "7*i, 3*j",
    "one number": "6*i + j",
}


@pytest.mark.wide_after(1)
@pytest.mark.parametrize("order", ORDERS)
def test_a_dense_tensor_arrives_in_any_order(order):
    mapping = (
        'target: "{ PE[1, 2] }"\nplacement: "{ n[i, j] -> PE[0, i//2] }"\ntensors:\n'
        f'  x: {{arrives: "{{ x[i, j] -> [PE[0, -1] -> index[{ORDERS[order]}]] }}"}}\n'
    )
    assert build(COPY, mapping, "simulate").results()["check"]["y"]["right"]


@pytest.mark.wide
@pytest.mark.parametrize("order", ORDERS)
def test_a_tensor_leaves_in_any_order(order):
    mapping = (
        'target: "{ PE[2, 1] }"\nplacement: "{ n[i, j] -> PE[j//3, 0] }"\ntensors:\n'
        f'  y: {{leaves: "{{ y[i, j] -> [PE[2, 0] -> index[{ORDERS[order]}]] }}"}}\n'
    )
    assert build(COPY, mapping, "simulate").results()["check"]["y"]["right"]


SIDES = {
    "north": ("PE[j//2, 1 + i//4]", "PE[1, -1]", "PE[3, 1 + i//4]"),
    "south": ("PE[j//2, i//4]", "PE[2, 3]", "PE[3, i//4]"),
    "west": ("PE[1 + i//4, j//2]", "PE[-1, 0]", "PE[1 + i//4, 3]"),
    "east": ("PE[i//4, j//2]", "PE[3, 1]", "PE[i//4, 3]"),
}


@pytest.mark.wide
@pytest.mark.parametrize(
    ("side", "order", "sparse"),
    [
        ("north", "5 - j", "false"),
        ("north", "(j + 2) mod 6", "true"),
        ("south", "j mod 2, j//2", "false"),
        ("south", "j", "true"),
        ("west", "(j + 2) mod 6", "false"),
        ("west", "5 - j", "true"),
        ("east", "j", "false"),
        ("east", "j mod 2, j//2", "true"),
    ],
)
def test_adapters_of_any_side_spread_any_order(side, order, sparse):
    placement, port, leaves = SIDES[side]
    mapping = (
        f'target: "{{ PE[3, 3] }}"\nplacement: "{{ mv[i, j] -> {placement} }}"\ntensors:\n'
        f'  x: {{arrives: "{{ x[j] -> [{port} -> index[{order}]] }}", sparse: {sparse}}}\n'
        f'  y: {{leaves: "{{ y[i] -> [{leaves} -> index[i mod 4]] }}"}}\n'
    )
    results = build(MV, mapping, "simulate").results()
    assert results["check"]["y"]["right"]


OPERATORS = {
    "+=": ("float16", "W[i][j] * x[j]", "integers"),
    "*=": ("float32", "W[i][j]", "integers"),
    "max=": ("int16", "W[i][j] * 32000 - x[j] * 2000", "reals"),
    "min=": ("int32", "W[i][j] * x[j]", "integers"),
}
"""Type, expression and data; those of int16 wrap before they are compared."""


@pytest.mark.wide
@pytest.mark.parametrize("op", OPERATORS)
def test_parts_of_any_sum_are_combined_on_their_way_out(op):
    type_, expression, kind = OPERATORS[op]
    lair = (f"lair mv(): {type_} W[8][6], {type_} x[6] -> {type_} y[8]\n"
            f"{{ all (i, j) in (8, 6) y[i] {op} {expression} }}")
    mapping = (
        'target: "{ PE[3, 2] }"\nplacement: "{ mv[i, j] -> PE[j//2, i//4] }"\ntensors:\n'
        '  y: {leaves: "{ y[i] -> [PE[3, i//4] -> index[i mod 4]] }"}\n'
        f"data: {{kind: {kind}}}\n"
    )
    assert build(lair, mapping, "simulate").results()["check"]["y"]["right"]


def test_instances_apart_on_one_pe_run_as_pieces():
    lair = "lair n(): float16 a[6] -> float16 y[6] { all (i) in (6) y[i] += a[i] }"
    mapping = (
        'target: "{ PE[1, 2] }"\n'
        'placement: "{ n[i] -> PE[0, 0] : i = 0 or i = 5; n[i] -> PE[0, 1] : 1 <= i <= 4 }"\n'
        "simd: {prefer: loops}\n"
    )
    results = build(lair, mapping, "simulate").results()
    assert results["check"]["y"]["right"]
    assert results["tasks"]["compute_n"]["instances"] == 6

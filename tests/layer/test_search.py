"""What is proposed where layer.yaml gives no placement, or directions only."""

from pathlib import Path

import islpy as isl
import pytest
import yaml

from lairmake.stages.layer.search import proposal
from lairmake.stages.layer.search.coordinates import (
    CoordinateDigit,
    describe,
    make,
    meet,
    meet_digits,
)
from lairmake.stages.make.core.action import run_stage
from tests.layer.built import build

PROJECTS = Path(__file__).resolve().parents[2] / "projects"
INSTANCES = isl.Set("{ S[i, j] : 0 <= i <= 31 and 0 <= j <= 15 }")


def candidates(name, placement=None, anywhere=False, **further):
    """Return what is thought of for a layer of projects/ without its placement.

    And without its ports, if tensors may arrive and leave anywhere.
    """
    folder = PROJECTS / name
    mapping = yaml.safe_load((folder / "layer.yaml").read_text(encoding="utf-8"))
    given = mapping.pop("placement")
    mapping.pop("lair", None)
    mapping |= {"placement": placement or "search", **further}
    for tensor in mapping["tensors"].values() if anywhere else ():
        tensor |= dict.fromkeys(tensor.keys() & {"arrives", "leaves"}, True)
    lair = next(folder.glob("*.lair")).read_text(encoding="utf-8")
    built = build(lair, yaml.safe_dump(mapping, sort_keys=False), "parse")
    run_stage("choose", built.folder)
    instances = built.objects("lair.isl")["instances"]
    return built.yaml("candidates.yaml")["candidates"], isl.UnionMap(given).intersect_domain(
        instances
    )


@pytest.mark.wide
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "name", ["fc", "pointwise", "halves", "catalogue/max_pool1d"]
)
def test_the_placement_that_somebody_found_is_the_first(name):
    found, given = candidates(name)
    assert isl.UnionMap(found[0]["placement"]).is_equal(given)


def test_room_for_adapters_is_only_where_they_are_needed():
    found, given = candidates("fc", "(j, i)")
    assert isl.UnionMap(found[0]["placement"]).is_equal(given)


def test_a_direction_is_kept():
    found, _ = candidates("fc", "(i, j)")
    for each in found:
        on_x = isl.Map.from_union_map(isl.UnionMap(each["placement"])).project_out(
            isl.dim_type.out, 1, 1
        )
        assert on_x.project_out(isl.dim_type.in_, 1, 1).is_single_valued()


@pytest.mark.wide
def test_ports_that_may_be_anywhere_need_no_adapters():
    first = candidates("fc", anywhere=True)[0][0]
    assert first["placement"] == "{ ff[i, j] -> PE[j//4, i//7] : 0 <= i <= 31 and 0 <= j <= 15 }"
    assert first["tensors"] == {
        "x": {"arrives": "{ x[i] -> [PE[i//4, -1] -> index[i mod 4]] : 0 <= i <= 15 }"},
        "y": {"leaves": "{ y[i] -> [PE[4, i//7] -> index[i mod 7]] : 0 <= i <= 31 }"},
    }


def test_what_nothing_uses_arrives_beside_what_is_used():
    lair = """lair s(): float16 x[16], float16 z[3] -> float16 y[8]
    { all (i) in (8) y[i] = x[2*i] }"""
    ports = "tensors: {x: {arrives: true}, z: {arrives: true}}\n"
    built = build(lair, f'target: "{{ PE[4, 1] }}"\n{ports}', "parse")
    run_stage("choose", built.folder)
    first = built.yaml("candidates.yaml")["candidates"][0]
    assert first["placement"] == "{ s[i] -> PE[i//2, 0] : 0 <= i <= 7 }"
    assert first["tensors"] == {
        "x": {"arrives": "{ x[i] -> [PE[i//4, -1] -> index[i mod 4]] : 0 <= i <= 15 }"},
        "z": {"arrives": "{ z[i] -> [PE[0, 1] -> index[i]] : 0 <= i <= 2 }"},
    }


def test_what_nothing_uses_beyond_the_last_arrives_with_its_neighbour_so_that_boxes_stay_boxes():
    lair = """lair s(): float16 x[6][6], float16 w[2][2] -> float16 y[2][2]
    { all (i, j, r, s) in (2, 2, 2, 2) y[i][j] += x[2*i + r][2*j + s] * w[r][s] }"""
    built = build(lair, 'target: "{ PE[2, 1] }"\ntensors: {x: {arrives: true}}\n', "parse")
    run_stage("choose", built.folder)
    first = built.yaml("candidates.yaml")["candidates"][0]
    assert first["placement"].startswith("{ s[i, j, r, s] -> PE[i, 0]")
    ports = isl.Map(first["tensors"]["x"]["arrives"]).range().unwrap().domain()
    assert ports.is_equal(isl.Set("{ PE[x, -1] : 0 <= x <= 1 }"))
    for port, rows in ((0, 2), (1, 4)):
        at = isl.Map(first["tensors"]["x"]["arrives"]).range().unwrap().intersect_domain(
            isl.Set(f"{{ PE[{port}, y] }}")
        )
        assert at.range().is_equal(isl.Set(f"{{ index[a, b] : 0 <= a < {rows} and 0 <= b < 6 }}"))


@pytest.mark.wide
@pytest.mark.parametrize("symmetric", [True, False])
def test_of_two_that_are_each_other_turned_around_one_is_thought_of(symmetric, monkeypatch):
    if not symmetric:
        monkeypatch.setattr(proposal, "_is_symmetric", lambda question: False)
    lair = """lair b(): float16 w[8][8], float16 x[6][8] -> float16 y[6][8]
    { all (n, i, j) in (6, 8, 8) y[n][i] += w[i][j] * x[n][j] }"""
    ports = "tensors: {x: {arrives: true}, y: {leaves: true}}\n"
    built = build(lair, f'target: "{{ PE[2, 2] }}"\n{ports}', "parse")
    run_stage("choose", built.folder)
    found = {each["placement"] for each in built.yaml("candidates.yaml")["candidates"]}
    places = [isl.UnionMap(each) for each in found]
    turn = isl.UnionMap("{ PE[x, y] -> PE[y, x] }")
    pairs = [(a, b) for a in places for b in places if a is not b]
    assert any(a.apply_range(turn).is_equal(b) for a, b in pairs) != symmetric


@pytest.mark.wide
def test_where_the_order_is_open_what_is_summed_over_also_arrives_outermost():
    found, _ = candidates("catalogue/layer_norm_mean", anywhere=True)
    first, second = found[:2]
    assert first["placement"] == second["placement"]
    assert "index[i mod 8, j]" in first["tensors"]["x"]["arrives"]
    assert "index[j, i mod 8]" in second["tensors"]["x"]["arrives"]


@pytest.mark.wide
def test_statements_that_need_what_is_written_later_are_placed_as_it_comes_back_to_none():
    found, given = candidates("catalogue/conv1d_train", anywhere=True)
    assert isl.UnionMap(found[0]["placement"]).is_equal(given)
    assert found[0]["cycles"] < found[2]["cycles"]


@pytest.mark.wide
def test_of_those_that_nothing_tells_apart_three_are_kept():
    found, _ = candidates("fc", anywhere=True)
    figures = [(each["cycles"], each["memory"], each["area"]) for each in found]
    assert figures.count(figures[0]) == 3


@pytest.mark.wide
def test_a_sum_of_rows_and_columns_may_leave_where_adapters_have_room_to_collect_it():
    found, _ = candidates("gathered", anywhere=True)
    first = found[0]
    pes = isl.UnionMap(first["placement"]).range()
    assert pes.is_equal(isl.UnionSet("{ PE[x, y] : 0 <= x <= 3 and 0 <= y <= 4 }"))
    assert first["tensors"]["s"] == {"leaves": "{ s[] -> [PE[5, 0] -> index[0]] }"}
    assert "refused" not in first


@pytest.mark.wide
def test_without_a_free_border_a_sum_lies_in_one_row_or_column():
    lines = [isl.UnionSet(f"{{ PE[x, y] : {line} }}") for line in ("x=0", "x=1", "y=0", "y=1")]
    found, _ = candidates("gathered", anywhere=True, target="{ PE[2, 2] }")
    for each in found:
        sums = isl.UnionMap(each["placement"]).intersect_domain(isl.UnionSet("{ g_s[i, j] }"))
        assert any(sums.range().is_subset(line) for line in lines)


@pytest.mark.wide
def test_what_takes_many_times_the_cycles_is_not_tried_but_for_three():
    found, _ = candidates("pointwise")
    tried = [each for each in found if "slot" in each]
    assert len(tried) == 4 and tried[1]["cycles"] > 2.5 * tried[0]["cycles"]
    assert found[4]["refused"] == "takes 9.0 times the cycles of the first"


@pytest.mark.wide
@pytest.mark.parametrize("goal", ["memory", "area"])
def test_the_first_has_least_of_what_is_wanted(goal):
    found, _ = candidates("fc", goal=goal)
    assert found[0][goal] == min(each[goal] for each in found)


def test_what_has_a_place_keeps_it_and_others_go_by_it():
    given = "{ rowmax[n,k] -> PE[k//32, n//16]; rowsum[n,k] -> PE[k//32, n//16] }"
    found, placed = candidates("catalogue/softmax", given, search=["expdiff", "divide"])
    assert isl.UnionMap(found[0]["placement"]).is_equal(placed)


@pytest.mark.parametrize(
    ("text", "spans", "runs"),
    [
        ("{ S[i, j] -> [i//8] }", (8, 16), (1, 1)),
        ("{ S[i, j] -> [2*(i//16) + j//8] }", (16, 8), (1, 1)),
        ("{ S[i, j] -> [(i//4) mod 4] }", (8, 16), (2, 1)),
        ("{ S[i, j] -> [i mod 4] }", (8, 16), (1, 1)),
        ("{ S[i, j] -> [i//30] }", (30, 16), (1, 1)),
    ],
)
def test_spans_are_the_values_of_an_iterator_at_one_place(text, spans, runs):
    found = describe(isl.Map(text).intersect_domain(INSTANCES))
    assert (found.spans, found.runs) == (spans, runs)


def test_digits_of_one_iterator_meet_in_a_block():
    upper = CoordinateDigit(k=0, size=32, block=16)
    lower = CoordinateDigit(k=0, size=32, block=4, modulus=4)
    assert meet_digits(upper, lower) == (4, 1)
    x, y = (make(INSTANCES, 0, ((1, digit),)) for digit in (upper, lower))
    assert meet(x, y) == meet(describe(x.relation), describe(y.relation)) == ((4, 16), (1, 1))


CONVOLUTION = """lair c(): float32 x[4][6][6], float32 w[2][4][3][3] -> float32 y[2][4][4]
{ all (k, i, j, c, a, b) in (2, 4, 4, 4, 3, 3) y[k][i][j] += x[c][i + a][j + b] * w[k][c][a][b] }
"""
STEP = """lair step(): float32 u[{n}][{n}] -> float32 un[{n}][{n}]
{{ all (i, j) in ({n}, {n}) where 1 <= i <= {n} - 2 and 1 <= j <= {n} - 2
  un[i][j] += (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) * 0.25 }}
"""
OVER_TIME = """machine: wse2
target: "{ PE[4, 4] }"
invocations: 4
tensors: {u: {next: un}}
"""


def propose_step(further=""):
    """Return what is thought of for a step over time, the best first."""
    built = build(STEP.format(n=36), OVER_TIME + further, "parse")
    run_stage("choose", built.folder)
    return built.yaml("candidates.yaml")["candidates"]


def test_a_stencil_over_time_is_placed_in_blocks_whose_neighbours_exchange_halos():
    first = isl.UnionMap(propose_step()[0]["placement"])
    blocks = ("i//9, j//9", "j//9, i//9")
    assert any(
        first.is_equal(isl.UnionMap(f"{{ step[i, j] -> PE[{at}] : 0 <= i, j <= 35 }}"))
        for at in blocks
    )


def test_a_stencil_that_goes_around_takes_fewer_pes():
    halo, around = (propose_step(each)[0] for each in ("", "moves: {u: around}\n"))
    assert around["area"] < halo["area"] and halo["cycles"] < around["cycles"]


@pytest.mark.wide
@pytest.mark.parametrize("n", [8, 36])
def test_a_search_places_a_stencil_over_time_on_the_pes_that_pay(n):
    found = build(STEP.format(n=n), OVER_TIME, "simulate").results()["cycles"]["simd"]
    for block in (n, n // 2, n // 3 + 1):
        at = f'placement: "{{ step[i, j] -> PE[j//{block}, i//{block}] }}"\n'
        built = build(STEP.format(n=n), OVER_TIME + at, "simulate")
        assert found < built.results()["cycles"]["simd"]


PADDED = """target: "{{ PE[7, 4] }}"
tensors:
  x:
    arrives: "{{ x[c,i,j] -> [PE[-1, {0}] -> index[c, i, j]] : 1 <= i <= 4 and 1 <= j <= 4 }}"
    otherwise: 0
  y: {{leaves: "{{ y[k,i,j] -> [PE[7, 0] -> index[k, i, j]] }}"}}
"""


@pytest.mark.wide
@pytest.mark.one_in(3)
@pytest.mark.parametrize("lane", ["0", "c", "i//2"])
def test_cycles_are_known_before_there_are_programs_within_a_tenth(lane):
    """The machine has no multiply-add of two vectors, and adapters send on what they took."""
    thought = build(CONVOLUTION, PADDED.format(lane), "parse")
    run_stage("choose", thought.folder)
    first = thought.yaml("candidates.yaml")["candidates"][0]
    given = f'placement: "{first["placement"]}"\n'
    built = build(CONVOLUTION, PADDED.format(lane) + given, "simulate")
    assert abs(first["cycles"] / built.results()["cycles"]["simd"] - 1) < 0.1

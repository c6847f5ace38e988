"""Cycles of stencil steps over time: close to those of programs by hand, and as predicted."""

import re

import numpy as np
import pytest
import yaml

from lairmake.stages.machine.profile import load_profile
from tests.layer.built import build, function

STAR = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
BOX = (*STAR, (-1, -1), (-1, 1), (1, -1), (1, 1))
FAR = (*STAR, (-2, 0), (2, 0), (0, -2), (0, 2))
MAPPING = """machine: {machine}
target: "{{ PE[{pes}, {pes}] }}"
placement: "{{ step[{indices}] -> PE[j//{block}, i//{block}] }}"
invocations: {times}
tensors: {{u: {{next: un}}}}
data: {{kind: reals}}
"""
SUM = """lair step(): {type} u[{n}][{n}], {type} w[3][3] -> {type} un[{n}][{n}]
{{
  all (i, j, r, s) in ({n}, {n}, 3, 3)
  where {taps} and 1 <= i and i <= {n} - 2 and 1 <= j and j <= {n} - 2
    un[i][j] += u[i + r - 1][j + s - 1] * w[r][s]
}}
"""
COLUMNS = """lair step(): {type} u[7][7][{n}] -> {type} un[7][7][{n}]
{{
  all (i, j, k) in (7, 7, {n}) where 1 <= i <= 5 and 1 <= j <= 5 and 1 <= k and k <= {n} - 2
    un[i][j][k] += 0.25 * u[i][j][k] + 0.125 * u[i][j][k - 1] + 0.125 * u[i][j][k + 1]
      + 0.125 * u[i - 1][j][k] + 0.125 * u[i + 1][j][k] + 0.125 * u[i][j - 1][k]
      + 0.125 * u[i][j + 1][k]
}}
"""
CROSS = "r + s >= 1 and r + s <= 3 and r - s <= 1 and s - r <= 1"


pytestmark = pytest.mark.usefixtures("ends_soon")


def views(taps, block, *, machine="wse2", pes=3, times=3, type_="float32"):
    """Return the texts of a step that accesses its field once for each tap, with factors."""
    reach, n = max(max(map(abs, tap)) for tap in taps), pes * block
    terms = (f"{0.125 * (k % 3 + 1)} * u[i + {reach + y} - {reach}][j + {reach + x} - {reach}]"
             for k, (y, x) in enumerate(taps))
    lair = f"lair step(): {type_} u[{n}][{n}] -> {type_} un[{n}][{n}]\n"
    lair += f"{{ all (i, j) in ({n}, {n}) where {reach} <= i and i < {n - reach} and {reach} <= j"
    lair += f" and j < {n - reach}\n  un[i][j] += {' + '.join(terms)} }}\n"
    return lair, MAPPING.format(
        machine=machine, pes=pes, indices="i,j", block=block, times=times)


def sums(taps, block, *, machine="wse2", pes=3, times=3, type_="float16"):
    """Return the texts of a step that sums products over offsets, each of which is rounded."""
    return SUM.format(type=type_, n=pes * block, taps=taps), MAPPING.format(
        machine=machine, pes=pes, indices="i,j,r,s", block=block, times=times)


def columns(_, z, *, machine="wse2", times=3, type_="float16"):
    """Return the texts of a step of seven points on columns of z elements, one a PE of 5 x 5."""
    mapping = MAPPING.format(machine=machine, pes=5, indices="i,j,k", block=1, times=times)
    placement = "PE[max(0, min(4, j - 1)), max(0, min(4, i - 1))]"
    return COLUMNS.format(type=type_, n=z + 2), mapping.replace("PE[j//1, i//1]", placement)


def in_a_step(texts, *arguments, **options):
    """Return the cycles of a step, and the last build."""
    found = []
    for times in (3, 7):
        built = build(*texts(*arguments, times=times, **options), "simulate")
        results = built.results()
        assert all(check["right"] for check in results["check"].values())
        found.append(results["cycles"]["simd"])
    return (found[1] - found[0]) / 4, built


@pytest.mark.parametrize(
    ("texts", "taps", "block", "machine", "by_hand"),
    [
        (views, STAR, 4, "wse2", 204.5),
        pytest.param(sums, CROSS, 8, "wse2", 237, marks=pytest.mark.wide),
        pytest.param(views, STAR, 8, "wse3", 526.5, marks=pytest.mark.wide),
        pytest.param(views, STAR, 8, "ideal", 359.25, marks=pytest.mark.wide),
        pytest.param(views, BOX, 8, "wse2", 968.5, marks=pytest.mark.wide),
        pytest.param(views, FAR, 8, "wse2", 856.5, marks=pytest.mark.wide),
        pytest.param(sums, "r >= 0", 8, "wse2", 369.5, marks=pytest.mark.wide),
        pytest.param(views, STAR, 32, "wse2", 6965, marks=pytest.mark.wide),
        pytest.param(sums, CROSS, 32, "wse2", 1852, marks=pytest.mark.wide),
        pytest.param(sums, CROSS, 16, "wse3", 392, marks=pytest.mark.wide),
        pytest.param(columns, STAR, 128, "wse2", 1632, marks=pytest.mark.wide),
        pytest.param(columns, STAR, 128, "wse3", 1611, marks=pytest.mark.wide),
    ],
)
def test_a_step_takes_little_more_than_a_program_by_hand(texts, taps, block, machine, by_hand):
    """Those by hand have two buffers, and an instruction for each tap over all of a block."""
    cycles, _ = in_a_step(texts, taps, block, machine=machine)
    assert cycles <= 1.15 * by_hand


@pytest.mark.wide
def test_a_step_takes_as_long_on_more_pes():
    few, many = (in_a_step(views, STAR, 4, pes=pes)[0] for pes in (3, 8))
    assert abs(many - few) <= 0.02 * few


FIGURES = {
    "dispatch": 40, "vector_start_up": 9, "ramp": 12, "hop": 10, "configuration": 9, "address": 6,
    "dispatch_next": 9, "shared_datapath": False,
}
STATEMENT = "compute_step"


def predict_step(built, machine):
    """Return what an exchange, the statement, and its task are expected to take."""
    halo = built.yaml("tasks.yaml")["moves"]["u_halo"]["ways"]["halo"]
    figures = yaml.safe_load(machine)
    name = figures.pop("profile")
    profile = load_profile(name, figures)
    steps = len(built.yaml("simd.yaml")[STATEMENT]["steps"]) * profile.configuration
    statement = (built.yaml("simd.yaml")[STATEMENT]["cycles"] - steps) / 7
    return halo + statement + profile.find_dispatch_next()


@pytest.mark.wide
@pytest.mark.parametrize("figure", FIGURES)
def test_the_closed_form_of_a_halo_follows_the_figures_of_the_machine(figure):
    """What a step takes more or less with another figure, it is expected to, but for 4 %."""
    before, after = (
        (measured, predict_step(built, machine))
        for machine in ("{profile: wse2}", f"{{profile: wse2, {figure}: {FIGURES[figure]}}}")
        for measured, built in [in_a_step(views, STAR, 4, machine=machine)]
    )
    assert abs((after[0] - before[0]) - (after[1] - before[1])) <= 0.04 * after[0]
    assert abs(after[0] - after[1]) <= 0.09 * after[0]


def test_a_sum_of_a_step_begins_with_its_first_product():
    """No instruction writes zeros or reads a sum before; elements at the ends get theirs once."""
    built = build(*views(STAR, 4), "render")
    program, graph = built.program("simd/pe_compute.c"), built.yaml("tasks.yaml")
    assert graph["tasks"]["init_un"] == {
        "kind": "initialise", "tensor": "un", "value": "0", "but": "step"}
    task = graph["tasks"][STATEMENT]
    assert (task["op"], task["expression"].partition(" * u")[0]) == ("=", "0 + 0.125")
    steps = built.yaml("simd.yaml")[STATEMENT]["steps"]
    assert [step["operation"] for step in steps] == ["FMA"] * 5
    body = "\n".join(function(program, "init_un"))
    assert "if (my->others_un) {" in body and "my->others_un = my->others_un - 1;" in body
    assert re.search(r"others_un = 2 \* \(", program)


@pytest.mark.parametrize("type_", ["float32", pytest.param("float16", marks=pytest.mark.wide)])
def test_values_of_steps_that_begin_so_are_those_of_numpy(type_):
    """Also zeros at the ends, of which the field has others at first, and -0, which sums are not.
    """
    built = build(*views(STAR, 4, times=4, type_=type_), "parse", copy=1)
    u = np.full((12, 12), -0.0, type_)
    u[:2] = np.random.default_rng(5).integers(-3, 4, (2, 12))
    (built.folder / "inputs").mkdir(exist_ok=True)
    np.save(built.folder / "inputs/u.npy", u)
    built.through("simulate")
    for _ in range(4):
        wide, new = u.astype(np.float64), np.zeros((12, 12))
        for k, (y, x) in enumerate(STAR):
            new[1:-1, 1:-1] += 0.125 * (k % 3 + 1) * wide[1 + y:11 + y, 1 + x:11 + x]
        u = new.astype(type_)
    found = built.output("un")
    assert np.array_equal(found, u) and not np.signbit(found[found == 0]).any()


def test_taps_are_written_out_and_begin_with_the_first_one():
    built = build(*sums(CROSS, 4), "render")
    program, tasks = built.program("simd/pe_compute.c"), built.yaml("tasks.yaml")["tasks"]
    assert (tasks["begin_step"]["taps"], tasks[STATEMENT]["taps"]) == ("first", "others")
    assert (tasks["begin_step"]["op"], tasks["begin_step"]["expression"]) == ("=", "0 + u * w")
    body = function(program, STATEMENT)
    assert sum("vector_run(" in line for line in body) == 4
    assert not any("for (" in line for line in body)
    assert sum("int start" in line for line in body) == 2
    assert sum("place0 = &" in line for line in body) == 1


@pytest.mark.wide
def test_more_instructions_than_there_are_configurations_have_one_in_turn():
    """Nine taps and eight streams of a halo would have 17, and a PE has 16."""
    built = build(*views(BOX, 4), "render")
    task = built.yaml("simd.yaml")[STATEMENT]
    assert task["in_turn"] and task["by"] != "loops" and len(task["steps"]) == 9
    body = "\n".join(function(built.program("simd/pe_compute.c"), STATEMENT))
    assert body.count(f"configure_fused(pe, &my->{STATEMENT},") == 9


def test_who_has_neighbours_on_both_sides_tests_that_once():
    program = build(*views(STAR, 2, pes=5), "render").program("simd/pe_compute.c")
    for axis in "xy":
        body = "\n".join(function(program, f"exchange_u_halo_{axis}"))
        assert "if (" not in body and body.count("stream_") == 4
        assert program.count(f"my->between_u_halo_{axis} = (") == 1
        assert program.count(f"if (my->between_u_halo_{axis}) {{") == 1

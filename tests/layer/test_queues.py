"""Each colour of a PE gets a queue, the widest wavelets the deepest; errors name who wants more."""

import pytest

from lairmake.stages.diagnose import UserError
from tests.layer.built import build
from tests.layer.conftest import LayerFolder

TWO = """lair two(): float32 V[4][8], float32 x[8] -> float32 y[4], float16 z[4]
{
  all (i, j) in (4, 8) y[i] += V[i][j] * x[j]
  all (i, j) in (4, 8) z[i] += V[i][j] * x[j]
}
"""
PLACED = """target: "{ PE[4, 1] }"
placement: "{ two_y[i, j] -> PE[j//2, 0]; two_z[i, j] -> PE[j//2, 0] }"
tensors:
  x: {arrives: "{ x[j] -> [PE[j//2, -1] -> index[j mod 2]] }"}
  y: {leaves: "{ y[i] -> [PE[4, 0] -> index[i]] }"}
  z: {leaves: "{ z[i] -> [PE[4, 0] -> index[i]] }"}
"""
SPARSE = PLACED.replace('mod 2]] }"}', 'mod 2]] }", sparse: true}')


def layout(mapping, types=TWO):
    return build(types, mapping, "render").yaml("build/layout.yaml")["roles"]["compute"]


def queues(role, which):
    return {name: (q["number"], q["holds"]) for name, q in role[which].items()}


@pytest.mark.wide
def test_colours_of_which_a_pe_takes_one_share_a_queue():
    """Queues 2 and 3 hold most of those that send: what is taken has other numbers, and threads."""
    role = layout(f"machine: wse2\n{PLACED}")
    wide, narrow = {"y_even": (1, 3), "y_odd": (1, 3)}, {"z_even": (4, 2), "z_odd": (4, 2)}
    assert queues(role, "input_queues") == {"x": (0, 3), **wide, **narrow}
    wide, narrow = {"y_even": (3, 3), "y_odd": (3, 3)}, {"z_even": (2, 6), "z_odd": (2, 6)}
    assert queues(role, "output_queues") == {**wide, **narrow}


@pytest.mark.wide
def test_an_ideal_machine_has_as_many_queues_as_are_wanted():
    assert "input_queues" not in layout(f"machine: ideal\n{PLACED}")


@pytest.mark.wide
@pytest.mark.parametrize(("machine", "has"), [("wse2", False), ("wse3", True)])
def test_what_reacts_to_a_colour_needs_a_queue_where_the_machine_says_so(machine, has):
    sparse = TWO.replace("float32", "float16")
    assert ("x" in layout(f"machine: {machine}\n{SPARSE}", sparse)["input_queues"]) == has


ERRORS = {
    "{profile: wse3, input_queues: [4], output_queues: [4]}": """\
layer.yaml:5:1: error: PE[1, 1] takes what comes on 2 colours, wse3 has 1 input_queues: x, y_odd
  tensors:
  ^^^^^^^
hint: let fewer tensors arrive, leave or come back there: place statements on other PEs, or build \
the graph in parts
""",
    "{profile: wse3, task_ids: 1}": """\
layer.yaml:5:1: error: role compute has 2 tasks, wse3 has 1 task_ids: complete, finish_ff
  tensors:
  ^^^^^^^
hint: let fewer tensors arrive, leave and come back there, or build the graph in parts
""",
    "{profile: wse2, task_ids: 3, colours: 3}": "",
}


@pytest.mark.wide
@pytest.mark.parametrize("machine", ERRORS)
def test_a_layer_needs_more_than_a_pe_has(layer: LayerFolder, machine: str) -> None:
    layer.edit("layer.yaml", "tensors:", f"machine: {machine}\ntensors:")
    assert layer.error() == ERRORS[machine]


@pytest.mark.wide
def test_too_few_output_queues() -> None:
    with pytest.raises(UserError) as caught:
        layout(f"machine: {{profile: wse2, input_queues: [4, 4, 4], output_queues: [4]}}\n{PLACED}")
    said = "PE[1, 0] sends on 2 colours, wse2 has 1 output_queues: y_even, z_even"
    assert caught.value.message == said


@pytest.mark.wide
def test_a_layer_is_right_on_links_of_any_width_and_not_below_its_bound() -> None:
    cycles = []
    for width in (16, 32, 64):
        machine = f"machine: {{profile: ideal, link_width: {width}, ramp: 2}}\n"
        results = build(TWO, machine + PLACED, "simulate").results()
        assert all(check["exact"] for check in results["check"].values())
        assert results["bound"]["cycles"] <= results["cycles"]["simd"]
        cycles.append(results["cycles"]["simd"])
    assert cycles == sorted(cycles, reverse=True)
    assert cycles[0] > cycles[1]

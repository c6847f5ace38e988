import pytest

from lairmake.stages.diagnose import UserError
from tests.layer.built import build

ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] : true }"\n'


def one_pe(dimensions, more=""):
    names = ", ".join("ijklmo"[:dimensions])
    return f'target: "{{ PE[1, 1] }}"\nplacement: "{{ n[{names}] -> PE[0, 0] }}"\n{more}'


def decision(lair, mapping, task="compute_n"):
    return build(lair, mapping, "simd").yaml("simd.yaml")[task]


def nest(dimensions, size=2):
    """Return a layer that multiplies tensors of so many dimensions, that no two of can merge."""
    names = "ijklmo"[:dimensions]
    shape = "".join(f"[{size}]" for _ in names)
    at = "".join(f"[{n}]" for n in names)
    return (f"lair n(): float16 a{shape}, float16 b{shape} -> float16 y{shape}\n"
            f"{{ all ({', '.join(names)}) in ({', '.join([str(size)] * dimensions)}) "
            f"y{at} = a{at} * b{at} }}")


@pytest.mark.wide_after(3)
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_up_to_four_dimensions_are_one_instruction(dimensions):
    found = decision(nest(dimensions, 4), one_pe(dimensions))
    assert (found["by"], found["sizes"]) == ("hull", [4] * dimensions)
    strides = [4**k for k in reversed(range(dimensions))]
    assert [operand["strides"] for operand in found["operands"]] == [strides] * 3


FIVE = "compute_n needs 5 dimensions, a vector instruction has 4"


TURNED = """lair n(): float16 a[2][2][2][2][2], float16 b[2][2][2][2][2] -> float16 y[2][2][2][2][2]
{ all (i, j, k, l, m) in (2, 2, 2, 2, 2)
    y[i][j][k][l][m] = a[m][l][k][j][i] * b[i][j][k][l][m] }
"""


def test_of_more_than_four_dimensions_contiguous_ones_merge():
    found = decision(nest(6), one_pe(6))
    assert (found["by"], found["sizes"]) == ("hull", [2, 2, 2, 8])
    assert [operand["strides"] for operand in found["operands"]] == [[32, 16, 8, 1]] * 3


def test_more_than_four_dimensions_that_are_not_contiguous_are_an_instruction_in_a_loop():
    found = decision(TURNED, one_pe(5))
    assert (found["by"], found["sizes"]) == ("nested", [2] * 4)
    assert found["others"]["hull"] == {"not possible": FIVE}


@pytest.mark.parametrize("prefer", ["hull", "exact"])
def test_more_than_four_dimensions_are_an_error_where_an_instruction_is_asked_for(prefer):
    with pytest.raises(UserError) as caught:
        decision(TURNED, one_pe(5, f"simd: {{prefer: {prefer}}}\n"))
    assert caught.value.message == FIVE
    assert caught.value.hint == "leave `prefer` out"


CONV = """lair C(): float16 x[9], float16 W[3] -> float16 y[7]
{ all (w, r) in (7, 3) y[w] += x[w + r] * W[r] }
"""
STREAM = (
    'target: "{ PE[1, 1] }"\nplacement: "{ C[w, r] -> PE[0, 0] }"\ntensors:\n'
    '  x: {arrives: "{ x[w] -> [PE[0, -1] -> index[w]] }", sparse: true}\n'
)
FEW = "machine: {profile: wse2, descriptors: 2}\n"
NEEDED = "on_x needs 3 configurations of vector instructions, 1 of 2 descriptors are free"


def test_sizes_that_need_too_many_configurations_are_an_error_where_they_are_asked_for():
    with pytest.raises(UserError) as caught:
        decision(CONV, STREAM + FEW + "simd: {prefer: enumerate}\n", "on_x")
    assert caught.value.message == NEEDED
    assert caught.value.hint == "leave `prefer` out"


BORDER = """lair n(): float16 W[12][12], float16 x[12] -> float16 y[12]
{ all (i, j) in (12, 12) y[i] += W[i][j] * x[j] }
"""
TRIANGLE = (
    'target: "{ PE[2, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] : i <= j; '
    'n[i, j] -> PE[1, 0] : i > j }"\ntensors:\n'
    '  x: {arrives: "{ x[j] -> [PE[p, -1] -> index[j]] : 0 <= p <= 1 }", sparse: true}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}\n'
)


def test_sizes_that_need_too_many_configurations_give_way_with_both_numbers():
    mapping = TRIANGLE + "machine: {profile: wse2, descriptors: 3}\n"
    found = decision(BORDER, mapping, "on_x")
    assert found["by"] == "configure"
    assert found["others"]["enumerate"] == {
        "not possible": "on_x needs 12 configurations of vector instructions, 1 of 3 "
                        "descriptors are free"
    }


def test_sizes_are_enumerated_where_extra_instances_would_write_what_others_use():
    found = decision(BORDER, TRIANGLE, "on_x")
    assert (found["by"], found["several"]) == ("enumerate", [12])
    assert [found["others"][way] for way in ("hull", "exact")] == [
        {"not possible": "extra instances would write what others use"},
        {"not possible": "the exact bounds are not fixed"},
    ]
    assert build(BORDER, TRIANGLE, "simulate").results()["check"]["y"]["right"]


@pytest.mark.parametrize(
    ("prefer", "by", "why", "sizes"),
    [
        (
            "hull",
            "hull",
            "a fixed-size box hull holds the instances, and extra ones that do no harm",
            [3],
        ),
        ("loops", "loops", "layer.yaml prefers loops", None),
    ],
)
def test_what_the_layer_prefers(prefer, by, why, sizes):
    found = decision(CONV, STREAM + f"simd: {{prefer: {prefer}}}\n", "on_x")
    assert (found["by"], found["why"], found.get("sizes")) == (by, why, sizes)


def test_strides_step_over_the_extended_local_tensor():
    lair = """lair n(): float16 a[4][6] -> float16 y[4][3]
    { all (i, j) in (4, 3) y[i][j] = a[3 - i][2*j + 1] }"""
    found = decision(lair, one_pe(2))
    target, source = found["operands"]
    assert target == {"local": "y_local", "type": "float16", "base": [0, 0], "strides": [3, 1]}
    assert (source["base"], source["strides"]) == ([3, 0], [-3, 1])


def test_a_tensor_that_is_read_at_one_place_has_stride_zero():
    lair = """lair n(): float16 a[4], float16 s -> float16 y[4]
    { all (i) in (4) y[i] = a[i] * s }"""
    found = decision(lair, one_pe(1))
    assert [operand["strides"] for operand in found["operands"]] == [[1], [1], [0]]


def test_numbers_have_the_type_in_which_the_statement_is_computed():
    lair = "lair n(): {0} a[4] -> {0} y[4] {{ all (i) in (4) y[i] = a[i] + 2 }}"
    types = ("float16", "float32", "int16", "int32")
    found = [decision(lair.format(t), one_pe(1))["operands"][2] for t in types]
    assert [each["type"] for each in found] == ["float32", "float32", "int16", "int32"]


def test_condition_a_guard_holds_where_there_are_instances():
    lair = "lair n(): float16 x[8] -> float16 y[4] { all (i) in (4) y[i] += x[2*i + 1] }"
    mapping = ONE.replace(" : true", "") + (
        'tensors:\n  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}\n'
    )
    found = decision(lair, mapping, "on_x")
    assert found["guard"] == "[index] -> { : index mod 2 = 1 }"
    assert (found["by"], found["why"]) == ("loops", "there is a single instance")


RECEIVE = (
    'target: "{{ PE[1, 1] }}"\nplacement: "{{ n[i, j] -> PE[0, 0] }}"\ntensors:\n'
    '  x: {{arrives: "{{ x[i, j] -> [PE[0, -1] -> index[{}]] }}"}}\n'
)
COPY = "lair n(): float16 x[4][6] -> float16 y[4][6] { all (i, j) in (4, 6) y[i][j] = 0 - x[i][j] }"


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(
    ("order", "by", "why", "strides"),
    [
        ("i, j", "exact", "the elements are a box", [6, 1]),
        ("j, i", "exact", "the elements are a box", [1, 6]),
        ("i, -j", "exact", "the elements are a box", [6, -1]),
        ("6i + j", "exact", "the elements are a box", [6, 1]),
        ("i + j, i", "loops", "the elements are no box", None),
        ("j mod 2, i, j//2", "exact", "the elements are a box", [1, 6, 2]),
        ("j mod 2, i, j", "loops", "the box has its elements in another order", None),
        ("j mod 4, i, j//4", "loops", "the elements are no box", None),
    ],
)
def test_a_stream_is_one_instruction_where_its_order_is_a_box(order, by, why, strides):
    found = decision(COPY, RECEIVE.format(order), "receive_x")
    assert (found["by"], found["why"]) == (by, why)
    assert (found["operands"][0]["strides"] if strides else None) == strides
    results = build(COPY, RECEIVE.format(order), "simulate").results()
    assert results["check"]["y"]["right"]

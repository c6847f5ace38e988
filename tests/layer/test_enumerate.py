import islpy as isl
import pytest

from lairmake.stages.layer.task_sets import find_sizes
from tests.layer.built import build

ANY = isl.Set("{ : }")


def described(text):
    return find_sizes(isl.Set(text), ANY)


def test_eqs_42_43_sizes_without_index_and_their_identifiers():
    found = described("[index] -> { [i] : 0 <= i <= 13 and index - 2 <= i <= index <= 15 "
                      "and index >= 0 }")
    assert found["sizes"].is_equal(isl.Set("{ [i] : 1 <= i <= 3 }"))
    assert found["offset"].is_equal(isl.Set("{ [1] }"))
    assert found["identifiers"].is_equal(isl.Set("{ [i] : 0 <= i <= 2 }"))
    assert found["hull"].is_equal(isl.Set("{ [i] : 0 <= i <= 2 }"))


def test_two_dimensions_have_a_box_of_identifiers():
    found = described(
        "[index0, index] -> { [i, j] : 0 <= i <= index0 <= 2 and 1 <= j <= index <= 3 and "
        "index0 >= 0 }"
    )
    assert found["hull"].is_equal(isl.Set("{ [i, j] : 0 <= i <= 2 and 0 <= j <= 2 }"))


@pytest.mark.parametrize(
    "text",
    [
        "[index] -> { [i, j] : 0 <= i <= j <= index <= 3 }",
        "[index] -> { [i] : 0 <= i <= 2index <= 6 and i mod 2 = index mod 2 }",
    ],
)
def test_a_set_that_is_no_box_has_no_sizes(text):
    assert described(text) == {}


CONV = """lair C(): float16 x[9], float16 W[3] -> float16 y[7]
{ all (w, r) in (7, 3) y[w] += x[w + r] * W[r] }
"""
MAPPING = (
    'target: "{{ PE[1, 1] }}"\nplacement: "{{ C[w, r] -> PE[0, 0] }}"\ntensors:\n'
    '  x: {{arrives: "{{ x[w] -> [PE[0, -1] -> index[w]] }}", sparse: true}}\n'
    "simd: {{prefer: {}}}\n"
)


@pytest.mark.parametrize("prefer", ["hull", "exact", "enumerate", "loops"])
def test_sizes_are_enumerated_unless_the_layer_prefers_loops(prefer):
    found = build(CONV, MAPPING.format(prefer), "enumerate").objects("sizes.isl")
    names = ["on_x_hull", "on_x_identifiers", "on_x_offset", "on_x_sizes"]
    assert sorted(found) == ([] if prefer == "loops" else names)


@pytest.mark.parametrize(("fixed", "count"), [(False, 0), (True, 4)])
def test_a_box_of_fixed_size_is_enumerated_only_where_that_is_asked_for(fixed, count):
    elements = isl.Set("[index] -> { [i] : index <= i <= index + 3 and 0 <= index <= 9 }")
    assert len(find_sizes(elements, ANY, fixed)) == count


def test_enumerated_sizes_run_no_extra_instances():
    results = build(CONV, MAPPING.format("enumerate"), "simulate").results()
    assert results["check"]["y"]["right"]
    assert results["tasks"]["on_x"]["extra"] == 0
    assert results["tasks"]["on_x"]["sizes"] == ["1..3"]

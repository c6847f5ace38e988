import islpy as isl
import pytest

from tests.layer.built import build

TARGET = 'target: "{ PE[1, 1] }"\n'
LAYERS = {
    "strided, dilated, with a constant": (
        "lair n(): float16 x[12] -> float16 y[3]\n"
        "{ all (i, k) in (3, 2) y[i] += x[3*i + 4*k + 1] }",
        {
            "instances": "{ n[i, k] : 0 <= i <= 2 and 0 <= k <= 1 }",
            "tensors": "{ x[i] : 0 <= i <= 11; y[i] : 0 <= i <= 2 }",
            "reads": "{ n[i, k] -> x[3i + 4k + 1] : 0 <= i <= 2 and 0 <= k <= 1 }",
            "writes": "{ n[i, k] -> y[i] : 0 <= i <= 2 and 0 <= k <= 1 }",
        },
    ),
    "reversed": (
        "lair n(): float16 x[4] -> float16 y[4] { all (i) in (4) y[i] = x[3 - i] }",
        {"reads": "{ n[i] -> x[3 - i] : 0 <= i <= 3 }"},
    ),
    "a sum without dimensions": (
        "lair n(): float16 x[4] -> float16 s { all (i) in (4) s += x[i] }",
        {"tensors": "{ x[i] : 0 <= i <= 3; s[] }", "writes": "{ n[i] -> s[] : 0 <= i <= 3 }"},
    ),
    "a number only": (
        "lair n(): float16 x[4] -> float16 y[4] { all (i) in (4) y[i] = 2 }",
        {"reads": "{ }", "writes": "{ n[i] -> y[i] : 0 <= i <= 3 }"},
    ),
    "two statements are named after their outputs": (
        "lair n(): float16 x[4] -> float16 y[4], float16 z[2]\n"
        "{ all (i) in (4) y[i] = x[i]\n  all (i) in (2) z[i] = x[2*i] }",
        {
            "instances": "{ n_y[i] : 0 <= i <= 3; n_z[i] : 0 <= i <= 1 }",
            "reads": "{ n_y[i] -> x[i] : 0 <= i <= 3; n_z[i] -> x[2i] : 0 <= i <= 1 }",
        },
    ),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_description_of_a_layer(layer):
    lair, expected = LAYERS[layer]
    found = build(lair, TARGET, "parse").objects("lair.isl")
    instances = found["instances"]
    for name, text in expected.items():
        obj = found[name]
        if name in ("reads", "writes"):
            obj = obj.intersect_domain(instances)
        assert obj.is_equal(type(obj)(text)), f"{name} is {obj}"


def test_instances_are_bounded_and_accesses_hold_for_any_instance():
    found = build(LAYERS["reversed"][0], TARGET, "parse").objects("lair.isl")
    assert found["reads"].is_equal(isl.UnionMap("{ n[i] -> x[3 - i] }"))

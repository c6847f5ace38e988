import islpy as isl

from stages.poly.slice import bind_placement, instance_set


def test_placement_is_bound_on_the_instances_only() -> None:
    placement = isl.Map("{ S[i] -> PE[i // 4, 0] }")
    bound = bind_placement(placement, isl.Set("{ S[i] : 0 <= i < 8 }"))
    expected = isl.Set("[PE_X, PE_Y] -> { S[i] : 0 <= i < 8 and PE_X = i // 4 and PE_Y = 0 }")
    assert bound.is_equal(expected)


def test_instances_are_those_that_read_the_arriving_element() -> None:
    instances = instance_set(
        isl.Map("{ S[i, j] -> PE[i, 0] }"),
        isl.Set("{ S[i, j] : 0 <= i, j < 4 }"),
        isl.Map("{ S[i, j] -> x[2j, i] }"),
        isl.Map("{ x[a, b] -> index[b, a] : 0 <= a < 8 and 0 <= b < 4 }"),
    )
    expected = isl.Set(
        "[PE_X, PE_Y, index0, index] -> { S[i, j] : i = PE_X = index0 and 0 <= i < 4 "
        "and PE_Y = 0 and index = 2j and 0 <= j < 4 }"
    )
    assert instances.is_equal(expected)

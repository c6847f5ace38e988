"""V, the fully connected layer: Sections 4.2, 4.3, 5.1 and 5.2, Examples 5.1, 5.2, 5.4 and 5.8.

Section 5 keeps the index of x as it is outside of the adapters. So does a layer without adapters,
`in_columns`, at whose columns x arrives with the index of the whole vector.
"""

from collections.abc import Callable
from typing import Any

import islpy as isl
import pytest

from lairmake.stages.poly.box import (
    ExactBounds,
    at_this_pe,
    bound_set,
    exact_bounds,
    find_fixed_size,
    find_shape,
)
from lairmake.stages.poly.canonical import from_domain
from lairmake.stages.poly.functions import PE_NAMES, project_names
from lairmake.stages.poly.sides import at_index
from tests.paper.written import Written

pytestmark = pytest.mark.xdist_group("paper")

IN_COLUMNS = "{ x[i=0:15] -> [PE[i//4, -1] -> index[i]] }"

MustEqual = Callable[..., None]
Entry = dict[str, Any]


@pytest.fixture(scope="module")
def fc(write: Callable[..., Written]) -> Written:
    return write("fc")


@pytest.fixture(scope="module")
def without_adapters(write: Callable[..., Written], golden: Entry) -> Callable[[bool], Written]:
    """The layer after Section 4.2, as one of its own; x is sparse or dense."""
    adjusted = golden["fc"]["adjusted"]

    def written(sparse: bool) -> Written:
        return write(
            "fc",
            target=adjusted["target"],
            placement=adjusted["placement_ff"]["isl"],
            tensors={
                "x": {"arrives": IN_COLUMNS, "sparse": sparse},
                "y": {"leaves": adjusted["y"]["isl"]},
            },
        )

    return written


@pytest.fixture(scope="module")
def in_columns(without_adapters: Callable[[bool], Written]) -> Written:
    return without_adapters(True)


@pytest.fixture(scope="module")
def adjusted(golden: Entry) -> Entry:
    return golden["fc"]["adjusted"]


@pytest.fixture(scope="module")
def allocation(golden: Entry) -> Entry:
    return golden["fc"]["allocation_y"]


@pytest.fixture(scope="module")
def on_x(golden: Entry) -> Entry:
    return golden["fc"]["on_x"]


@pytest.fixture(scope="module")
def instances(in_columns: Written) -> isl.Set:
    return in_columns.set("instances.isl", "on_x")


@pytest.fixture(scope="module")
def bounds(in_columns: Written, instances: isl.Set) -> ExactBounds:
    return exact_bounds(instances, in_columns.set("instances.isl", "on_x_known"))


def test_eq_5_x_arrives_through_adapters(
    fc: Written, adjusted: Entry, must_equal: MustEqual
) -> None:
    must_equal(fc.object("adapted.isl", "arrivals"), adjusted["x"])


def test_eq_6_y_leaves_one_row_higher(fc: Written, adjusted: Entry, must_equal: MustEqual) -> None:
    must_equal(fc.object("adapted.isl", "departures"), adjusted["y"])


def test_eq_10_placement_is_shifted_by_the_peeled_row(fc: Written, adjusted: Entry) -> None:
    given = isl.UnionMap(adjusted["placement_ff"]["isl"])
    expected = given.intersect_domain(fc.object("lair.isl", "instances"))
    assert fc.object("adapted.isl", "placement").is_equal(expected)


def test_sec_4_2_target_is_reduced_by_the_peeled_row(fc: Written, adjusted: Entry) -> None:
    size = isl.Set(adjusted["target"])
    width, height = (size.dim_max_val(k).to_python() for k in range(2))
    expected = isl.Set(f"{{ PE[0:{width - 1}, 0:{height - 1}] }}")
    assert fc.set("adapted.isl", "target").is_equal(expected)


def test_eq_7_accessed_elements_of_y(
    fc: Written, allocation: Entry, must_equal: MustEqual
) -> None:
    accessed = from_domain(fc.object("allocations.isl", "accessed").reverse(), "y")
    must_equal(accessed.reverse(), allocation["accessed"])


def test_sec_4_3_size_of_y_local(fc: Written, allocation: Entry) -> None:
    local = isl.Set.from_union_set(
        fc.object("allocations.isl", "local").intersect(isl.UnionSet("{ y_local[i] }"))
    )
    assert f"{{ y{list(find_shape(local))} }}" == allocation["size"]


def test_eq_8_global_to_local_y(fc: Written, allocation: Entry) -> None:
    expected = isl.UnionMap(allocation["to_local"]["isl"])
    assert expected.is_subset(fc.object("allocations.isl", "to_local"))


def test_eq_9_global_to_local_y_bound(
    fc: Written, allocation: Entry, must_equal: MustEqual
) -> None:
    to_local = at_this_pe(fc.object("allocations.isl", "to_local"))
    must_equal(to_local["y"], allocation["to_local_bound"])


def test_example_5_1_elements_of_x_at_index_values(in_columns: Written) -> None:
    arriving = at_index(in_columns.map("adapted.isl", "arrivals"))
    assert project_names(arriving, PE_NAMES).is_equal(
        isl.Set("[index] -> { x[index] : 0 <= index <= 15 }")
    )


def test_eq_11_bound_placement(
    without_adapters: Callable[[bool], Written], on_x: Entry, must_equal: MustEqual
) -> None:
    """Where x is dense, all instances of a PE run at once."""
    instances = without_adapters(False).set("instances.isl", "compute_ff")
    must_equal(instances, on_x["bound_placement"])


def test_eq_12_instance_set(instances: isl.Set, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(instances, on_x["instances"])


def test_eq_12_behind_adapters_index_counts_from_the_first_element_of_a_column(
    fc: Written, must_equal: MustEqual
) -> None:
    must_equal(
        fc.set("instances.isl", "on_x"),
        "[PE_X, PE_Y, index] -> { ff[i, j = 4PE_X + index] : 0 <= index <= 3 and "
        "0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 8PE_Y <= i <= 7 + 8PE_Y }",
    )


def test_eq_13_minimum(
    instances: isl.Set, bounds: ExactBounds, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(bound_set(instances, bounds.minimum), on_x["minimum"], on_x["known"])


def test_eq_14_maximum(
    instances: isl.Set, bounds: ExactBounds, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(bound_set(instances, bounds.maximum), on_x["maximum"], on_x["known"])


def test_eq_15_known_constraints(
    in_columns: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(in_columns.set("instances.isl", "on_x_known"), on_x["known"])


def test_eq_16_size(
    instances: isl.Set, bounds: ExactBounds, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(bound_set(instances, bounds.size), on_x["size"], on_x["known"])


def test_example_5_2_dense_box_of_fixed_size(bounds: ExactBounds) -> None:
    assert bounds.is_box
    sizes = find_fixed_size(bounds, ["index"])
    assert sizes is not None
    assert [str(size) for size in sizes] == [
        "[PE_X, PE_Y] -> { [(8)] }",
        "[PE_X, PE_Y] -> { [(1)] }",
    ]


def test_eq_18_compression(in_columns: Written, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(in_columns.map("compressions.isl", "on_x_compression"), on_x["compression"])


def test_eq_19_compressed_instance_set(
    in_columns: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(in_columns.set("compressions.isl", "on_x"), on_x["compressed"])


def test_eq_20_bounds_of_compressed_instance_set(
    in_columns: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    for bound in ("minimum", "maximum"):
        found = in_columns.set("hulls.isl", f"on_x_{bound}")
        must_equal(found, on_x[f"compressed_{bound}"], on_x["known"])


def test_eq_21_size_of_compressed_instance_set(
    in_columns: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    compressed = in_columns.set("compressions.isl", "on_x")
    bounds = exact_bounds(compressed, in_columns.set("instances.isl", "on_x_known"))
    must_equal(bound_set(compressed, bounds.size), on_x["compressed_size"], on_x["known"])
    assert bounds.is_box


def test_example_5_8_box_hull_without_extra_instances(
    in_columns: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(in_columns.set("hulls.isl", "on_x_offset"), on_x["hull"]["offset"])
    must_equal(in_columns.set("hulls.isl", "on_x_size"), on_x["hull"]["size"])
    extra = in_columns.object("hulls.isl", "on_x_extra")
    assert extra.is_empty() == on_x["hull"]["extra_empty"]

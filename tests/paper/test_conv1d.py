"""V, the 1D convolution: Sections 5.1 to 5.4, Examples 5.3, 5.5, 5.9 and 5.10."""

from collections.abc import Callable
from typing import Any

import islpy as isl
import pytest

from lairmake.stages.poly.box import (
    ExactBounds,
    accessed_by,
    at_this_pe,
    bound_set,
    exact_bounds,
    find_fixed_size,
)
from lairmake.stages.poly.canonical import from_domain, to_range
from lairmake.stages.poly.functions import PE_NAMES, bind_domain
from tests.paper.written import Written

pytestmark = pytest.mark.xdist_group("paper")

MustEqual = Callable[..., None]
Entry = dict[str, Any]


@pytest.fixture(scope="module")
def conv1d(write: Callable[..., Written]) -> Written:
    return write("conv1d")


@pytest.fixture(scope="module")
def on_x(golden: Entry) -> Entry:
    return golden["conv1d"]["on_x"]


@pytest.fixture(scope="module")
def known(conv1d: Written) -> isl.Set:
    return conv1d.set("instances.isl", "on_x_known")


@pytest.fixture(scope="module")
def compressed(conv1d: Written) -> isl.Set:
    return conv1d.set("compressions.isl", "on_x")


@pytest.fixture(scope="module")
def bounds(compressed: isl.Set, known: isl.Set) -> ExactBounds:
    return exact_bounds(compressed, known)


@pytest.fixture(scope="module")
def to_local(conv1d: Written) -> dict[str, isl.Map]:
    return at_this_pe(conv1d.object("allocations.isl", "to_local"))


@pytest.fixture(scope="module")
def local_access(conv1d: Written, to_local: dict[str, isl.Map]) -> Callable[[str], isl.Map]:
    """Return the access to a tensor, through the compression and the mapping to local memory."""

    def access_to(tensor: str) -> isl.Map:
        access = to_range(conv1d.object("compressions.isl", "on_x_access"), tensor)
        return isl.Map.from_union_map(access).apply_range(to_local[tensor])

    return access_to


def test_eq_17_instance_set(conv1d: Written, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(conv1d.set("instances.isl", "on_x"), on_x["instances"])


def test_example_5_3_instances_are_no_box(conv1d: Written, known: isl.Set) -> None:
    assert not exact_bounds(conv1d.set("instances.isl", "on_x"), known).is_box


def test_eq_22_compression(conv1d: Written, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(conv1d.map("compressions.isl", "on_x_compression"), on_x["compression"])


def test_eq_23_compressed_instance_set(
    compressed: isl.Set, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(compressed, on_x["compressed"])


def test_eq_24_size_of_compressed_instance_set(
    compressed: isl.Set, bounds: ExactBounds, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(bound_set(compressed, bounds.size), on_x["compressed_size"], on_x["known"])


def test_example_5_5_box_of_varying_size(bounds: ExactBounds) -> None:
    assert bounds.is_box
    assert find_fixed_size(bounds, ["index"]) is None


def test_eq_25_accesses_of_instances(conv1d: Written, on_x: Entry) -> None:
    instances = conv1d.object("lair.isl", "instances")
    for name, tensor in (("reads", "W"), ("writes", "y")):
        expected = isl.UnionMap(on_x["accesses"][tensor]).intersect_domain(instances)
        found = to_range(conv1d.object("lair.isl", name), tensor)
        assert found.intersect_domain(instances).is_equal(expected)


@pytest.mark.parametrize("tensor", ["W", "y"])
def test_eq_26_accesses_of_compressed_instances(
    tensor: str, conv1d: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    access = to_range(conv1d.object("compressions.isl", "on_x_access"), tensor)
    must_equal(access, on_x["compressed_accesses"][tensor])


def test_example_5_9_box_hull(conv1d: Written, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(conv1d.set("hulls.isl", "on_x_offset"), on_x["hull"]["offset"])
    must_equal(conv1d.set("hulls.isl", "on_x_size"), on_x["hull"]["size"])


def test_eq_35_approximated_instance_set(
    conv1d: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(conv1d.set("hulls.isl", "on_x_hull"), on_x["approximated"])


def test_eq_36_extra_instances(conv1d: Written, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(conv1d.set("hulls.isl", "on_x_extra"), on_x["extra"], on_x["known"])


def test_eq_37_local_reads_of_w(
    local_access: Callable[[str], isl.Map], on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(local_access("W"), on_x["local_reads"]["W"])


def test_eq_38_extra_local_reads_of_w(
    conv1d: Written,
    local_access: Callable[[str], isl.Map],
    on_x: Entry,
    must_equal: MustEqual,
) -> None:
    read = accessed_by(local_access("W"), conv1d.set("hulls.isl", "on_x_extra"), [])
    must_equal(read, on_x["extra_local_reads"], on_x["known"])


def test_eq_39_local_writes_of_y(
    local_access: Callable[[str], isl.Map], on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(local_access("y"), on_x["local_writes"]["y"])


def test_eq_40_written_by_proper_instances(
    conv1d: Written, to_local: dict[str, isl.Map], on_x: Entry, must_equal: MustEqual
) -> None:
    accessed = from_domain(conv1d.object("allocations.isl", "accessed").reverse(), "y")
    elements = bind_domain(isl.Map.from_union_map(accessed.reverse()), PE_NAMES)
    must_equal(elements.apply(to_local["y"]), on_x["written_by_proper"])


def test_eq_41_written_by_extra_instances(
    conv1d: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(conv1d.set("hulls.isl", "on_x_writes"), on_x["written_by_extra"])


def test_example_5_9_extra_instances_do_no_harm(conv1d: Written) -> None:
    """They write nothing that proper ones write, and read nothing that is not there."""
    assert conv1d.object("hulls.isl", "on_x_conflict").is_empty()
    assert conv1d.object("hulls.isl", "on_x_outside").is_empty()


def test_example_5_9_extended_allocation_of_y(conv1d: Written, on_x: Entry) -> None:
    entry = on_x["extended_allocation"]
    assert entry["size"] == "{ y_local[1, 18] }"
    assert isl.UnionSet("{ y_local[0, 0:17] }").is_subset(conv1d.object("memory.isl", "local"))
    assert entry["shift"] == "{ y_local[0, -2] }"
    to_local = conv1d.object("memory.isl", "to_local")
    assert isl.UnionMap("{ [PE[0, 0] -> y[0, 0]] -> y_local[0, 2] }").is_subset(to_local)


def test_eq_42_sizes_over_all_index_values(
    conv1d: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(conv1d.set("sizes.isl", "on_x_sizes"), on_x["enumeration"]["sizes"])


def test_example_5_10_box_hull_of_sizes(
    conv1d: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    hull = on_x["enumeration"]["hull_of_sizes"]
    must_equal(conv1d.set("sizes.isl", "on_x_offset"), hull["offset"])
    greatest = conv1d.set("sizes.isl", "on_x_hull").dim_max_val(0).to_python()
    assert hull["size"] == f"{{ [{greatest + 1}] }}"


def test_eq_43_identifiers_of_sizes(
    conv1d: Written, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(conv1d.set("sizes.isl", "on_x_identifiers"), on_x["enumeration"]["identifiers"])


def test_example_5_10_sizes_are_enumerated_where_that_is_preferred(
    write: Callable[..., Written],
) -> None:
    decision = write("conv1d", simd={"prefer": "enumerate"}).simd("on_x")
    assert (decision["by"], decision["several"], decision["least"]) == ("enumerate", [3], [1])

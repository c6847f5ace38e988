"""The 1D convolution: Sections 5.1 to 5.4, Examples 5.3, 5.5, 5.9 and 5.10."""

from collections.abc import Callable
from typing import Any

import islpy as isl
import pytest

from stages.poly.bind import PE_NAMES
from stages.poly.bounds import ExactBounds, bound_set, exact_bounds, fixed_size
from stages.poly.box_hull import BoxHull, as_set, box_hull, local_map, offset_set, size_set
from stages.poly.compression import Compressed, compress, compressed_access
from stages.poly.enumerated import Enumeration, enumerate_sizes
from stages.poly.interference import (
    Extension,
    accessed_by,
    extend_allocation,
    extra_instances,
    interferes,
)
from stages.poly.slice import bind_placement, instance_set

INSTANCES = isl.Set("{ C[k=0:1, w=0:13, rw=0:2] }")
READ_X = isl.Map("{ C[k, w, rw] -> x[w + rw] }")

MustEqual = Callable[..., None]
Entry = dict[str, Any]


@pytest.fixture
def on_x(golden: Entry) -> Entry:
    return golden["conv1d"]["on_x"]


@pytest.fixture
def placement(golden: Entry) -> isl.Map:
    return isl.Map(golden["conv1d"]["placement"])


@pytest.fixture
def instances(placement: isl.Map, on_x: Entry) -> isl.Set:
    return instance_set(placement, INSTANCES, READ_X, isl.Map(on_x["order"]))


@pytest.fixture
def compressed(instances: isl.Set) -> Compressed:
    return compress(instances)


@pytest.fixture
def bounds(compressed: Compressed, on_x: Entry) -> ExactBounds:
    return exact_bounds(compressed.set, isl.Set(on_x["known"]["isl"]))


@pytest.fixture
def hull(compressed: Compressed) -> BoxHull:
    found = box_hull(compressed.set)
    assert found is not None
    return found


@pytest.fixture
def approximated(hull: BoxHull, compressed: Compressed) -> isl.Set:
    return as_set(hull, compressed.set.params())


@pytest.fixture
def extra(approximated: isl.Set, compressed: Compressed) -> isl.Set:
    return extra_instances(approximated, compressed.set)


@pytest.fixture
def enumeration(bounds: ExactBounds) -> Enumeration:
    found = enumerate_sizes(bounds, ["index"])
    assert found is not None
    return found


@pytest.fixture
def local_access(
    compressed: Compressed, placement: isl.Map, on_x: Entry
) -> Callable[[str], isl.Map]:
    """The access to a tensor, through the compression and the mapping to local memory."""

    def access_to(tensor: str) -> isl.Map:
        access = isl.Map(on_x["accesses"][tensor])
        accessed = bind_placement(placement, INSTANCES).apply(access)
        hull = box_hull(accessed, None, PE_NAMES, quasi_affine=True)
        assert hull is not None
        return compressed_access(access, compressed).apply_range(
            local_map(hull, f"{tensor}_local")
        )

    return access_to


def test_eq_17_instance_set(instances: isl.Set, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(instances, on_x["instances"])


def test_example_5_3_instances_are_no_box(instances: isl.Set, on_x: Entry) -> None:
    assert not exact_bounds(instances, isl.Set(on_x["known"]["isl"])).is_box


def test_eq_22_compression(compressed: Compressed, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(compressed.map, on_x["compression"])


def test_eq_23_compressed_instance_set(
    compressed: Compressed, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(compressed.set, on_x["compressed"])


def test_eq_24_size_of_compressed_instance_set(
    compressed: Compressed, bounds: ExactBounds, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(bound_set(compressed.set, bounds.size), on_x["compressed_size"], on_x["known"])


def test_example_5_5_box_of_varying_size(bounds: ExactBounds) -> None:
    assert bounds.is_box
    assert fixed_size(bounds, ["index"]) is None


@pytest.mark.parametrize("tensor", ["W", "y"])
def test_eq_25_and_26_accesses_of_compressed_instances(
    tensor: str, compressed: Compressed, on_x: Entry, must_equal: MustEqual
) -> None:
    access = compressed_access(isl.Map(on_x["accesses"][tensor]), compressed)
    must_equal(access, on_x["compressed_accesses"][tensor])


def test_example_5_9_box_hull(hull: BoxHull, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(offset_set(hull), on_x["hull"]["offset"])
    must_equal(size_set(hull), on_x["hull"]["size"])


def test_eq_35_approximated_instance_set(
    approximated: isl.Set, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(approximated, on_x["approximated"])


def test_eq_36_extra_instances(extra: isl.Set, on_x: Entry, must_equal: MustEqual) -> None:
    must_equal(extra, on_x["extra"], on_x["known"])


def test_eq_37_local_reads_of_w(
    local_access: Callable[[str], isl.Map], on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(local_access("W"), on_x["local_reads"]["W"])


def test_eq_38_extra_local_reads_of_w(
    local_access: Callable[[str], isl.Map], extra: isl.Set, on_x: Entry, must_equal: MustEqual
) -> None:
    read = accessed_by(local_access("W"), extra, [])
    must_equal(read, on_x["extra_local_reads"], on_x["known"])


def test_eq_39_local_writes_of_y(
    local_access: Callable[[str], isl.Map], on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(local_access("y"), on_x["local_writes"]["y"])


def test_eq_40_written_by_proper_instances(
    local_access: Callable[[str], isl.Map],
    compressed: Compressed,
    on_x: Entry,
    must_equal: MustEqual,
) -> None:
    written = accessed_by(local_access("y"), compressed.set, ["index"])
    must_equal(written, on_x["written_by_proper"])


def test_eq_41_written_by_extra_instances(
    local_access: Callable[[str], isl.Map], extra: isl.Set, on_x: Entry, must_equal: MustEqual
) -> None:
    written = accessed_by(local_access("y"), extra, ["index"])
    must_equal(written, on_x["written_by_extra"])


def test_example_5_9_extra_instances_do_not_interfere(
    local_access: Callable[[str], isl.Map], compressed: Compressed, extra: isl.Set
) -> None:
    by_proper = accessed_by(local_access("y"), compressed.set, ["index"])
    by_extra = accessed_by(local_access("y"), extra, ["index"])
    assert not interferes(by_proper, by_extra)


def test_example_5_9_reads_of_extra_instances_stay_in_bounds(
    local_access: Callable[[str], isl.Map], extra: isl.Set
) -> None:
    read = accessed_by(local_access("W"), extra, [])
    assert extend_allocation([1, 3], read) == Extension(size=(1, 3), shift=(0, 0))


def test_example_5_9_extended_allocation_of_y(
    local_access: Callable[[str], isl.Map], extra: isl.Set, on_x: Entry
) -> None:
    written = accessed_by(local_access("y"), extra, ["index"])
    extension = extend_allocation([1, 14], written)
    assert extension is not None
    entry = on_x["extended_allocation"]
    assert isl.Set(f"{{ y_local{list(extension.size)} }}").is_equal(isl.Set(entry["size"]))
    assert isl.Set(f"{{ y_local{list(extension.shift)} }}").is_equal(isl.Set(entry["shift"]))


def test_eq_42_sizes_over_all_index_values(
    enumeration: Enumeration, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(enumeration.sizes, on_x["enumeration"]["sizes"])


def test_example_5_10_box_hull_of_sizes(
    enumeration: Enumeration, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(offset_set(enumeration.hull), on_x["enumeration"]["hull_of_sizes"]["offset"])
    must_equal(size_set(enumeration.hull), on_x["enumeration"]["hull_of_sizes"]["size"])


def test_eq_43_identifiers_of_sizes(
    enumeration: Enumeration, on_x: Entry, must_equal: MustEqual
) -> None:
    must_equal(enumeration.identifiers, on_x["enumeration"]["identifiers"])
    assert enumeration.count == 3

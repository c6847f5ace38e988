import islpy as isl
import pytest

from lairmake.stages.layer.task_sets import allocate
from lairmake.stages.poly.canonical import list_maps
from tests.layer.built import build


@pytest.mark.parametrize(
    ("accessed", "local", "to_local"),
    [
        (
            "{ PE[x, y] -> T[i] : 8y <= i <= 8y + 7 and 0 <= y <= 3 and 0 <= x <= 1 }",
            "{ T_local[l] : 0 <= l <= 7 }",
            "{ [PE[x, y] -> T[i]] -> T_local[i - 8y] }",
        ),
        (
            "{ PE[x, y] -> T[i, j] : 2*(x//2) <= i <= 2*(x//2) + 1 and j = 3 and 0 <= x <= 3 }",
            "{ T_local[l, 0] : 0 <= l <= 1 }",
            "{ [PE[x, y] -> T[i, j]] -> T_local[i - 2*(x//2), j - 3] }",
        ),
        (
            "{ PE[x, y] -> T[i] : x <= i <= 3 and 0 <= x <= 3 }",
            "{ T_local[l] : 0 <= l <= 3 }",
            "{ [PE[x, y] -> T[i]] -> T_local[i] }",
        ),
        (
            "{ PE[x, y] -> T[i] : i mod 4 = x and 0 <= i <= 15 and 0 <= x <= 3 }",
            "{ T_local[l] : 0 <= l <= 3 }",
            "{ [PE[x, y] -> T[i]] -> T_local[i//4] }",
        ),
        (
            "{ PE[x, y] -> T[i, j] : (i//2) mod 4 = y and 0 <= i <= 23 and 3x <= j <= 3x + 2 and "
            "0 <= x <= 3 and 0 <= y <= 3 }",
            "{ T_local[a, c, l] : 0 <= a <= 2 and 0 <= c <= 1 and 0 <= l <= 2 }",
            "{ [PE[x, y] -> T[i, j]] -> T_local[i//8, i mod 2, j - 3x] }",
        ),
        (
            "{ PE[x, y] -> T[e] : exists i, k : e = 3i + k and 4x <= i <= 4x + 3 and "
            "0 <= k <= 1 and 0 <= x <= 3 }",
            "{ T_local[i, k] : 0 <= i <= 3 and 0 <= k <= 1 }",
            "{ [PE[x, y] -> T[e]] -> T_local[e//3 - 4x, e mod 3] }",
        ),
        (
            "{ PE[x, y] -> T[i, j] : i = j and 0 <= i <= 3 and 0 <= x <= 3 }",
            "{ T_local[l] : 0 <= l <= 3 }",
            "{ [PE[x, y] -> T[i, j]] -> T_local[i] }",
        ),
        (
            "{ PE[x, y] -> T[] : 0 <= x <= 3 }",
            "{ T_local[] }",
            "{ [PE[x, y] -> T[]] -> T_local[] }",
        ),
    ],
)
def test_eqs_7_to_9_local_memory_is_the_box_hull_of_what_a_pe_accesses(accessed, local, to_local):
    size, allocation = allocate(isl.Map(accessed))
    assert size.is_equal(isl.Set(local))
    known = isl.Map(accessed).wrap()
    expected = isl.Map(to_local).intersect_domain(known)
    assert allocation.intersect_domain(known).is_equal(expected)


MAPPING = (
    'target: "{ PE[2, 3] }"\nplacement: "{ n[i, j] -> PE[j//3, 1 + i//2] }"\ntensors:\n'
    '  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }"}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, 1 + i//2] -> index[i mod 2]] }"}\n'
)
LAIR = """lair n(): float16 W[4][6], float16 x[6] -> float16 y[4]
{ all (i, j) in (4, 6) y[i] += W[i][j] * x[j] }
"""


def accessed(mapping=MAPPING):
    return build(LAIR, mapping, "allocate").objects("allocations.isl")["accessed"]


def test_a_pe_keeps_what_it_reads_of_resident_and_dense_tensors_and_what_it_computes():
    expected = isl.UnionMap(
        "{ PE[x, y] -> W[i, j] : 2y <= i <= 2y + 1 and 3x <= j <= 3x + 2 and 0 <= x <= 1 and "
        "0 <= y <= 1; PE[x, y] -> x[j] : 3x <= j <= 3x + 2 and 0 <= x <= 1 and 0 <= y <= 1;"
        "  PE[x, y] -> y[i] : 2y <= i <= 2y + 1 and 0 <= x <= 1 and 0 <= y <= 1;"
        "  PE[x, -1] -> x_source[j] : 0 <= j <= 5 and 0 <= x <= 1 }"
    )
    assert accessed().is_equal(expected)


def test_a_sparse_tensor_to_which_tasks_react_is_not_kept():
    mapping = MAPPING.replace('index[j]] }"}', 'index[j]] }", sparse: true}')
    names = [m.get_tuple_name(isl.dim_type.out) for m in list_maps(accessed(mapping))]
    assert names == ["W", "y"]


def test_a_pe_that_only_passes_sums_on_keeps_room_for_them():
    mapping = (
        'target: "{ PE[3, 1] }"\nplacement: "{ n[i, j] -> PE[j//3, 0] }"\ntensors:\n'
        '  y: {leaves: "{ y[i] -> [PE[3, 0] -> index[i]] }"}\n'
    )
    assert isl.UnionMap("{ PE[2, 0] -> y[i] : 0 <= i <= 3 }").is_subset(accessed(mapping))


def test_a_pe_keeps_all_of_a_dense_stream_that_passes_it():
    mapping = (
        'target: "{ PE[1, 2] }"\nplacement: "{ n[i, j] -> PE[0, j//3] }"\ntensors:\n'
        '  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }"}\n'
        '  y: {leaves: "{ y[i] -> [PE[0, 2] -> index[i]] }"}\n'
    )
    assert isl.UnionMap("{ PE[0, 0:1] -> x[j] : 0 <= j <= 5 }").is_subset(accessed(mapping))

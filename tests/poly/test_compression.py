import islpy as isl
import pytest
from hypothesis import given

from lairmake.stages.poly.compression import compress, drop_hidden_equalities, keeps_order
from tests.poly.random_sets import sets

TABLE = [
    ("{ A[i] : 0 <= i < 9 }", "{ [i] -> A[i] }"),
    ("{ A[i] : 0 <= i < 9 and i mod 3 = 1 }", "{ [i] -> A[1 + 3i] }"),
    ("[n] -> { A[i, j] : i + j = n and 0 <= i <= 3 }", "[n] -> { [i] -> A[n - i, i] }"),
    ("[n] -> { A[i] : 2i = n and 0 <= i < 9 }", "[n] -> { [] -> A[n // 2] }"),
    ("[n] -> { A[] : n mod 2 = 0 }", "[n] -> { [] -> A[] }"),
    ("{ A[i, j] : i = j and (0 <= i < 3 or 7 <= i < 9) }", "{ [i] -> A[i, i] }"),
    ("{ A[i] : i mod 2 = 0 or i mod 4 = 1 }", "{ [i] -> A[i] }"),
    ("{ A[i] : false }", "{ [i] -> A[i] }"),
]

AWKWARD = [
    "[n] -> { A[i, j] : exists a, b : i = 4a + 6b and j = a - b and 0 <= a < 9 and 0 <= b < 9 }",
    "[n] -> { A[i] : exists a, b : i = 6a + 10b and 0 <= a < 3 and 0 <= b < n }",
    "[n, m] -> { A[i, j] : 2i + 4j = n and 3i - j = m }",
    "[n, m] -> { A[i, j, k] : 6i + 10j + 15k = n and 0 <= i, j, k < m }",
    "[n, m] -> { A[i] : n = 2m and 3i = n }",
]


def _is_bijection(elements: isl.Set) -> bool:
    compressed = compress(elements)
    restricted = compressed.map.intersect_domain(compressed.set)
    return (
        restricted.range().is_equal(elements)
        and restricted.is_injective()
        and restricted.is_single_valued()
    )


@pytest.mark.parametrize(("text", "compression"), TABLE)
def test_compression_follows_from_the_equalities(text: str, compression: str) -> None:
    assert compress(isl.Set(text)).map.is_equal(isl.Map(compression))


@pytest.mark.parametrize("text", [*(text for text, _ in TABLE), *AWKWARD])
def test_compression_is_a_bijection(text: str) -> None:
    assert _is_bijection(isl.Set(text))


@pytest.mark.wide
@given(sets())
def test_compression_of_any_set_is_a_bijection(elements: isl.Set) -> None:
    assert _is_bijection(elements)


@pytest.mark.wide
@given(sets())
def test_compression_never_adds_dimensions(elements: isl.Set) -> None:
    assert compress(elements).set.dim(isl.dim_type.set) <= elements.dim(isl.dim_type.set)


def test_compressed_tuple_has_no_name() -> None:
    assert not compress(isl.Set("{ A[i] : i = 3 }")).set.has_tuple_name()


@pytest.mark.parametrize(
    ("compression", "kept"),
    [
        ("{ [i] -> index[i, 2i] }", True),
        ("{ [i] -> index[-i, 0] }", False),
        ("{ [i, j] -> index[j, i] }", False),
        ("[p] -> { [i, j] -> index[p, i, j + p] }", True),
    ],
)
def test_a_compression_keeps_the_order_of_elements_or_not(compression, kept):
    relation = isl.Map(compression)
    size = relation.dim(isl.dim_type.in_)
    elements = isl.Set(f"{{ [{', '.join(['0:3'] * size)}] }}")
    assert keeps_order(relation, elements) is kept


def test_an_equality_that_is_not_written_in_the_set_is_removed() -> None:
    elements = isl.Set("[n] -> { A[i, j] : 0 <= i < 4 and n - 3 <= 4j <= n }")
    compressed = drop_hidden_equalities(compress(elements))
    assert compressed.set.is_equal(isl.Set("[n] -> { [i] : 0 <= i < 4 }"))
    restricted = compressed.map.intersect_domain(compressed.set)
    assert restricted.range().is_equal(elements)


@given(sets())
def test_without_hidden_equalities_any_compression_is_a_bijection(elements: isl.Set) -> None:
    compressed = drop_hidden_equalities(compress(elements))
    restricted = compressed.map.intersect_domain(compressed.set)
    assert restricted.range().is_equal(elements)
    assert restricted.is_injective()

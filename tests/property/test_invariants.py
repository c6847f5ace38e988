import islpy as isl
import pytest

from tests.property import invariants

KNOWN = "[PE_X, index] -> { : 0 <= PE_X <= 2 and 0 <= index <= 40 }"
ROWS = "[PE_X, index] -> { x[i, j] : i = index // 8 and 3*j = index and index mod 4 = PE_X }"
FEWER = "[PE_X, index] -> { x[i, j] : i = index // 8 and 3*j = index and index mod 4 = PE_X < 2 }"


@pytest.mark.parametrize("most_operations", [10, 1_000_000])
def test_sets_are_compared_value_by_value_where_isl_would_work_for_minutes(
    monkeypatch, most_operations
):
    """Both ways find what is equal, and what differs in one value of a constant."""
    monkeypatch.setattr(invariants, "MOST_OPERATIONS", most_operations)
    known = isl.Set(KNOWN)
    rows, fewer = (isl.Set(text).intersect_params(known) for text in (ROWS, FEWER))
    assert invariants.are_equal(rows, rows.coalesce(), known)
    assert not invariants.are_equal(rows, fewer, known)

"""Lags are taken where they do not make more accesses remote."""

import pytest

from stages.skewing.paying import choose_lags, depth
from stages.skewing.statements import Machine, group_statements
from tests.skewing.nests import LARGE, nest


def choice(kept):
    """Return F that eliminates the broadcast of a, and F taken, with tensors that PEs keep.

    With a lag, a PE is idle for 7 of 9 steps each time around k, and reads anew what it kept.
    """
    reads = [f"S[t, k, i] -> {tensor}[i]" for tensor in kept]
    space = nest(
        "{ S[t, k, i] : 0 <= t < 8 and 0 <= k < 2 and 0 <= i < 8 }", "{ S[t, k, i] -> [t, k] }",
        "{ S[t, k, i] -> PE[i, 0] }", f"{{ S[t, k, i] -> a[k]; {'; '.join(reads)} }}",
    )
    machine = Machine(memory=LARGE, sizes=dict.fromkeys(["a", *kept], 2), wishes={})
    wanted, taken = choose_lags(space, group_statements(space, machine)[0])
    return wanted["S"], taken["S"]


@pytest.mark.parametrize(
    ("kept", "remote_before", "remote_after"),
    [("u", 128 + 8, 16 + 64), ("uv", 128 + 16, 16 + 128), ("uvw", 128 + 24, 16 + 192)],
)
def test_a_lag_is_taken_where_it_makes_no_more_accesses_remote(kept, remote_before, remote_after):
    wanted, taken = choice(kept)
    assert wanted == ((0, 0), (-1, 0))
    assert taken == (wanted if remote_after <= remote_before else ((0, 0), (0, 0)))


def test_steps_are_told_apart_down_to_the_last_time_that_lags():
    assert depth(((0, 0), (1, 0), (0, 0))) == 2
    assert depth(((0, 0), (0, 0))) == 2

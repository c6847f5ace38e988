"""Each lag is taken where the accesses that it saves take longer than the steps that it adds."""

import pytest

from lairmake.stages.skewing import lags
from lairmake.stages.skewing.lags import MORE, NOTHING, SLOW, choose_lags, depth
from lairmake.stages.skewing.statements import group_statements
from tests.skewing.nests import LARGE, machine_for, nest


def choice(space, remote, memory=LARGE):
    """Return F that eliminates broadcasts, F taken, how deep steps are, and what each lag does."""
    machine = machine_for(space, memory, remote=remote)
    found = choose_lags(space, group_statements(space, machine)[0])
    said = [
        (each.lag.time, "xy"[each.lag.axis], each.saves, each.steps, each.gains, each.why)
        for each in found.weighed
    ]
    return found.wanted["S"], found.taken["S"], found.depth, said


def sweeps(kept):
    """Return a nest that broadcasts a, and keeps others for the next of 8 sweeps of two steps.

    With a lag of 8 PEs a sweep has 9 steps, and a PE reads anew what it kept.
    """
    reads = [f"S[t, k, i] -> {tensor}[i]" for tensor in kept]
    return nest(
        "{ S[t, k, i] : 0 <= t < 8 and 0 <= k < 2 and 0 <= i < 8 }", "{ S[t, k, i] -> [t, k] }",
        "{ S[t, k, i] -> PE[i, 0] }", f"{{ S[t, k, i] -> a[k]; {'; '.join(reads)} }}",
    )


@pytest.mark.parametrize(
    ("kept", "remote", "saves", "gains", "why"),
    [
        ("u", 9, 56, 7, None),
        ("u", 8, 56, 0, SLOW),
        ("uv", 1000, 0, -56, NOTHING),
        ("uvw", 1000, -56, -7056, MORE),
    ],
)
def test_a_lag_is_taken_where_what_it_saves_takes_longer_than_its_steps(
    kept, remote, saves, gains, why
):
    """It saves 7 of 8 reads of a each step, and loses 7 of 8 sweeps of each other tensor."""
    wanted, taken, deep, said = choice(sweeps(kept), remote, memory=2 * (1 + len(kept)))
    assert wanted == ((0, 0), (-1, 0))
    assert taken == (((0, 0), (0, 0)) if why else wanted)
    assert deep == 2
    assert said == [(1, "x", saves, 56, gains, why)]


def product(steps, size=1024):
    """Return the product of Section IV, in tiles of 4 x 8 x 8 on 16 x 16 PEs."""
    return nest(
        f"{{ S[i, j, k] : 0 <= i, j, k < {size} }}", f"{{ S[i, j, k] -> [{steps}] }}",
        "{ S[i, j, k] -> PE[(i // 4) mod 16, (j // 8) mod 16] }",
        "{ S[i, j, k] -> A[i, k]; S[i, j, k] -> B[k, j] }", "{ S[i, j, k] -> C[i, j] }", ["S"],
    )


@pytest.mark.wide
def test_with_k_outermost_no_lag_is_taken_for_nothing():
    """In 48 KB what a PE adds to stays: k lags, in 30 steps of 128 tiles; j and i do not."""
    space = product("k // 8, i // 64, j // 128")
    wanted, taken, deep, said = choice(space, 187, memory=24576)
    assert wanted == ((0, 0), (0, -1), (-1, 0))
    assert (taken, deep) == (((-1, -1), (0, 0), (0, 0)), 1)
    assert said == [
        (2, "x", -416284672, 34080, -312807424, MORE),
        (1, "y", -164625408, 2130, -124615956, MORE),
        (0, "x", 15728640, 15, 10997760, None),
        (0, "y", 15728640, 15, 10997760, None),
    ]


def test_with_k_outermost_j_alone_lags_where_only_a_tile_fits_into_memory():
    space = product("k // 8, i // 64, j // 128")
    wanted, taken, _, said = choice(space, 187, memory=512)
    assert wanted == taken == ((0, 0), (0, 0), (-1, 0))
    assert said == [(2, "x", 251658240, 30720, 175964160, None)]
    assert choice(space, 42, memory=512)[1] == wanted


def test_what_isl_needs_long_to_count_is_taken_as_the_paper_takes_it(monkeypatch):
    monkeypatch.setattr(lags, "MOST_FOR_COUNT", 1)
    wanted, taken, _, said = choice(sweeps("uvw"), 1000, memory=8)
    assert taken == wanted
    assert said == [(1, "x", None, None, None, None)]


def test_steps_are_told_apart_down_to_the_last_time_that_lags():
    assert depth(((0, 0), (1, 0), (0, 0))) == 2
    assert depth(((0, 0), (0, 0))) == 2

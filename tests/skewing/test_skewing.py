"""M Sec. III: schedules without broadcasts."""

import islpy as isl
import pytest

from lairmake.stages.skewing import timed as skewing
from lairmake.stages.skewing.statements import group_statements
from lairmake.stages.skewing.timed import (
    dimensions,
    keeps,
    later,
    parallel,
    passes,
    reason,
    sharing,
    stays_on_pe,
    together,
)
from lairmake.stages.skewing.topology import Topology
from tests.skewing.nests import along, lags, machine_for, nest, product, timed


def after(space, lag):
    """Return dimensions of broadcast spaces, and where elements pass to, by tensor."""
    statement = timed(space)["S"]
    return {
        r.tensor: (dimensions(statement, r, lag), passes(statement, r, lag))
        for r in statement.references
    }


@pytest.mark.parametrize("loops", ["i, j, k", "k, i, j"])
def test_examples_1_and_2_the_only_time_lags_by_both_coordinates(loops):
    space = product(loops)
    found = lags(space)["S"]
    assert found == ((-1, -1),)
    assert after(space, found) == {"A": (0, (0, -1)), "B": (0, (-1, 0)), "C": (0, (0, 0))}


def test_a_partially_spatial_grid_passes_along_its_spatial_dimensions_only():
    space = product()
    assert lags(along(space, (0,)))["S"] == ((-1, 0),)
    assert lags(along(space, (1,)))["S"] == ((0, -1),)
    assert lags(along(space, ()))["S"] == ((0, 0),)


def test_one_dimension_after_the_other_gives_both():
    one = lags(along(product(), (0,)))["S"][0]
    other = lags(along(product(), (1,)))["S"][0]
    both = tuple(a + b for a, b in zip(one, other, strict=True))
    assert lags(product())["S"] == (both,)


def test_wishes_tell_the_signs():
    wishes = {"A": (0, 1), "B": (-1, 0)}
    assert lags(product(), wishes=wishes)["S"] == ((-1, 1),)


def test_written_references_are_not_broadcast_either():
    space = nest(
        "{ S[i, j] : 0 <= i, j < 8 }", "{ S[i, j] -> [i] }", "{ S[i, j] -> PE[j, 0] }",
        writes="{ S[i, j] -> y[i] }",
    )
    found = lags(space)["S"]
    assert found == ((-1, 0),)
    assert after(space, found) == {"y": (0, (-1, 0))}


def test_the_same_element_for_all_at_one_time_passes_along_diagonals():
    """One substitution reduces a broadcast space of two dimensions to one, a diagonal."""
    space = nest(
        "{ S[i, j, k] : 0 <= i, j, k < 8 }", "{ S[i, j, k] -> [k] }", "{ S[i, j, k] -> PE[i, j] }",
        "{ S[i, j, k] -> w[k] }",
    )
    found = lags(space)["S"]
    assert found == ((-1, -1),)
    assert after(space, found) == {"w": (1, (-1, -1))}


def test_what_is_used_at_all_times_stays_a_broadcast():
    space = nest(
        "{ S[i, k] : 0 <= i, k < 8 }", "{ S[i, k] -> [k] }", "{ S[i, k] -> PE[i, 0] }",
        "{ S[i, k] -> a[0] }",
    )
    assert lags(space)["S"] == ((0, 0),)
    statement = timed(space)["S"]
    said = reason(statement, statement.references[0], together(statement))
    assert said == "no dimension of time tells its elements apart"


def test_pes_that_use_an_element_but_are_no_neighbours_do_not_lag():
    space = nest(
        "{ S[i, k] : 0 <= i, k < 8 }", "{ S[i, k] -> [k] }", "{ S[i, k] -> PE[i, 0] }",
        "{ S[i, k] -> a[i mod 2, k] }",
    )
    assert lags(space)["S"] == ((0, 0),)
    statement = timed(space)["S"]
    said = reason(statement, statement.references[0], together(statement))
    assert said == "the PEs that use an element are no neighbours"


def test_no_parallelism_is_lost():
    """Without a time that PEs already take, a lag would make them wait for each other."""
    space = nest(
        "{ S[i, j] : 0 <= i, j < 8 }", "{ S[i, j] -> [i, j] }", "{ S[i, j] -> PE[i, j] }",
        "{ S[i, j] -> a[i] }",
    )
    statement = timed(space)["S"]
    assert lags(space)["S"] == ((0, 0),)
    assert parallel(statement, together(statement)) == 2
    assert parallel(statement, ((0, 1),)) == 1


def test_the_innermost_relevant_time_lags():
    space = nest(
        "{ S[b, i, k] : 0 <= b, i, k < 8 }", "{ S[b, i, k] -> [b, k] }",
        "{ S[b, i, k] -> PE[i, 0] }", "{ S[b, i, k] -> a[b, k] }",
    )
    assert lags(space)["S"] == ((0, 0), (-1, 0))


def test_a_loop_that_steps_from_tile_to_tile_lags_rather_than_those_over_a_block():
    """PE[i // 2, j // 2] makes tiles of 2 x 2; k steps from one to the next, i and j do not."""
    space = nest(
        "{ S[i, j, k] : 0 <= i, j, k < 8 }", "{ S[i, j, k] -> [k, i, j] }",
        "{ S[i, j, k] -> PE[i // 2, j // 2] }",
        "{ S[i, j, k] -> A[i, k]; S[i, j, k] -> B[k, j] }", "{ S[i, j, k] -> C[i, j] }",
    )
    assert space.times("S").is_equal(
        isl.Map("{ S[i, j, k] -> [k, i mod 2, j mod 2] : 0 <= i, j, k < 8 }")
    )
    assert lags(space)["S"] == ((-1, -1), (0, 0), (0, 0))
    step = 2 * (2 + 2 + 4)
    assert lags(space, memory=step)["S"] == ((-1, -1), (0, 0), (0, 0))
    assert lags(space, memory=step - 1)["S"] == ((0, 0), (0, -1), (-1, 0))


def levels(fine, place="i, 0"):
    """Return a vector that all of 16 PEs use at one time, four of them in an outer one."""
    return nest(
        "{ S[i, k] : 0 <= i < 16 and 0 <= k < 8 }", "{ S[i, k] -> [k] }",
        f"{{ S[i, k] -> PE[{place}] }}", "{ S[i, k] -> x[k] }",
        topology=Topology(kind="mesh", sizes=(16, 1), inner=(4, 1), fine=fine),
    )


def test_eq_13_on_a_flattened_grid_all_inner_pes_lag_one_after_the_other():
    found = lags(levels((0, 1)))["S"]
    assert found == ((-1, 0),)
    assert after(levels((0, 1)), found) == {"x": (0, (-1, 0))}


def test_with_coarse_links_outer_and_inner_pes_lag():
    """The coordinates are x // 4, x mod 4 and y."""
    found = lags(levels((1,)))["S"]
    assert found == ((-1, -1, 0),)
    assert after(levels((1,)), found) == {"x": (1, (-1, -1, 0))}


def diagonal(kind, index):
    return nest(
        "{ S[i, j, k] : 0 <= i, j, k < 8 }", "{ S[i, j, k] -> [k] }", "{ S[i, j, k] -> PE[i, j] }",
        f"{{ S[i, j, k] -> a[{index}, k] }}", topology=Topology(kind=kind, sizes=(8, 8)),
    )


@pytest.mark.parametrize(
    ("kind", "index", "lag", "passes"),
    [
        ("mesh", "i - j", (0, 0), (0, 0)),
        ("octagonal", "i - j", (-1, 0), (0, 0, -1, 0)),
        ("octagonal", "i + j", (-1, 0), (0, 0, 0, -1)),
        ("hexagonal", "i - j", (0, 0), (0, 0, 0)),
        ("hexagonal", "i + j", (-1, 0), (0, 0, -1)),
        ("torus", "i - j", (0, 0), (0, 0)),
    ],
)
def test_along_diagonals_pes_lag_where_there_are_links(kind, index, lag, passes):
    space = diagonal(kind, index)
    assert lags(space)["S"] == (lag,)
    assert after(space, (lag,))["a"][1] == passes


def test_on_a_torus_elements_pass_across_the_edge():
    """The last PE of a row uses what the first one used a step earlier."""
    for kind, ways in (("torus", (-1, 0)), ("mesh", (0, 0))):
        space = nest(
            "{ S[i, k] : 0 <= i < 2 and 0 <= k < 2 }", "{ S[i, k] -> [k] }",
            "{ S[i, k] -> PE[7i, 0] }", "{ S[i, k] -> x[k - i] }",
            topology=Topology(kind=kind, sizes=(8, 1)),
        )
        assert lags(space)["S"] == ((0, 0),)
        assert after(space, ((0, 0),))["x"][1] == ways


TILES = "{ S[i, j, k] -> [i // 64, j // 128, k // 8, i, j, k] }"


def tiled(schedule=TILES):
    return nest(
        "{ S[i, j, k] : 0 <= i, j, k < 1024 }", schedule,
        "{ S[i, j, k] -> PE[(j // 8) mod 16, (i // 4) mod 16] }",
        "{ S[i, j, k] -> A[i, k]; S[i, j, k] -> B[k, j] }", "{ S[i, j, k] -> C[i, j] }", ["S"],
    )


@pytest.mark.wide_after(3)
@pytest.mark.parametrize(
    ("memory", "lagging"),
    [(256, 2), (255, 5), (6, 5), (5, None)],
)
def test_the_footprint_in_memory_chooses_between_tiles_and_what_is_inside(memory, lagging):
    """A tile is 4 x 8 of A, 8 x 8 of B and 4 x 8 of C, of two bytes: 256; one instance is 6."""
    found = lags(tiled(), memory=memory)["S"]
    expected = [(0, 0)] * 6
    if lagging is not None:
        expected[lagging] = (-1, -1)
    assert found == tuple(expected)
    if lagging is None:
        statement = timed(tiled(), memory=memory)["S"]
        said = reason(statement, statement.references[0], found)
        assert said == "the data of one step do not fit into the memory of a PE"


def test_between_tile_sweeps_the_pipeline_drains():
    space = tiled("{ S[i, j, k] -> [i // 64, j // 128, k // 8] }")
    statement = timed(space)["S"]
    points = statement.points.set_tuple_name(isl.dim_type.out, "S")
    times = points.apply_range(later(statement, lags(space)["S"])).range()
    sizes = [
        times.dim_max_val(k).sub(times.dim_min_val(k)).to_python() + 1 for k in range(3)
    ]
    assert sizes == [16, 8, 158]


CHAIN = {
    "instances": "{ S[i, j] : 0 <= i, j < 6; T[i, j] : 0 <= i, j < 6 }",
    "schedule": "{ S[i, j] -> [i, 0, j]; T[i, j] -> [i, 1, j] }",
    "reads": "{ S[i, j] -> a[i]; T[i, j] -> t[i - 1, j + 1]; T[i, j] -> b[i, j] }",
    "writes": "{ S[i, j] -> t[i, j]; T[i, j] -> u[i, j] }",
    "placement": "{ S[i, j] -> PE[j, 0]; T[i, j] -> PE[j, 0] }",
    "given": ["S", "T"],
}


def chain(**changed):
    return nest(**{**CHAIN, **changed})


def test_statements_that_share_a_loop_lag_alike():
    """T has no broadcast itself; t[i - 1, j + 1] comes from the PE to the east."""
    assert lags(chain()) == {"S": ((-1, 0), (0, 0)), "T": ((-1, 0), (0, 0))}


def test_eq_3_a_lag_that_reverses_a_dependence_is_not_taken():
    """T reads what the PE two to the west wrote one step before: only a lag to the east goes."""
    reads = "{ S[i, j] -> a[i]; T[i, j] -> t[i - 1, j - 2] }"
    assert lags(chain(reads=reads))["S"] == ((1, 0), (0, 0))
    both = "{ S[i, j] -> a[i]; T[i, j] -> t[i - 1, j - 2]; T[i, j] -> v[i] }"
    far = chain(reads=both, writes="{ S[i, j] -> t[i, j]; S[i, j] -> v[i] }")
    assert set(lags(far).values()) == {((0, 0), (0, 0))}


def test_the_scalable_variant_tries_nothing_where_a_dependence_leads_to_another_pe(monkeypatch):
    monkeypatch.setattr(skewing, "MOST_FOR_CHECK", 1)
    found = lags(chain())
    assert set(found.values()) == {((0, 0), (0, 0))}
    reads = "{ S[i, j] -> a[i]; T[i, j] -> t[i - 1, j] }"
    found = lags(chain(reads=reads))
    assert set(found.values()) == {((-1, 0), (0, 0))}


def group(space):
    return group_statements(space, machine_for(space))[0]


def test_eq_6_dependences_on_one_pe_allow_any_lag():
    stay = group(chain(reads="{ T[i, j] -> t[i - 1, j] }"))
    leave = group(chain())
    assert stays_on_pe(stay.dependences, stay.statements)
    assert not stays_on_pe(leave.dependences, leave.statements)
    for row in ((-1, 0), (1, 0), (1, -1)):
        times = isl.UnionMap("{ }")
        for each in stay.statements:
            times = times.union(isl.UnionMap.from_map(later(each, (row, (0, 0)))))
        assert keeps(stay.dependences, times)


def test_a_loop_is_shared_below_equal_coordinates_of_fusion():
    statements = group(chain()).statements
    assert [[s.name for s in node] for node in sharing(statements, 0)] == [["S", "T"]]
    assert [[s.name for s in node] for node in sharing(statements, 2)] == [["S"], ["T"]]


def test_loops_that_are_not_shared_lag_on_their_own():
    found = lags(
        nest(
            "{ S[i, j] : 0 <= i, j < 6; T[i, j] : 0 <= i, j < 6 }",
            "{ S[i, j] -> [0, i]; T[i, j] -> [1, i] }",
            "{ S[i, j] -> PE[j, 0]; T[i, j] -> PE[j, 0] }",
            "{ S[i, j] -> a[i]; T[i, j] -> t[i, j] }", "{ S[i, j] -> t[i, j] }", ["S", "T"],
        )
    )
    assert found == {"S": ((0, 0), (-1, 0)), "T": ((0, 0), (0, 0))}

import islpy as isl
import pytest

from lairmake.stages.diagnose import UserErrors
from tests.layer.built import MV, build

TWO = """lair n(): float16 x[6] -> float16 y[6], float16 z[6]
{ all (i) in (6) y[i] = x[i]
  all (k) in (6) z[k] = 2 * x[k] }
"""


def placed(lair, target, placement):
    text = f'target: "{target}"\nplacement: "{placement}"\n'
    return build(lair, text, "place").objects("placement.isl")


def test_a_placement_is_kept_for_the_instances_only():
    found = placed(MV, "{ PE[2, 4] }", "{ mv[i, j] -> PE[j//3, i mod 4] }")
    expected = "{ mv[i, j] -> PE[j//3, i mod 4] : 0 <= i <= 7 and 0 <= j <= 5 }"
    assert found["placement"].is_equal(isl.UnionMap(expected))


def test_the_target_is_a_rectangle_from_zero():
    found = placed(MV, "{ PE[2, 4] }", "{ mv[i, j] -> PE[j//3, i mod 4] }")
    assert found["target"].is_equal(isl.UnionSet("{ PE[0:1, 0:3] }"))


def test_pes_may_stay_without_instances():
    found = placed(MV, "{ PE[9, 9] }", "{ mv[i, j] -> PE[4, 4] }")
    assert found["placement"].range().is_equal(isl.UnionSet("{ PE[4, 4] }"))


def test_statements_are_placed_each_on_its_own():
    found = placed(TWO, "{ PE[2, 3] }", "{ n_y[i] -> PE[0, i//2]; n_z[k] -> PE[1, k//2] }")
    expected = "{ n_y[i] -> PE[0, i//2] : 0 <= i <= 5; n_z[k] -> PE[1, k//2] : 0 <= k <= 5 }"
    assert found["placement"].is_equal(isl.UnionMap(expected))


@pytest.mark.wide
def test_a_statement_without_the_iterator_of_a_direction_is_not_spread_along_it():
    found = placed(TWO, "{ PE[2, 3] }", "(i)")["placement"]
    columns = {
        name: found.intersect_domain(isl.UnionSet(f"{{ {name}[a] }}")).range().apply(
            isl.UnionMap("{ PE[x, y] -> [x] }")
        )
        for name in ("n_y", "n_z")
    }
    assert columns["n_y"].is_equal(isl.UnionSet("{ [0:1] }"))
    assert isl.Set.from_union_set(columns["n_z"]).is_singleton()


def test_a_direction_must_be_an_iterator_of_some_statement():
    with pytest.raises(UserErrors) as caught:
        placed(TWO, "{ PE[2, 3] }", "(q, i)")
    (error,) = caught.value.errors
    assert (error.message, error.hint) == (
        "n_y, n_z have no iterator q", "their iterators are i, k"
    )

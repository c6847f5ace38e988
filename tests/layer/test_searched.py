"""What a search chooses of what layer.yaml leaves open, through the stages."""

import islpy as isl
import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.layer import settle
from lairmake.stages.make.core import faults
from lairmake.stages.poly.quota import limit_operations
from tests.layer.built import MV, build

FROM_NORTH = '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }"}\n'
TO_EAST = '  y: {leaves: "{ y[i] -> [PE[3, 1 + i//3] -> index[i mod 3]] }"}\n'
TARGET = 'target: "{ PE[3, 4] }"\n'
GRAPH = """lair a(N=8): float16 x[N] -> float16 y[N]
{ all (i) in (N) y[i] = x[i] * 2 }
lair b(N=8): float16 x[N] -> float16 y[N]
{ all (k) in (N) y[k] = x[k] + 1 }
graph c(): float16 x[8] -> float16 z[8]
{ y = a()(x) z = b()(y) }
"""


@pytest.fixture(scope="module")
def searched():
    given = f"{TARGET}placement: (j, i)\ntensors:\n{FROM_NORTH}{TO_EAST}"
    return build(MV, given, "place")


@pytest.mark.wide
def test_directions_leave_the_border_to_adapters(searched):
    placement = searched.objects("placement.isl")["placement"]
    assert placement.intersect_range(isl.UnionSet("{ PE[x, 0] }")).is_empty()


@pytest.mark.wide
def test_a_direction_may_be_an_iterator_with_one_value():
    given = 'target: "{ PE[1, 2] }"\nplacement: (j, i)\nsizes: {N: 1}\n'
    built = build(MV, given, "simulate")
    assert built.objects("placement.isl")["placement"].is_equal(
        isl.UnionMap("{ mv[i, 0] -> PE[0, i//4] : 0 <= i <= 7 }")
    )
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_what_is_chosen_is_what_its_slot_tried_to_the_byte(searched):
    taken = [name for name, each in searched.yaml("slots.yaml").items() if each.get("taken")]
    assert len(taken) == 1
    for name in ("chosen.yaml", "placement.isl"):
        paths = (searched.cache / name, searched.cache / taken[0] / name)
        assert len({path.read_bytes() for path in paths}) == 1


def test_a_slot_without_a_candidate_says_so_in_all_its_texts():
    said = "# refused: there are not so many candidates\n"
    unused = build("lair s(): int32 x[2] -> int32 y[2] { all (i) in (2) y[i] = x[i] }",
                   'target: "{ PE[1, 1] }"\n', "place").cache / "slot8"
    assert {path.read_text() for path in unused.iterdir()} == {said}


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        (
            "placement: '{ a[i] -> PE[0, i//2] }'\nsearch: [a, b]",
            "placement says where a runs, and search is to", "leave it out of one of them",
        ),
        (
            "placement: '{ a[i] -> PE[0, i//2] }'\nsearch: [aa]",
            "search names aa, which is no statement", "did you mean a?",
        ),
        (
            "search: [b]",
            "search names statements, and placement says of no other one where it runs",
            "leave `search` out to find places for all, or give a placement for the others",
        ),
    ],
)
def test_what_is_to_be_searched_is_there_and_has_no_place(given, message, hint):
    with pytest.raises(UserErrors) as caught:
        build(GRAPH, f"{TARGET}{given}\n", "choose")
    (error,) = caught.value.errors
    assert (error.message, error.hint) == (message, hint)


@pytest.mark.wide
def test_a_bug_that_one_candidate_meets_is_told_in_its_slot_only(monkeypatch):
    broken = {"slot1"}

    def perform_in(folder, stage, inputs):
        if stage == "route" and folder.cache.name in broken:
            raise AssertionError("what no placement brought about before")
        return plain(folder, stage, inputs)

    plain = faults.perform_in
    monkeypatch.setattr(faults, "perform_in", perform_in)
    given = f"{TARGET}placement: (i, j)\ntensors:\n{FROM_NORTH}"
    built = build(MV, given, "settle")
    said = "route: AssertionError: what no placement brought about before, a bug of ours, which a"
    assert built.yaml("slots.yaml")["slot1"] == {"refused": f"{said} build shows"}
    broken.update(f"slot{n}" for n in range(1, 9))
    with pytest.raises(UserError, match="placements that were tried works"):
        build(MV, given, "settle", copy=1)


@pytest.mark.wide
def test_a_slot_that_is_too_hard_leaves_the_others_what_isl_may_do(monkeypatch):
    measured = []

    def measure(*given):
        measured.append(isl.DEFAULT_CONTEXT.get_max_operations())
        if len(measured) > 1:
            return plain(*given)
        with limit_operations(1000):
            return [isl.Set(f"{{ [i] : i > {n} }}").is_empty() for n in range(1000)]

    plain = settle._measure
    monkeypatch.setattr(settle, "_measure", measure)
    built = build(MV, f"{TARGET}placement: (i, j)\ntensors:\n{FROM_NORTH}", "settle", copy=2)
    said = {"refused": "render: isl needs more than 1000 operations"}
    assert built.yaml("slots.yaml")["slot1"] == said
    assert measured[0] < 3 * settle.MOST_OPERATIONS

"""A layer of which something is open: its slots are tasks as all others, by real doit processes."""

import shutil

import pytest

import lairmake
from lairmake.stages import SEARCHED, SLOTS, TRIED
from lairmake.stages.make.core.declaration import declaration
from tests.e2e.conftest import DODO, ROOT, Space, printed

LAIR = """lair mv(): float16 W[4][4], float16 x[4] -> float16 y[4]
{
  all (i, j) in (4, 4)
    y[i] += W[i][j] * x[j]
}
"""
LAYER = """# the layer
target: "{ PE[2, 2] }"
goal: area
tensors:
  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }"}
"""
TASKS = [*(f"a:{stage}" for stage in SEARCHED),
         *(f"a/{slot}:{stage}" for slot in SLOTS for stage in TRIED)]


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    space = Space(tmp_path_factory.mktemp("searched"), ROOT)
    space.write("dodo.py", DODO)
    space.write("projects/a/a.lair", LAIR)
    space.write("projects/a/layer.yaml", LAYER)
    space.first = space.run("-n2", "a")
    assert space.first.code == 0, space.first.out + space.first.err
    return space


@pytest.mark.wide
def test_every_stage_of_every_slot_is_a_task(searched):
    assert sorted([*searched.first.ran, *searched.first.hits]) == sorted(TASKS)


@pytest.mark.wide
def test_what_comes_after_the_search_is_known_from_the_slot(searched):
    assert {f"a:{stage}" for stage in TRIED} <= set(searched.first.hits)


@pytest.mark.wide
def test_nothing_runs_again_and_lost_texts_are_restored(searched):
    assert searched.plain().out == "1 layer unchanged\n"
    (searched.root / "cache/a/slot1/tasks.yaml").unlink()
    (searched.root / "cache/a/chosen.yaml").unlink()
    assert sorted(searched.hits("a")) == ["a/slot1:route", "a:settle"]


def test_commands_know_slots(searched):
    assert "placement: |" in printed(searched.run("show", "a", "chosen.yaml"))
    assert "arrivals := {" in printed(searched.run("show", "a/slot1", "adapt"))
    assert "a/slot1" not in printed(searched.run("list"))
    assert "a/slot8:simd" in printed(searched.run("list", "--all"))
    assert printed(searched.run("dry", "a")).endswith("95 tasks up to date\n")
    found = lairmake.results(searched.root / "projects/a")
    assert found.checks["y"].right and found.parts == {}


def test_slots_have_one_line_if_nobody_asks_for_more(searched):
    graph = printed(searched.run("graph", "a")).splitlines()
    assert graph[0] == "a/slot1 to a/slot8: 80 up to date; -v lists them"
    assert graph[4].split() == ["settle", "up", "to", "date", "after", *["choose,"],
                                *["a/slot1", "to", "a/slot8"]]
    assert len(graph) == 2 + len(SEARCHED)
    assert "a/slot8\n" in printed(searched.run("graph", "a", "-v"))
    why = printed(searched.run("why", "a")).splitlines()
    assert why[0].startswith("a/slot1 to a/slot8: ") and why[0].endswith("; -v lists them")
    assert why[1:3] == ["", *(line for line in why if line.startswith("a: "))]
    assert printed(searched.run("why", "a/slot2")).startswith("a/slot2: ")
    given = searched.read("projects/a/layer.yaml")
    searched.write("projects/a/layer.yaml", given.replace("goal: area", "goal: memory"))
    dry = printed(searched.run("dry", "a")).splitlines()
    searched.write("projects/a/layer.yaml", given)
    assert dry[0] == "a/slot1 to a/slot8: 80 may run; -v lists them"
    assert len(dry) == 4 + len(SEARCHED) and dry[-1] == "1 task up to date"  # parse


@pytest.mark.wide
def test_a_new_layer_has_the_placement_written_out(searched):
    printed(searched.run("new", "b", "--like", "a"))
    chosen = searched.read("cache/a/chosen.yaml").partition("placement: |\n")[2]
    assert searched.read("projects/b/layer.yaml") == LAYER.replace(
        "PE[2, 2] }\"\n", f"PE[2, 2] }}\"\nplacement: |\n{chosen}"
    )
    run = searched.run("b")
    assert sorted([*run.ran, *run.hits]) == sorted(f"b:{s}" for s in ("parse", *SEARCHED[3:]))


@pytest.mark.wide
def test_an_edit_of_what_was_chosen_is_pinned(searched):
    text = searched.read("cache/a/chosen.yaml")
    searched.write("projects/a/layer.yaml", LAYER + "pin: [chosen.yaml]\n")
    searched.write("cache/a/chosen.yaml", text.partition("placement")[0] + (
        "placement: |\n  { mv[i, j] -> PE[0, i//2] }\n"
    ))
    searched.build("a")
    assert "mv[i, j] -> PE[0, i//2]" in searched.read("cache/a/placement.isl")
    searched.write("projects/a/layer.yaml", LAYER)
    assert "a:simulate" in searched.hits("a")
    assert searched.read("cache/a/chosen.yaml") == text


@pytest.mark.wide
def test_nothing_of_a_search_stays_where_nothing_is_open_any_more(searched):
    placed = LAYER.replace("goal: area", 'placement: "{ mv[i, j] -> PE[0, i//2] }"')
    searched.write("projects/a/layer.yaml", placed)
    searched.write("cache/a/slots.yaml", "somebody edited this\n")
    searched.build("a")
    left = {path.name for path in (searched.root / "cache/a").iterdir()}
    texts = (n for s in SEARCHED[3:-2] for n in declaration(s).writes if "/" not in n)
    assert left == {"slots.yaml", *texts, "lair.isl"}
    assert searched.plain().out == "2 layers unchanged\n"
    searched.write("projects/a/layer.yaml", LAYER)
    assert searched.run("a").code == 0
    assert (searched.root / "cache/a/slot8/simd.yaml").is_file()


def test_a_layer_called_like_a_slot_around_it_is_left_out(searched):
    searched.layer("projects/a/slot1")
    run = searched.run("list")
    shutil.rmtree(searched.root / "projects/a/slot1")
    assert (run.code, run.out.split()[0], run.err) == (0, "a", (
        "warning: projects/a/slot1 is left out, since the search of a has a slot of this name: "
        "rename it\n"
    ))

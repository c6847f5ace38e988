"""What a limit of the machine costs that nobody published: the same layer with enough of it."""

import dataclasses

import pytest

from lairmake.stages.diagnose import UserError, source_of
from lairmake.stages.layer import route
from lairmake.stages.layer.routes.routing import route_streams
from lairmake.stages.layer.texts.machine_yaml import with_enough
from lairmake.stages.machine.profile import KNOWN, load_profile
from lairmake.stages.machine.scarcity import find_enough
from lairmake.stages.make.report.summary import summarise_layer
from tests.layer.built import MV, build
from tests.layer.test_waiting import layer

TWO = """lair f(): float16 x[64] -> float16 y[64], float16 z[64]
{
  all (i) in (64) y[i] = x[i] * 2
  all (i) in (64) z[i] = x[i] * 3
}
"""
MAPPING = """machine: {machine}
target: "{{ PE[1, 1] }}"
placement: "{{ f_y[i] -> PE[0, 0]; f_z[i] -> PE[0, 0] }}"
"""
OWN = "like: wse2\ndescriptors: {value: 1, source: a guess, grade: %s}\n"


def on_own_machine(grade, last):
    """Return the layer of two instructions on a machine that has one, by a figure of a grade."""
    built = build(TWO, MAPPING.format(machine=f"{grade}.yaml"), "parse")
    (built.folder / f"{grade}.yaml").write_text(OWN % grade, encoding="utf-8")
    return built.through(last)


@pytest.fixture(scope="module")
def limited():
    """The layer on a machine of which nobody has published how many it has."""
    return on_own_machine("chosen", "simulate")


@pytest.mark.wide
def test_what_a_limit_costs_is_what_a_machine_with_enough_saves(limited):
    limits, more = limited.results()["limits"], "{profile: wse2, descriptors: 2}"
    assert limits["figures"] == {"descriptors": {"of": 1, "enough": 2}}
    other = build(TWO, MAPPING.format(machine=more), "simulate").results()
    assert limits["cycles"] == other["cycles"]["simd"] < limited.results()["cycles"]["simd"]
    assert "limits" not in other


def test_the_summary_says_what_a_limit_costs_and_what_would_do(limited):
    results = limited.results()
    costs = results["cycles"]["simd"] - results["limits"]["cycles"]
    said = f"{costs} cycles on descriptors (1; 2 would do), not published\n"
    assert costs > 0 and said in summarise_layer(results)


def test_a_limit_that_costs_nothing_is_not_said(limited):
    results = limited.results()
    results["limits"]["cycles"] = results["cycles"]["simd"]
    assert "descriptors (" not in summarise_layer(results)


def test_a_task_that_is_limited_says_by_which_figure(limited):
    y, z = (limited.yaml("simd.yaml")[f"compute_f_{each}"] for each in "yz")
    assert [each["by"] for each in (y, z)] == ["hull", "loops"]
    assert "limited" not in y and z["limited"] == ["descriptors"]


@pytest.mark.parametrize("machine", ["published", "given"])
def test_a_limit_that_is_known_is_not_tried(machine):
    known = "{profile: wse2, descriptors: 1}"
    built = (
        on_own_machine("A", "simd") if machine == "published"
        else build(TWO, MAPPING.format(machine=known), "simd")
    )
    assert built.yaml("simd.yaml")["compute_f_z"]["limited"] == ["descriptors"]
    assert not (built.folder / "build/limits").exists()


@pytest.mark.parametrize("figures", ["descriptors: 0", "colour: 2", "descriptors: 2, name: 3"])
def test_figures_that_are_none_are_refused_where_they_stand(figures):
    source = source_of("machine.yaml", f"enough: {{{figures}}}\n".encode())
    with pytest.raises(UserError) as error:
        with_enough(load_profile("wse2"), source)
    assert str(error.value) == (
        "machine.yaml:1:1: error: these are no figures of wse2\n"
        f"  enough: {{{figures}}}\n  ^\nhint: undo the edit\n"
    )


FEW = """like: wse2
threads: {value: 1, source: a guess, grade: chosen}
filters: {value: 0, source: a guess, grade: chosen}
input_queues: {value: [], source: a guess, grade: A}
output_queues: {value: [], source: a guess, grade: A}
"""


def on_machine(figures, lair, mapping, last):
    """Return a layer on a machine of its own: `figures` are its file."""
    built = build(lair, mapping, "parse", copy=figures)
    (built.folder / "own.yaml").write_text(figures, encoding="utf-8")
    return built.through(last)


def two_outputs(figures, last):
    """Return a layer of which two outputs wait for each other where threads are few."""
    lair, mapping = layer(2, 1, shape=(2, 1))
    start, end = mapping.index("machine:"), mapping.index("invocations:")
    return on_machine(figures, lair, f"{mapping[:start]}machine: own.yaml\n{mapping[end:]}", last)


@pytest.fixture(scope="module")
def waiting():
    """The layer on a machine of which nobody has published how many threads it has."""
    return two_outputs(FEW, "route")


def known_with(threads):
    """Return that machine with as many threads, all its figures published."""
    return FEW.replace("chosen", "A").replace("threads: {value: 1", f"threads: {{value: {threads}")


@pytest.mark.wide
def test_a_task_graph_is_tried_with_as_many_threads_as_are_enough_and_no_more(waiting):
    enough = waiting.yaml("build/limits/graph/machine.yaml")["enough"]["threads"]
    graphs = [
        two_outputs(known_with(count), "route").yaml("tasks.yaml")
        for count in (enough - 1, enough, 64)
    ]
    assert graphs[0] != graphs[1] == graphs[2] == waiting.yaml("build/limits/graph/tasks.yaml")


@pytest.mark.long
def test_what_threads_cost_is_what_a_machine_with_enough_saves(waiting):
    results = waiting.through("simulate").results()
    limits = results["limits"]
    enough = limits["figures"]["threads"]["enough"]
    assert limits["figures"] == {"threads": {"of": 1, "enough": enough}}
    richer = two_outputs(known_with(enough), "simulate").results()
    assert limits["cycles"] == richer["cycles"]["simd"] < results["cycles"]["simd"]
    assert "limits" not in richer


def test_a_layer_that_has_threads_and_filters_enough_is_routed_once(monkeypatch):
    """However few of them have been published: no comparison with them came out against it."""
    routed = []
    monkeypatch.setattr(route, "route_streams", lambda *given: routed.append(given) or real(*given))
    real = route_streams
    built = two_outputs(FEW.replace("value: 1", "value: 64"), "route")
    assert len(routed) == 1
    assert not (built.folder / "build/limits").exists()


FILTERED = """target: "{ PE[2, 2] }"
placement: "{ mv[i, j] -> PE[j//3, 1] }"
machine: own.yaml
tensors:
  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }", sparse: true}
  y: {leaves: "{ y[i] -> [PE[2, 1] -> index[i]] }"}
"""


def test_streams_that_have_no_filter_are_tried_with_one():
    built = on_machine(FEW.replace("value: 1", "value: 8"), MV, FILTERED, "route")
    limits = built.yaml("build/limits/graph/machine.yaml")
    assert limits == {"enough": {"filters": 1}}
    routes = (built.folder / "build/limits/graph/routes.isl").read_text(encoding="utf-8")
    assert "x_source_filter" in routes and "x_source_filter" not in built.objects("routes.isl")


CHAIN = """lair f(): float16 x[8] -> float16 y[8], float16 z[8]
{ all (i) in (8) y[i] = x[i] * 2 all (i) in (8) z[i] = y[i] + 1 }
"""
IDS = """like: wse2
data_tasks: {value: queues, source: a guess, grade: A}
task_ids: {value: 1, source: a guess, grade: chosen}
"""


def on_ids(figures, last):
    return on_machine(figures, CHAIN, MAPPING.format(machine="own.yaml"), last)


def test_statements_that_share_a_task_for_want_of_ids_are_tried_in_tasks_of_their_own():
    built = on_ids(IDS, "render")
    assert built.yaml("build/enough/machine.yaml") == {"enough": {"task_ids": 2}}


@pytest.mark.long
def test_what_ids_cost_is_what_a_machine_with_enough_saves():
    results = on_ids(IDS, "simulate").results()
    assert results["limits"]["figures"] == {"task_ids": {"of": 1, "enough": 2}}
    known = IDS.replace("value: 1", "value: 2").replace("chosen", "A")
    other = on_ids(known, "simulate").results()
    assert results["limits"]["cycles"] == other["cycles"]["simd"]
    assert "limits" not in other


def test_enough_is_the_least_with_which_all_is_as_without_limits():
    profile = load_profile("wse2")
    guessed = dataclasses.replace(profile, grades=dict.fromkeys(KNOWN, "chosen"))
    tried = []

    def make(machine):
        tried.append((machine.threads, machine.filters))
        return min(machine.threads, 21), min(machine.filters, 3)

    both = ("threads", "filters")
    assert find_enough(guessed, both, make(guessed), make, tuple.__eq__) == {"threads": 21}
    assert len(tried) < 16
    assert find_enough(profile, both, (), make, tuple.__eq__) == {}


SENT = """target: "{ PE[2, 1] }"
placement: "{ f[i] -> PE[0, 0] }"
machine: own.yaml
tensors:
  x: {arrives: "{ x[i] -> [PE[-1, 0] -> index[i]] }"}
  y: {leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}
"""
DOUBLE = "lair f(): float16 x[64] -> float16 y[64] { all (i) in (64) y[i] = x[i] * 2 }\n"


def queued(depth, grade):
    """Return what a stream takes through routers of a depth, and a machine without costs."""
    figures = f"like: ideal\nqueue_depth: {{value: {depth}, source: a guess, grade: {grade}}}\n"
    return on_machine(figures, DOUBLE, SENT, "simulate").results()


@pytest.mark.wide
def test_what_short_queues_cost_is_what_a_run_with_queues_twice_as_deep_saves():
    short, deeper = queued(1, "chosen"), queued(2, "A")
    assert "doubled" not in deeper
    cycles = deeper["cycles"]["simd"]
    assert short["doubled"] == {"cycles": cycles, "figures": ["queue_depth"]}
    costs = short["cycles"]["simd"] - cycles
    said = f"{costs} cycles on queue_depth (by a run with twice as much), not published\n"
    assert said in summarise_layer(short) and "queue_depth" not in summarise_layer(deeper)


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ("memory: {value: 1024, source: a guess, grade: chosen}\n",
         "own has 1024 (not published)"),
        ("grid: {value: [1, 1], source: a guess, grade: chosen}\n",
         "own has 1 x 1 (not published)"),
        ("colours: {value: 2, source: a guess, grade: chosen}\n",
         "own has 2 (not published): "),
        pytest.param("input_queues: {value: [4], source: a guess, grade: A}\n"
                     "output_queues: {value: [4], source: a guess, grade: chosen}\n",
                     "own has 1 output_queues (not published): ", marks=pytest.mark.long),
        pytest.param("task_ids: {value: 1, source: a guess, grade: chosen}\n"
                     "data_tasks: {value: queues, source: a guess, grade: A}\n",
                     "own has 1 task_ids (not published): ", marks=pytest.mark.long),
        pytest.param("descriptors: {value: 1, source: a guess, grade: chosen}\n",
                     "of 1 descriptors are free (not published)", marks=pytest.mark.long),
    ],
)
def test_what_is_refused_by_a_figure_that_nobody_published_says_so(figures, said):
    lair, mapping = layer(2, 9, shape=(2, 1))
    start, end = mapping.index("machine:"), mapping.index("invocations:")
    mapping = f"{mapping[:start]}machine: own.yaml\n{mapping[end:]}"
    with pytest.raises(UserError) as error:
        on_machine(f"like: wse2\n{figures}", lair, mapping, "render")
    assert said in str(error.value)

"""Parts are fitted to each other: both ends of a crossing have the same lanes."""

from math import prod

import islpy as isl
import pytest
import yaml

from lairmake.stages.diagnose import Source, Span, UserErrors, source_of
from lairmake.stages.lair.grammar import parse_lair
from lairmake.stages.lair.specialise import specialise
from lairmake.stages.lair.statements import polyhedral_description
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.mapping.isl_texts import parse_target
from lairmake.stages.mapping.layer_yaml import read_mapping
from lairmake.stages.mapping.network_yaml import End
from lairmake.stages.mapping.ports import read_ports
from lairmake.stages.network import fit
from lairmake.stages.network.crossing import CrossingStop, check_crossing
from lairmake.stages.network.parts.part import find_most_lanes, find_takers
from lairmake.stages.poly.canonical import find_set
from lairmake.stages.poly.sides import Rectangle
from tests.network.onnx.graphs import make_model
from tests.network.parts.test_parts import weights

HERE = Span(source=Source(path="", text=""), start=0, end=0)
NETWORK = "target: '{ PE[7, 4] }'\n"
TEXT = """c = Conv<pads=[1,1,1,1]>(x, w)
y = Conv<pads=[1,1,1,1], strides=[2,2]>(c, v)"""


def test_lanes_have_blocks_of_the_dimension_that_gives_most_lanes():
    elements = isl.Set("{ y[0, j, k, l] : 0 <= j < 10 and 0 <= k < 4 and 0 <= l < 4 }")
    found = find_most_lanes(elements, 4)
    wanted = "{ y[0, j, k, l] -> [j//3] : 0 <= j < 10 and 0 <= k < 4 and 0 <= l < 4 }"
    assert found.is_equal(isl.Map(wanted))
    assert find_most_lanes(elements, 1) is None


def test_what_is_put_together_crosses_over_one_lane():
    one, two = {"a1.y": "{ }"}, {"b1.y": "{ }", "c1.y": "{ }"}
    parts = {
        "a1": {"arrives": {"x": {"from": {"a1": "{ }"}}}}, "b1": {"arrives": {}},
        "c1": {"arrives": {}}, "d1": {"arrives": {"x": {"from": one}, "x1": {"from": two}}},
    }
    assert find_takers(parts) == {"a1": ["d1"]}


def fitted(graph, network):
    """Return the folder of two convolutions, and what fitted.yaml says of them."""
    model = make_model(TEXT, {"x": (1, 1, 4, 4)}, weights(w=(4, 1, 3, 3), v=(2, 4, 3, 3)))
    return fit_parts(graph, model, network)


def multiplied(graph, network):
    """Return the same of two products, which are smaller."""
    model = make_model("c = MatMul(x, w)\ny = MatMul(c, v)", {"x": (1, 32)}, weights(
        w=(32, 24), v=(24, 16)
    ))
    return fit_parts(graph, model, network)


def fit_parts(graph, model, network):
    folder = graph.write(model.SerializeToString(), network).build()
    for stage in ("split", "fit", "supply"):
        run_stage(stage, folder)
    return folder, yaml.safe_load(file_of(folder, "fitted.yaml").read_text())


def stop(folder, part, tensor, way):
    """Return a tensor at an end, as layer.yaml of the part has it."""
    path = folder.build / "parts" / part
    lair, text = (
        source_of(name, (path / name).read_bytes()) for name in ("part.lair", "layer.yaml")
    )
    mapping = read_mapping(text)
    layer = specialise(parse_lair(lair), None, {}, {}, mapping.span)
    width, height = parse_target(mapping.target)
    target = Rectangle(left=0, top=0, right=width - 1, bottom=height - 1)
    elements = find_set(polyhedral_description(layer)["tensors"], tensor)
    return CrossingStop(
        end=End(part=part, tensor=tensor), tensor=layer.tensors[tensor], target=target, times=1,
        order=read_ports(mapping, tensor, way, elements, target),
    )


@pytest.mark.wide
def test_both_ends_of_a_crossing_agree(graph):
    folder, said = fitted(graph, NETWORK)
    assert isl.Map(said["conv1"]["lanes"]).is_equal(isl.Map(
        "{ y[0, j, k, l] -> [j] : 0 <= j < 4 and 0 <= k < 4 and 0 <= l < 4 }"
    ))
    assert [each["lanes"] for each in said["conv1"]["tried"]] == [1, 4]
    assert said["conv1"]["size"][0] < 7 and "lanes" not in said["conv2"]
    ends = stop(folder, "conv1", "y", "leaves"), stop(folder, "conv2", "x", "arrives")
    moved = isl.Map(
        "{ y[0, j, k, l] -> x[0, j, k + 1, l + 1] : 0 <= j < 4 and 0 <= k < 4 and 0 <= l < 4 }"
    )
    assert check_crossing(ends[0], moved, ends[1], HERE) == "4 ports, east to west"


@pytest.mark.wide
def test_a_rectangle_is_no_narrower_than_a_placement_is_found_on(graph, monkeypatch):
    """What was found on the largest may not be found on as many columns as it needs itself."""
    expect = fit.expect

    def find(part, mapping, profile):
        is_largest = parse_target(mapping.target)[0] == 7
        return expect(part, mapping, profile) if is_largest else None

    monkeypatch.setattr(fit, "expect", find)
    _, said = fitted(graph, NETWORK)
    assert said["conv1"]["size"] == [7, 4]


@pytest.mark.wide
def test_what_a_user_places_is_not_fitted(graph):
    """Its tensors cross over one lane, and so does what it takes, at the other end as well."""
    place = "{ make_y[k, i, j, c, a, b] -> PE[1 + i, 1] }"
    folder, said = fitted(graph, f"{NETWORK}parts: {{conv2: {{placement: '{place}'}}}}\n")
    assert list(said) == ["conv1"] and set(said["conv1"]) == {"cycles", "size"}
    assert "target: '{ PE[7, 4] }'" in (folder.build / "parts/conv2/layer.yaml").read_text()


@pytest.mark.wide
@pytest.mark.parametrize("placement", ["(i, c)", "search"])
def test_a_part_of_which_places_are_open_is_fitted(graph, placement):
    """Directions say along what, not where."""
    folder, said = fitted(graph, f"{NETWORK}parts: {{conv2: {{placement: '{placement}'}}}}\n")
    assert list(said) == ["conv1", "conv2"]
    assert isl.Map(said["conv1"]["lanes"]).range().is_equal(isl.Set("{ [0:3] }"))
    assert f"placement: {placement}" in (folder.build / "parts/conv2/layer.yaml").read_text()


def test_a_direction_that_no_statement_of_a_part_has_is_shown_where_the_user_names_it(graph):
    with pytest.raises(UserErrors) as caught:
        fitted(graph, "parts:\n  conv2: {placement: '(k, q)'}\n")
    assert str(caught.value).replace(f"{graph.path}/", "") == """\
network.yaml:2:27: error: make_y has no iterator q
    conv2: {placement: '(k, q)'}
                            ^
hint: its iterators are k, i, j, c, a, b
"""


LIMITED = "target: '{ PE[6, 4] }'\ngoal: area\n"


@pytest.mark.wide
def test_rectangles_are_as_small_as_a_limit_of_cycles_allows(graph):
    """The search of a part then wants few cycles."""
    folder, said = multiplied(graph, f"{LIMITED}cycles: 400\n")
    for name, each in said.items():
        width, height = each["size"]
        assert each["weighed"][f"{width} x {height}"] == each["cycles"] <= 400
        enough = [
            prod(map(int, size.split(" x "))) for size, cycles in each["weighed"].items()
            if isinstance(cycles, int) and cycles <= 400
        ]
        assert width * height == min(enough) < 24
        assert each["why"] == "no other that takes 400 cycles at most has fewer PEs"
        text = (folder.build / "parts" / name / "layer.yaml").read_text()
        assert f"target: '{{ PE[{width}, {height}] }}'\n" in text and "goal: cycles\n" in text


@pytest.mark.wide
def test_a_limit_that_parts_are_not_expected_to_keep_is_an_error(graph):
    with pytest.raises(UserErrors) as caught:
        multiplied(graph, f"{LIMITED}cycles: 60\n")
    assert str(caught.value).replace(f"{graph.path}/", "") == """\
network.yaml:3:9: error: matmul1 is expected to take 252 cycles at least, on 6 x 4 PEs
  cycles: 60
          ^^
hint: `cycles: 339`, or a larger `target`

network.yaml:3:9: error: matmul2 is expected to take 339 cycles at least, on 6 x 4 PEs
  cycles: 60
          ^^
hint: `cycles: 339`, or a larger `target`
"""


@pytest.mark.wide
def test_a_part_takes_no_more_streams_than_a_machine_has_queues_for(graph):
    """What adapters spread comes on a colour for each lane: with more lanes there is no place."""
    network = f"{NETWORK}parts: {{conv2: {{placement: '(k, i)'}}}}\n"
    queues = "machine: {profile: wse2, input_queues: [2, 2, 2, 2], output_queues: [2, 2]}\n"
    _, said = fitted(graph, queues + network)
    tried = said["conv1"]["tried"]
    assert [each["lanes"] for each in tried] == [1, 4, 2]
    assert tried[1]["cycles"]["conv2"] == "no placement"


@pytest.mark.wide
def test_two_results_do_not_need_more_queues_than_an_adapter_has(graph):
    """A channel times its mean: over four lanes each, the product would take eight queues."""
    text = """c = Conv<pads=[1,1,1,1]>(x, w)
p = GlobalAveragePool(c)
s = Sigmoid(p)
y = Mul(c, s)"""
    model = make_model(text, {"x": (1, 4, 6, 6)}, weights(w=(8, 4, 3, 3)))
    folder, said = fit_parts(graph, model, "target: '{ PE[4, 4] }'\n")
    parts = yaml.safe_load(file_of(folder, "parts.yaml").read_text("utf-8"))
    product = next(name for name in parts if name.startswith("mul"))
    sources = {end.partition(".")[0] for each in parts[product]["arrives"].values()
               for end in each["from"]}
    lanes = [isl.Map(said[each]["lanes"]) for each in sources if "lanes" in said[each]]
    counts = [each.range().count_val().to_python() for each in lanes]
    assert len(sources) == 2 and sum(counts) + len(sources) - len(counts) <= 6

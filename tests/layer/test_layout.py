import islpy as isl
import pytest

from tests.layer.built import MV, build

MAPPING = (
    'target: "{ PE[2, 3] }"\nplacement: "{ mv[i, j] -> PE[j//3, 1 + i//4] }"\ntensors:\n'
    '  x: {arrives: "{ x[j] -> [PE[0, -1] -> index[j]] }", sparse: true}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}\n'
)


@pytest.fixture(scope="module")
def layout():
    return build(MV, MAPPING, "render").yaml("build/layout.yaml")


@pytest.mark.wide
def test_the_grid_holds_computing_pes_and_adapters(layout):
    assert isl.Set(layout["grid"]).is_equal(isl.Set("{ PE[0:1, 0:2] }"))
    roles = {role: isl.Set(described["at"]) for role, described in layout["roles"].items()}
    assert list(roles) == ["compute", "adapter_north"]
    assert roles["compute"].is_equal(isl.Set("{ PE[0:1, 1:2] }"))
    assert roles["adapter_north"].is_equal(isl.Set("{ PE[0:1, 0] }"))


def test_colours_are_numbered_from_zero(layout):
    numbers = {name: colour["number"] for name, colour in layout["colours"].items()}
    assert numbers == {"x_source": 0, "x": 1, "y_even": 2, "y_odd": 3}


def test_resident_tensors_say_which_element_lies_where(layout):
    tensors = layout["roles"]["compute"]["tensors"]
    stored = tensors["W_local"]
    assert (stored["tensor"], stored["transfer"], stored["shape"]) == ("W", "in", [4, 5])
    assert isl.Map(stored["map"]).is_equal(isl.Map(
        "{ [PE[x, y] -> W_local[k, l]] -> W[4y - 4 + k, 3x + l] : "
        "0 <= x <= 1 and 1 <= y <= 2 and 0 <= k <= 3 and 0 <= l <= 4 and 3x + l <= 5 }"
    ))
    assert "tensor" not in tensors["y_local"]


def test_local_tensors_are_aligned_one_after_the_other():
    lair = MV.replace("T W", "int16 W").replace("T=float16", "T=int32").replace("M=8", "M=5")
    lair = lair.replace("N=6", "N=5")
    mapping = 'target: "{ PE[1, 1] }"\nplacement: "{ mv[i, j] -> PE[0, 0] }"\n'
    mapping += "machine: ideal\n"
    tensors = build(lair, mapping, "render").yaml("build/layout.yaml")["roles"]["compute"]
    addresses = {name: t["address"] for name, t in tensors["tensors"].items()}
    assert addresses == {"W_local": 0, "x_local": 52, "y_local": 72}
    assert tensors["memory"]["data"] == 72 + 20


def test_ports_stand_outside_the_grid(layout):
    arrival, departure = layout["arrivals"]["x"], layout["departures"]["y"]
    assert isl.Map(arrival["order"]).is_equal(
        isl.Map("{ x[j] -> [PE[0, -1] -> index[j]] : 0 <= j <= 5 }")
    )
    assert isl.Map(departure["order"]).is_equal(
        isl.Map("{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] : 0 <= i <= 7 }")
    )


@pytest.mark.wide
def test_a_departure_across_a_peeled_border_leaves_beyond_it():
    lair = MV.replace("M=8", "M=6")
    mapping = (
        'target: "{ PE[3, 3] }"\nplacement: "{ mv[i, j] -> PE[i//2, 1 + j//3] }"\ntensors:\n'
        '  x: {arrives: "{ x[j] -> [PE[-1, 1 + j//3] -> index[j]] }"}\n'
        '  W: {arrives: "{ W[i, j] -> [PE[0, -1] -> index[i, j]] }"}\n'
        '  y: {leaves: "{ y[i] -> [PE[i//2, -1] -> index[i mod 2]] }"}\n'
    )
    built = build(lair, mapping, "simulate")
    departure = built.yaml("build/layout.yaml")["departures"]["y"]
    ports = isl.Map(departure["order"]).range_factor_domain()
    assert ports.is_equal(isl.Map("{ y[i] -> PE[i//2, -1] : 0 <= i <= 5 }"))
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_outputs_that_stay_are_read_where_they_are_computed():
    mapping = 'target: "{ PE[2, 1] }"\nplacement: "{ mv[i, j] -> PE[i mod 2, 0] }"\n'
    roles = build(MV, mapping, "render").yaml("build/layout.yaml")["roles"]
    stored = roles["compute"]["tensors"]["y_local"]
    assert stored["transfer"] == "out"
    place = isl.Map(stored["map"])
    assert place.domain().unwrap().domain().is_equal(isl.Set("{ PE[0:1, 0] }"))
    assert place.is_injective()
    assert place.range().is_equal(isl.Set("{ y[i] : 0 <= i <= 7 }"))

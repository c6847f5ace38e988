"""What an element looks up by its index, instead of computing it."""

import pytest

from tests.layer.built import PLAIN, build

STRIDED = """lair C(): float16 x[13][9], float16 W[4][3] -> float16 y[5][7]
{ all (i, j, r, s) in (5, 7, 4, 3) y[i][j] += x[2*i + r][j + s] * W[r][s] }
"""
ONE = (
    'target: "{{ PE[1, 1] }}"\nplacement: "{{ C[i, j, r, s] -> PE[0, 0] }}"\ntensors:\n'
    '  x: {{arrives: "{{ x[i, j] -> [PE[0, -1] -> index[i, j]] }}", sparse: true}}\n'
    "simd: {{prefer: {0}}}\n"
)


def tables(way, machine=PLAIN):
    built = build(STRIDED, ONE.format(way) + machine, "simulate")
    assert built.results()["check"]["y"]["right"]
    return built.yaml("simd.yaml")["on_x"].get("tables", {})


@pytest.mark.wide
@pytest.mark.parametrize("way", ["enumerate", "configure", "relaxed"])
def test_each_dimension_is_looked_up_by_its_index(way):
    found = tables(way)
    assert {table["by"] for table in found.values()} <= {"index0", "index"}
    assert found and all(table["from"] == 0 for table in found.values())
    assert {t["entries"] for t in found.values() if t["by"] == "index0"} == {12}


@pytest.mark.wide
def test_a_table_holds_the_values_for_each_value_of_its_index():
    assert tables("enumerate")["first0"]["value"] == (
        "[PE_X, PE_Y, index0, index] -> { [(0)] : index0 <= 3; "
        "[(-1 + index0 - floor((1 + index0)/2))] : index0 >= 4 }"
    )


@pytest.mark.wide
@pytest.mark.parametrize("figures", ["address: 40", "memory: 3400"])
def test_nothing_is_looked_up_where_that_costs_more_or_memory_is_short(figures):
    assert tables("enumerate", f"machine: {{profile: wse2, {figures}}}\n") == {}


BANDED = """lair C(): float16 A[24][5], float16 x[28] -> float16 y[24]
{ all (i, j) in (24, 5) y[i] += A[i][j] * x[i + j] }
"""
LINE = """target: "{ PE[6, 2] }"
placement: "{ C[i, j] -> PE[i//4, 1] }"
tensors:
  x: {arrives: "{ x[i] -> [PE[i//5, -1] -> index[i mod 5]] }", sparse: true}
machine: wse2
data: {density: 0.6}
"""


@pytest.mark.wide
def test_an_address_that_depends_on_the_least_value_is_looked_up_by_the_index_alone():
    built = build(BANDED, LINE, "simulate")
    assert built.results()["check"]["y"]["right"]
    found = [task.get("tables", {}) for task in built.yaml("simd.yaml").values()]
    looked_up = [table["value"] for tables in found for n, table in tables.items() if n[:2] == "at"]
    assert looked_up and not any("first" in value for value in looked_up)

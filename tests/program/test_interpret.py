"""The graph gives what the source gave, its values apart and at addresses; else it is said where.
"""

import json

import pytest

from stages.diagnose import UserError
from stages.program import interpret, remember
from tests.program.given import Given, listing_files


def remembered(files):
    return Given({**files, **remember.run(Given(files))})


def test_listing_1_gives_what_numpy_gives():
    inputs = remembered(listing_files())
    found = interpret.run(inputs)
    assert found["build/graph/myLA.npy"] == inputs.content("build/numpy/myLA.npy")
    results = json.loads(found["build/results.json"])
    total = {"right": True, "value": 2625.0}
    assert results["outputs"] == {"myLA": {"right": True}, "total": total}
    assert results["operations"] == {"add": 19, "sum": 1}
    assert results["memory"] == {"workers": 36, "executive": 52, "of": 49152}


def test_a_difference_is_said_with_element_values_and_the_line_of_its_node():
    files = listing_files()
    files["build/numpy/myLA.npy"] = files["build/numpy/myLA.npy"].copy()
    files["build/numpy/myLA.npy"][2, 3, 4] = -0.0
    with pytest.raises(UserError) as error:
        interpret.run(remembered(files))
    assert "program.il:17:5: error: myLA[2, 3, 4] is " in str(error.value)
    assert "in the graph, -0.0 (0x80000000) in the source on x86: node 4, add" in str(error.value)
    assert "^" * len("myLA[1:-1, 1:-1, 1:] = myLA") in str(error.value)


def test_an_address_that_two_have_is_seen_at_the_node_where_both_part():
    files = listing_files()
    text = remember.run(Given(files))["addresses.yaml"]
    files["addresses.yaml"] = text.replace("total: {space: workers, address: 32",
                                           "total: {space: workers, address: 16")
    with pytest.raises(UserError) as error:
        interpret.run(Given(files))
    assert "program.il:18:1: error: myLA[0, 0, 4] is " in str(error.value)
    assert "at addresses since node 5, sum" in str(error.value)
    files["addresses.yaml"] = text.replace("myGs: {space: executive, address: 40",
                                           "myGs: {space: executive, address: 0")
    with pytest.raises(UserError) as error:
        interpret.run(Given(files))
    assert "program.il:15:5: error: node 2, add, gives myGs another value" in str(error.value)

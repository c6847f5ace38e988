"""The graph gives what the source gave, its values apart and at addresses; else it is said where.
"""

import io
import json

import numpy as np
import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.program import interpret, remember
from lairmake.stages.program.interpreter.differences import find_difference, spell_value
from tests.program.given import Given, listing_files


def remembered(files):
    return Given({**files, **remember.run(Given(files))})


def test_listing_1_gives_what_numpy_gives():
    inputs = remembered(listing_files())
    found = interpret.run(inputs)
    assert found["build/graph/myLA.npy"] == inputs.content("build/numpy/myLA.npy")
    assert np.load(io.BytesIO(found["build/graph/total.npy"])) == 2625.0
    counts = json.loads(found["build/counts.json"])
    assert counts == {"operations": {"add": 19, "sum": 1}, "iterations": {"fl_0": 10}}


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
    assert "program.il:15:5: error: node 2, add, in iteration 1 of fl_0, gives myGs 0.0 " in str(
        error.value)
    assert " (0x00000000) at addresses, and 25.0 (0x41c80000) apart" in str(error.value)


def test_a_counter_that_something_else_writes_is_seen():
    inputs = remembered(listing_files())
    text, counter = inputs.files["addresses.yaml"], "fl_0.counter: {space: executive, address: "
    inputs.files["addresses.yaml"] = text.replace(f"{counter}48", f"{counter}44")
    with pytest.raises(UserError) as error:
        interpret.run(inputs)
    assert "program.il:14:1: error: the counter of fl_0, node 0, has " in str(error.value)


def test_a_nan_equals_any_nan_and_minus_zero_is_not_zero():
    bits = np.array([0x7FC00000, 0x7FC00001, 0xFFC00000, 0, 0x3F800000], "uint32")
    found, wanted = bits.view("float32"), np.roll(bits[:3], 1)
    assert find_difference(found[:3], wanted.view("float32")) is None
    assert find_difference(found[3:], np.array([-0.0, 1], "float32")) == (0,)
    assert find_difference(found[4], np.array(1, "float32")) is None
    assert find_difference(found[4], np.array(2, "float32")) == ()
    assert spell_value(found[0]) == "nan (0x7fc00000)"
    assert spell_value(np.array(-2, "int16")) == "-2 (0xfffe)"


def test_what_is_read_before_it_is_written_shows():
    files = listing_files()
    files["objects.yaml"] = files["objects.yaml"].replace(", initial: 0.0", "")
    with pytest.raises(UserError) as error:
        interpret.run(remembered(files))
    assert "in the source on x86" in str(error.value)


def test_arrays_that_are_not_of_their_entries():
    files = listing_files()
    files["build/numpy/total.npy"] = np.zeros(3, "float32")
    with pytest.raises(UserError) as error:
        interpret.run(remembered(files))
    said = "build/numpy/total.npy is float32 of shape (3,), and total is float32 of shape ()"
    assert error.value.message == said


ADDRESSES = {
    "total has 4 bytes of workers": ("total: {space: workers", "total: {space: executive"),
    "total is not at a word of 16 bits of the 36 bytes of workers":
        ("total: {space: workers, address: 32", "total: {space: workers, address: 33"),
    "myGs lives from no node to no node": ("bytes: 4, from: start, to: 4", "bytes: 4, from: 5, "
                                           "to: 4"),
    "entry myGx is nowhere defined": ("  myGs:", "  myGx:"),
    "addresses.yaml has no address of total": ("  total:", "#  total:"),
}


@pytest.mark.parametrize("wanted", ADDRESSES)
def test_addresses_that_do_not_fit_the_graph(wanted):
    inputs = remembered(listing_files())
    assert ADDRESSES[wanted][0] in inputs.files["addresses.yaml"]
    inputs.files["addresses.yaml"] = inputs.files["addresses.yaml"].replace(*ADDRESSES[wanted])
    with pytest.raises(UserError) as error:
        interpret.run(inputs)
    assert error.value.message == wanted


def test_a_field_for_which_there_is_no_memory(monkeypatch):
    def refuse(*_):
        raise MemoryError

    monkeypatch.setattr(interpret, "make_store", refuse)
    with pytest.raises(UserError) as error:
        interpret.run(remembered(listing_files()))
    assert error.value.message == (
        "6 x 6 PEs have 1296 bytes of values, for which this computer has no memory")

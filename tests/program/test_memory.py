"""Whatever graphs do, no read finds what another entry wrote, and little memory is wasted."""

import random

import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.machine.banks import Banks
from lairmake.stages.machine.types import BYTES
from lairmake.stages.program import remember
from lairmake.stages.program.irg.addresses import place_entries, read_addresses, write_addresses
from tests.program.given import Given, Source, listing_files
from tests.program.random_graphs import random_graph
from tests.program.sectioned import section_program
from tests.program.simulated_memory import SimulatedRun

ALIGNMENT = 16


def is_array(graph, name):
    return name in graph.entries and graph.entries[name].kind in ("LocalArray", "GlobalArray")


def live_bytes(graph, addresses, space):
    """Return the largest sum of bytes that live at one node, each rounded up to its alignment."""
    changes = {}
    for place in addresses.places.values():
        if place.space == space:
            unit = ALIGNMENT if is_array(graph, place.name) else 2
            size = -(-place.bytes // unit) * unit
            changes[place.first] = changes.get(place.first, 0) + size
            changes[place.last + 1] = changes.get(place.last + 1, 0) - size
    used = most = 0
    for _, change in sorted(changes.items()):
        used += change
        most = max(most, used)
    return most


def check_places(graph, addresses, alignment):
    """Nothing that lives at one node overlaps; arrays are aligned, and so is every element."""
    places = sorted(addresses.places.values(), key=lambda p: (p.space, p.address))
    for n, one in enumerate(places):
        element = BYTES[graph.entries[one.name].type] if one.name in graph.entries else 4
        assert one.address % (alignment if is_array(graph, one.name) else element) == 0
        for other in places[n + 1 :]:
            if (one.space, True) != (other.space, other.address < one.address + one.bytes):
                break
            assert one.last < other.first or other.last < one.first, (one, other)


def check_graphs(seeds, size, banks=0):
    """Return the mean of footprints over bytes that live, for workers and for the executive."""
    ratios = {"workers": [], "executive": []}
    for seed in seeds:
        rng = random.Random(seed)
        graph, accesses = random_graph(rng, size(rng))
        addresses = place_entries(graph, accesses, ALIGNMENT, Banks(banks))
        check_places(graph, addresses, 4 if banks else ALIGNMENT)
        for _ in range(2):
            SimulatedRun(rng, graph, accesses, addresses)
        for space, found in ratios.items():
            if live := live_bytes(graph, addresses, space):
                found.append(getattr(addresses, space) / live)
    return {space: sum(found) / len(found) for space, found in ratios.items()}


@pytest.mark.wide
def test_no_two_entries_meet_and_footprints_are_near_what_lives():
    found = check_graphs(range(1000), lambda rng: rng.randint(3, 60))
    assert all(ratio <= 1.15 for ratio in found.values()), found


def test_arrays_in_other_banks_waste_little_more():
    found = check_graphs(range(200), lambda rng: rng.randint(3, 60), banks=4)
    assert all(ratio <= 1.15 for ratio in found.values()), found


@pytest.mark.long
def test_the_same_of_more_and_larger_graphs():
    small = check_graphs(range(1000, 3000), lambda rng: rng.randint(3, 60))
    large = check_graphs(range(500), lambda rng: rng.randint(100, 400))
    assert all(ratio <= 1.15 for found in (small, large) for ratio in found.values())


def test_a_text_of_addresses_reads_back():
    for seed in range(20):
        graph, accesses = random_graph(random.Random(seed))
        addresses = place_entries(graph, accesses, ALIGNMENT)
        source = Source(path="addresses.yaml", text=write_addresses(addresses))
        assert read_addresses(source, graph) == addresses


TOO_LARGE = """\
listing1.py:1:8: error: a worker needs 36 bytes, and wse2 has 34 on a PE
  myLA = LocalArray('myLA')
         ^^^^^^^^^^^^^^^^^
hint: the largest that live at one time: myLA (32 bytes, from the start to the end), \
total (4 bytes, from node 5 to the end); fewer \
elements on each PE, by smaller arrays or a larger field
"""


def test_too_much_memory_names_the_largest_that_live():
    files = {**listing_files(), "program.yaml": "machine: {profile: wse2, memory: 34}\n"}
    with pytest.raises(UserError) as error:
        remember.run(Given(files))
    assert str(error.value) == TOO_LARGE


def test_arrays_of_a_machine_without_banks_lie_at_any_word():
    files = {**listing_files(), "program.yaml": "machine: ideal\n"}
    files["objects.yaml"] = files["objects.yaml"].replace(
        "float32, shape: [6, 6, 8], initial: file", "int16, shape: [6, 6, 9], initial: 1").replace(
        "UniformLocalScalar, type: float32", "UniformLocalScalar, type: int16")
    assert "total: {space: workers, address: 18, bytes: 2" in remember.run(
        Given(files))["addresses.yaml"]


TOO_LARGE_FOR_ONE = """\
program.py:2:5: error: the executive needs 80008 bytes, and wse2 has 49152 on a PE
  g = GlobalArray("g", 1.0, shape=(20002,), output=True)
      ^^^^^^^^^^^^^^^
hint: the largest that live at one time: g (80008 bytes, from the start to the end); GlobalArrays \
lie on one PE, the executive: smaller ones, or a LocalArray, which lies on all workers
"""


def test_global_arrays_beyond_one_pe_are_refused_with_what_else_there_is():
    source = "from lairmake.objects import GlobalArray\n"
    source += 'g = GlobalArray("g", 1.0, shape=(20002,), output=True)\n'
    with pytest.raises(UserError) as error:
        section_program(source)
    assert str(error.value) == TOO_LARGE_FOR_ONE

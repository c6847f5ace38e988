"""The table of docs/multicast.md, from results."""

from dataclasses import replace
from types import SimpleNamespace

from lairmake.stages.layer.texts.results_json import Cycles, Worth
from tools.evaluation.multicast import document
from tools.evaluation.writing import list_layers


def test_layers_stand_by_what_multicast_is_worth(results):
    def took(cycles, copied=None):
        worth = None if copied is None else Worth(
            cycles=copied, worth=round(cycles / copied, 3), wavelets=0, hops=0, stalls=0
        )
        whole = Cycles(simd=cycles, loops=cycles)
        return replace(results["low"], cycles=whole, multicast=worth)

    found = {
        "little": (took(110, 100), took(90, 90)), "much": (took(150, 100), took(300, 120)),
        "same": (took(70, 70), took(70, 70)), "alone": (took(50), took(50)),
    }
    text = document(found, ()).splitlines()
    rows = [line for line in text if line.startswith("| ")]
    assert rows[2:] == [
        "| much | 100 | 150 | 1.50 | 300 | 2.50 |", "| little | 100 | 110 | 1.10 | 90 | 1.00 |",
    ]
    assert text[-1] == "The same with and without multicast: same, alone."
    assert document(found, ("large", "wide")).endswith("do without multicast in: large, wide.\n")


def test_slots_of_a_search_are_no_layers_that_are_measured(tmp_path):
    (tmp_path / "layer.yaml").touch()
    layer, slot = (
        SimpleNamespace(name=name, path=tmp_path, is_slot="/" in name) for name in ("a", "a/slot1")
    )
    command = SimpleNamespace(select=lambda words: ([layer, slot], []))
    assert list_layers(command, []) == [layer]

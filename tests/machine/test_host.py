"""What copying over the host's link takes: calls, words and cycles, and where no line says it."""

import json

import pytest

from lairmake.stages.machine.host import price_copies
from lairmake.stages.machine.profile import load_profile, profile_names
from tests.layer.built import MV, build

MAPPING = """lair: layer.lair
top: mv
machine: MACHINE
target: "{ PE[3, 5] }"
invocations: 3
placement: "{ mv[i, j] -> PE[j//2, 1 + i//2] }"
tensors:
  x: {arrives: "{ x[i=0:5] -> [PE[0, -1] -> index[i]] }", sparse: true}
  y: {leaves: "{ y[i=0:7] -> [PE[3, 1 + i//2] -> index[i mod 2]] }"}
"""


def test_copies_take_what_the_run_took_that_the_figures_are_from():
    """6272 words in two calls went in until the first task began, and 3136 came back in one."""
    found = price_copies(load_profile("wse2"), [3136, 3136], [3136])
    assert (found.into.calls, found.into.words) == (2, 6272)
    assert abs(found.into.cycles - 2 * 480 - 7226) <= 1
    assert abs(found.out.cycles - 480 - 10522) <= 2


@pytest.mark.parametrize("into", [[], [0], [1], [868], [869, 1]])
def test_each_word_begun_counts(into):
    profile = load_profile("wse2", {"host_into": 500, "host_call": 7})
    found = price_copies(profile, into, [])
    assert found.into.cycles == 7 * len(into) + 2 * sum(into)
    assert (found.out.calls, found.out.words, found.out.cycles) == (0, 0, 0)


@pytest.mark.parametrize("name", profile_names())
def test_only_machines_with_such_figures_have_a_line(name):
    known = price_copies(load_profile(name), [1], [1]) is not None
    assert known == (name in ("wse2", "wse3", "systolic"))


@pytest.mark.wide
@pytest.mark.parametrize("machine", ["wse2", "ideal"])
def test_what_moves_is_copied_in_each_invocation_and_what_stays_once(machine):
    """W stays, x arrives and y leaves: and no other figure of the result is another one for it."""
    built = build(MV, MAPPING.replace("MACHINE", machine), "simulate")
    results = json.loads((built.folder / "build/results.json").read_text())
    host = results.pop("host", None)
    assert (host is None) == (machine == "ideal")
    if host:
        assert (host["into"]["calls"], host["into"]["words"]) == (1 + 3, 8 * 6 + 3 * 6)
        assert (host["out"]["calls"], host["out"]["words"]) == (3, 3 * 8)
        free = MAPPING.replace("MACHINE", f"{{profile: {machine}, host_into: 0}}")
        without = build(MV, free, "simulate").folder / "build/results.json"
        assert json.loads(without.read_text()) == results

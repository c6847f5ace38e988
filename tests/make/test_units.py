"""The units of a workspace: those that names may mean are found as if one looked for all."""

import pytest

from lairmake.stages.make.core import untouched
from lairmake.stages.make.core.untouched import Units, units_below

LAYERS = ("a", "a/b", "a/bc", "group/one", "group/two/deep", "x", "net/own", "net/first", "wrong/p")


@pytest.fixture
def workspace(tmp_path):
    """Return a workspace of layers in each other and in networks, of which one is wrong."""
    for name in LAYERS:
        folder = tmp_path / "projects" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "layer.yaml").write_text("machine: ideal\n", encoding="utf-8")
    (tmp_path / "projects/net/network.yaml").write_text("parts:\n  first:\n", encoding="utf-8")
    (tmp_path / "projects/wrong/network.yaml").write_text("parts: 1\n", encoding="utf-8")
    (tmp_path / ".lairmake").mkdir()
    return tmp_path


@pytest.mark.parametrize("word", [*LAYERS, "net", "wrong", "a/b/none", "a/b:render", "group", "no"])
def test_a_name_means_the_same_unit_if_only_folders_near_it_are_looked_into(workspace, word):
    found = [Units(units_below(workspace, names)) for names in (None, {word.partition(":")[0]})]
    meant, near = (units.named(word) for units in found)
    assert (meant and (meant.name, meant.places)) == (near and (near.name, near.places))
    inside = [[n for n in units.by_name if n.startswith(f"{word}/")] for units in found]
    assert inside[0] == inside[1]


def test_folders_that_no_name_means_are_not_looked_into(workspace, monkeypatch):
    seen = []
    entries = untouched._entries
    monkeypatch.setattr(untouched, "_entries", lambda path: seen.append(path) or entries(path))
    list(units_below(workspace, {"group/two"}))
    below = [path.removeprefix(f"{workspace}/projects") for path in seen]
    assert below == ["", "/group", "/group/two", "/group/two/deep"]


def test_parts_of_a_network_are_none_of_their_own_where_only_it_is_meant(workspace):
    near = {unit.name: len(unit.places) for unit in units_below(workspace, {"net/first"})}
    assert near == {"net": 2}

"""What tells a layer that nothing happened to: what lies in its folders, whatever that is."""

import os

import pytest

from lairmake.stages.make.core import key, untouched
from lairmake.stages.make.store.files import find_changes

LINKS = {"nowhere": "there is nothing", "circle": "circle", "here": ".", "up": ".."}


@pytest.fixture
def place(tmp_path):
    """The folders of a layer, each with a file and with links that lead nowhere or in circles."""
    for name in ("a", "a/inputs", "a/build", "cache"):
        (tmp_path / name).mkdir()
        for link, target in LINKS.items():
            (tmp_path / name / link).symlink_to(target)
        (tmp_path / name / "file").write_text("one", encoding="utf-8")
    return str(tmp_path / "a"), str(tmp_path / "a/build"), str(tmp_path / "cache")


@pytest.mark.parametrize("folder", ["a", "a/inputs", "a/build", "cache"])
def test_a_file_beside_links_that_lead_nowhere_is_seen(place, tmp_path, folder):
    before = untouched._signature([place], ())
    (tmp_path / folder / "file").write_text("garbage", encoding="utf-8")
    assert untouched._signature([place], ()) != before


def test_a_file_of_code_beside_links_that_lead_nowhere_is_seen(place, tmp_path, monkeypatch):
    monkeypatch.setattr(key, "STAGES", tmp_path / "a")
    before = key._signature()
    (tmp_path / "a/file").write_text("garbage", encoding="utf-8")
    assert key._signature() != before


def test_links_to_the_folder_that_they_lie_in_are_not_followed(place, tmp_path):
    for number in range(20):
        (tmp_path / "a/inputs" / f"link{number}").symlink_to(".")
    names = [part[0] for part in untouched._signature([place], ()) if isinstance(part, tuple)]
    assert len(names) == 4 * 5 + 20


def test_what_a_link_leads_to_is_seen_to_change(place, tmp_path):
    (tmp_path / "shared.npy").write_text("one", encoding="utf-8")
    (tmp_path / "a/inputs/x.npy").symlink_to(tmp_path / "shared.npy")
    before = untouched._signature([place], ())
    (tmp_path / "shared.npy").write_text("another", encoding="utf-8")
    assert untouched._signature([place], ()) != before


def test_a_link_that_leads_to_another_file_is_seen(place, tmp_path):
    link = tmp_path / "a/inputs/x.npy"
    link.symlink_to(tmp_path / "a/file")
    before = untouched._signature([place], ())
    link.unlink()
    link.symlink_to(tmp_path / "cache/file")
    assert untouched._signature([place], ()) != before


def test_when_what_a_link_leads_to_was_written_counts(place, tmp_path):
    (tmp_path / "a/inputs/x.npy").symlink_to(tmp_path / "shared.npy")
    (tmp_path / "shared.npy").write_text("one", encoding="utf-8")
    written = os.stat(tmp_path / "shared.npy").st_ctime_ns
    assert written in set(find_changes(untouched._signature([place], ())))

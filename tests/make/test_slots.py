"""What slots of a search built, when nothing is searched any more, or when its part is gone."""

from lairmake.stages.make.core.derived import names_of_parts, old_slots
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.make.store.store import ResultStore


def test_what_slots_of_a_search_built_is_of_an_old_one_as_their_texts_are(tmp_path, monkeypatch):
    folder = open_folder(tmp_path / "projects/a")
    built = folder.build / "slot2/limits/machine.yaml"
    for path in (folder.cache / "candidates.yaml", folder.cache / "slot1/simd.yaml", built):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    monkeypatch.setattr(ResultStore, "has_blob", lambda *_: True)
    assert old_slots(folder) == [
        "build/slot2/limits/machine.yaml", "candidates.yaml", "slot1/simd.yaml"]
    assert file_of(folder, "build/slot2/limits/machine.yaml") == built


def test_what_slots_of_a_part_built_goes_by_where_it_lies(tmp_path):
    whole = open_folder(tmp_path / "projects/a")
    built = whole.build / "parts/p/build/slot2/limits/machine.yaml"
    built.parent.mkdir(parents=True)
    built.write_text("", encoding="utf-8")
    assert names_of_parts(whole) == ["build/parts/p/build/slot2/limits/machine.yaml"]
    assert file_of(whole, names_of_parts(whole)[0]) == built

"""A file of tests runs again where something changed that its tests may reach."""

import json

import pytest

from lairmake.stages.make.core.code import reach
from tests import changed

ROOT = changed.ROOT


def reached(path):
    names = {n for module in changed._modules(ROOT / path) for n in changed._names(module)}
    return set(reach(*sorted(names)).units)


def test_modules_of_tests_are_those_that_are_imported_and_shared():
    found = {path.relative_to(ROOT).as_posix()
             for path in changed._modules(ROOT / "tests/layer/test_work.py")}
    assert {"tests/layer/test_work.py", "tests/layer/built.py", "tests/layer/conftest.py",
            "tests/conftest.py"} <= found
    assert "tests/e2e/conftest.py" not in found


def test_definitions_are_followed_through_modules():
    units = reached("tests/lair/test_grammar.py")
    assert "lairmake.stages.lair.grammar" in units
    assert not any(name.startswith("lairmake.stages.program.") for name in units)


def test_tests_of_small_stages_do_not_reach_what_is_not_beside_them(monkeypatch):
    monkeypatch.setattr(changed, "_reached_at", lambda folders: [
        changed._name(file) for file in changed._files_at(folders)])
    small = changed._reached_by_folder(ROOT / "tests/e2e/test_pipe.py")
    assert any(name.startswith("stages/make/") for name in small)
    assert not any(name.startswith("stages/network/") for name in small)
    whole = changed._reached_by_folder(ROOT / "tests/e2e/test_shipped.py")
    assert any(name.startswith("stages/network/") for name in whole)
    assert any(name.startswith("projects/") for name in whole)


def test_what_passed_is_kept_by_its_digest(tmp_path, monkeypatch):
    monkeypatch.setattr(changed, "PASSED", tmp_path / "state/tests.json")
    names = ["tests/lair/test_checks.py", "tests/lair/test_conditions.py"]
    outcomes = changed.Outcomes("wide", names)
    outcomes.failed.add(names[1])
    outcomes.pytest_sessionfinish(pytest.ExitCode.TESTS_FAILED)
    kept = {"wide": {names[0]: changed._digest(ROOT / names[0])}}
    assert json.loads(changed.PASSED.read_text()) == kept
    changed.Outcomes("wide", names).pytest_sessionfinish(pytest.ExitCode.INTERRUPTED)
    assert json.loads(changed.PASSED.read_text()) == kept


def test_only_files_that_changed_run_and_the_contract(tmp_path, monkeypatch):
    monkeypatch.setattr(changed, "PASSED", tmp_path / "tests.json")
    monkeypatch.setattr(changed, "_digest", lambda path: "same")
    every = sorted((ROOT / "tests").rglob("test_*.py"))
    known = {changed._name(path): "same" for path in every}
    del known["tests/lair/test_checks.py"]
    changed.PASSED.write_text(json.dumps({"not long": known}), encoding="utf-8")
    asked = []
    monkeypatch.setattr(changed.pytest, "main", lambda words, plugins: asked.append(words) or 0)
    assert changed.main(["-m", "not long"]) == 0
    contract = [n for n in known if n.startswith("tests/contract/")]
    assert asked == [["-m", "not long", *sorted([*contract, "tests/lair/test_checks.py"])]]
    asked.clear()
    changed.main(["-m", "wide"])
    assert len(asked[0]) - 2 == len(every), "what passed in one run says nothing of another one"


def test_texts_and_python_that_tests_copy_are_data_of_their_folder():
    data = changed._data("e2e")
    assert {"tests/e2e/golden/diff/cyclic.txt", "tests/e2e/small/parse.py"} <= data.keys()
    assert "tests/e2e/edited.py" not in data

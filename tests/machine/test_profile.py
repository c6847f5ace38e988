"""Machine profiles: every figure has a source and a grade; errors name the figure."""

import pytest
import yaml

from stages.machine.profile import PROFILES, ProfileError, load_profile, profile_names

GRADES = {"A", "B", "C", "M", "chosen"}


def figures(content):
    for value in content.values():
        yield from [value] if "value" in value else figures(value)


@pytest.mark.parametrize("name", profile_names())
def test_every_figure_has_a_source_and_a_grade(name):
    content = yaml.safe_load((PROFILES / f"{name}.yaml").read_text(encoding="utf-8"))
    for figure in figures(content):
        assert set(figure) == {"value", "source", "grade"}
        assert figure["source"] and figure["grade"] in GRADES
    assert load_profile(name, {}).name == name


def test_known_profiles():
    assert profile_names() == ["ideal", "paper", "systolic", "wse1", "wse2", "wse3"]


def test_figures_may_be_replaced():
    profile = load_profile("wse2", {"dispatch": 20, "lanes": {"float16": 8}})
    assert profile.dispatch == 20
    assert profile.lanes == {"float16": 8, "float32": 1, "int16": 4, "int32": 1}
    assert set(load_profile("wse2", {"lanes": 8}).lanes.values()) == {8}


def test_a_profile_may_be_a_file(tmp_path):
    text = (PROFILES / "wse2.yaml").read_text(encoding="utf-8").replace("value: 10,", "value: 11,")
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    profile = load_profile(str(tmp_path / "mine.yaml"), {})
    assert (profile.name, profile.dispatch) == ("mine", 11)


ERRORS = [
    (("wse4", {}), "unknown profile wse4"),
    (("ideal", {"lanes": {"float8": 1}}), "unknown type float8"),
    (("ideal", {"dispach": 1}), "unknown figure dispach"),
    (("ideal", {"ramp": -1}), "profile ideal: ramp is -1, not 0 to 1000"),
    (("ideal", {"ramp": "two"}), "profile ideal: ramp is two, not a whole number"),
    (("ideal", {"grid": 4}), "profile ideal: grid is 4, not [columns, rows]"),
    (("ideal", {"lanes": 0}), "profile ideal: lanes of float16 is 0, not a positive whole number"),
    (("ideal", {"multicast": 1}), "profile ideal: multicast is 1, not true or false"),
]


@pytest.mark.parametrize("arguments, text", ERRORS)
def test_errors_name_the_figure(arguments, text):
    with pytest.raises(ProfileError) as caught:
        load_profile(*arguments)
    assert str(caught.value) == text


def test_the_hint_names_what_is_known():
    hints = []
    for arguments in (("wes3", {}), ("wse4", {}), ("ideal", {"dispach": 1})):
        with pytest.raises(ProfileError) as caught:
            load_profile(*arguments)
        hints.append(caught.value.hint)
    known = "profiles: ideal, paper, systolic, wse1, wse2, wse3"
    assert hints == ["did you mean wse3?", known, "did you mean dispatch?"]


def test_a_file_that_lacks_a_figure_is_refused(tmp_path):
    figure = "{value: 1, source: measured, grade: chosen}"
    (tmp_path / "mine.yaml").write_text(f"hop: {figure}\nramp: {figure}\n", encoding="utf-8")
    with pytest.raises(ProfileError, match=r"^profile mine lacks grid, memory, lanes, v") as error:
        load_profile(str(tmp_path / "mine.yaml"), {})
    assert error.value.hint == (
        "to change some figures of another: `machine: {profile: wse2, memory: 4096}`"
    )


FIGURES = {
    "10": "dispatch has no source and no grade",
    "{value: 10, source: measured}": "dispatch has no grade",
    "{value: 10, source: '', grade: A}": "dispatch has no source",
    "{source: measured, grade: A}": "dispatch has no value",
    "{value: 10, source: measured, grade: D}": "dispatch has grade D",
    "{value: 10, source: measured, grade: A, unit: cycles}": "dispatch has unit",
}


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_in_a_file_has_a_source_and_a_grade(tmp_path, figure):
    content = yaml.safe_load((PROFILES / "wse2.yaml").read_text(encoding="utf-8"))
    content["dispatch"] = yaml.safe_load(figure)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        load_profile(str(tmp_path / "mine.yaml"), {})
    assert str(caught.value) == f"profile mine: {FIGURES[figure]}"
    assert caught.value.figure == "dispatch"
    assert caught.value.hint.startswith("every figure is `{value: 10, source: where it is from, ")

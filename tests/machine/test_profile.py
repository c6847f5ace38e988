"""Machine profiles: every figure has a source and a grade; errors name the figure."""

import pytest
import yaml

from lairmake.stages.machine.profile import PROFILES, ProfileError, load_profile, profile_names

GRADES = {"A", "B", "C", "M", "chosen"}


def figures(content):
    for key, value in content.items():
        if key != "like":
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
    assert profile.find_lanes("MAX", "float16") == 8
    assert profile.find_lanes("MAX", "float32") == 1
    everywhere = load_profile("wse2", {"lanes": 8}).lanes
    assert {width for row in everywhere.values() for width in row.values()} == {8}


APPENDIX = {
    ("MAC", "float16", "float16"): (4, 8), ("MAC", "float32", "float16"): (2, 4),
    ("ADD", "float16", "float16"): (4, 8), ("MUL", "float16", "float16"): (4, 8),
    ("ADD", "float32", "float32"): (2, 4), ("COPY", "float32", "float32"): (2, 4),
    ("COPY", "int32", "int32"): (2, 4), ("MAX", "float16", "float16"): (1, 8),
    ("MAX", "float32", "float32"): (1, 4), ("COPY", "float32", "float16"): (1, 4),
    ("SLL", "int16", "int16"): (1, 4), ("XOR", "int16", "int16"): (4, 8),
}
"""Elements a cycle on WSE-2 and WSE-3, as the appendix of CSL's language guide has them."""


@pytest.mark.parametrize("operation, result, source", APPENDIX)
def test_lanes_are_those_of_the_appendix(operation, result, source):
    found = tuple(load_profile(f"wse{n}").find_lanes(operation, result, source) for n in (2, 3))
    assert found == APPENDIX[operation, result, source]


def test_the_widest_type_of_what_is_read_tells_the_lanes():
    lanes = {"float32": 8, "float32 of float16": {"ADD, SUB": 4, "other": 2}}
    profile = load_profile("wse2", {"lanes": lanes})
    read = [(), ("float16",), ("float16", "float32"), ("int16", "float16"), ("int32",)]
    assert [profile.find_lanes("SUB", "float32", *types) for types in read] == [8, 4, 8, 4, 8]
    assert profile.find_lanes("MUL", "float32", "float16") == 2
    assert profile.find_lanes("MUL", "float16", "float32") == 1


def test_a_profile_may_be_like_another(tmp_path):
    text = "like: wse3\nhop: {value: 2, source: measured, grade: chosen}\n"
    text += "lanes: {float16: {MAX: {value: 2, source: measured, grade: chosen}}}\n"
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    profile, wse3 = load_profile(str(tmp_path / "mine.yaml")), load_profile("wse3")
    assert (profile.hop, profile.ramp) == (2, wse3.ramp)
    assert profile.find_lanes("MAX", "float16") == 2
    assert profile.find_lanes("ADD", "float16") == wse3.find_lanes("ADD", "float16")
    assert wse3.find_lanes("MAX", "float16") == 8


def test_a_profile_may_be_a_file(tmp_path):
    text = (PROFILES / "wse2.yaml").read_text(encoding="utf-8")
    text = text.replace("value: 10\n", "value: 11\n")
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
    (
        ("ideal", {"lanes": {"int16": {"ADD": 0}}}),
        "profile ideal: lanes of int16 for ADD is 0, not a positive whole number",
    ),
    (("ideal", {"lanes": {"int16": {"ADDS": 4}}}), "unknown operation ADDS"),
    (("ideal", {"lanes": {"int16 of int8": 4}}), "unknown type int16 of int8"),
    (
        ("ideal", {"stride_limits": [1, 2]}),
        "profile ideal: stride_limits is [1, 2], not eight whole numbers",
    ),
    (("ideal", {"read_banks": 65}), "profile ideal: read_banks is 65, not 0 to 64"),
    (
        ("ideal", {"bank_alignment": 3}),
        "profile ideal: bank_alignment is 3, not an even number of bytes, 2 to 1024",
    ),
    (("ideal", {"multicast": 1}), "profile ideal: multicast is 1, not true or false"),
    (("wse2", {"vector_multiply_add": 0}),
     "profile wse2: vector_multiply_add is 0, not true or false"),
    (("ideal", {"switch_both": 1}), "profile ideal: switch_both is 1, not true or false"),
    (("wse3", {"unswitched": 7}),
     "profile wse3: unswitched is 7, not a list of colours by number"),
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


def test_a_figure_that_was_renamed_is_named():
    with pytest.raises(ProfileError) as caught:
        load_profile("wse2", {"instruction_queue": 3})
    assert caught.value.hint == "it is called threads now"


def test_a_file_that_lacks_a_figure_is_refused(tmp_path):
    figure = "{value: 1, source: measured, grade: chosen}"
    (tmp_path / "mine.yaml").write_text(f"hop: {figure}\nramp: {figure}\n", encoding="utf-8")
    with pytest.raises(ProfileError, match=r"^profile mine lacks grid, memory, lanes, s") as error:
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


ODD = [None, True, -1, 0, 10**40, 0.5, "x", "", [], [[1]], [None], {}, {"x": 1}, {"value": []}]


def say(value, source="measured", grade="A"):
    return {"value": value, "source": source, "grade": grade}


@pytest.mark.wide_after(13)
@pytest.mark.parametrize("odd", ODD, ids=str)
def test_whatever_stands_in_a_profile_is_taken_or_refused_in_words(tmp_path, odd):
    files = [{"memory": odd}, {"memory": say(64, odd)}, {"memory": say(64, grade=odd)}]
    files += [{"like": odd}, {"lanes": odd}, {"lanes": say(odd)}, {"grid": say(odd)}]
    rows = [odd, say(odd), {"ADD": odd}, {"ADD": say(odd)}, {"ADD": say(odd), "MUL": say(0)}]
    files += [{"lanes": {"float16": row}} for row in rows]
    changes = [{"lanes": odd}, {"lanes": {"float16": odd}}, {"lanes": {"float16": {"ADD": odd}}}]
    changes += [{"lanes": {"float16": {"ADD": odd, "MUL": 0}}}, {"grid": odd}, {"memory": odd}]
    path = tmp_path / "mine.yaml"
    for file in files:
        path.write_text(yaml.safe_dump({"like": "wse2"} | file), encoding="utf-8")
        for changed in ({}, {"lanes": {"float16": "x"}}, {"lanes": {"int16": 0}}):
            check_taken_or_refused(str(path), changed)
    for changed in changes:
        check_taken_or_refused("wse2", changed)


def check_taken_or_refused(name, changed):
    try:
        load_profile(name, changed)
    except ProfileError as error:
        assert error.message and "unhashable" not in error.message


def test_lanes_of_a_file_that_has_few_are_shown_beside_wrong_ones(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"lanes": {"float16": {"DIV": say(0), "ADD": say(4)}}}),
                    encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        load_profile(str(path), {"lanes": {"float16": 0}})
    assert caught.value.hint == f"{path} has 4 for float16"

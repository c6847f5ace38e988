"""Texts that are made to take all there is of memory, time or stack: an error with a place each."""

import os

import pytest
import yaml

from lairmake.stages.diagnose import Source, UserError, UserErrors, source_of
from lairmake.stages.lair.grammar import parse_lair
from lairmake.stages.lair.specialise import specialise
from lairmake.stages.machine.profile import ProfileError, load_profile
from lairmake.stages.make.store.user_files import OTHERS, content_of
from lairmake.stages.mapping.isl_texts import IslText, parse_set
from lairmake.stages.mapping.kernel_yaml import read_kernel
from lairmake.stages.mapping.layer_yaml import read_mapping
from lairmake.stages.mapping.network_yaml import read_network
from lairmake.stages.mapping.yaml_text import read_document
from lairmake.stages.poly.iscc import TextError
from lairmake.stages.poly.text import read_objects
from lairmake.stages.yaml_limits import TooLargeError, load


def aliases(levels):
    """Return a text of 9^levels values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for k in range(1, levels):
        lines.append(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("levels", [6, 10, 40])
@pytest.mark.parametrize("read", [read_mapping, read_network, read_kernel])
def test_aliases_of_aliases_are_counted_and_not_written_out(levels, read):
    with pytest.raises(UserErrors) as caught:
        read(Source(path="a.yaml", text=aliases(levels)))
    (error,) = caught.value.errors
    assert error.message.startswith("YAML: aliases make this more than 10")
    assert error.span.line == 6


def test_a_few_aliases_are_what_they_stand_for():
    text = aliases(3)
    expected = yaml.safe_load(text)
    assert load(text) == expected
    assert read_document(Source(path="a.yaml", text=text)).value == expected


@pytest.mark.parametrize("text", [
    "[" * 300 + "]" * 300, "[" * 200000, "- " * 200000 + "x", "? " * 5000, "a: [" * 101 + "]" * 101,
    "".join(" " * k + "a:\n" for k in range(300)),
])
def test_what_lies_too_deep_is_said_to(text):
    with pytest.raises(TooLargeError, match="nested deeper than 100"):
        load(text)
    with pytest.raises((UserError, UserErrors), match=r"YAML: nested deeper than 100|brackets"):
        read_document(source_of("a.yaml", text.encode()))


@pytest.mark.parametrize(("content", "message"), [
    (b"a\0b", "a.lair:1:2: error: a NUL character, which no text has\n  a?b\n   ^\n"
     "hint: is this the right file?\n"),
    (b"\xff\xfe", "error: a.lair is not UTF-8 text: byte 0 is damaged\n"),
    (b"x(" * 201, "a.lair:1:402: error: more than 200 brackets in each other\n"),
])
def test_no_text_has_these(content, message):
    with pytest.raises(UserError) as caught:
        source_of("a.lair", content)
    assert str(caught.value).startswith(message)


def test_an_error_shows_no_more_of_a_line_than_fits_on_a_screen():
    with pytest.raises(UserError) as caught:
        source_of("a.lair", b"x(" * 100000)
    assert max(map(len, str(caught.value).splitlines())) < 210


ROWS = {
    "exists": "{ [i] : " + "exists a : " * 100000 + "i > a }",
    "product": "{ [" + "2*" * 100000 + "1] }",
    "choices": "{ [" + "1 > 0 ? 0 : " * 100000 + "1] }",
    "dimensions": "{ [" + "i, " * 3000 + "j] }",
    "power": "{ [i] : i < 2^999999999 }",
    "digits": "{ [i] : i < " + "9" * 5000 + " }",
    "brackets": "{ [i] : i < " + "floor(" * 5000 + "i" + ")" * 5000 + " }",
    "nul": "{ [i] }\0",
}


@pytest.mark.parametrize("row", ROWS)
def test_isl_is_given_no_text_that_it_has_no_room_for(row):
    text = ROWS[row]
    source = Source(path="layer.yaml", text=text)
    with pytest.raises(UserError, match=r"isl: (more than|a number|a product|a NUL)"):
        parse_set(IslText(text=text, source=source, offsets=tuple(range(len(text) + 1))))
    if row != "dimensions":
        with pytest.raises(TextError):
            read_objects(f"a := {text};")


def test_a_number_of_forty_digits_is_one_for_isl():
    text = "{ [i] : i < " + "9" * 40 + " }"
    offsets = tuple(range(len(text) + 1))
    source = Source(path="layer.yaml", text=text)
    assert not parse_set(IslText(text=text, source=source, offsets=offsets)).is_empty()


@pytest.mark.wide
@pytest.mark.parametrize("more", ["+ 1" * 20000, "+ " + "-" * 20000 + "1"])
def test_an_expression_without_end_is_an_error_of_lair(more):
    text = f"lair f(): float16 x -> float16 y {{ all (i) in (1) y = x {more} }}"
    with pytest.raises(UserErrors) as caught:
        parse_lair(Source(path="a.lair", text=text))
    assert str(caught.value).startswith("a.lair:1:")


def test_a_number_of_five_thousand_digits_is_too_large():
    text = f"lair f(): float16 x -> float16 y {{ all (i) in (1) y = x * {'9' * 5000} }}"
    with pytest.raises(UserErrors, match="this number is too large"):
        specialise(parse_lair(Source(path="a.lair", text=text)), None, {}, {})


def test_a_pipe_a_device_and_a_folder_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "layer.yaml")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    for name in ("layer.yaml", "zero", "folder"):
        with pytest.raises(UserError, match=f"{name}: (Is a directory|it is no file)"):
            content_of(tmp_path / name)


def test_a_text_is_not_longer_than_people_write(tmp_path):
    for name, most in (("layer.yaml", 2**20), ("a.lair", 2**20), ("a.mlir", 2**24)):
        with open(tmp_path / name, "wb") as file:
            file.truncate(most + 1)
        with pytest.raises(UserError, match=f"is {most + 1} bytes long, at most {most} are read"):
            content_of(tmp_path / name)


def test_arrays_may_have_any_size(tmp_path):
    for name in ("a.npy", "usage.npz"):
        with open(tmp_path / name, "wb") as file:
            file.truncate(OTHERS + 1)
        assert len(content_of(tmp_path / name)) == OTHERS + 1


def test_a_profile_whose_name_is_too_long_for_a_file_is_unknown():
    with pytest.raises(ProfileError, match="unknown profile x"):
        load_profile("x" * 5000, {})


@pytest.mark.parametrize(("value", "said"), [
    ("!!bool x", "`x` reads as a truth value, and is none"),
    ("!!int ''", "an empty text reads as an integer, and is none"),
    ("!!timestamp x", "`x` reads as a date, and is none"),
    ("2020-99-99", "`2020-99-99` reads as a date, and is none"),
])
def test_a_scalar_of_a_profile_that_is_none_is_named_with_its_line(tmp_path, value, said):
    path = tmp_path / "mine.yaml"
    path.write_text(f"# mine\nlanes: {value}\n", encoding="utf-8")
    with pytest.raises(ProfileError, match=f"mine.yaml is not YAML: line 2: {said}$"):
        load_profile(str(path))

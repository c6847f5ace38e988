"""What `--set` may hold: keys, and values between commas."""

import pytest

from lairmake.stages.diagnose import UserErrors
from lairmake.stages.make.core.sweep import read_axes

ISL = (("placement",), ("tensors", "x", "arrives"))


def read(*words):
    return read_axes(words, lambda path: path in ISL, lambda name, place: f"text of {name}")


def values(*words):
    return {axis.key: [choice.value for choice in axis.choices] for axis in read(*words)}


@pytest.mark.parametrize(("word", "expected"), [
    ("sizes.M=32", [32]),
    ("sizes.M=32, 64,128 ", [32, 64, 128]),
    ("machine=wse2,{profile: wse2, lanes: 8}", ["wse2", {"profile": "wse2", "lanes": 8}]),
    ("search=[a, b],[]", [["a", "b"], []]),
    ('top="a, b",c', ["a, b", "c"]),
    ("tensors.x.sparse=true,false", [True, False]),
    ("placement=(i, j),(j, i),search", ["(i, j)", "(j, i)", "search"]),
    ("placement={ f[i] -> PE[i, 0] },one.isl", ["{ f[i] -> PE[i, 0] }", "text of one.isl"]),
    ("placement='one.isl'", ["one.isl"]),
    ("tensors.x.arrives=true,{ x[i] -> [PE[0, -1] -> index[i]] }",
     [True, "{ x[i] -> [PE[0, -1] -> index[i]] }"]),
    ("lair=one.isl", ["one.isl"]),
])
def test_commas_in_brackets_and_quotes_are_none_between_values(word, expected):
    assert list(values(word).values()) == [expected]


def test_a_key_that_comes_again_has_all_values_once():
    assert values("a=1,2", "b=3", "a=2,4") == {"a": [1, 2, 4], "b": [3]}


@pytest.mark.parametrize(("word", "text"), [
    ("sizes.M", "--set:1:1: error: this sets nothing\n  sizes.M\n  ^^^^^^^\n"
     "hint: write a key of the folder's YAML file, and its values: `sizes.M=32,64`\n"),
    ("a b=3", "--set:1:1: error: this is no key\n  a b=3\n  ^^^\n"
     "hint: write a key of the folder's YAML file, and its values: `sizes.M=32,64`\n"),
    ("a=1,,2", "--set:1:5: error: a value is missing\n  a=1,,2\n      ^\n"
     'hint: an empty text is `""`\n'),
    ("a=(1,2", "--set:1:3: error: ) is missing\n  a=(1,2\n    ^^^^\n"),
    ("a='1,2", "--set:1:3: error: ' is missing\n  a='1,2\n    ^^^^\n"),
    ("a=1,b: c: d", "--set:1:5: error: YAML: found `:` behind what is no key\n"
     "  a=1,b: c: d\n      ^^^^^^^\nhint: quote a text\n"),
])
def test_what_is_no_key_with_values_is_refused_at_its_place(word, text):
    with pytest.raises(UserErrors) as raised:
        read(word)
    assert str(raised.value) == text

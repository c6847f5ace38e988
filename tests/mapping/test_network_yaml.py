"""network.yaml: what it says, and the whole text of every error in it."""

import pytest

from stages.diagnose import Source, UserErrors
from stages.mapping.network_yaml import End, read_network

GOOD = """parts:
  last: ../fc
  first:
tensors:
  last.x: first.y
"""
HINT = "hint: name the parts: `parts: {first: , last: }`\n"

WRONG = {
    "no_parts": (
        "tensors: {}\n",
        """\
network.yaml:1:1: error: parts is missing
  tensors: {}
  ^^^^^^^^^^^
""" + HINT,
    ),
    "empty_parts": (
        "parts: {}\n",
        """\
network.yaml:1:8: error: a network has at least one part
  parts: {}
         ^^
""" + HINT,
    ),
    "a_list": (
        "- first\n",
        """\
network.yaml:1:1: error: network.yaml must be a mapping
  - first
  ^^^^^^^
""",
    ),
    "a_list_of_parts": (
        "parts: [first]\n",
        """\
network.yaml:1:8: error: parts must be a mapping
  parts: [first]
         ^^^^^^^
""",
    ),
    "a_number_as_a_path": (
        "parts: {first: 3}\n",
        """\
network.yaml:1:16: error: parts.first must be a text
  parts: {first: 3}
                 ^
""",
    ),
    "unknown_key": (
        "parts: {first: }\ntensor: {}\n",
        """\
network.yaml:2:1: error: unknown key tensor
  tensor: {}
  ^^^^^^
hint: did you mean tensors?
""",
    ),
    "part_twice": (
        "parts:\n  first:\n  first:\n",
        """\
network.yaml:3:3: error: first is given twice
    first:
    ^^^^^
hint: keep one
""",
    ),
    "name_of_a_part": (
        "parts: {a/b: }\n",
        """\
network.yaml:1:9: error: a/b cannot be the name of a part
  parts: {a/b: }
          ^^^
hint: letters, digits and _, a letter first
""",
    ),
    "name_of_a_folder": (
        "parts: {build: }\n",
        """\
network.yaml:1:9: error: build is a folder of every network
  parts: {build: }
          ^^^^^
hint: choose another name, and give the folder: `NAME: path/to/folder`
""",
    ),
    "no_tensor": (
        "parts: {a: , b: }\ntensors: {a: b.y}\n",
        """\
network.yaml:2:11: error: a is no tensor of a part
  tensors: {a: b.y}
            ^
hint: write `part.tensor`
""",
    ),
    "no_source": (
        "parts: {a: , b: }\ntensors: {a.x: .y}\n",
        """\
network.yaml:2:16: error: .y is no tensor of a part
  tensors: {a.x: .y}
                 ^^
hint: write `part.tensor`
""",
    ),
    "unknown_part": (
        "parts: {first: , last: }\ntensors: {lost.x: first.y}\n",
        """\
network.yaml:2:11: error: unknown part lost
  tensors: {lost.x: first.y}
            ^^^^^^
hint: did you mean last?
""",
    ),
    "a_circle": (
        "parts: {a: , b: , c: }\ntensors: {b.x: a.y, a.v: c.y, a.x: b.y}\n",
        """\
network.yaml:2:16: error: parts wait for each other: a -> b -> a
  tensors: {b.x: a.y, a.v: c.y, a.x: b.y}
                 ^^^
hint: leave one of these crossings out
""",
    ),
    "a_part_that_feeds_itself": (
        "parts: {a: }\ntensors: {a.x: a.y}\n",
        """\
network.yaml:2:16: error: parts wait for each other: a -> a
  tensors: {a.x: a.y}
                 ^^^
hint: leave one of these crossings out
""",
    ),
}


def read(text):
    return read_network(Source(path="network.yaml", text=text))


def test_parts_come_after_those_they_take_tensors_from():
    assert list(read(GOOD).parts.items()) == [("first", "first"), ("last", "../fc")]


def test_what_crosses():
    (crossing,) = read(GOOD).crossings
    assert crossing.to == End(part="last", tensor="x")
    assert str(crossing.source) == "first.y"
    assert (crossing.key_span.column, crossing.span.column) == (3, 11)


@pytest.mark.parametrize("case", WRONG)
def test_error(case):
    text, expected = WRONG[case]
    with pytest.raises(UserErrors) as raised:
        read(text)
    assert str(raised.value) == expected


def test_all_errors_are_told_at_once():
    with pytest.raises(UserErrors) as raised:
        read("parts: {a b: , build: }\ntensors: {a.x: c}\n")
    assert len(raised.value.errors) == 4

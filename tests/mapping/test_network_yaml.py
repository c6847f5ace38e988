"""network.yaml: what it says, and the whole text of every error in it."""

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.mapping.network_yaml import End, describe_plan, read_network

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
    "a_map_of_nothing": (
        "parts: {a: , b: }\ntensors: {b.x: {map: '{ y[i] -> x[i] }'}}\n",
        """\
network.yaml:2:16: error: tensors.b.x.from is missing
  tensors: {b.x: {map: '{ y[i] -> x[i] }'}}
                 ^^^^^^^^^^^^^^^^^^^^^^^^^
hint: say which tensor: `from: part.tensor`
""",
    ),
    "a_key_of_a_crossing": (
        "parts: {a: , b: }\ntensors:\n  b.x:\n  - {from: a.y, maps: 3}\n  - {from: a.y, map: 3}\n",
        """\
network.yaml:4:17: error: unknown key maps
    - {from: a.y, maps: 3}
                  ^^^^
hint: did you mean map?

network.yaml:5:22: error: tensors.b.x.1.map must be a text in isl syntax
    - {from: a.y, map: 3}
                       ^
""",
    ),
    "a_number_that_crosses": (
        "parts: {a: , b: }\ntensors: {b.x: 3}\n",
        """\
network.yaml:2:16: error: tensors.b.x must be a text
  tensors: {b.x: 3}
                 ^
""",
    ),
    "nothing_that_crosses": (
        "parts: {a: , b: }\ntensors: {b.x: []}\n",
        """\
network.yaml:2:16: error: tensors.b.x must be at least 1 values
  tensors: {b.x: []}
                 ^^
""",
    ),
    "unknown_parts_of_a_list": (
        "parts: {a: , b: }\ntensors:\n  b.x: [{from: a.y}, {from: c.y}]\n",
        """\
network.yaml:3:29: error: unknown part c
    b.x: [{from: a.y}, {from: c.y}]
                              ^^^
hint: parts: a, b
""",
    ),
    "a_circle_of_maps": (
        "parts: {a: , b: }\ntensors: {b.x: a.y, a.x: [{from: b.y}]}\n",
        """\
network.yaml:2:16: error: parts wait for each other: a -> b -> a
  tensors: {b.x: a.y, a.x: [{from: b.y}]}
                 ^^^
hint: leave one of these crossings out
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
    (given,) = crossing.given
    assert (str(given.end), given.map, crossing.is_whole) == ("first.y", None, True)
    assert (crossing.span.column, given.span.column) == (3, 11)


def test_what_elements_move_by():
    network = read("""parts: {a: , b: , c: }
tensors:
  b.x: {from: a.y, map: "{ y[i] -> x[i + 1] }"}
  c.x: [{from: b.y, map: "{ y[i] -> x[i] }"}, {from: a.y, map: "{ y[i] -> x[i + 4] }"}]
  c.w: {from: a.z}
""")
    moved, several, _ = network.crossings
    assert [each.is_whole for each in network.crossings] == [False, False, True]
    assert moved.given[0].map.text == "{ y[i] -> x[i + 1] }"
    assert (moved.given[0].map.place.line, moved.given[0].map.place.column) == (3, 26)
    assert [str(each.end) for each in several.given] == ["b.y", "a.y"]
    assert describe_plan(network) == {
        "parts": {"a": "a", "b": "b", "c": "c"},
        "crossings": [["c", "w", "a", "z"]],
        "moved": [["b", "x", "a", "y"], ["c", "x", "b", "y"], ["c", "x", "a", "y"]],
        "whole": False,
    }


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

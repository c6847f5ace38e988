"""Values are set in a YAML text, of which all else stays as it is."""

import pytest

from lairmake.stages.diagnose import Source
from lairmake.stages.mapping.candidates import set_values
from lairmake.stages.mapping.yaml_text import read_document

GIVEN = """# what it is
sizes: {M: 32, N: 16}  # two
machine: wse2
placement: |
  { f[i] -> PE[i, 0] }
tensors:
  x: {sparse: true}
"""


def changed(text, changes):
    given = {tuple(key.split(".")): value for key, value in changes.items()}
    return set_values(text, read_document(Source(path="", text=text)), given)


@pytest.mark.parametrize(("old", "new", "changes"), [
    ("{M: 32, N: 16}", "{M: 64, N: 16}", {"sizes.M": 64}),
    ("{M: 32, N: 16}", "{M: 32, N: 16, K: 4}", {"sizes.K": 4}),
    ("{M: 32, N: 16}", "{M: true, N: 16}", {"sizes.M": True}),
    ("wse2", "{profile: wse2, lanes: 8}", {"machine.lanes": 8}),
    ("wse2", "{profile: wse3, lanes: 8}", {"machine.lanes": 8, "machine": "wse3"}),
    ("|\n  { f[i] -> PE[i, 0] }", "'{ f[i] -> PE[0, i] }'", {"placement": "{ f[i] -> PE[0, i] }"}),
    ("sparse: true", "sparse: true, next: y", {"tensors.x.next": "y"}),
    ("sparse: true}\n", "sparse: true}\ndata: {seed: 3}\n", {"data.seed": 3}),
])
def test_what_is_not_set_stays_as_it_is(old, new, changes):
    assert changed(GIVEN, changes) == GIVEN.replace(old, new)


@pytest.mark.parametrize("changes", [
    {}, {"sizes.M": 32}, {"machine": "wse2", "placement": "{ f[i] -> PE[i, 0] }"},
    {"tensors.x": {"sparse": True}},
])
def test_a_text_that_says_so_already_is_the_same_to_the_byte(changes):
    assert changed(GIVEN, changes) == GIVEN


@pytest.mark.parametrize(("text", "expected"), [
    ("", "a: 2\nb: {c: x}\n"),
    ("a: 1", "a: 2\nb: {c: x}\n"),
    ("{a: 1, b: {d: 2}}", "a: 2\nb: {d: 2, c: x}\n"),
    ("a: &one 1\ne: *one\n", "a: 2\ne: 1\nb: {c: x}\n"),
    ("a:\nb: # nothing\n", "a: 2\nb: {c: x} # nothing\n"),
    ("e: 1\n...\n", "e: 1\na: 2\nb: {c: x}\n"),
])
def test_what_cannot_be_edited_in_place_is_written_anew(text, expected):
    assert read_document(Source(path="", text=changed(text, {"a": 2, "b.c": "x"}))).value == (
        read_document(Source(path="", text=expected)).value
    )

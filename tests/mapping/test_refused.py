"""What a text that stands for a refused candidate keeps of the error."""

import pytest

from lairmake.stages.diagnose import Source, Span, UserError
from lairmake.stages.mapping.refusals import find_error, refusal_in, refusal_text, why_refused

LAYER = Source(path="projects/a/layer.yaml", text="schedule: nothing\n")
ERROR = UserError("it is no schedule", Span(source=LAYER, start=10, end=17), "give\n  one")
TEXT = """\
# refused: place: it is no schedule
# in layer.yaml, value ["schedule"]
# hint: give one
"""


def test_an_error_in_a_file_of_the_user_is_kept():
    assert refusal_in("place", ERROR, "layer.yaml") == TEXT
    assert why_refused(TEXT) == "place: it is no schedule"
    found = find_error(TEXT, {"layer.yaml": LAYER})
    assert (found.message, found.span, found.hint) == (ERROR.message, ERROR.span, "give one")


def test_what_has_no_place_in_a_file_keeps_none():
    assert find_error(refusal_text("place: no room"), {"layer.yaml": LAYER}) is None
    assert find_error(TEXT, {}) is None
    assert find_error(TEXT.replace("schedule\"]", "target\"]"), {"layer.yaml": LAYER}) is None
    assert find_error(TEXT.replace('["schedule"]', "[x]"), {"layer.yaml": LAYER}) is None


SAID = """\
tensors:
  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}
placement: |
  { f[i, j] ->
    PE[j, i] }
"""
SAME = """\
# a comment
placement: "{ f[i, j] ->\\n  PE[j, i] }\\n"
tensors:
  # another one
  x:
    sparse: true
    arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }"
"""


@pytest.mark.parametrize("marked", ["f[i, j]", "PE[j, i]", "x[i]", "tensors", "sparse", "true"])
def test_an_error_in_a_yaml_file_moves_with_its_value(marked):
    before, after = (Source(path="layer.yaml", text=text) for text in (SAID, SAME))
    spans = [Span(source=each, start=each.text.index(marked),
                  end=each.text.index(marked) + len(marked)) for each in (before, after)]
    text = refusal_in("place", UserError("wrong", spans[0]), "layer.yaml")
    found = find_error(text, {"layer.yaml": before}), find_error(text, {"layer.yaml": after})
    assert [each.span for each in found] == spans


def test_an_error_in_lair_keeps_its_characters():
    source = Source(path="f.lair", text="node f\n")
    span = Span(source=source, start=5, end=6)
    text = refusal_in("parse", UserError("wrong", span), "f.lair")
    assert "# in f.lair, characters 5 to 6\n" in text
    assert find_error(text, {"f.lair": source}).span == span
    assert find_error(text.replace("to 6", "to 60"), {"f.lair": source}) is None

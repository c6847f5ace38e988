"""What a text that stands for a refused candidate keeps of the error."""

from stages.diagnose import Source, Span, UserError
from stages.mapping.refused import find_error, refusal, refusal_in, why_refused

LAYER = Source(path="projects/a/layer.yaml", text="schedule: nothing\n")
ERROR = UserError("it is no schedule", Span(source=LAYER, start=10, end=17), "give\n  one")
TEXT = """\
# refused: place: it is no schedule
# in layer.yaml, characters 10 to 17
# hint: give one
"""


def test_an_error_in_a_file_of_the_user_is_kept():
    assert refusal_in("place", ERROR, "layer.yaml") == TEXT
    assert why_refused(TEXT) == "place: it is no schedule"
    found = find_error(TEXT, {"layer.yaml": LAYER})
    assert (found.message, found.span, found.hint) == (ERROR.message, ERROR.span, "give one")


def test_what_has_no_place_in_a_file_keeps_none():
    assert find_error(refusal("place: no room"), {"layer.yaml": LAYER}) is None
    assert find_error(TEXT, {}) is None
    assert find_error(TEXT.replace("17", "170"), {"layer.yaml": LAYER}) is None

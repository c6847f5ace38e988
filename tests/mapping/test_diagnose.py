"""Errors for users: place, excerpt, carets, hint."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors, nearest, render_error

SOURCE = Source(path="projects/fc/fc.lair", text="all (i) in (M)\n\ty[i] += W[i] * x[j*j]\n")


def span_of(part: str) -> Span:
    start = SOURCE.text.index(part)
    return Span(source=SOURCE, start=start, end=start + len(part))


@pytest.mark.parametrize(("word", "meant"), [
    ("mni", "min"), ("minn", "min"), ("in", "min"), ("sin", None), ("Min", "min"), ("MIN", "min"),
    ("flaot16", "float16"), ("float", "float16"), ("float8", None), ("x.a", "u_x.a"), ("", None),
])
def test_a_slip_keeps_the_first_letter_and_numbers(word: str, meant: str | None) -> None:
    assert nearest(word, ["min", "float16", "u_x.a"], 0.5) == meant


def test_a_slip_may_be_in_the_number_of_one_of_many() -> None:
    assert nearest("c_t3", ["c_t1", "b_t1"], numbers=True) == "c_t1"


def test_line_and_column_count_from_one() -> None:
    span = span_of("j*j")
    assert (span.line, span.column) == (2, 19)
    assert (span_of("all").line, span_of("all").column) == (1, 1)


def test_the_whole_text_of_an_error() -> None:
    error = UserError("access to x is not affine", span_of("j*j"), "sums of iterators")
    assert str(error) == (
        "projects/fc/fc.lair:2:19: error: access to x is not affine\n"
        "  \ty[i] += W[i] * x[j*j]\n"
        "  \t                 ^^^\n"
        "hint: sums of iterators\n"
    )


def test_an_error_without_place_or_hint() -> None:
    assert render_error(UserError("no .lair file")) == "error: no .lair file\n"


def test_carets_stop_at_the_end_of_the_first_line() -> None:
    span = Span(source=SOURCE, start=8, end=len(SOURCE.text))
    assert render_error(UserError("long", span)) == (
        "projects/fc/fc.lair:1:9: error: long\n  all (i) in (M)\n          ^^^^^^\n"
    )


def test_an_empty_span_has_one_caret() -> None:
    span = Span(source=SOURCE, start=14, end=14)
    assert render_error(UserError("end", span)).splitlines()[2] == "                ^"


def test_errors_follow_one_another() -> None:
    errors = UserErrors([UserError("one"), UserError("two")])
    assert str(errors) == "error: one\n\nerror: two\n"

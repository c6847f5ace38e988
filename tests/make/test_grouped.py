"""The lines of what became of the stages of a build."""

from lairmake.stages.make.doit import reporter


def text(*ended, names=("fc:parse", "fc:place", "conv:parse")):
    lines = reporter.Grouped(names)
    return "".join(lines.end(*each) for each in ended) + lines.rest()


def test_the_line_of_a_layer_comes_with_its_last_stage():
    lines = reporter.Grouped(["fc:parse", "fc:place", "conv:parse"])
    assert lines.end("fc:parse", "ran") == ""
    assert lines.end("conv:parse", "hit") == "conv: 1 stage from the store\n"
    assert lines.end("fc:place", "ran") == "fc: 2 stages ran\n"
    assert lines.rest() == ""


def test_what_came_from_the_store_is_counted_and_what_stayed_is_not():
    assert text(("fc:parse", "hit"), ("fc:place", "ran")) == "fc: 1 stage ran, 1 from the store\n"
    assert text(("fc:parse", "same"), ("fc:place", "ran")) == "fc: 1 stage ran\n"
    assert text(("fc:parse", "same"), ("fc:place", "same")) == ""


def test_a_layer_that_did_not_end_has_its_line_at_the_end():
    assert text(("fc:parse", "ran")) == "fc: 1 stage ran\n"


def test_a_stage_that_fails_is_named_with_what_ran_before():
    lines = reporter.Grouped(["fc:parse", "fc:place", "fc:render"])
    assert lines.end("fc:parse", "ran") == ""
    assert lines.fail("fc:place") == "fc: 1 stage ran, place failed\n"
    assert lines.end("fc:render", "left") == ""
    assert lines.rest() == ""


def test_layers_that_do_not_end_after_a_failure_are_counted():
    lines = reporter.Grouped(["fc:parse", "conv:parse", "conv:place", "mm:parse", "mm:place"])
    assert (lines.end("conv:parse", "ran"), lines.left()) == ("", 0)
    assert lines.fail("fc:parse") == "fc: parse failed\n"
    assert lines.left() == 2
    lines.end("conv:place", "ran")
    assert lines.left() == 1


def test_parts_are_counted_with_the_whole(monkeypatch):
    monkeypatch.setattr(reporter, "wholes_of", lambda folders: {"mlp/first": "mlp"})
    ended = [("mlp/first:parse", "ran"), ("mlp:connect", "ran")]
    names = [name for name, _ in ended]
    assert text(*ended, names=names) == "mlp: 2 stages ran\n"
    assert reporter.Grouped(names).fail("mlp/first:parse") == "mlp: first:parse failed\n"


def test_a_long_build_says_how_far_a_layer_is(monkeypatch):
    monkeypatch.setattr(reporter, "INTERVAL", 0.0)
    assert text(("fc:parse", "ran")) == "fc: 1 of 2 stages done\nfc: 1 stage ran\n"

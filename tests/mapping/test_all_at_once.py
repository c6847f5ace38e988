"""Errors of users' files: all that are wrong are told of at once, and none in a library's words."""

import inspect

import pytest
from pydantic import ValidationError
from pydantic_core.core_schema import ErrorType

import lairmake.stages.mapping.network_yaml as network
from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.mapping import models as yaml_file
from lairmake.stages.mapping.kernel_yaml import Kernel
from lairmake.stages.mapping.layer_yaml import LayerMapping
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.mapping.program_yaml import Program, read_program
from lairmake.stages.mapping.yaml_text import read_document
from lairmake.stages.yaml_faults import OTHERWISE
from tests.mapping.machines import OURS

WRONG = (None, 1, 0, -1, 1.5, float("nan"), "x", [], [1], {}, {"x": 1}, {1: 2}, True, 10**400, [[]],
         {"profile": 1}, {"x": {"arrives": 3}}, {"x": [3]}, {"x": {}}, {"seconds": 0.5})


def test_figures_that_are_none_are_told_of_together():
    text = "machine: {profile: wse2, lanez: 3, dispach: 5, x: 1}\n"
    program = read_program(Source(path="program.yaml", text=text))
    with pytest.raises(UserErrors) as caught:
        read_machine(program, OURS)
    assert [(error.message, error.hint.partition(":")[0]) for error in caught.value.errors] == [
        ("unknown figure lanez", "did you mean lanes?"),
        ("unknown figure dispach", "did you mean dispatch?"), ("unknown figure x", "figures")]


def test_no_value_has_an_error_in_the_words_of_pydantic():
    """Whatever is given for each key: the kind of the error is one that we say ourselves."""
    theirs = set(ErrorType.__args__)
    models = [model for _, model in inspect.getmembers(network, inspect.isclass)
              if issubclass(model, yaml_file.File) and model is not yaml_file.File]
    kinds = set()
    for model in (LayerMapping, Kernel, Program, *models):
        for name, field in model.model_fields.items():
            for value in WRONG:
                try:
                    model.model_validate({field.alias or name: value})
                except ValidationError as error:
                    kinds |= {each["type"] for each in error.errors()}
    known = {*yaml_file._WANTED, "extra_forbidden", "missing"}
    assert len(kinds) > 10 and kinds & theirs <= known


PARSED = {
    "a: b: c": "found `:` behind what is no key",
    "a: [1": "found the end of the text, expected `,` or `]`",
    "a: *b": "`*b` is the name of no anchor", 'a: "\\q"': "`\\q` stands for nothing",
    "a: !!foo x": "an unknown tag, `!!foo`", "a: !foo x": "an unknown tag, `!foo`",
    "a: @b": "found `@`, which begins no value", "\ta: b": "found a tab, which begins no value",
    "a: | x": "found `x`, where a line ends", "a: |x": "found `x` behind `|` or `>`",
    "a: 'b": "this text has no end",
    "c: *": "found the end of the text behind `*`", "a: &a 1\nb: &a 2": "a second anchor of this",
    "a: 1\n---\nb: 2": "a second document, behind `---`", "a\nb: 1": "found `:` behind what is no",
    "a: 2020-13-41": "`2020-13-41` reads as a date, and is none", "- a\nb: c": "found ",
    "a: {b: 1": "found the end of the text, expected `,` or `}`",
}


@pytest.mark.parametrize("text", PARSED)
def test_what_is_no_yaml_is_said_in_words_of_ours(text):
    with pytest.raises(UserErrors) as caught:
        read_document(Source(path="layer.yaml", text=text))
    said = caught.value.errors[0].message
    assert said.startswith(f"YAML: {PARSED[text]}") and "<" not in said and OTHERWISE not in said

"""Errors of users' files: all that are wrong are told of at once, and none in a library's words."""

import inspect

import pytest
from pydantic import ValidationError
from pydantic_core.core_schema import ErrorType

import stages.mapping.network_yaml as network
from stages.diagnose import Source, UserErrors
from stages.mapping import yaml_file
from stages.mapping.kernel_yaml import Kernel
from stages.mapping.layer_yaml import Mapping
from stages.mapping.machine import read_machine
from stages.mapping.program_yaml import Program, read_program

WRONG = (None, 1, 0, -1, 1.5, float("nan"), "x", [], [1], {}, {"x": 1}, {1: 2}, True, 10**400, [[]],
         {"profile": 1}, {"x": {"arrives": 3}}, {"x": [3]}, {"x": {}}, {"seconds": 0.5})


def test_figures_that_are_none_are_told_of_together():
    text = "machine: {profile: wse2, lanez: 3, dispach: 5, x: 1}\n"
    program = read_program(Source(path="program.yaml", text=text))
    with pytest.raises(UserErrors) as caught:
        read_machine(program, lambda given, span: pytest.fail(given))
    assert [(error.message, error.hint.partition(":")[0]) for error in caught.value.errors] == [
        ("unknown figure lanez", "did you mean lanes?"),
        ("unknown figure dispach", "did you mean dispatch?"), ("unknown figure x", "figures")]


def test_no_value_has_an_error_in_the_words_of_pydantic():
    """Whatever is given for each key: the kind of the error is one that we say ourselves."""
    theirs = set(ErrorType.__args__)
    models = [model for _, model in inspect.getmembers(network, inspect.isclass)
              if issubclass(model, yaml_file.File) and model is not yaml_file.File]
    kinds = set()
    for model in (Mapping, Kernel, Program, *models):
        for name, field in model.model_fields.items():
            for value in WRONG:
                try:
                    model.model_validate({field.alias or name: value})
                except ValidationError as error:
                    kinds |= {each["type"] for each in error.errors()}
    known = {*yaml_file._WANTED, "extra_forbidden", "missing"}
    assert len(kinds) > 10 and kinds & theirs <= known

"""Texts of stages that bring into a program what is neither a name nor a number."""

import pytest
import yaml

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.layer.codegen.model import check_words


def text_of(data):
    """Return a text of a stage that says so."""
    return Source(path="simd.yaml", text=yaml.safe_dump(data))


@pytest.mark.parametrize("data", [
    {"on_x": {"operation": "MAC", "why": "what (people) read;", "sizes": ["[n] -> { [(n)] }", 8]}},
    {"send_y": {"operands": [{"number": "-inf", "type": "float16"}], "op": "+="}},
])
def test_names_numbers_and_what_isl_reads_may_stand_in_a_program(data):
    check_words(text_of(data))


@pytest.mark.parametrize("data", [
    {"on_x": {"operation": '({ system("true"); MAC; })'}},
    {"on_x": {"operation": "{ [MAC] }"}},
    {"on_x": {"operands": [{"local": "y_local[0]; f("}]}},
    {"on_x": {"operands": [{"number": "f()"}]}},
    {"on_x; f()": {"operation": "MAC"}},
])
def test_what_else_would_be_spelled_in_c_is_refused(data):
    with pytest.raises(UserError, match="no name, number"):
        check_words(text_of(data))

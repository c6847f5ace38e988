"""program.yaml: which source of a program folder is built, for which machine and parameters.

Stages get it as `inputs.program()`, and the source itself as `inputs.program_source()`.

Source   design, 1: a program folder
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.mapping.layer_yaml import Machine
from lairmake.stages.mapping.models import File, Strict, read_file
from lairmake.stages.mapping.yaml_text import read_document

NAME = "program.yaml"
PYTHON = ".py"

Value = bool | int | float | str


def _value(value: object) -> Value:
    if isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise PydanticCustomError("parameter_type", "parameter")


Parameter = Annotated[
    Value,
    PlainValidator(_value),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "boolean"}]}),
]


class Control(Strict):
    """How a program is controlled: by how many response PEs on each side, None: by as few as do."""

    responses: Annotated[int, Field(ge=1)] | None = None


class Limits(Strict):
    """What the source may take when it runs: `seconds` of processors, bytes of `memory`, and bytes
    that it gives back, its `answer`.

    The largest are those of stages/program/sandbox/limits.py.
    """

    seconds: Annotated[float, Field(ge=1, le=86_400)] = 60
    memory: Annotated[int, Field(ge=1 << 28, le=1 << 40)] = 4 << 30
    answer: Annotated[int, Field(ge=1 << 20, le=1 << 33)] = 1 << 30


class Program(File):
    """A program.yaml.

    `program` is the source: by default the only one. `parameters` are what `parameter("n", 16)`
    gives in it, by name. `reductions` is how sums come together on the fabric. `limits` are those
    of the source where it runs. Each build draws a report if `report` says so.
    """

    NAME = NAME

    program: str | None = None
    machine: Machine = "wse2"
    parameters: dict[str, Parameter] = {}
    control: Control = Control()
    reductions: Literal["drain"] = "drain"
    limits: Limits = Limits()
    report: bool = False


def read_program(source: Source) -> Program:
    """Return what a program.yaml says; UserErrors with everything that is wrong in it."""
    document = read_document(source)
    return read_file(Program, document, document.value)


def program_schema() -> dict[str, Any]:
    """Return the JSON schema of program.yaml, for editors."""
    return Program.model_json_schema()


def choose_program(program: Program, names: Sequence[str], folder: str) -> str:
    """Return the name of the source: the one that program.yaml names, else the only one.

    `names` are the .py files of the folder but for dodo.py, which is doit's. Raises UserError
    where there is no such file, or where there are several.
    """
    given, here = program.program, f"the .py files here: {', '.join(names) or 'none'}"
    if given is not None:
        span = program.span("program")
        if not given.endswith(PYTHON) or "/" in given:
            raise UserError(f"{given} is not the name of a .py file", span, here)
        if given not in names:
            raise UserError(f"{given} does not exist", span, here)
        return given
    if len(names) > 1:
        hint = f"name the one to build in {NAME}: `program: NAME.py`"
        raise UserError(f"{folder} holds {len(names)} .py files ({', '.join(names)})", hint=hint)
    if not names:
        raise UserError(f"{folder} holds no program", hint=f"it is a NAME.py beside {NAME}")
    return names[0]

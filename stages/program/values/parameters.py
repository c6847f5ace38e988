"""Numbers that a program is given from outside: `n = parameter("n", 16)`.

They come from the command line, `python heat.py n=32`, or from program.yaml.

Paper    ours
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Mapping
from typing import TypeVar

from lairmake.stages.diagnose import nearest
from lairmake.stages.program.values.errors import ProgramError

Value = TypeVar("Value", int, float, str, bool)

_given: dict[str, object] | None = None
_asked: list[str] = []
WORDS = {"true": True, "false": False}


class ParameterError(ProgramError):
    """One that is wrong about the parameter of a `name`: where it is set."""

    def __init__(self, name: str, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.name = name


def set_parameters(given: Mapping[str, object]) -> None:
    """Give a program its parameters, instead of the command line; it has asked for none so far."""
    global _given
    _given = dict(given)
    _asked.clear()


def parameter(name: str, default: Value) -> Value:
    """Return what a parameter is set to, in the type of its default. Raises ProgramError."""
    if not isinstance(name, str):
        raise ProgramError(f"a parameter's name is {name!r}", '`parameter("n", 16)`')
    if not isinstance(default, (int, float, str)):
        said = f"parameter {name!r}: its default is no int, float, str or bool"
        raise ProgramError(said, f'`parameter("{name}", 16)`')
    _asked.append(name)
    given = _find_given()
    return _convert(name, given[name], default) if name in given else default


def check_parameters() -> None:
    """Raise ProgramError for a parameter that is set and that the program did not ask for."""
    for name in _find_given():
        if name not in _asked:
            near = nearest(name, _asked)
            known = ", ".join(dict.fromkeys(_asked)) or "none"
            hint = f"did you mean {near}?" if near else f"it asks for {known}"
            raise ParameterError(name, f"the program has no parameter {name!r}", hint)


def _find_given() -> dict[str, object]:
    """Return what is set, which is looked for on the command line when it is first asked for."""
    global _given
    if _given is None:
        pairs = (word.partition("=") for word in sys.argv[1:])
        _given = {name: text for name, sign, text in pairs if sign and name.isidentifier()}
        atexit.register(_check_at_the_end)
    return _given


def _check_at_the_end() -> None:
    try:
        check_parameters()
    except ProgramError as error:
        print(f"ERROR: {error}", file=sys.stderr)


def _convert(name: str, given: object, default: Value) -> Value:
    """Return a value in the type of the default: YAML's types, or a text."""
    type_ = type(default)
    said = f"parameter {name}={given}: not of the type of its default, {default!r}"
    if isinstance(given, str) and type_ is bool:
        given = WORDS.get(given.lower(), given)
    if type(given) is type_:
        return given
    if type_ is bool or isinstance(given, bool) or not isinstance(given, (int, float, str)):
        raise ParameterError(name, said)
    if isinstance(given, float) and type_ is int:
        raise ParameterError(name, said)
    try:
        return type_(given)
    except (ValueError, OverflowError):
        raise ParameterError(name, said) from None

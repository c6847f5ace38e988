"""The values that loops run over, from their bounds as they are written."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from lairmake.stages.poly.expression import Name, Number, Operation, Value

SPELLED = {"==": "=", "%": "mod"}
"""Operations between arguments of which isl's text has another sign than programs."""

FUNCTIONS = ("max", "min")


def list_iterations(
    iterators: Sequence[str], conditions: Sequence[Value], constants: Sequence[str]
) -> isl.Set | None:
    """Return [constants] -> { [iterators] } under conditions on both.

    None where isl cannot read them: they use other names, or are not affine.
    """
    told = " and ".join(f"({_spell(each)})" for each in conditions) or "true"
    text = f"[{', '.join(constants)}] -> {{ [{', '.join(iterators)}] : {told} }}"
    try:
        return isl.Set(text)
    except isl.Error:
        return None


def _spell(value: Value) -> str:
    """Return a value, or a condition, as isl reads it."""
    match value:
        case Number(number):
            return str(number)
        case Name(name):
            return name
        case Operation(sign, arguments):
            return _spell_operation(sign, [_enclose(each) for each in arguments])
        case _:
            return "?"


def _enclose(value: Value) -> str:
    return f"({_spell(value)})" if isinstance(value, Operation) else _spell(value)


def _spell_operation(sign: str, parts: Sequence[str]) -> str:
    if sign in FUNCTIONS:
        return f"{sign}({', '.join(parts)})"
    if sign in ("/", "floord"):
        return f"floor({parts[0]} / {parts[1]})"
    if sign == "negative":
        return f"-{parts[0]}"
    return f" {SPELLED.get(sign, sign)} ".join(parts)

"""Names, numbers and lists as YAML spells them, without a library: there are many of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from lairmake.stages.machine.types import is_integer

WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null"})
"""What YAML does not read as a name."""


def spell_number(number: int | float, type_: str) -> str:
    """Return the shortest text that reads back to the same value of a type."""
    if is_integer(type_):
        return str(int(number))
    value = np.dtype(type_).type(number)
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    text = str(value)
    if np.dtype(type_).type(float(text)) != value:
        text = repr(float(value))
    digits, mark, exponent = text.partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{mark}{exponent}"


def spell_name(name: str) -> str:
    """Return a name so that it is read as one."""
    return f"'{name}'" if name.lower() in WORDS else name


def quote(text: str) -> str:
    """Return any text of one line in quotes."""
    return "'" + text.replace("'", "''") + "'"


def spell_list(spelt: Iterable[object]) -> str:
    """Return a list of what is spelt already, on one line."""
    return f"[{', '.join(map(str, spelt))}]"


def spell_mapping(spelt: Mapping[str, object]) -> str:
    """Return a mapping of what is spelt already, on one line."""
    return f"{{{', '.join(f'{key}: {value}' for key, value in spelt.items())}}}"

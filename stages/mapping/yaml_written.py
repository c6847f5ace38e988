"""Write YAML by the emitter that is C, where there is one: the same bytes as by that of Python.

Both agree on texts of one line of ASCII. Where others are values in mappings within mappings, they
have a word in their place until the rest is written, and what Python's emitter makes of them there.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import yaml

from lairmake.stages.limits import pause_collector

WORD = "text_written_apart_"
LINE = re.compile(r"[ -~]*")
KEY = re.compile(r"[A-Za-z_]\w*", re.ASCII)
STAND_IN = re.compile(rf"(?<=: ){WORD}(\d+)(?=\n)")
STEP = "  "
LAYOUT: dict[str, Any] = {"sort_keys": False, "default_flow_style": None, "width": 100}


@pause_collector()
def write_yaml(value: Any) -> str:
    """Return the YAML text of a value: keys in the order given, lists of scalars in one line.

    Raises yaml.YAMLError for what is no mapping, list or scalar.
    """
    emitter = getattr(yaml, "CSafeDumper", None) if isinstance(value, dict | list) else None
    apart = _Apart()
    try:
        plain = apart.set(value, 0)
    except _UnusualError:
        emitter = None
    if emitter is None:
        return _write_in_python(value)
    text: str = yaml.dump(plain, Dumper=emitter, **LAYOUT)
    return STAND_IN.sub(lambda found: apart.texts[int(found[1])], text)


def _write_in_python(value: Any) -> str:
    text: str = yaml.safe_dump(value, **LAYOUT)
    return text


class _UnusualError(Exception):
    """What the emitters may not agree on, at a place where nothing can be put in."""


class _Apart:
    """Copies a value, with words in place of `texts`; equal objects are still one."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._copies: dict[int, Any] = {}

    def set(self, value: Any, depth: int | None) -> Any:
        """Return a copy; `depth` is how many mappings it is in, None for other places."""
        if isinstance(value, dict | list):
            if id(value) not in self._copies:
                self._copies[id(value)] = self._inside(value, depth)
            return self._copies[id(value)]
        if isinstance(value, tuple):
            for each in value:
                self.set(each, None)
        elif isinstance(value, str) and (WORD in value or not LINE.fullmatch(value)):
            raise _UnusualError
        return value

    def _inside(self, value: Any, depth: int | None) -> Any:
        if isinstance(value, list):
            return [self.set(each, None) for each in value]
        is_block = any(isinstance(each, dict | list | tuple) for each in value.values())
        own = depth if is_block else None
        if "" in value:
            raise _UnusualError
        return {self.set(k, None): self._value(k, each, own) for k, each in value.items()}

    def _value(self, key: Any, value: Any, depth: int | None) -> Any:
        if not isinstance(value, str) or LINE.fullmatch(value):
            return self.set(value, None if depth is None else depth + 1)
        if depth is None:
            raise _UnusualError
        self.texts.append(_write_alone(key, value, depth))
        return f"{WORD}{len(self.texts) - 1}"


@functools.lru_cache(1024)
def _write_alone(key: Any, text: str, depth: int) -> str:
    """Return how a text is written as the value of a key, in so many mappings within each other."""
    nested: dict[str, Any] = {key: text, "end": [[]]}
    for _ in range(depth):
        nested = {"in": nested}
    written = _write_in_python(nested)
    inset = STEP * depth
    head = "".join(f"{STEP * k}in:\n" for k in range(depth)) + f"{inset}{key}: "
    tail = f"\n{inset}end:\n{inset}- []\n"
    if not KEY.fullmatch(str(key)) or not (written.startswith(head) and written.endswith(tail)):
        raise _UnusualError
    return written.removeprefix(head).removesuffix(tail)

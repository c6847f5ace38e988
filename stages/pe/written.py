"""Programs as YAML text: each node by the name of its class, with its fields in their order.

A number or a name stands for itself, `{"+": [i, 1]}` for an operation, `{Field: x}` for a node of
one field, and `{Element: [{Field: y}, [i, 0]]}` for others. What is read back is what was written.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from stages.pe import listing, statement_nodes, value_nodes
from stages.pe.listing import Function, Listing
from stages.pe.statement_nodes import Scope, Statement
from stages.poly import expression
from stages.poly.expression import Name, Node, Number, Operation

HEADER = """# The programs of build/simd and of build/loops, by role, before they are spelled in C.
"""
PLAIN = re.compile(r"(?!(?:yes|no|on|off|true|false|null)\Z)[A-Za-z_]\w*", re.IGNORECASE)
"""What YAML reads as a text without quotes."""
HELD = {"str", "int", "float", "bool", "str | None", "tuple[str, ...]", "tuple[int, ...]"}
"""Types of fields that hold no nodes."""


def write_programs(variants: Mapping[str, Mapping[str, Listing]]) -> str:
    """Return the programs, by variant and role, as YAML."""
    lines = [HEADER]
    for variant, roles in variants.items():
        lines.append(f"{variant}:\n")
        for role, program in roles.items():
            lines += [f"  {role}:\n", *(f"    {line}\n" for line in _listing(program))]
    return "".join(lines)


def read_programs(data: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Listing]]:
    """Return the programs, by variant and role, of the value of such a text."""
    return {
        variant: {role: _read_listing(program) for role, program in roles.items()}
        for variant, roles in data.items()
    }


def _listing(program: Listing) -> Iterator[str]:
    for field in fields(Listing):
        if field.name != "functions":
            yield f"{field.name}: {_flow(getattr(program, field.name))}"
    yield "functions:"
    for function in program.functions:
        yield f"- name: {_flow(function.name)}"
        for key in ("comment", "kind", "declared"):
            yield f"  {key}: {_flow(getattr(function, key))}"
        yield "  statements:" if function.statements else "  statements: []"
        yield from (f"  {line}" for line in _block(function.statements))


def _block(listed: tuple[Statement, ...]) -> Iterator[str]:
    """Yield the lines of a list of statements, those within others below them."""
    for each in listed:
        if isinstance(each, Scope) and each.statements:
            yield "- Scope:"
            yield f"  - {_flow(each.head)}"
            first, *rest = _block(each.statements)
            yield f"  - {first}"
            yield from (f"    {line}" for line in rest)
        else:
            yield f"- {_flow(each)[1:-1]}"


def _flow(part: object) -> str:
    """Return a node, or what a field of one holds, on one line."""
    match part:
        case None | bool() | int():
            return json.dumps(part)
        case float():
            return _float(part)
        case str():
            return part if PLAIN.fullmatch(part) else json.dumps(part)
        case Name(name):
            return _flow(name)
        case Number(number):
            return str(number)
        case Operation(sign, arguments):
            return f"{{{_flow(sign)}: {_flow(arguments)}}}"
        case tuple():
            return f"[{', '.join(map(_flow, part))}]"
        case Node():
            found = [_flow(getattr(part, field.name)) for field in fields(part)]
            bare = len(found) == 1 and not found[0].startswith("[")
            inner = found[0] if bare else f"[{', '.join(found)}]"
            return f"{{{type(part).__name__}: {inner}}}"
    raise AssertionError(f"{part} is no part of a program")


def _float(number: float) -> str:
    if math.isinf(number):
        return ".inf" if number > 0 else "-.inf"
    text = repr(number)
    return text if "." in text else text.replace("e", ".0e")


def _read_listing(data: Mapping[str, Any]) -> Listing:
    functions = tuple(_read(Function, list(each.values())) for each in data["functions"])
    others = [value for key, value in data.items() if key != "functions"]
    program: Listing = _read(Listing, [*others, functions])
    return program


@cache
def nodes() -> dict[str, type[Node]]:
    """Return the class of each node by its name."""
    modules = (expression, value_nodes, statement_nodes, listing)
    every = (each for module in modules for each in vars(module).values())
    return {c.__name__: c for c in every if isinstance(c, type) and issubclass(c, Node)}


def _read(kind: type[Any], given: list[Any]) -> Any:
    """Return a node of its fields as they were written."""
    pairs = zip(fields(kind), given, strict=True)
    return kind(*(_plain(v) if f.type in HELD else _node(v) for f, v in pairs))


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _node(value: Any) -> Any:
    match value:
        case str():
            return Name(value)
        case int():
            return Number(value)
        case list():
            return tuple(map(_node, value))
        case dict():
            ((kind, given),) = value.items()
            if kind not in nodes():
                return Operation(kind, _node(given))
            return _read(nodes()[kind], given if isinstance(given, list) else [given])
    return value

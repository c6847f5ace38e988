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
from functools import cache, lru_cache
from typing import Any

from lairmake.stages.pe import listing, nodes
from lairmake.stages.pe.listing import Function, Listing
from lairmake.stages.pe.nodes import MOST, OFTEN, PLAIN, Scope, StatementNode
from lairmake.stages.poly import expression
from lairmake.stages.poly.expression import Name, Node, Number, Operation

HEADER = "# The programs of {}, by role, before they are spelled in C.\n"
BARE = re.compile(r"(?!(?:yes|no|on|off|true|false|null)\Z)[A-Za-z_]\w*", re.IGNORECASE)
"""A word that YAML reads as a text without quotes."""


def write_programs(variants: Mapping[str, Mapping[str, Listing]]) -> str:
    """Return the programs, by variant and role, as YAML."""
    lines = [HEADER.format(" and of ".join(f"build/{variant}" for variant in variants))]
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
        value = getattr(program, field.name)
        if field.name != "functions" and value != field.default:
            yield f"{field.name}: {_flow(value)}"
    yield "functions:"
    for function in program.functions:
        yield f"- name: {_flow(function.name)}"
        given = ["parameters"] if function.parameters else []
        for key in ("comment", "kind", *given, "declared"):
            yield f"  {key}: {_flow(getattr(function, key))}"
        yield "  statements:" if function.statements else "  statements: []"
        yield from (f"  {line}" for line in _block(function.statements))


def _block(listed: tuple[StatementNode, ...]) -> Iterator[str]:
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
    return _flow_once(part) if isinstance(part, OFTEN) else _flow_anew(part)


def _flow_anew(part: object) -> str:
    match part:
        case str():
            return _text(part)
        case tuple():
            return f"[{', '.join(map(_flow, part))}]"
        case Name(name):
            return _text(name)
        case Number(number):
            return str(number)
        case Operation(sign, arguments):
            return f"{{{_text(sign)}: {_flow(arguments)}}}"
        case Node():
            kind: Any = type(part)
            found = [_flow(getattr(part, name)) for name in _list_fields(kind)]
            if found and found[-1] == "[]" and _may_lack_last(kind):
                found.pop()
            bare = len(found) == 1 and not found[0].startswith("[")
            inner = found[0] if bare else f"[{', '.join(found)}]"
            return f"{{{kind.__name__}: {inner}}}"
        case float():
            return _float(part)
        case None | bool() | int():
            return json.dumps(part)
    raise AssertionError(f"{part} is no part of a program")


_flow_once = lru_cache(maxsize=MOST)(_flow_anew)


@cache
def _list_fields(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _may_lack_last(kind: type[Any]) -> bool:
    """Say whether the last of the fields is left out where it holds nothing, as by default."""
    return fields(kind)[-1].default == ()


@lru_cache(maxsize=MOST)
def _text(text: str) -> str:
    return text if BARE.fullmatch(text) else json.dumps(text)


def _float(number: float) -> str:
    if math.isnan(number):
        return ".nan"
    if math.isinf(number):
        return ".inf" if number > 0 else "-.inf"
    text = repr(number)
    return text if "." in text else text.replace("e", ".0e")


def _read_listing(data: Mapping[str, Any]) -> Listing:
    functions = [_read(Function, each) for each in data["functions"]]
    program: Listing = _read(Listing, {**data, "functions": functions})
    return program


@cache
def node_classes() -> dict[str, type[Node]]:
    """Return the class of each node by its name."""
    modules = (expression, nodes, nodes, listing)
    every = (each for module in modules for each in vars(module).values())
    return {c.__name__: c for c in every if isinstance(c, type) and issubclass(c, Node)}


def _read(kind: type[Any], given: Mapping[str, Any]) -> Any:
    """Return a node of its fields as they were written; what was left out is as by default."""
    types = {field.name: field.type for field in fields(kind)}
    return kind(**{
        name: _plain(value) if types[name] in PLAIN else _node(value)
        for name, value in given.items()
    })


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
            if kind not in node_classes():
                return Operation(kind, _node(given))
            names = [field.name for field in fields(node_classes()[kind])]
            given = given if isinstance(given, list) else [given]
            return _read(node_classes()[kind], dict(zip(names, given, strict=False)))
    return value

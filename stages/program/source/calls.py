"""Which functions of a source call which, deal with objects, and run in loops of the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from lairmake.stages.machine.types import TYPES
from lairmake.stages.program.source.contexts import Context, Spot
from lairmake.stages.program.source.meanings import (
    CLASS,
    FUNCTION,
    MEMBER,
    OBJECT,
    UNKNOWN,
    Meaning,
)
from lairmake.stages.program.source.words import IGNORED, NUMPY, OBJECTS, ON_HOST

OF_NO_OBJECT = tuple(f"{OBJECTS}.{name}" for name in ("parameter", "field", IGNORED, ON_HOST)) + (
    tuple(f"{NUMPY}.{name}" for name in TYPES))


@dataclass(slots=True)
class Calls:
    """What is known of functions by their names; methods of one name are one.

    `touching` deal with objects, `looped` run in loops or branches of the graph, `again` call
    themselves, perhaps through others.
    """

    called: dict[str, dict[str, ast.AST]] = field(default_factory=dict)
    touching: set[str] = field(default_factory=set)
    looped: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)

    def deals_with_objects(self, meaning: Meaning) -> bool:
        """Whether a name is one of objects, of what makes them, or of a function that has them."""
        name = name_called(meaning)
        return touches(meaning) or (bool(name) and name in self.touching)

    def reach(self, name: str) -> set[str]:
        """Return the functions that one calls, also through others."""
        inner = {own: set(names) for own, names in self.called.items()}
        return _reach(inner.get(name, set()), inner)


def find_calls(spots: Iterable[Spot]) -> Calls:
    """Return what functions call, and what follows from it."""
    found = Calls()
    for spot in spots:
        node, context = spot.node, spot.context
        own = name_function(context)
        if isinstance(node, ast.Call):
            for name in _find_called(context, node):
                found.called.setdefault(own, {}).setdefault(name, node)
                if context.graphs:
                    found.looped.add(name)
        elif isinstance(node, ast.Name | ast.Attribute) and touches(context.find(node)):
            found.touching.add(own)
        elif isinstance(node, ast.FunctionDef) and _is_hidden(node):
            found.looped.add(node.name)
    _spread(found)
    return found


def _find_called(context: Context, node: ast.Call) -> Iterable[str]:
    """Return the functions that a call may be of: all that have the name, where it is unknown."""
    meaning, functions = context.find(node.func), context.program.functions
    name = name_called(meaning)
    if name or meaning.what != UNKNOWN:
        return [name] if name else []
    if isinstance(node.func, ast.Attribute):
        return [node.func.attr] if node.func.attr in functions else []
    return context.program.passed


def _is_hidden(node: ast.FunctionDef) -> bool:
    """Whether a function is called where no call stands: an operator, or a property."""
    is_operator = node.name.startswith("__") and node.name != "__init__"
    return is_operator or any(
        getattr(each, "id", "") == "property" for each in node.decorator_list)


def name_function(context: Context) -> str:
    """Return the name of the function around, "" for the module."""
    if context.function is None:
        return ""
    name, outer = context.function.name, context.scope.outer
    if name == "__init__" and outer is not None and isinstance(outer.node, ast.ClassDef):
        return f"{outer.node.name}.{name}"
    return name


def name_called(meaning: Meaning) -> str:
    """Return the name of the function of the program that is called, "" for others."""
    if meaning.what == CLASS:
        return f"{meaning.detail}.__init__"
    return meaning.detail if meaning.what == FUNCTION else ""


def touches(meaning: Meaning) -> bool:
    """Whether a name is one of objects, or of what makes or computes them."""
    if meaning.what == MEMBER:
        return meaning.detail not in OF_NO_OBJECT
    return meaning.what == OBJECT


def _spread(found: Calls) -> None:
    """Let callers of what touches touch, and let what is called in loops be in loops."""
    callers: dict[str, set[str]] = {}
    for own, names in found.called.items():
        for name in names:
            callers.setdefault(name, set()).add(own)
    found.touching = _reach(found.touching, callers)
    inner = {own: set(names) for own, names in found.called.items()}
    found.looped = _reach(found.looped, inner)
    found.again = {
        name for name in inner
        if name and name in _reach(inner[name], inner)
    }


def _reach(start: set[str], edges: dict[str, set[str]]) -> set[str]:
    found, todo = set(start), list(start)
    while todo:
        new = edges.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found

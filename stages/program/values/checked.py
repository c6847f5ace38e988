"""Decorators of a user's classes and functions: members and arguments are of the kinds they say.

They know an object by its `form`, and the hint of a kind by its `KIND`: so they serve the source
on x86 and the intermediate language.

Paper    E Sec. 5.1: three decorators for strict typing; their names are ours
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from lairmake.stages.program.values.errors import ProgramError
from lairmake.stages.program.values.forms import GLOBAL_SCALAR, LOCAL_SCALAR, UNIFORM, Form

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])

SCALARS = "MACHScalar"
"""The `KIND` of a hint that means every kind of scalar."""

KINDS_OF_SCALARS = (GLOBAL_SCALAR, UNIFORM, LOCAL_SCALAR)
DEFINED = 1 << 9
"""The flag of classes that Python code defines, whose members may be set: Py_TPFLAGS_HEAPTYPE."""


def holds_objects(class_: Class) -> Class:
    """A class that has objects as members: its members are `strict`, its methods `typed`."""
    _check_class("holds_objects", class_)
    for name, member in list(vars(class_).items()):
        if inspect.isfunction(member):
            setattr(class_, name, typed(member))
    return strict(class_)


def strict(class_: Class) -> Class:
    """A class whose members keep their type, and an object, which they hold for good."""
    _check_class("strict", class_)
    assign: Any = class_.__setattr__

    def assign_checked(self: object, name: str, value: object) -> None:
        _check_member(class_.__name__, name, getattr(self, name, value), value)
        assign(self, name, value)

    type.__setattr__(class_, "__setattr__", assign_checked)
    return class_


def _check_class(decorator: str, given: object) -> None:
    """Raise ProgramError for what is no class that a program defines."""
    if not isinstance(given, type) or not given.__flags__ & DEFINED:
        raise ProgramError(f"`{decorator}` of what is no class of the program",
                           f"it stands above one: `@{decorator}`")


def _check_member(class_: str, name: str, before: object, value: object) -> None:
    if before is value:
        return
    if _find_form(before) is not None:
        said = f"member {name} of {class_} holds a {_spell(before)}, and would hold another object"
        raise ProgramError(said, f"`self.{name}[...] = ` gives it other values")
    if type(before) is not type(value):
        said = f"member {name} of {class_} was of type {_spell(before)}, and would be"
        raise ProgramError(f"{said} {_spell(value)}", "members keep their type: another name")


def typed(function: Function) -> Function:
    """A function whose arguments are what their hints say."""
    signature = inspect.signature(function)
    hints: dict[str, Any] = {}

    @functools.wraps(function)
    def call_checked(*args: Any, **kwargs: Any) -> Any:
        if not hints:
            hints.update(typing.get_type_hints(function), **{"return": None})
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            _check_argument(function.__name__, signature.parameters[name], hints.get(name), value)
        return function(*args, **kwargs)

    return typing.cast(Function, call_checked)


def _check_argument(function: str, taken: inspect.Parameter, hint: Any, value: object) -> None:
    if hint is None:
        return
    several: tuple[object, ...] = (value,)
    if taken.kind is inspect.Parameter.VAR_POSITIONAL:
        several = typing.cast("tuple[object, ...]", value)
    elif taken.kind is inspect.Parameter.VAR_KEYWORD:
        several = tuple(typing.cast("dict[str, object]", value).values())
    for each in several:
        if not _fits(each, hint):
            said = f"argument {taken.name} of {function} is of type {_spell(each)}"
            raise ProgramError(f"{said}, its hint says {_spell_hint(hint)}")


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is what a hint says; of `list[int]` only the list is looked at."""
    if hint is Any or isinstance(hint, TypeVar):
        return True
    origin = typing.get_origin(hint)
    if origin is typing.Union or origin is types.UnionType:
        return any(_fits(value, each) for each in typing.get_args(hint))
    kind, form = getattr(hint, "KIND", None), _find_form(value)
    if kind is not None:
        return form is not None and (
            form.kind in KINDS_OF_SCALARS if kind == SCALARS else form.kind == kind)
    class_ = origin if origin is not None else hint
    if not isinstance(class_, type):
        return True
    if class_ is float and type(value) is int:
        return True
    return isinstance(value, class_) and not (class_ is int and isinstance(value, bool))


def _find_form(value: object) -> Form | None:
    form = getattr(value, "form", None)
    return form if isinstance(form, Form) else None


def _spell(value: object) -> str:
    form = _find_form(value)
    return type(value).__name__ if form is None else form.kind


def _spell_hint(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)

"""Loops and branches that stay such in the graph: contexts of the intermediate language.

    with for_loop('fl_0', global_range(0, 50, 1)) as fl_0:
        fl_0.conditional_break('{0} > 100.0', [total])

Paper    E Sec. 5.3 and 5.4
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from lairmake.stages.program.il.deciding import (
    ALWAYS,
    is_computed,
    is_plain,
    make_condition,
    read_arguments,
)
from lairmake.stages.program.il.locating import list_written
from lairmake.stages.program.il.nodes import copy_part
from lairmake.stages.program.il.recording import (
    add_step,
    close_scope,
    find_line,
    find_recording,
    open_scope,
    read_part,
)
from lairmake.stages.program.il.records import (
    ELSE,
    FOR,
    IF,
    ITERATED,
    WHILE,
    Block,
    Cell,
    Condition,
    Exit,
    Part,
    Scope,
)
from lairmake.stages.program.il.value import Value, find_part, make_value
from lairmake.stages.program.values.forms import (
    GLOBAL_SCALAR,
    Form,
    ProgramError,
    check_iteration,
    whole_region,
)


class _Context:
    """A graph that is recorded between `with` and its end."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def __enter__(self) -> Any:
        open_scope(self._scope)
        return self

    def __exit__(
        self, type_: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            close_scope(self._scope)


class _Loop(_Context):
    """A loop of the graph."""

    def conditional_break(self, text: str, arguments: Sequence[Any]) -> None:
        """Leave the loop where a condition holds."""
        self._leave("break", text, arguments)

    def conditional_continue(self, text: str, arguments: Sequence[Any]) -> None:
        """Go on with the next iteration where a condition holds."""
        self._leave("continue", text, arguments)

    def _leave(self, op: str, text: str, arguments: Sequence[Any]) -> None:
        if not self._scope.open:
            raise ProgramError(f"`{op}` of {self._scope.name}, outside of that loop")
        condition = make_condition(text, read_arguments(arguments))
        leave_loop(op, self._scope, condition)


class for_loop(_Loop):  # noqa: N801
    """A loop over the elements of a GlobalArray, or over the integers of a `global_range`.

    Elements of a slice are copied before; so the loop may not change them.
    """

    def __init__(self, name: str, over: Value | range) -> None:
        if not isinstance(over, Value | range):
            raise ProgramError(f"a loop of the graph over a {type(over).__name__}",
                               "a GlobalArray, or a `global_range`")
        elements = _read_elements(over) if isinstance(over, Value) else over
        is_sure = not isinstance(elements, range) or len(elements) > 0
        scope = _begin(FOR, name, sure=is_sure)
        type_ = "int32" if isinstance(elements, range) else elements.form.type
        form = Form(kind=GLOBAL_SCALAR, type=type_)
        value = Cell(role=ITERATED, name=name, form=form, scope=scope, written=scope)
        add_step(Block(scope=scope, line=find_line(), over=elements, value=value))
        super().__init__(scope)
        self._value, self._kept = value, None
        if isinstance(over, Value) and find_part(over).cell is not elements:
            self._kept = find_part(over).cell

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        if self._kept is not None and self._kept in list_written(self._scope):
            raise ProgramError(f"a loop over a part of {self._kept.name} that changes it",
                               "loop over all of it, or over a copy: `np.copy(a[1:])`")

    def __getitem__(self, key: int) -> Value:
        if key != 0:
            raise ProgramError(f"{self._scope.name}[{key}]: a loop has one value, [0]")
        return make_value(Part(self._value, self._value.form, ()))


class while_loop(_Loop):  # noqa: N801
    """A loop that goes on while a condition holds, which is looked at before each iteration."""

    def __init__(self, name: str, text: str, arguments: Sequence[Any]) -> None:
        sources = read_arguments(arguments)
        if any(is_computed(each) for each in sources):
            raise ProgramError("the condition of a loop is computed once, before it",
                               "`while True:`, and a break in the loop")
        self._again = None if all(is_plain(each) for each in sources) else (text, sources)
        condition = ALWAYS if self._again else make_condition(text, sources)
        scope = _begin(WHILE, name, sure=condition.text == "True")
        add_step(Block(scope=scope, line=find_line(), condition=condition))
        super().__init__(scope)

    def __enter__(self) -> Any:
        super().__enter__()
        if self._again:
            condition = make_condition(*self._again)
            leave_loop("break", self._scope, Condition(
                text=f"not ({condition.text})", src=condition.src))
        return self


class if_(_Context):  # noqa: N801
    """What runs where a condition holds; `with NAME.else_():` right behind it, what runs else."""

    def __init__(self, name: str, text: str, arguments: Sequence[Any]) -> None:
        condition = make_condition(text, read_arguments(arguments))
        scope = _begin(IF, name)
        self._block = Block(scope=scope, line=find_line(), condition=condition)
        add_step(self._block)
        super().__init__(scope)

    def else_(self) -> _Context:
        """Return the context of what runs where the condition does not hold."""
        steps = find_recording().scope.steps
        if not steps or steps[-1] is not self._block or self._block.otherwise:
            raise ProgramError(f"`else` of {self._scope.name} is not right behind it")
        self._block.otherwise = _begin(ELSE, self._scope.name)
        return _Else(self._block)


class _Else(_Context):
    def __init__(self, block: Block) -> None:
        assert block.otherwise is not None
        super().__init__(block.otherwise)
        self._block = block

    def __exit__(
        self, type_: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            close_scope(self._scope, self._block.scope)


def leave_loop(op: str, loop: Scope, condition: Condition) -> None:
    """Leave a loop, or its iteration, where a condition holds."""
    add_step(Exit(op=op, loop=loop, condition=condition, line=find_line()))
    scope: Scope | None = find_recording().scope
    while scope is not None and scope is not loop.outer:
        scope.left = True
        scope = scope.outer


def _begin(what: str, name: str, sure: bool = False) -> Scope:
    return Scope(what=what, name=name, outer=find_recording().scope, sure=sure)


def _read_elements(value: Value) -> Cell:
    """Return the array that a loop is over. Raises ProgramError."""
    part = find_part(value)
    check_iteration(part.form)
    is_whole = part.region == whole_region(part.cell.form.shape)
    return read_part(part if is_whole else copy_part(part)).cell

"""Loops, branches and conditions in the intermediate language."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import pairwise
from types import TracebackType
from typing import Any

from lairmake.stages.program.il.recording import (
    ELSE,
    FOR,
    IF,
    ITERATED,
    TEMPORARY,
    WHILE,
    BlockExit,
    Cell,
    RecordedBlock,
    RecordedCondition,
    RecordedPart,
    RecordingScope,
    Source,
    add_step,
    close_scope,
    copy_part,
    find_line,
    find_recording,
    list_written,
    open_scope,
    read_part,
    round_to,
)
from lairmake.stages.program.il.value import GraphValue, find_part, make_value, read_source
from lairmake.stages.program.values.forms import (
    GLOBAL_SCALAR,
    Form,
    ProgramError,
    check_condition,
    check_iteration,
    check_number,
    whole_region,
)

# --- Conditions over global scalars ---------------------------------------------------------------
#
# The intermediate language has a condition as a logic text and its arguments:
#
#     '{0} > 100.0 and not {1}', [myGs, done]
#
# Paper    E Sec. 5.3: a text and its arguments

PLACE = re.compile(r"\{(\d+)\}")
ALWAYS = RecordedCondition(text="True")


def read_arguments(given: Sequence[Any]) -> list[Source]:
    """Return the global scalars and numbers of a condition. Raises ProgramError."""
    sources = [read_source(each) for each in given]
    for each in sources:
        if isinstance(each, RecordedPart):
            check_condition(each.form)
    return sources


def is_plain(source: Source) -> bool:
    """Return whether an argument is a number or a whole cell, not an element of a GlobalArray."""
    return not isinstance(source, RecordedPart) or not source.region


def is_computed(source: Source) -> bool:
    """Return whether an argument is computed only once, before the loop that it belongs to."""
    return isinstance(source, RecordedPart) and source.cell.role == TEMPORARY


def make_condition(text: str, sources: Sequence[Source]) -> RecordedCondition:
    """Return a condition whose arguments are read now. Raises ProgramError.

    Elements of arrays are copied. Numbers are written into the text, in the type beside them.
    """
    cells = [_settle(each) if isinstance(each, RecordedPart) else each for each in sources]
    tree = _parse(text, len(sources))
    writer = _Writer(cells)
    return RecordedCondition(text=writer.write(tree), src=tuple(writer.found))


def _settle(part: RecordedPart) -> Cell:
    part = part if is_plain(part) else copy_part(part)
    return read_part(part).cell


def _parse(text: str, count: int) -> ast.expr:
    try:
        tree = ast.parse(PLACE.sub(r"_\1", text), mode="eval").body
    except SyntaxError:
        raise ProgramError(f"a condition that is none: {text!r}") from None
    places = {int(found) for found in PLACE.findall(text)}
    if any(place >= count for place in places):
        raise ProgramError(f"the condition {text!r} has {count} arguments")
    return tree


class _Writer:
    """Writes a condition, and finds the cells in the order of their places."""

    def __init__(self, given: Sequence[Cell | int | float]) -> None:
        self._given = given
        self.found: list[Cell] = []

    def write(self, node: ast.expr) -> str:
        """Return the text of a condition, without brackets around it."""
        if isinstance(node, ast.BoolOp):
            word = " and " if isinstance(node.op, ast.And) else " or "
            return word.join(self._within(each) for each in node.values)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"not {self._within(node.operand)}"
        if isinstance(node, ast.Compare):
            return self._compare(node)
        value = self._value(node)
        return self._place(value) if isinstance(value, Cell) else str(bool(value))

    def _within(self, node: ast.expr) -> str:
        text = self.write(node)
        return f"({text})" if isinstance(node, ast.BoolOp) else text

    def _compare(self, node: ast.Compare) -> str:
        values = [self._value(each) for each in (node.left, *node.comparators)]
        types = [_find_type(a, b) for a, b in pairwise(values)]
        texts = [self._place(each) if isinstance(each, Cell) else _spell(each, types[max(n - 1, 0)])
                 for n, each in enumerate(values)]
        signs = [SIGNS[type(op)] for op in node.ops]
        rest = "".join(f" {sign} {text}" for sign, text in zip(signs, texts[1:], strict=True))
        return texts[0] + rest

    def _value(self, node: ast.expr) -> Cell | int | float:
        if isinstance(node, ast.Name) and node.id.startswith("_"):
            return self._given[int(node.id[1:])]
        try:
            found = ast.literal_eval(node)
        except ValueError:
            raise ProgramError(f"{ast.unparse(node)!r} in a condition: it holds comparisons, "
                               "and, or, not") from None
        return found  # type: ignore[no-any-return]

    def _place(self, cell: Cell) -> str:
        if cell not in self.found:
            self.found.append(cell)
        return f"{{{self.found.index(cell)}}}"


SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}


def _find_type(a: Cell | int | float, b: Cell | int | float) -> str | None:
    """Return the type of a comparison of two; None for two numbers. Raises ProgramError."""
    if isinstance(a, Cell) and isinstance(b, Cell) and a.form.type != b.form.type:
        said = f"{a.form.type} compared with {b.form.type}: types are not mixed"
        raise ProgramError(said, f'`x.astype("{a.form.type}")`')
    for cell, other in ((a, b), (b, a)):
        if isinstance(cell, Cell):
            if not isinstance(other, Cell):
                check_number(other, cell.form.type)
            return cell.form.type
    return None


def _spell(number: int | float, type_: str | None) -> str:
    text = repr(number if type_ is None else round_to(number, type_))
    if text == "nan":
        raise ProgramError("NaN in a condition: nothing is equal to it, or larger",
                           "`x != x` where x is NaN")
    return {"inf": "1e999", "-inf": "-1e999"}.get(text, text)

# --- Contexts of loops and branches ---------------------------------------------------------------
#
# Loops and branches that stay in the graph are contexts of the intermediate language:
#
#     with for_loop('fl_0', global_range(0, 50, 1)) as fl_0:
#         fl_0.conditional_break('{0} > 100.0', [total])
#
# Paper    E Sec. 5.3 and 5.4

class _Context:
    """A graph that is recorded from `with` to the end of the block."""

    def __init__(self, scope: RecordingScope) -> None:
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

    def __init__(self, name: str, over: GraphValue | range) -> None:
        if not isinstance(over, GraphValue | range):
            raise ProgramError(f"a loop of the graph over a {type(over).__name__}",
                               "a GlobalArray, or a `global_range`")
        elements = _read_elements(over) if isinstance(over, GraphValue) else over
        is_sure = not isinstance(elements, range) or len(elements) > 0
        scope = _begin(FOR, name, sure=is_sure)
        type_ = "int32" if isinstance(elements, range) else elements.form.type
        form = Form(kind=GLOBAL_SCALAR, type=type_)
        value = Cell(role=ITERATED, name=name, form=form, scope=scope, written=scope)
        add_step(RecordedBlock(scope=scope, line=find_line(), over=elements, value=value))
        super().__init__(scope)
        self._value, self._kept = value, None
        if isinstance(over, GraphValue) and find_part(over).cell is not elements:
            self._kept = find_part(over).cell

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        if self._kept is not None and self._kept in list_written(self._scope):
            raise ProgramError(f"a loop over a part of {self._kept.name} that changes it",
                               "loop over all of it, or over a copy: `np.copy(a[1:])`")

    def __getitem__(self, key: int) -> GraphValue:
        if key != 0:
            raise ProgramError(f"{self._scope.name}[{key}]: a loop has one value, [0]")
        return make_value(RecordedPart(self._value, self._value.form, ()))


class while_loop(_Loop):  # noqa: N801
    """A loop that runs while a condition holds, tested before each iteration."""

    def __init__(self, name: str, text: str, arguments: Sequence[Any]) -> None:
        sources = read_arguments(arguments)
        if any(is_computed(each) for each in sources):
            raise ProgramError("the condition of a loop is computed once, before it",
                               "`while True:`, and a break in the loop")
        self._again = None if all(is_plain(each) for each in sources) else (text, sources)
        condition = ALWAYS if self._again else make_condition(text, sources)
        scope = _begin(WHILE, name, sure=condition.text == "True")
        add_step(RecordedBlock(scope=scope, line=find_line(), condition=condition))
        super().__init__(scope)

    def __enter__(self) -> Any:
        super().__enter__()
        if self._again:
            condition = make_condition(*self._again)
            leave_loop("break", self._scope, RecordedCondition(
                text=f"not ({condition.text})", src=condition.src))
        return self


class if_(_Context):  # noqa: N801
    """A branch; `with NAME.else_():` directly behind it is the other one."""

    def __init__(self, name: str, text: str, arguments: Sequence[Any]) -> None:
        condition = make_condition(text, read_arguments(arguments))
        scope = _begin(IF, name)
        self._block = RecordedBlock(scope=scope, line=find_line(), condition=condition)
        add_step(self._block)
        super().__init__(scope)

    def else_(self) -> _Context:
        """Return the context of the other branch."""
        steps = find_recording().scope.steps
        if not steps or steps[-1] is not self._block or self._block.otherwise:
            raise ProgramError(f"`else` of {self._scope.name} is not right behind it")
        self._block.otherwise = _begin(ELSE, self._scope.name)
        return _Else(self._block)


class _Else(_Context):
    def __init__(self, block: RecordedBlock) -> None:
        assert block.otherwise is not None
        super().__init__(block.otherwise)
        self._block = block

    def __exit__(
        self, type_: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            close_scope(self._scope, self._block.scope)


def leave_loop(op: str, loop: RecordingScope, condition: RecordedCondition) -> None:
    """Add a node that leaves a loop, or its iteration, where a condition holds."""
    add_step(BlockExit(op=op, loop=loop, condition=condition, line=find_line()))
    scope: RecordingScope | None = find_recording().scope
    while scope is not None and scope is not loop.outer:
        scope.left = True
        scope = scope.outer


def _begin(what: str, name: str, sure: bool = False) -> RecordingScope:
    return RecordingScope(what=what, name=name, outer=find_recording().scope, sure=sure)


def _read_elements(value: GraphValue) -> Cell:
    """Return the array of elements that a loop goes over. Raises ProgramError."""
    part = find_part(value)
    check_iteration(part.form)
    is_whole = part.region == whole_region(part.cell.form.shape)
    return read_part(part if is_whole else copy_part(part)).cell

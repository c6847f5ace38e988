"""What a task does on its PE: one vector instruction, or the loops that isl generates.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import islpy as isl

from stages.diagnose import working_on
from stages.lair.grammar import parse_expression
from stages.lair.tree import Expr
from stages.layer.pe.code import (
    C_TYPES,
    Block,
    Operands,
    combined,
    literal,
    load,
    operations_of,
    store,
    value_of,
    words,
    write_nest,
)
from stages.layer.pe.identifiers import Names
from stages.layer.pe.model import Work
from stages.layer.streams.tasks import FILLS
from stages.poly.ast import (
    Expression,
    Instance,
    c_expression,
    element_loops,
    loop_nest,
)
from stages.poly.bind import bind_domain, bind_set
from stages.poly.function import function_of

COMBINE = {"+=": "+", "*=": "*", "max=": "max", "min=": "min"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """The C names of one program: of tasks, counters, colours and of LAIR's own names."""

    names: Names
    words: dict[str, str]

    def of(self, word: str, near: str = "") -> str:
        """Return the C name of a word, the same each time; near what it is called, if given."""
        if word not in self.words:
            self.words[word] = self.names.new(near or word)
        return self.words[word]

    def counter(self, task: str) -> str:
        """Return the enumerator that counts a task."""
        return self.of(f"counter {task}", task.upper())

    def colour(self, colour: str) -> str:
        """Return the enumerator of a colour."""
        return self.of(f"colour {colour}", colour.upper())

    def own(self, name: str) -> str:
        """Return the C variable of an iterator of LAIR."""
        return self.of(f"own {name}", name)

    def element(self, tensor: str) -> str:
        """Return the C variable of an element of a tensor."""
        return self.of(f"element {tensor}", tensor)


def task_loops(
    block: Block, name: str, model: Work, spelling: Spelling, elements: Mapping[str, str]
) -> None:
    """Append the loops of a task that fills a tensor or runs a statement."""
    task = model.tasks[name]
    if task["kind"] in FILLS:
        block.add(f"COUNT_CALL(pe, {spelling.counter(name)});")
        filled = literal(task["value"], model.type_of(f"{task['tensor']}_local"))
        transfer_loops(block, name, model, spelling, f"{{}} = {filled};", counts=True)
    else:
        statement_loops(block, name, model, spelling, elements)


def statement_loops(
    block: Block, name: str, model: Work, spelling: Spelling, elements: Mapping[str, str]
) -> None:
    """Append the loops that run a task's statement, one instance at a time."""
    task = model.tasks[name]
    expr = parse_expression(task["expression"])
    iterators = [spelling.own(i) for i in task["iterators"]]
    time = model.time_of(name)
    accesses = model.accesses(name)
    counted = f"COUNT_INSTANCES(pe, {spelling.counter(name)}, 1);"

    def instance(inner: Block, at: Instance) -> None:
        context = bind_set(_reaching(at, name, model), iterators).intersect(model.known(name))
        text = {t: memory_text(a, iterators, context) for t, a in accesses.items()}
        inner.charge(
            scalar=_scalar_operations(task["op"], expr), address=len(set(text) - set(elements))
        )
        types = {t: model.graph["tensors"][t]["type"] for t in (*text, *elements)}
        operands = Operands(text=text | dict(elements), types=types)
        lines = assignment(task["target"], task["op"], expr, operands)
        inner.declare(dict(zip(iterators, map(_in_addresses, at.arguments), strict=True)), lines)
        inner.add(counted, *lines)

    names = _time_names(time, iterators, spelling)
    block.add(f"COUNT_CALL(pe, {spelling.counter(name)});")
    write_nest(block, loop_nest(time, model.known(name), names), instance)


def _in_addresses(iterator: Expression) -> Expression:
    """Return an iterator as it is charged: an affine one is part of the addresses it occurs in."""
    return replace(iterator, operations=0) if iterator.affine else iterator


def _time_names(time: isl.Map, iterators: list[str], spelling: Spelling) -> list[str]:
    """Name each dimension of time: as the iterator that it equals, if there is one."""
    free, names = list(iterators), []
    for position in range(time.dim(isl.dim_type.out)):
        equal = [i for i in free if _equals(time, iterators.index(i), position)]
        names.append(equal[0] if equal else spelling.of(f"time {position}", f"t{position}"))
        free = [i for i in free if i not in equal[:1]]
    return names


def _equals(time: isl.Map, iterator: int, position: int) -> bool:
    same = isl.Map.universe(time.get_space())
    same = same.equate(isl.dim_type.in_, iterator, isl.dim_type.out, position)
    return time.is_subset(same)


def memory_text(access: isl.Map, names: list[str], context: isl.Set) -> str:
    """Return `my->T_local[l]` of { instance -> T_local[l] }, the instance by its names."""
    indices = element_expressions(access, names, context)
    local = access.get_tuple_name(isl.dim_type.out)
    return f"my->{local}{''.join(f'[{i.text}]' for i in indices)}"


def assignment(target: str, op: str, expr: Expr, operands: Operands) -> list[str]:
    """Return `target op expr` as C statements, rounded once to the target's type."""
    type_, element = operands.types[target], operands.text[target]
    if op == "=":
        return [store(element, value_of(expr, operands), type_)]
    old = "*element" if operands.integral else load("*element", type_)
    computed = combined(COMBINE[op], old, expr, operands)
    return [f"{C_TYPES[type_]} *const element = &{element};", store("*element", computed, type_)]


def _scalar_operations(op: str, expr: Expr) -> int:
    """Return the scalar operations of a statement; a multiply-add is one."""
    own = operations_of(expr)
    if op == "=":
        return max(1, own)
    fused = op == "+=" and own == 1 and getattr(expr, "op", "") == "*"
    return 1 if fused else own + 1


def transfer_loops(
    block: Block,
    name: str,
    model: Work,
    spelling: Spelling,
    line: str,
    *,
    then: Block | None = None,
    counts: bool = False,
) -> None:
    """Append loops over a task's instances in lexicographic order; `line` has {} for memory.

    The instance gives the element, and the element its place in memory: two short expressions.
    `then` is what follows the line. Instances are i0, ..., as the spelling has them.
    """
    counted = [f"COUNT_INSTANCES(pe, {spelling.counter(name)}, 1);"] if counts else []
    instances, known = model.instance_set(name), model.known(name)
    names = [spelling.own(f"i{k}") for k in range(instances.dim(isl.dim_type.set))]
    tensor, access = next(iter(model.elements(name).items()))
    after = then or Block()

    def instance(inner: Block, at: Instance) -> None:
        here = _reaching(at, name, model)
        found = element_expressions(access, names, bind_set(here, names).intersect(known))
        elements = _element_names(found, names, spelling)
        context = bind_set(here.apply(access), elements).intersect(known)
        text = line.format(memory_text(model.to_local[tensor], elements, context))
        used = words([text])
        needed = [e.text for n, e in zip(elements, found, strict=True) if n in used]
        needed += [text, *after.text()]
        inner.charge(scalar=1, address=1)
        inner.declare(dict(zip(names, at.arguments, strict=True)), needed)
        inner.declare(dict(zip(elements, found, strict=True)), [text])
        inner.add(*counted, text)
        inner.absorb(after)

    with working_on(f"task {name}"):
        write_nest(block, element_loops(instances, known, names), instance)


def _reaching(at: Instance, name: str, model: Work) -> isl.Set:
    """Return the instances of a task that reach a place in its loops."""
    whole = model.instance_set(name)
    return whole if at.instances is None else whole.intersect(at.instances)


def _element_names(found: list[Expression], names: list[str], spelling: Spelling) -> list[str]:
    """Return a name for each dimension of an element: the instance's own where they are equal."""
    texts = [e.text for e in found]
    return [
        text if text in names and text not in texts[:k] else spelling.own(f"e{k}")
        for k, text in enumerate(texts)
    ]


def element_expressions(access: isl.Map, names: list[str], context: isl.Set) -> list[Expression]:
    """Return the element of { instance -> T[e] } as C, the instance by its names."""
    element = function_of(bind_domain(access, names))
    positions = range(access.dim(isl.dim_type.out))
    return [c_expression(element.get_pw_aff(k), context) for k in positions]

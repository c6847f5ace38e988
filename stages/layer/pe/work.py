"""What a task does on its PE: one vector instruction, or the loops that isl generates.

Paper    V Sec. 5
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import islpy as isl

from lairmake.stages.diagnose import working_on
from lairmake.stages.lair.grammar import parse_expression
from lairmake.stages.lair.tree import Binary, Expr
from lairmake.stages.layer.pe.computing import (
    Operands,
    combine,
    count_scalar_operations,
    load,
    make_literal,
    make_value,
)
from lairmake.stages.layer.pe.model import Work
from lairmake.stages.layer.texts.task_graph import Fills, Runs
from lairmake.stages.pe.block import Block, write_nest
from lairmake.stages.pe.names import Naming
from lairmake.stages.pe.nodes import (
    Address,
    Assign,
    CountCall,
    CountInstance,
    Element,
    Field,
    Point,
    Pointed,
    Statement,
    Store,
)
from lairmake.stages.poly.expression import (
    Instance,
    Name,
    Value,
    express,
    is_affine,
    make_element_loops,
    make_loop_nest,
)
from lairmake.stages.poly.functions import bind_domain, bind_set, find_function

COMBINE = {"+=": "+", "*=": "*", "max=": "max", "min=": "min"}


def add_task_loops(
    block: Block, name: str, model: Work, naming: Naming, elements: Mapping[str, str]
) -> None:
    """Append the loops of a task that fills a tensor or runs a statement."""
    task = model.tasks[name]
    if isinstance(task, Fills):
        block.add(CountCall(naming.counter(name)))
        filled = make_literal(task.value, model.type_of(f"{task.tensor}_local"))
        transfer_loops(block, name, model, naming, lambda e: Assign(e, filled), counts=True)
    else:
        statement_loops(block, name, model, naming, elements)


def statement_loops(
    block: Block, name: str, model: Work, naming: Naming, elements: Mapping[str, str]
) -> None:
    """Append the loops that run a task's statement, one instance at a time."""
    task = model.tasks[name]
    assert isinstance(task, Runs), "a task without a statement fills a tensor"
    expr = parse_expression(task.expression)
    iterators = [naming.own(i) for i in task.iterators]
    time = model.time_of(name)
    accesses = model.accesses(name)
    arriving = {tensor: Name(variable) for tensor, variable in elements.items()}
    scalar, target, op = _scalar_operations(task.op, expr), task.target, task.op

    def instance(inner: Block, at: Instance) -> None:
        context = bind_set(_reaching(at, name, model), iterators).intersect(model.known(name))
        found = {t: local_element(a, iterators, context) for t, a in accesses.items()}
        inner.charge(scalar=scalar, address=len(set(found) - set(elements)))
        types = {t: model.graph.tensors[t].type for t in (*found, *elements)}
        run = Block()
        run.add(CountInstance(naming.counter(name)))
        operands = Operands(values=found | arriving, types=types)
        run.add(*assignment(target, op, expr, operands))
        for iterator, index in zip(iterators, at.arguments, strict=True):
            inner.declare({iterator: index}, run, free=is_affine(index))
        inner.absorb(run)

    names = _time_names(time, iterators, naming)
    block.add(CountCall(naming.counter(name)))
    write_nest(block, make_loop_nest(time, model.known(name), names), instance)


def _time_names(time: isl.Map, iterators: list[str], naming: Naming) -> list[str]:
    """Name each dimension of time: as the iterator that it equals, if there is one."""
    free, names = list(iterators), []
    for position in range(time.dim(isl.dim_type.out)):
        equal = [i for i in free if _equals(time, iterators.index(i), position)]
        names.append(equal[0] if equal else naming.of(f"time {position}", f"t{position}"))
        free = [i for i in free if i not in equal[:1]]
    return names


def _equals(time: isl.Map, iterator: int, position: int) -> bool:
    same = isl.Map.universe(time.get_space())
    same = same.equate(isl.dim_type.in_, iterator, isl.dim_type.out, position)
    return time.is_subset(same)


def local_element(access: isl.Map, names: list[str], context: isl.Set) -> Value:
    """Return the element of { instance -> T_local[l] }, the instance by its names."""
    indices = element_expressions(access, names, context)
    return Element(Field(access.get_tuple_name(isl.dim_type.out)), tuple(indices))


def assignment(target: str, op: str, expr: Expr, operands: Operands) -> list[Statement]:
    """Return `target op expr`, rounded once to the target's type."""
    type_, element = operands.types[target], operands.values[target]
    if op == "=":
        return [Store(element, make_value(expr, operands), type_)]
    pointed = Pointed(Name("element"))
    old = load(pointed, type_, operands.type)
    computed = combine(COMBINE[op], old, expr, operands)
    return [Point("element", type_, Address(element)), Store(pointed, computed, type_)]


def _scalar_operations(op: str, expr: Expr) -> int:
    """Return the scalar operations of a statement; a multiply-add is one."""
    own = count_scalar_operations(expr)
    if op == "=":
        return max(1, own)
    fused = op == "+=" and own == 1 and isinstance(expr, Binary) and expr.op == "*"
    return 1 if fused else own + 1


def transfer_loops(
    block: Block,
    name: str,
    model: Work,
    naming: Naming,
    moved: Callable[[Value], Statement],
    *,
    then: Block | None = None,
    counts: bool = False,
) -> None:
    """Append loops over a task's instances in lexicographic order; each is `moved`, in memory.

    The instance gives the element, and the element its place in memory: two short expressions.
    `then` is what follows the statement. Instances are i0, ..., as the naming has them.
    """
    instances, known = model.instance_set(name), model.known(name)
    names = [naming.own(f"i{k}") for k in range(instances.dim(isl.dim_type.set))]
    tensor, access = next(iter(model.elements(name).items()))

    def instance(inner: Block, at: Instance) -> None:
        here = _reaching(at, name, model)
        found = element_expressions(access, names, bind_set(here, names).intersect(known))
        elements = _element_names(found, names, naming)
        context = bind_set(here.apply(access), elements).intersect(known)
        statement = moved(local_element(model.to_local[tensor], elements, context))
        run, after = Block(statements=[statement]), then or Block()
        inner.charge(scalar=1, address=1)
        located = Block()
        located.declare(dict(zip(elements, found, strict=True)), run)
        everything = Block(statements=[*located.statements, statement, *after.statements])
        inner.declare(dict(zip(names, at.arguments, strict=True)), everything)
        inner.absorb(located)
        if counts:
            inner.add(CountInstance(naming.counter(name)))
        inner.absorb(run)
        inner.absorb(after)

    with working_on(f"task {name}"):
        write_nest(block, make_element_loops(instances, known, names), instance)


def _reaching(at: Instance, name: str, model: Work) -> isl.Set:
    """Return the instances of a task that reach a place in its loops."""
    whole = model.instance_set(name)
    return whole if at.instances is None else whole.intersect(at.instances)


def _element_names(found: Sequence[Value], names: list[str], naming: Naming) -> list[str]:
    """Return a name for each dimension of an element: the instance's own where they are equal."""
    return [
        each.name
        if isinstance(each, Name) and each.name in names and each not in found[:k]
        else naming.own(f"e{k}")
        for k, each in enumerate(found)
    ]


def element_expressions(access: isl.Map, names: list[str], context: isl.Set) -> list[Value]:
    """Return the element of { instance -> T[e] }, the instance by its names."""
    element = find_function(bind_domain(access, names))
    positions = range(access.dim(isl.dim_type.out))
    return [express(element.get_pw_aff(k), context) for k in positions]

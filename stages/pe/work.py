"""What a task does on its PE: one vector instruction, or the loops that isl generates.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import islpy as isl

from stages.lair.grammar import parse_expression
from stages.lair.tree import Expr
from stages.pe.code import (
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
from stages.pe.model import Description, Model, holds, value
from stages.pe.names import Names
from stages.poly.ast import (
    Expression,
    Instance,
    c_expression,
    element_loops,
    held,
    interval,
    loop_nest,
)
from stages.poly.bind import bind_domain, bind_set

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


def vector_call(
    block: Block, name: str, model: Model, spelling: Spelling, elements: Mapping[str, str]
) -> None:
    """Append the vector instruction of a task, under its guard.

    `elements` gives the C variable of each tensor whose element arrives.
    """
    decision, context = model.simd[name], model.known(name)
    guard = decision.get("guard")
    if guard is not None:
        domain = isl.Set(guard)
        block = block.when(holds(domain, context))
        context = context.intersect(domain)
    selection = _select(block, name, model, context) if "several" in decision else ""
    operands = [
        operand_text(o, k, block, context, elements) for k, o in enumerate(decision["operands"])
    ]
    operands += ["NULL"] * (3 - len(operands))
    configured = f"my->{spelling.of(name)}{selection}"
    block.add(f"COUNT_CALL(pe, {spelling.counter(name)});")
    block.add(f"vector_run(pe, &{configured}, {', '.join(operands)});")


def _select(block: Block, name: str, model: Model, context: isl.Set) -> str:
    """Declare the least value of each dimension; return the subscripts of the size's configuration.

    The size is last - first + 1, and configurations count from the least size.
    """
    elements = isl.Set.from_union_set(model.compressed[name])
    subscripts = ""
    for k, (_, least) in enumerate(_several(model.simd[name])):
        after = elements.dim(isl.dim_type.set) - k - 1
        values = elements.project_out(isl.dim_type.set, k + 1, after)
        first, last = interval(values.project_out(isl.dim_type.set, 0, k), context)
        start = value(least, context)
        block.add(f"const int first{k} = {first.text};", f"const int last{k} = {last.text};")
        subscript = f"last{k} - first{k}"
        block.charge(scalar=first.operations + last.operations + 1)
        if start.text != "1":
            subscript += f" + 1 - {held(start, '-')}"
            block.charge(scalar=start.operations + 2)
        subscripts += f"[{subscript}]"
    return subscripts


def operand_text(
    operand: Description,
    position: int,
    block: Block,
    context: isl.Set,
    elements: Mapping[str, str],
) -> str:
    """Return the address of an operand; a number gets a variable of its own."""
    if "element" in operand:
        return f"&{elements[operand['element']]}"
    if "number" in operand:
        type_, name = operand["type"], f"number{position}"
        block.add(f"const {C_TYPES[type_]} {name} = {literal(operand['number'], type_)};")
        return f"&{name}"
    return base_text(operand, block, context)


def base_text(operand: Description, block: Block, context: isl.Set) -> str:
    """Return the address of the first element of an operand in memory."""
    indices = [value(b, context) for b in operand["base"]]
    block.charge(address=1, scalar=sum(i.operations for i in indices))
    return f"&my->{operand['local']}{''.join(f'[{i.text}]' for i in indices)}"


def configuration(name: str, model: Model, spelling: Spelling, context: isl.Set) -> list[str]:
    """Return the lines that configure a task's vector instructions, one for each size."""
    decision = model.simd[name]
    operands = [_configured(o) for o in decision["operands"]]
    operands += ["NO_OPERAND"] * (3 - len(operands))
    sizes = [value(s, context).text for s in decision["sizes"]]
    target = f"my->{spelling.of(name)}"
    block = outermost = Block()
    for k, (count, least) in enumerate(_several(decision)):
        start = value(least, context)
        sizes[k] = f"s{k}" if start.text == "0" else f"{held(start, '+', first=True)} + s{k}"
        target += f"[s{k}]"
        block = block.nest(f"for (int s{k} = 0; s{k} < {count}; s{k} += 1)")
    block.add(
        f"configure(pe, &{target}, {spelling.counter(name)}, {decision['operation']}, "
        f"SIZES({', '.join(sizes) or '1'}),",
        f"          {', '.join(operands)});",
    )
    return outermost.text()


def _several(decision: Description) -> list[tuple[int, int | str]]:
    """Return how many sizes are enumerated, and the least of them, per dimension."""
    return list(zip(decision.get("several", ()), decision.get("least", ()), strict=True))


def _configured(operand: Description) -> str:
    type_ = operand["type"].upper()
    strides = ", ".join(map(str, operand.get("strides", []))) or "0"
    return f"{type_}_OPERAND({strides})"


def statement_loops(
    block: Block, name: str, model: Model, spelling: Spelling, elements: Mapping[str, str]
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
        inner.declare(dict(zip(iterators, at.arguments, strict=True)), lines)
        inner.add(counted, *lines)

    names = _time_names(time, iterators, spelling)
    block.add(f"COUNT_CALL(pe, {spelling.counter(name)});")
    write_nest(block, loop_nest(time, model.known(name), names), instance)


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
    model: Model,
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

    write_nest(block, element_loops(instances, known, names), instance)


def _reaching(at: Instance, name: str, model: Model) -> isl.Set:
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
    element = isl.PwMultiAff.from_set(bind_domain(access, names))
    positions = range(access.dim(isl.dim_type.out))
    return [c_expression(element.get_pw_aff(k), context) for k in positions]


def most_points(elements: isl.Set) -> int:
    """Return a bound on the size of a set on any PE: the product of its extents."""
    extents = []
    for k in range(elements.dim(isl.dim_type.set)):
        spread = elements.dim_max(k).sub(elements.dim_min(k)).floor().max_val()
        extents.append(spread.to_python() + 1)
    return prod(extents)

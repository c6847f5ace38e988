"""A tile as a layer: LAIR, and a layer.yaml that keeps all tensors in memory.

The elements of what a tile computes lie on a rectangle of PEs, along its two longest dimensions;
each PE computes its own. All tiles of a region are the same layer, on other values.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from lairmake.stages.parts.masking import spell_conditions
from lairmake.stages.parts.tiling import Rows, Statement, Tile

MOST_PES = 16
"""How many PEs a tile takes along a dimension at most."""

NAME = re.compile(r"\b[A-Za-z_]\w*\b(?!\s*\()")


Loops = Mapping[str, Mapping[int, str]]
"""What iterators are called, by the tensor that their statement computes, and by their places."""


def write_lair(
    tile: Tile, kernel: str, names: Mapping[str, str], types: Mapping[str, str],
    loops: Loops | None = None,
) -> str:
    """Return the LAIR of a tile: a node per operation, and the graph of these if they are several.

    `names` says what computed tensors are called, `types` has the types of all volumes, `loops` is
    what iterators are called, d0, d1, ... if nothing is said.
    """
    declared = {
        name: _declared(_called(name, names), types[slice_.volume], slice_.size)
        for name, slice_ in {**tile.inputs, **tile.computed}.items()
    }
    stem = stems(tile, names)
    loops = name_loops(tile, stem) if loops is None else loops
    nodes = [
        _node(each, names, declared, stem.node, loops[each.tensor]) for each in tile.statements
    ]
    if len(nodes) > 1:
        nodes.append(_graph(tile, kernel, names, declared, stem))
    return "\n".join(nodes)


def _declared(name: str, type_: str, size: Sequence[int]) -> str:
    return f"{type_} {name}{''.join(f'[{each}]' for each in size)}"


def _called(name: str, names: Mapping[str, str]) -> str:
    return names.get(name, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stems:
    """How the names of a tile's nodes and iterators begin: no tensor is called like one of them."""

    node: str
    iterator: str


def stems(tile: Tile, names: Mapping[str, str]) -> Stems:
    """Return the stems of the names in the LAIR of a tile."""
    tensors = {*tile.inputs, *names.values()}
    return Stems(node=free("make_", r"\w+", tensors), iterator=free("d", r"\d+", tensors))


def free(stem: str, rest: str, tensors: Collection[str]) -> str:
    """Return a stem such that no tensor is called like it and what `rest` stands for."""
    while any(re.fullmatch(stem + rest, name) for name in tensors):
        stem += "_"
    return stem


def name_loops(tile: Tile, stem: Stems) -> Loops:
    """Return the names that count iterators, d0, d1, ..., those of one value as well."""
    return {
        each.tensor: {k: f"{stem.iterator}{k}" for k in iterators(each)} for each in tile.statements
    }


def iterators(statement: Statement) -> list[int]:
    """Return the dimensions of instances that a statement is written with: those of several.

    The one instance of a statement without any is written with one dimension all the same.
    """
    return [k for k, size in enumerate(statement.size) if size > 1] or [0]


def _node(
    statement: Statement, names: Mapping[str, str], declared: Mapping[str, str], stem: str,
    called: Mapping[int, str],
) -> str:
    """Return the node of a statement; its iterators are `called` so, by their places."""
    tensors = dict.fromkeys(tensor for tensor, _ in statement.reads.values())
    head = ", ".join(declared[tensor] for tensor in tensors)
    own = names[statement.tensor]
    sizes = ", ".join(str(statement.size[k]) for k in called) if statement.size else "1"
    target = f"{own}{_indices(statement.target, called)}"
    accesses = {
        label: f"{_called(tensor, names)}{_indices(rows, called)}"
        for label, (tensor, rows) in statement.reads.items()
    }
    value = NAME.sub(lambda word: accesses.get(word[0], word[0]), statement.value)
    return (
        f"lair {stem}{own}():\n"
        f"  {head} -> {declared[statement.tensor]}\n{{\n"
        f"  all ({', '.join(called.values())}) in ({sizes}){_where(statement, called)}\n"
        f"    {target} {statement.operator} {value}\n}}\n"
    )


def _where(statement: Statement, called: Mapping[int, str]) -> str:
    """Return the conditions under which instances count."""
    if statement.where is None:
        return ""
    return f" where {' and '.join(spell_conditions(statement.where, called))}"


def _indices(rows: Rows, called: Mapping[int, str]) -> str:
    return "".join(f"[{_affine(row, called)}]" for row in rows)


def _affine(row: Sequence[int], called: Mapping[int, str]) -> str:
    """Return an index as text; what has one value only is zero."""
    terms = [
        name if row[k] == 1 else f"{row[k]}*{name}" for k, name in called.items() if row[k]
    ]
    if row[-1] or not terms:
        terms.append(str(row[-1]))
    return " + ".join(terms).replace("+ -", "- ")


def _graph(
    tile: Tile, kernel: str, names: Mapping[str, str], declared: Mapping[str, str], stem: Stems
) -> str:
    *_, last = tile.statements
    calls = []
    for statement in tile.statements:
        own = names[statement.tensor]
        tensors = dict.fromkeys(_called(t, names) for t, _ in statement.reads.values())
        calls.append(f"  {own} = {stem.node}{own}()({', '.join(tensors)})\n")
    head = ", ".join(declared[name] for name in tile.inputs)
    top = f"  {head} -> {declared[last.tensor]}\n"
    taken = {*tile.inputs, *names.values(), *(f"{stem.node}{each}" for each in names.values())}
    while kernel in taken:
        kernel += "_"
    return f"graph {kernel}():\n{top}{{\n{''.join(calls)}}}\n"


def write_layer(tile: Tile, names: Mapping[str, str], machine: Any) -> str:
    """Return the layer.yaml of a tile.

    Where an element is computed from others of the tile than those at its own place, the compiler
    finds the PEs.
    """
    *_, last = tile.statements
    elements = {k for row in last.target for k, factor in enumerate(row[:-1]) if factor}
    kept = iterators(last)
    own = [k for k in kept if k in elements]
    chosen = sorted(sorted(own, key=lambda k: -last.size[k])[:2])
    blocks = {k: -(-last.size[k] // MOST_PES) for k in chosen}
    counts = [-(-last.size[k] // blocks[k]) for k in reversed(chosen)]
    stem = stems(tile, names)
    d = stem.iterator
    place = [f"{d}{k}//{blocks[k]}" if blocks[k] > 1 else f"{d}{k}" for k in reversed(chosen)]
    loops = ", ".join(f"{d}{k}" for k in kept)
    x_y = ", ".join([*place, "0", "0"][:2])
    width, height = [*counts, 1, 1][:2]
    described = {"machine": machine, "target": f"{{ PE[{width}, {height}] }}"}
    if _is_in_place(tile):
        node = f"{stem.node}{names[last.tensor]}"
        described["placement"] = f"{{ {node}[{loops}] -> PE[{x_y}] }}"
    return yaml.safe_dump(described, sort_keys=False, width=100)


def _is_in_place(tile: Tile) -> bool:
    """Return whether what a tile computes reads what it computed before at the same place."""
    return all(
        rows == each.target
        for each in tile.statements
        for tensor, rows in each.reads.values()
        if tensor in tile.computed
    )

"""Translate a source: what it means, what is wrong with it, and what it becomes.

Paper    E Sec. 5.3
"""

from __future__ import annotations

import ast
from collections.abc import Container
from dataclasses import dataclass

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.limits import MOST_NESTED, too_deep
from lairmake.stages.program.source.checks import check_program
from lairmake.stages.program.source.control import find_graphs
from lairmake.stages.program.source.conversion import Conversion
from lairmake.stages.program.source.parsing import give_room, parse_source
from lairmake.stages.program.source.places import Places
from lairmake.stages.program.source.reading import read_program
from lairmake.stages.program.source.walking import fill_places
from lairmake.stages.program.source.words import IL, OBJECTS, OF_IL
from lairmake.stages.program.source.wrapping import wrap_assignments

HEADER = "# What the source becomes; its run gives the graph. Written by translate.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """The intermediate language of a program: its tree, at places of the source, and its text."""

    tree: ast.Module
    text: str


def translate_source(source: Source) -> Translation:
    """Return what a source becomes. Raises UserError and UserErrors."""
    tree = convert_source(source)
    with give_room():
        plain = HEADER + ast.unparse(tree) + "\n"
        text = plain if too_deep(plain) is not None else wrap_assignments(plain)
        if too_deep(text) is not None:
            said = (f"{source.path}: what it becomes has more than {MOST_NESTED} brackets in each "
                    "other")
            raise UserError(said, None, "write it flatter: long sums in parts")
        return Translation(tree=tree, text=text)


def convert_source(source: Source, is_right: bool = False) -> ast.Module:
    """Return the tree of what a source becomes, at places of the source.

    What was translated before `is_right` and not checked again. Raises UserError and UserErrors.
    """
    places = Places(source)
    with give_room():
        tree = parse_source(places)
        program = read_program(tree)
        find_graphs(program, tree)
        if not is_right:
            check_program(places, program, tree)
        places.raise_errors()
        conversion = Conversion(program)
        tree.body = conversion.convert_body(tree.body) if tree.body else []
        _import_contexts(tree, conversion.contexts)
        fill_places(tree)
        return tree


def _import_contexts(tree: ast.Module, used: Container[str]) -> None:
    """Import the contexts that are used, behind the docstring and what must come first."""
    names = [ast.alias(name) for name in OF_IL if name in used]
    if not names:
        return
    at = 0
    while at < len(tree.body) and _comes_first(tree.body[at], at):
        at += 1
    made = ast.ImportFrom(IL[OBJECTS], names, 0)
    place = tree.body[min(at, len(tree.body) - 1)]
    tree.body.insert(at, ast.copy_location(made, place))


def _comes_first(node: ast.stmt, at: int) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return True
    return at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)

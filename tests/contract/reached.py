"""Which definitions are reached from others, by the names in them; nothing is imported or run."""

import ast
import functools
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Module:
    """What a module defines at its top level, what it imports, and its other statements."""

    own: dict[str, ast.AST]
    imports: dict[str, str]
    rest: list[ast.AST]


def path_of(name):
    """Return the file of a module; None if there is none below this folder."""
    path = ROOT.joinpath(*name.split("."))
    found = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return found if found.is_file() else None


@functools.cache
def module_of(name):
    """Return a module; None for one of somebody else, or for no module."""
    path = path_of(name)
    if path is None:
        return None
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own, rest = {}, []
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        names += [node.name] if isinstance(node, DEFINITIONS) else []
        own |= dict.fromkeys(names, node)
        rest += [] if names else [node]
    return Module(own=own, imports=dict(_imported(tree)), rest=rest)


def _imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((a.asname or a.name, f"{node.module}.{a.name}") for a in node.names)
        elif isinstance(node, ast.Import):
            yield from ((a.asname or a.name, a.name) for a in node.names)


@functools.cache
def referred(name, key):
    """Return the full names that a definition of a module refers to; with no key, its rest."""
    module = module_of(name)
    nodes = module.rest if key is None else [module.own[key]]
    return {full for node in nodes for each in ast.walk(node)
            if isinstance(each, ast.Name | ast.Attribute) for full in _full(module, name, each)}


def _full(module, name, node):
    if isinstance(node, ast.Name):
        if node.id in module.own:
            yield f"{name}.{node.id}"
        elif node.id in module.imports:
            yield module.imports[node.id]
    else:
        head = _dotted(node.value)
        if head in module.imports:
            yield f"{module.imports[head]}.{node.attr}"


def _dotted(node):
    """Return `a.b` of names and attributes; None of anything else."""
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return head and f"{head}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None


def reached_from(roots):
    """Return the full names of all definitions that some of them, or modules, lead to."""
    found, waiting = set(), list(roots)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        if module_of(name) is not None:
            waiting += referred(name, None)
        place, _, key = name.rpartition(".")
        module = module_of(place) if place else None
        if module is not None and key in module.own:
            waiting += [place, *referred(place, key)]
        elif module is not None and key in module.imports:
            waiting.append(module.imports[key])
    return found

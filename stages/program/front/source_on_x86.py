"""Parts of a source that a build runs on x86, and a digest of their code.

Paper    E Sec. 5.2: what MACH_Compiler_Ignore holds is not run
"""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections.abc import Iterator
from types import CodeType

IGNORE = "MACH_Compiler_Ignore"


def strip_source(source: str, path: str) -> ast.Module:
    """Return the tree of a source without its blocks of MACH_Compiler_Ignore."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source, path)
    if IGNORE not in source:
        return tree
    names = {IGNORE} | {
        alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
        for alias in node.names if alias.name == IGNORE and alias.asname
    }
    return _Stripper(names).visit(tree)  # type: ignore[no-any-return]


class _Stripper(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_With(self, node: ast.With) -> ast.AST:
        """Remove a block that only `python` runs."""
        if any(self._is_ignored(item.context_expr) for item in node.items):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def _is_ignored(self, block: ast.expr) -> bool:
        called = block.func if isinstance(block, ast.Call) else block
        if isinstance(called, ast.Attribute):
            return called.attr == IGNORE
        return isinstance(called, ast.Name) and called.id in self._names


def digest_code(tree: ast.Module) -> str:
    """Return a digest of the code of a tree, independent of the places of statements."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(tree, "", "exec", dont_inherit=True)
    digest = hashlib.sha256()
    for part in _list_parts(code):
        digest.update(f"{len(part)} ".encode() + part)
    return digest.hexdigest()


def _list_parts(value: object) -> Iterator[bytes]:
    """Yield the parts of a code object, or of a constant in one, without places."""
    if isinstance(value, CodeType):
        names = value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars
        counts = value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount
        yield repr((value.co_name, names, counts, value.co_flags)).encode()
        yield value.co_code
        yield getattr(value, "co_exceptiontable", b"")
        yield from _list_parts(value.co_consts)
    elif isinstance(value, tuple):
        yield f"{len(value)} constants".encode()
        for each in value:
            yield from _list_parts(each)
    elif isinstance(value, frozenset):
        yield repr(sorted(map(repr, value))).encode("utf-8", "surrogatepass")
    else:
        yield f"{type(value).__name__} {value!r}".encode("utf-8", "surrogatepass")

"""A run on x86."""

from __future__ import annotations

import ast
import hashlib
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType
from typing import Any

import numpy as np

from lairmake.stages.program.front.value import WORLD, Value, take_array
from lairmake.stages.program.values.api import check_parameters, execute
from lairmake.stages.program.values.forms import Number, ProgramError
from lairmake.stages.program.values.operators import Initial

# --- What of a source runs on x86 when it is built, and a digest of what that does --------------
#
# Paper    E Sec. 5.2: what MACH_Compiler_Ignore holds is not run

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
        """Leave nothing of a block that only `python` runs."""
        if any(self._is_ignored(item.context_expr) for item in node.items):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def _is_ignored(self, block: ast.expr) -> bool:
        called = block.func if isinstance(block, ast.Call) else block
        if isinstance(called, ast.Attribute):
            return called.attr == IGNORE
        return isinstance(called, ast.Name) and called.id in self._names


def digest_code(tree: ast.Module) -> str:
    """Return a digest of what Python does for a tree, wherever its statements stand."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(tree, "", "exec", dont_inherit=True)
    digest = hashlib.sha256()
    for part in _list_parts(code):
        digest.update(f"{len(part)} ".encode() + part)
    return digest.hexdigest()


def _list_parts(value: object) -> Iterator[bytes]:
    """Yield what a code object, or a constant in one, consists of, without places."""
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

# --- Run the source of a program on x86, as `python` would, and return its outputs --------------
#
# Paper    E Sec. 5.2: the same source runs with NumPy

def rehearse_program(
    source: str, path: str, code: str, outputs: Sequence[str],
    initial: Mapping[str, Number | str | None], data: Mapping[str, bytes],
) -> dict[str, bytes]:
    """Return the outputs of a source as files, `build/numpy/NAME.npy`.

    `initial` has the first values of every object: a number, "file" where they are in
    `build/data/NAME.npy` of `data`, or None where the program writes them. The source's blocks of
    MACH_Compiler_Ignore are left out; the digest of the others is `code`. Raises ProgramError where
    it is not, or objects begin with other values, and whatever the source raises.
    """
    tree = strip_source(source, path)
    if digest_code(tree) != code:
        raise ProgramError(f"{path.rpartition('/')[2]} changes while it is built", "build it again")
    WORLD.begin(_read_initial(initial, data))
    names = execute(tree, path)
    check_parameters()
    return {f"build/numpy/{name}.npy": _spell(_find_output(name, names)) for name in outputs}


def _read_initial(
    initial: Mapping[str, Number | str | None], data: Mapping[str, bytes]
) -> dict[str, Initial]:
    return {
        name: np.load(io.BytesIO(data[f"build/data/{name}.npy"]), allow_pickle=False)
        if isinstance(given, str) else given
        for name, given in initial.items()
    }


def _find_output(name: str, names: Mapping[str, Any]) -> Value:
    """Return an object, or a scalar that was named where it was computed. Raises ProgramError."""
    found = WORLD.objects.get(name, names.get(name))
    if not isinstance(found, Value):
        said = f"the program has an output {name}, which its run on x86 did not make"
        raise ProgramError(said, "what it does depends on nothing but its files and parameters")
    return found


def _spell(value: Value) -> bytes:
    text = io.BytesIO()
    np.lib.format.write_array(text, np.ascontiguousarray(take_array(value)).reshape(value.shape),
                              allow_pickle=False)
    return text.getvalue()

"""Sources damaged by chance: parts left out, doubled, swapped, or put in from elsewhere."""

import ast
import contextlib
import copy
import re

WORDS = re.compile(r"\w+|\s+|[^\w\s]")
SNIPPETS = (
    "x", "g", "a", "np", "self", "...", "None", "0", "-1", "1.5", "1:-1", "::2", "[", "]", "(", ")",
    ":", ",", "=", "+=", "**", "//", "@", "==", "<", " in ", " is ", " not ", " and ", " or ", "*",
    "break", "continue", "return", "pass", "else:", "yield x", "await x", "lambda: x", "(x := 1)",
    "global x", "del x", "nonlocal g", "import math", "raise", "assert x", "\n", "\n    ", "    ",
    "while True:", "while g > 1:", "if g:", "if x > 1:", "for t in a:", "for i in range(3):",
    "for t in global_range(3):", "def f(p: LocalArray):", "class C:", "try:", "except ValueError:",
    "finally:", "with Run_On_Host():", "with MACH_Compiler_Ignore():", "match g:", "case _:",
    "async def f():", "@typed", "x: LocalArray", "m: MACHScalar = np.sum(x)", "np.sum(x, axis=2)",
    "[i for i in range(3)]", "f'{x}'", "{1: x}", "*x", "**x", "print(x)", "x[x > 0]", "\\", "#",
    "'", '"""', "\t", "\f", "é", "\x00", "slice", "x.T", "x[...] = ", "global_range(3)", "type",
)


def mutate(text, rng, count=None):
    """Return a text with some changes, one to four unless `count` says how many."""
    for _ in range(count or rng.randint(1, 4)):
        text = rng.choice(CHANGES)(text, rng)
    return text


def _parts(text, rng):
    """Return a text as words, or as lines."""
    return WORDS.findall(text) if rng.random() < 0.7 else text.splitlines(keepends=True)


def _leave_out(text, rng):
    parts = _parts(text, rng)
    at = rng.randrange(len(parts) + 1)
    return "".join(parts[:at] + parts[at + rng.randint(1, 2):])


def _double(text, rng):
    parts = _parts(text, rng)
    at = rng.randrange(len(parts) + 1)
    return "".join(parts[:at] + parts[at:at + rng.randint(1, 5)] + parts[at:])


def _swap(text, rng):
    parts = _parts(text, rng)
    if parts:
        one, other = rng.randrange(len(parts)), rng.randrange(len(parts))
        parts[one], parts[other] = parts[other], parts[one]
    return "".join(parts)


def _put_in(text, rng):
    parts = _parts(text, rng)
    at = rng.randrange(len(parts) + 1)
    return "".join([*parts[:at], rng.choice(SNIPPETS), *parts[at:]])


def _replace(text, rng):
    """A word becomes another one of the text, or a snippet: what is left may well be Python."""
    parts = WORDS.findall(text)
    words = [n for n, part in enumerate(parts) if part.strip()]
    if words:
        other = parts[rng.choice(words)] if rng.random() < 0.6 else rng.choice(SNIPPETS)
        parts[rng.choice(words)] = other
    return "".join(parts)


def _indent(text, rng):
    lines = text.splitlines(keepends=True)
    if lines:
        at, to = sorted((rng.randrange(len(lines)), rng.randrange(len(lines))))
        less = rng.random() < 0.5
        for n in range(at, min(to, at + 4) + 1):
            lines[n] = lines[n].removeprefix("    ") if less else "    " + lines[n]
    return "".join(lines)


def _graft(text, rng):
    """An expression or statement becomes another one, or what is around it: this stays Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return _replace(text, rng)
    what = ast.expr if rng.random() < 0.6 else ast.stmt
    nodes = [node for node in ast.walk(tree) if isinstance(node, what)]
    with contextlib.suppress(SyntaxError, ValueError):
        others = ast.walk(ast.parse(rng.choice(SNIPPETS)))
        nodes += [node for node in others if isinstance(node, what)] * 5
    if nodes:
        Graft(rng.choice(nodes), copy.deepcopy(rng.choice(nodes)), rng.random() < 0.4).visit(tree)
    try:
        return ast.unparse(tree)
    except (RecursionError, AttributeError, ValueError):
        return text


class Graft(ast.NodeTransformer):
    """Put one node in the place of another, or, of statements, beside it."""

    def __init__(self, old, new, beside):
        self.old, self.new, self.beside = old, new, beside and isinstance(old, ast.stmt)

    def visit(self, node):
        if node is not self.old:
            return self.generic_visit(node)
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del) and hasattr(self.new, "ctx"):
            self.new.ctx = node.ctx
        return [self.new, node] if self.beside else self.new


CHANGES = (_leave_out, _double, _swap, _put_in, _replace, _indent, *[_graft] * 10)

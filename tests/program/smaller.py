"""Make a program that fails small: without statements, and with operands for expressions."""

import ast


def make_small(source, fails, attempts=400):
    """Return the smallest source that was found to fail, with at most so many calls of `fails`."""
    tried, before = {source}, None
    while source != before:
        before = source
        for smaller in _list_smaller(source):
            if smaller in tried:
                continue
            if len(tried) > attempts:
                return source
            tried.add(smaller)
            if fails(smaller):
                source = smaller
                break
    return source


def _list_smaller(source):
    """Yield texts that are a little smaller: long statements go first."""
    tree = ast.parse(source)
    count = sum(1 for _ in _list_edits(tree))
    texts = []
    for n in range(count):
        copy = ast.parse(source)
        edit = next(each for k, each in enumerate(_list_edits(copy)) if k == n)
        edit()
        try:
            texts.append(ast.unparse(ast.fix_missing_locations(copy)) + "\n")
        except (ValueError, AttributeError):
            continue
    yield from sorted({text for text in texts if len(text) < len(source)}, key=len)


def _list_edits(tree):
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                for at, each in enumerate(value):
                    yield from _list_edits_of(value, at, each)
            elif isinstance(value, ast.expr):
                for part in _list_parts(value):
                    yield lambda node=node, field=field, part=part: setattr(node, field, part)


def _list_edits_of(within, at, each):
    if isinstance(each, ast.stmt):
        yield lambda: within.__setitem__(slice(at, at + 1), [] if len(within) > 1 else [ast.Pass()])
        if isinstance(each, ast.If | ast.For | ast.While):
            yield lambda: within.__setitem__(slice(at, at + 1), each.body)
        if isinstance(each, ast.If) and each.orelse:
            yield lambda: setattr(each, "orelse", [])
    elif isinstance(each, ast.expr):
        for part in _list_parts(each):
            yield lambda part=part: within.__setitem__(at, part)


def _list_parts(node):
    """Return the operands of an expression that computes."""
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.UnaryOp():
            return [node.operand]
        case ast.BoolOp():
            return node.values
        case ast.Call(func=ast.Attribute(attr="astype")):
            return [node.func.value]
        case ast.Call(func=ast.Attribute()):
            return node.args
    return []

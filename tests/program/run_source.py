"""A function that runs a source and nothing else: what tests of the process hand to it."""

import builtins

import numpy  # noqa: F401  as all that runs programs does


def run_source(source, path):
    scope = {"__name__": "__main__", "__file__": path, "__builtins__": builtins, "found": {}}
    exec(compile(source, path, "exec"), scope)
    return {name: bytes(content) for name, content in scope["found"].items()}

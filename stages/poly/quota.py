"""Bound the work that isl may do, so that a hard layer is an error and not a wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl


class TooManyOperations(Exception):  # noqa: N818
    """isl needed more operations than it was allowed."""

    def __init__(self, max_operations: int) -> None:
        super().__init__(f"isl needs more than {max_operations} operations")
        self.max_operations = max_operations


@contextmanager
def limited(max_operations: int, context: isl.Context | None = None) -> Iterator[None]:
    """Allow isl `max_operations` operations (its own unit) within the `with` statement.

    Raises TooManyOperations where isl needs more.  The limit that held before holds again
    afterwards.  An inner limit counts from 0, and restarts the count of an outer one.
    """
    limited_context = context or isl.DEFAULT_CONTEXT
    before = limited_context.get_max_operations()
    limited_context.reset_operations()
    limited_context.set_max_operations(max_operations)
    try:
        yield
    except Exception as error:
        if _exhausted(limited_context):
            raise TooManyOperations(max_operations) from error
        raise
    finally:
        limited_context.reset_operations()
        limited_context.set_max_operations(before)


def _exhausted(context: isl.Context) -> bool:
    """Does isl refuse even the smallest operation?

    The message of an isl.Error does not tell: reading a text reports a quota as a syntax error.
    """
    try:
        isl.Set("{ : }", context)
    except isl.Error:
        return True
    return False

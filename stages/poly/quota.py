"""Limits of the work that isl may do, so that a hard layer is an error and not a wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl

GRAIN = 8
"""The part of an inner allowance, one in so many, by which it may fall short of what it says."""

# One number for the one context of a process, so only one thread at a time may use isl: _ONE of
# make/doit/session.py sees to that. Limits end in the reverse order in which they began, since each
# puts back the one that it met: a generator must not yield within one.
_COUNTED = [0]
"""The last lower bound that is known of the operations which isl has counted since it began."""


class TooManyOperations(Exception):  # noqa: N818
    """isl needed more operations than it was allowed."""

    def __init__(self, max_operations: int) -> None:
        super().__init__(f"isl needs more than {max_operations} operations")
        self.max_operations = max_operations


@contextmanager
def limit_operations(max_operations: int) -> Iterator[None]:
    """Allow isl `max_operations` operations (its own unit) within the `with` statement.

    Raises TooManyOperations where isl needs more.  The limit that held before holds again
    afterwards, and what was done meanwhile counts: an inner allowance is no more than what is left
    of the outer one.  Where that is used up isl refuses everything, up to the end of the outer
    `with` statement, which raises TooManyOperations then.
    """
    outer = isl.DEFAULT_CONTEXT.get_max_operations()
    end = _counted(outer, 1 + max_operations // GRAIN) + max_operations
    ends_first = not outer or end < outer
    isl.DEFAULT_CONTEXT.set_max_operations(end if ends_first else outer)
    try:
        yield
        is_over = ends_first and _is_exhausted()
    except Exception as error:
        if ends_first and _is_exhausted():
            raise TooManyOperations(max_operations) from error
        raise
    finally:
        isl.DEFAULT_CONTEXT.set_max_operations(outer)
    if is_over:
        raise TooManyOperations(max_operations)


def _counted(most: int, grain: int) -> int:
    """Return how many operations isl has counted: up to `grain` less than that, `most` at most.

    It begins anew where there is no limit, 0. isl tells nobody what it has counted, but refuses
    everything where a limit is reached: so it is asked, and that counts too.
    """
    least, step = _COUNTED[0], grain
    if not most:
        isl.DEFAULT_CONTEXT.reset_operations()
        least = 0
    while least + step < most and _reaches(least + step):
        least, step = least + step, 4 * step
    beyond = min(least + step, most)
    while beyond - least > grain:
        middle = (least + beyond) // 2
        least, beyond = (middle, beyond) if _reaches(middle) else (least, middle)
    _COUNTED[0] = least
    return least


def _reaches(number: int) -> bool:
    """Has isl counted as many operations?"""
    isl.DEFAULT_CONTEXT.set_max_operations(number)
    return _is_exhausted()


def _is_exhausted() -> bool:
    """Does isl refuse even the smallest operation?

    The message of an isl.Error does not tell: reading a text reports a quota as a syntax error.
    """
    try:
        isl.Val.int_from_si(isl.DEFAULT_CONTEXT, 0)
    except isl.Error:
        return True
    return False

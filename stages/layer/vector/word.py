"""The word of its local tensor at which an operand starts, as far as banks tell words apart.

Source   stages/fabric/rate.c, which charges what happens
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

import islpy as isl


def find_word(
    base: Sequence[int | str], shape: Sequence[int], word: int, banks: int
) -> int | None:
    """Return at which word of a tensor an element lies, modulo the banks; None if that varies.

    `word` is how many words an element takes.
    """
    found = 0
    for k, index in enumerate(base):
        step = prod(shape[k + 1 :]) * word
        if isinstance(index, int):
            found += index * step
        elif step % banks and not _is_multiple(index, banks // gcd(step, banks)):
            return None
    return found % banks


def _is_multiple(index: str, of: int) -> bool:
    """Whether an index, a function of constants, is a multiple of a number everywhere."""
    values = isl.Set.from_pw_aff(isl.PwAff(index).floor())
    return bool(values.is_subset(isl.Set(f"{{ [value] : value mod {of} = 0 }}")))

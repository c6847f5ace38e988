"""Table of predicted and simulated cycles, for the layers of this checkout or of a given one.

    .venv/bin/python -m tools.prediction [CHECKOUT]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tools.prediction.built import Compared, compare_all

PARTS = (0.5, 0.75, 0.9, 1.0)


def table(found: Sequence[Compared]) -> str:
    """Return a line a layer, the largest error last, and the errors of most of them."""
    lines = [_line(each) for each in sorted(found, key=lambda each: abs(each.error))]
    errors = sorted(abs(each.error) for each in found)
    for part in PARTS if errors else ():
        at = max(0, -(-int(part * len(errors) * 100) // 100) - 1)
        lines.append(f"{part:.0%} of {len(errors)} are off by {errors[at]:.1%} at most")
    return "\n".join(lines)


def _line(each: Compared) -> str:
    p = each.predicted
    return (
        f"{each.name:40} {each.cycles:8} {p.cycles:8} {each.error:+7.1%}   arrive {p.arrive}, "
        f"computes {p.computes}, fed back {p.fed_back}, leave {p.leave}"
    )


if __name__ == "__main__":
    print(table(list(compare_all(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))))

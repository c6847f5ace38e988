"""Worth of multicast: the table of docs/multicast.md.

Source   M
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.layer.texts.results_json import Results
from tools.evaluation.document import table
from tools.evaluation.measure import Case, measure
from tools.evaluation.templates import template

MACHINE = "systolic"
HEAD = ("layer", "with multicast", "as it pays", "worth", "replicas", "worth")
Pair = Sequence[Results]
"""The results of a layer whose PEs forward where that pays, and of one whose PEs get replicas."""


def without_multicast(case: Case) -> tuple[Case, Case]:
    """Return a case whose PEs forward where that pays, and one whose PEs get replicas."""
    mapping = {key: value for key, value in case.mapping.items() if key != "skew"}
    mapping["machine"] = MACHINE
    paying = dataclasses.replace(case, mapping=mapping)
    return paying, dataclasses.replace(case, mapping={**mapping, "skew": False})


def try_to_measure(case: Case, workspace: Path) -> Results | None:
    """Return the results of a case; None if the machine has too little of something for it."""
    with contextlib.suppress(UserError, UserErrors):
        return measure(case, workspace)
    return None


def document(found: Mapping[str, Pair], refused: Sequence[str]) -> str:
    """Return the document, by layer; `refused` are those that the machine has too little for."""
    alone = [name for name, pair in found.items() if not _differs(pair)]
    return template("multicast.md.j2").render(
        table=layers_table({n: pair for n, pair in found.items() if n not in alone}), alone=alone,
        refused=refused,
    )


def layers_table(found: Mapping[str, Pair]) -> str:
    """Return the cycles of each layer, first where multicast is worth the most."""
    rows = sorted(found.items(), key=lambda item: (-max(_worths(item[1]), default=1.0), item[0]))
    return table(HEAD, ((name, *_cells(pair)) for name, pair in rows))


def _cells(pair: Pair) -> Iterator[Any]:
    forwarding, replicas = pair
    copied = forwarding.multicast
    yield forwarding.cycles.simd if copied is None else copied.cycles
    for each in (forwarding, replicas):
        yield each.cycles.simd
        yield f"{1.0 if each.multicast is None else each.multicast.worth:.2f}"


def _worths(pair: Pair) -> list[float]:
    return [each.multicast.worth for each in pair if each.multicast is not None]


def _differs(pair: Pair) -> bool:
    """Say whether a layer takes other cycles with multicast than without."""
    return any(worth != 1 for worth in _worths(pair))

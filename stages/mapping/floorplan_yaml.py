"""What a network.yaml says of one fabric for all parts: whether they run there, and where."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from lairmake.stages.diagnose import Span, UserError
from lairmake.stages.lair.tree import did_you_mean
from lairmake.stages.mapping.yaml_file import File

PLACE = re.compile(r"PE\[ *(-?\d{1,6}) *, *(-?\d{1,6}) *\]", re.ASCII)


class Fabric(File):
    """A network.yaml. With `run: whole` all parts run on one fabric, too, each where `floorplan`
    says: the place of its PE[0, 0]. Each build draws a report if `report` says so."""

    run: Literal["parts", "whole"] = "parts"
    floorplan: dict[str, str] = {}
    report: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all parts run on one fabric, too."""
        return self.run == "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where a part lies on the fabric of the whole: its PE[0, 0]; `span` says so."""

    x: int
    y: int
    span: Span


def check_places(file: Fabric) -> Iterator[UserError]:
    """Yield an error for everything in `floorplan` that is no place on one fabric."""
    if file.floorplan and not file.is_whole:
        hint = "parts have places on one fabric: add `run: whole`, or leave the floorplan out"
        yield UserError("there is no fabric of the whole", file.key_span("floorplan"), hint)
    for name, place in file.floorplan.items():
        if not PLACE.fullmatch(place):
            hint = "write `PE[0, 0]`, where PE[0, 0] of the part lies"
            yield UserError(f"{place} is no PE", file.span("floorplan", name), hint)


def check_placed(file: Fabric, parts: Collection[str]) -> Iterator[UserError]:
    """Yield an error for everything in `floorplan` that is none of the parts of a network."""
    for name in file.floorplan:
        if name not in parts:
            hint = did_you_mean(name, list(parts), "parts")
            yield UserError(f"unknown part {name}", file.key_span("floorplan", name), hint)


def read_places(file: Fabric) -> dict[str, Placed]:
    """Return where parts lie that have a place."""
    return {name: _placed(file, name) for name in file.floorplan}


def _placed(file: Fabric, name: str) -> Placed:
    found = PLACE.fullmatch(file.floorplan[name])
    assert found is not None, "check_places lets no other text pass"
    return Placed(x=int(found[1]), y=int(found[2]), span=file.span("floorplan", name))

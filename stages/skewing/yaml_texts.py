"""What skew.yaml says of each statement, and counts.yaml of a layer.

Paper    M Sec. II to IV
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from lairmake.stages.mapping.records import Inline, Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A number before PEs lag, and after."""

    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extents:
    """By dimension of time, the steps from the first to the last, before PEs lag and after."""

    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What becomes of the broadcasts of a tensor: `why` one stays, and where elements pass on."""

    broadcast: Change
    passes: tuple[tuple[int, ...], ...]
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Whether tiles cross an edge of the torus, and always step to the next PE."""

    crosses: bool
    steps: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LagText:
    """One lag: in a dimension of `time`, by `factor` for each step `along` a coordinate.

    Beside those that are taken it eliminates `broadcasts`, `saves` remote accesses, adds `steps`,
    and so `gains` cycles of a PE.
    """

    time: int
    along: str
    factor: int
    taken: bool
    broadcasts: int
    saves: int | None = None
    steps: int | None = None
    gains: int | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lagging:
    """How the PEs that run a statement lag; `loops` is the matrix, where it is one."""

    lag: tuple[tuple[int, ...], ...]
    lags: tuple[LagText, ...] = ()
    step: int
    steps: Extents
    running: Change
    parallel: Change
    loops: tuple[tuple[int, ...], ...] | None = None
    is_lower_triangular: Annotated[bool | None, Key("lower triangular")] = None
    tensors: Mapping[str, Fate]
    edges: Mapping[str, Edge] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """From where PEs get what they access; `percent` is of remote, neighbour and local."""

    accesses: int
    remote: int
    neighbour: int
    local: int
    percent: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPart:
    """The accesses of a `number` of PEs together."""

    number: int
    remote: int
    neighbour: int
    local: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The steps of a layer, and its accesses: of all tensors, of each, and by part of the grid."""

    steps: int
    whole: Annotated[Shares, Inline()]
    tensors: Mapping[str, Shares]
    pes: Mapping[str, GridPart]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What counts.yaml says: with PEs that start together, and with PEs that lag."""

    before: Counted
    after: Counted

"""Machine profiles: the figures of a machine, each with its source and grade.

Reads    stages/machine/profiles/<name>.yaml, or a file of the same form
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from stages.diagnose import nearest
from stages.yaml_limits import composed

DATA = ("profiles/*.yaml",)
PROFILES = Path(__file__).parent / "profiles"
TYPES = ("float16", "float32", "int16", "int32")


class ProfileError(ValueError):
    """Something is wrong in a profile: under the key `figure`, if it is in one figure."""

    def __init__(self, message: str, figure: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.figure, self.hint = message, figure, hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The figures of a machine. Costs and latencies are in cycles, memory and code in bytes.

    `grid` is columns and rows; `lanes` gives elements per cycle by type; `link_width` is in bits;
    `queue_depth` in wavelets. The files say what each figure means and where it comes from.
    """

    name: str
    grid: tuple[int, int]
    memory: int
    lanes: Mapping[str, int]
    vector_start_up: int
    configuration: int
    live_configurations: int
    dimensions: int
    loop: int
    scalar: int
    address: int
    dispatch: int
    hop: int
    ramp: int
    link_width: int
    queue_depth: int
    instruction_queue: int
    colours: int
    positions: int
    filters: int
    multicast: bool
    code_base: int
    code_task: int

    def __post_init__(self) -> None:
        """Check what the engine relies on; ProfileError names the figure and its value."""
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:
                wanted = f"{low} to {high}" if low < high else f"{low}: nothing else is simulated"
                message = f"profile {self.name}: {name} is {value}, not {wanted}"
                raise ProfileError(message, name)


_ENGINE_COLOURS, _ENGINE_POSITIONS, _ENGINE_LATENCY, _ENGINE_DIMENSIONS = 32, 4, 1000, 4
_MOST = 2**31 - 1
_RANGES = {
    **dict.fromkeys(("vector_start_up", "configuration", "loop", "scalar"), (0, _MOST)),
    **dict.fromkeys(("address", "dispatch", "code_base", "code_task"), (0, _MOST)),
    **dict.fromkeys(("memory", "live_configurations"), (1, _MOST)),
    "link_width": (32, 32),
    "instruction_queue": (1, _MOST),
    "queue_depth": (1, 4096),
    "hop": (1, _ENGINE_LATENCY),
    "ramp": (0, _ENGINE_LATENCY),
    "colours": (1, _ENGINE_COLOURS),
    "positions": (1, _ENGINE_POSITIONS),
    "filters": (0, _MOST),
    "dimensions": (1, _ENGINE_DIMENSIONS),
}


def load_profile(name: str, overrides: Mapping[str, Any] | None = None) -> Profile:
    """Return a profile by its name or the path of its file, with some figures replaced.

    `overrides` gives plain values by key; `lanes` may be a number, for every type, or a mapping
    from some types. Raises ProfileError.
    """
    figures = {key: _plain(value) for key, value in _read(name).items()}
    known = [field.name for field in fields(Profile) if field.name != "name"]
    changed = dict(overrides or {})
    _check_known("figure", changed, known)
    if "lanes" in changed:
        changed["lanes"] = _merge_lanes(figures.get("lanes", {}), changed["lanes"])
    try:
        return _checked(Path(name).stem, figures | changed, known)
    except ProfileError as error:
        if error.figure in changed and error.figure in figures:
            error.hint = error.hint or f"{name} has {_shown(figures[error.figure])}"
        raise


def _shown(figure: Any) -> str:
    """Return a figure as people write it; one for each type in a row."""
    if isinstance(figure, Mapping):
        return ", ".join(f"{value} for {key}" for key, value in figure.items())
    return str(figure).lower() if isinstance(figure, bool) else str(figure)


def profile_names() -> list[str]:
    """Return the names of the profiles that come with the compiler, sorted."""
    return sorted(path.stem for path in PROFILES.glob("*.yaml"))


def _read(name: str) -> dict[str, Any]:
    path = PROFILES / f"{name}.yaml" if name in profile_names() else Path(name)
    if not os.path.isfile(path):  # a Path raises OSError for a name that is too long
        hint = _nearest("profile", name, profile_names())
        raise ProfileError(f"unknown profile {name}", hint=hint)
    try:
        figures = _parsed(path.read_text(encoding="utf-8"), fast=path.parent == PROFILES)
    except (yaml.YAMLError, ValueError) as error:
        raise ProfileError(f"{path} is not YAML: {_said(error)}") from error
    if not isinstance(figures, dict):
        raise ProfileError(f"{path} is not a mapping from figures to values")
    return figures


@lru_cache
def _parsed(text: str, *, fast: bool) -> Any:
    """Return the data of a YAML text: most stages of a layer ask for the same profile.

    The fast loader says less of what is wrong with a text.
    """
    if fast:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    loader = yaml.SafeLoader(text)
    node = composed(loader)
    return None if node is None else loader.construct_document(node)


def _said(error: Exception) -> str:
    """Return what is wrong with a text, and in which line."""
    mark = getattr(error, "problem_mark", None)
    return f"line {mark.line + 1}: {error.problem}" if mark else str(error)  # type: ignore[attr-defined]


def _plain(figure: Any) -> Any:
    """Return the value of a figure, or of each figure in a mapping of them."""
    if not isinstance(figure, dict):
        return figure
    if "value" in figure:
        return figure["value"]
    return {key: _plain(value) for key, value in figure.items()}


def _merge_lanes(lanes: Mapping[str, int], changed: Any) -> dict[str, int]:
    if not isinstance(changed, Mapping):
        return dict.fromkeys(TYPES, changed)
    _check_known("type", changed, TYPES, "lanes")
    return {**lanes, **changed}


def _checked(name: str, figures: dict[str, Any], known: list[str]) -> Profile:
    _check_known("figure", figures, known)
    missing = [key for key in known if key not in figures]
    if missing:
        hint = "to change some figures of another: `machine: {profile: wse2, memory: 4096}`"
        raise ProfileError(f"profile {name} lacks {', '.join(missing)}", hint=hint)
    special: dict[str, Any] = {
        "grid": _grid(name, figures["grid"]),
        "lanes": _lanes(name, figures["lanes"]),
    }
    if not isinstance(figures["multicast"], bool):
        message = f"profile {name}: multicast is {figures['multicast']}, not true or false"
        raise ProfileError(message, "multicast")
    plain = {key: figures[key] for key in known if key not in special and key != "multicast"}
    for key, value in plain.items():
        if not _is_int(value):
            raise ProfileError(f"profile {name}: {key} is {value}, not a whole number", key)
    return Profile(name=name, multicast=figures["multicast"], **special, **plain)


def _grid(name: str, value: Any) -> tuple[int, int]:
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(map(_positive, value)):
        raise ProfileError(f"profile {name}: grid is {value}, not [columns, rows]", "grid")
    return (value[0], value[1])


def _lanes(name: str, value: Any) -> Mapping[str, int]:
    if not isinstance(value, Mapping) or set(value) != set(TYPES):
        message = f"profile {name}: lanes is {value}, not a number for each type"
        raise ProfileError(message, "lanes", f"types: {', '.join(TYPES)}")
    for type_, lanes in value.items():
        if not _positive(lanes):
            message = f"profile {name}: lanes of {type_} is {lanes}, not a positive whole number"
            raise ProfileError(message, "lanes")
    return dict(value)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _positive(value: Any) -> bool:
    return _is_int(value) and value > 0


def _check_known(
    what: str, given: Iterable[str], known: Sequence[str], figure: str | None = None
) -> None:
    for key in given:
        if key not in known:
            raise ProfileError(f"unknown {what} {key}", figure or key, _nearest(what, key, known))


def _nearest(what: str, name: str, known: Sequence[str]) -> str:
    """Return the hint for an unknown name: the nearest known one, else all."""
    near = nearest(str(name), known, cutoff=0.6)
    return f"did you mean {near}?" if near else f"{what}s: {', '.join(known)}"

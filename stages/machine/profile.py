"""Machine profiles: the figures of a machine, each with its source and grade.

Reads    stages/machine/profiles/<name>.yaml, or a file of the same form
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, ConfigDict, Field, Strict, ValidationError
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

from stages.diagnose import nearest
from stages.machine.contradictions import find_contradiction
from stages.machine.lanes import Row, UnknownKeyError, find_width, read_lanes
from stages.machine.types import OPERATIONS, TYPES
from stages.yaml_limits import compose

DATA = ("profiles/*.yaml",)
PROFILES = Path(__file__).parent / "profiles"


FORM = ("value", "source", "grade")
GRADES = {
    "A": "primary text read", "B": "secondary summary of one", "C": "arithmetic on public data",
    "M": "from memory", "chosen": "no public figure is known",
}
HINT = (
    "every figure is `{value: 10, source: where it is from, grade: A}`; grades: "
    + ", ".join(f"{grade} {meaning}" for grade, meaning in GRADES.items())
)


class ProfileError(ValueError):
    """Something is wrong in a profile: under the key `figure`, if it is in one figure."""

    def __init__(self, message: str, figure: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.figure, self.hint = message, figure, hint


MOST = 2**31 - 1
DEPTHS = "the words of 16 bits, 2 to 8192, that each of up to 32 queues holds: [6, 4], or []"
Figure = Annotated[int, Field(ge=0, le=MOST)]
Positive = Annotated[int, Field(ge=1, le=MOST)]
Words = Annotated[int, Field(ge=2, le=8192)]
Queues = Annotated[tuple[Words, ...], Field(max_length=32), Strict(False)]


def _of_each_type(lanes: dict[str, Row]) -> dict[str, Row]:
    if not set(lanes) >= set(TYPES) or any(set(row) != set(OPERATIONS) for row in lanes.values()):
        raise PydanticCustomError("lanes", "types or operations are missing")
    return lanes


def _of_links(width: int) -> int:
    if width != 16 and (width % 32 or not 32 <= width <= 1024):
        raise PydanticCustomError("width", "neither half a wavelet nor whole ones")
    return width


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(strict=True))
class Profile:
    """The figures of a machine, in what the engine relies on. Costs and latencies are in cycles,
    memory and code in bytes.

    `grid` is columns and rows; `lanes` gives elements per cycle by type and operation, as
    `find_lanes` returns them; `link_width` is in bits; `queue_depth` in wavelets, depths of a PE's
    queues in words of 16 bits, by their numbers. `unswitched` has numbers of colours.
    The files say what each figure means and where it comes from.
    """

    name: str
    grid: Annotated[tuple[Positive, Positive], Strict(False)]
    memory: Positive
    lanes: Annotated[dict[str, dict[str, Positive]], AfterValidator(_of_each_type)]
    sum_lanes: Figure
    stride_limits: Annotated[tuple[Figure, ...], Strict(False), Field(min_length=8, max_length=8)]
    read_banks: Annotated[int, Field(ge=0, le=64)]
    shared_datapath: bool
    vector_start_up: Figure
    configuration: Figure
    descriptors: Positive
    vector_multiply_add: bool
    dimensions: Annotated[int, Field(ge=1, le=4)]
    loop: Figure
    scalar: Figure
    address: Figure
    dispatch: Figure
    hop: Annotated[int, Field(ge=1, le=1000)]
    ramp: Annotated[int, Field(ge=0, le=1000)]
    link_width: Annotated[int, AfterValidator(_of_links)]
    queue_depth: Annotated[int, Field(ge=1, le=4096)]
    input_queues: Queues
    output_queues: Queues
    threads: Positive
    fifo: Annotated[int, Field(ge=0, le=1000)]
    task_ids: Figure
    data_tasks: Literal["colours", "queues"]
    colours: Annotated[int, Field(ge=1, le=32)]
    positions: Annotated[int, Field(ge=1, le=4)]
    unswitched: Annotated[tuple[Figure, ...], Strict(False)]
    switch_both: bool
    filters: Figure
    multicast: bool
    code_base: Figure
    code_task: Figure

    def find_lanes(self, operation: str, result: str, *sources: str) -> int:
        """Return the elements a cycle of an operation that gives `result`.

        `sources` are the types of its operands in memory that are no numbers.
        """
        return find_width(self.lanes, operation, result, sources)

    def find_most_lanes(self, type_: str) -> int:
        """Return the elements a cycle of the widest operation that gives a type."""
        return max(self.lanes[type_].values())


def load_profile(name: str, overrides: Mapping[str, Any] | None = None) -> Profile:
    """Return a profile by its name or the path of its file, with some figures replaced.

    `overrides` gives plain values by key; `lanes` may be a number, for every type, or a mapping
    from some types. Raises ProfileError.
    """
    figures, changed = _figures_of(name), dict(overrides or {})
    _check_known("figure", changed, KNOWN)
    if "lanes" in changed:
        old = figures.get("lanes", {})
        changed["lanes"] = _lanes_of(changed["lanes"], lambda _, value: value, old)
    try:
        profile = Profile(**{"name": Path(name).stem, **figures, **changed})
    except ValidationError as error:
        said = _explain(error, Path(name).stem, {**figures, **changed})
        if said.figure in changed and said.figure in figures:
            said.hint = said.hint or f"{name} has {_shown(figures[said.figure])}"
        raise said from error
    _check_whole(profile, changed)
    return profile


def _check_whole(profile: Profile, changed: Mapping[str, Any]) -> None:
    """Raise ProfileError where a figure contradicts another: at the one that was changed."""
    found = find_contradiction(profile)
    if found is not None:
        figure = next((each for each in found.figures if each in changed), found.figures[0])
        raise ProfileError(f"profile {profile.name}: {found.message}", figure, found.remedy)


KNOWN = tuple(key for key in Profile.__dataclass_fields__ if key != "name")


def _figures_of(name: str) -> dict[str, Any]:
    """Return the values of a file, and of the profile that it is `like`, if it says so."""
    given, stem = dict(_read(name)), Path(name).stem
    like = given.pop("like", None)
    if like is not None and like not in profile_names():
        hint = _nearest("profile", str(like), profile_names())
        raise ProfileError(f"profile {stem}: like is {like}, no profile", "like", hint)
    figures = {} if like is None else _figures_of(like)
    _check_known("figure", given, KNOWN)
    for key, figure in given.items():
        if key == "lanes":
            figures[key] = _lanes_of(
                figure, lambda what, each: _value_of(what, each, stem), figures.get(key, {})
            )
        else:
            figures[key] = _value_of(key, figure, stem)
    return figures


def read_grades(name: str) -> dict[str, str]:
    """Return the grade of each figure of a profile that is one value. Raises ProfileError."""
    given = dict(_read(name))
    like = given.pop("like", None)
    grades = {} if like is None else read_grades(like)
    own = {key: figure["grade"] for key, figure in given.items() if "grade" in figure}
    return grades | own


def _explain(error: ValidationError, name: str, figures: Mapping[str, Any]) -> ProfileError:
    """Return what is wrong first in the figures of a profile, in our words."""
    missing = [str(each["loc"][0]) for each in error.errors() if each["type"] == "missing"]
    if missing:
        remedy = "to change some figures of another: `machine: {profile: wse2, memory: 4096}`"
        return ProfileError(f"profile {name} lacks {', '.join(missing)}", hint=remedy)
    details = error.errors()[0]
    figure, *within = map(str, details["loc"])
    value = figures[figure]
    if figure == "lanes" and within and within[0] in value:
        row, operation = value[within[0]], within[1]
        alike = len(set(map(str, row.values()))) == 1
        of = within[0] if alike else f"{within[0]} for {operation}"
        said = f"lanes of {of} is {row[operation]}, not a positive whole number"
    else:
        said = f"{figure} is {value}, not {_wanted(figure, details['type'])}"
    hint = f"types: {', '.join(TYPES)}" if said.startswith("lanes is") else None
    return ProfileError(f"profile {name}: {said}", figure, hint)


def _wanted(figure: str, kind: str) -> str:
    """Return what a figure may be, of which an error of this kind was found."""
    special = {
        "grid": "[columns, rows]", "lanes": "a number for each type", "multicast": "true or false",
        "shared_datapath": "true or false", "stride_limits": "eight whole numbers",
        "vector_multiply_add": "true or false",
        "input_queues": DEPTHS, "output_queues": DEPTHS, "data_tasks": "colours or queues",
        "switch_both": "true or false", "unswitched": "a list of colours by number",
        "link_width": "16, or a multiple of 32 up to 1024",
    }
    if figure in special or kind == "int_type":
        return special.get(figure, "a whole number")
    limits = Profile.__pydantic_fields__[figure].metadata  # type: ignore[attr-defined]
    return f"{limits[0].ge} to {limits[1].le}"


def _shown(figure: Any) -> str:
    """Return a figure as people write it; one for each type in a row."""
    if isinstance(figure, Mapping):
        each = {key: sorted(set(figure[key].values())) for key in TYPES}
        ranges = {key: " to ".join(map(str, dict.fromkeys((row[0], row[-1]))))
                  for key, row in each.items()}
        return ", ".join(f"{said} for {key}" for key, said in ranges.items())
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
    node = compose(loader)
    return None if node is None else loader.construct_document(node)


def _said(error: Exception) -> str:
    """Return what is wrong with a text, and in which line."""
    mark = getattr(error, "problem_mark", None)
    return f"line {mark.line + 1}: {error.problem}" if mark else str(error)  # type: ignore[attr-defined]


def _value_of(key: str, figure: Any, profile: str) -> Any:
    """Return the value of a figure in a file. Raises ProfileError if it has no source or grade."""
    said = figure if isinstance(figure, dict) else {"value": figure}
    lacks = [word for word in FORM if said.get(word) in (None, "")]
    odd = [str(word) for word in said if word not in FORM]
    if not lacks and not odd and said["grade"] in GRADES:
        return said["value"]
    wrong = f"has no {' and no '.join(lacks)}" if lacks else f"has grade {said['grade']}"
    wrong = f"has {odd[0]}" if odd else wrong
    raise ProfileError(f"profile {profile}: {key} {wrong}", key.split()[0], HINT)


def _lanes_of(given: Any, figure: Callable[[str, Any], Any], old: Mapping[str, Row]) -> Any:
    """Return the table of lanes with what is given in it. Raises ProfileError."""
    try:
        return read_lanes(given, figure, old)
    except UnknownKeyError as error:
        hint = _nearest(error.what, error.key, error.known)
        raise ProfileError(str(error), "lanes", hint) from error


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

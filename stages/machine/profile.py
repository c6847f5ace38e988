"""Profiles of machines: their figures, read from files and checked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import yaml
from pydantic import AfterValidator, ConfigDict, Field, Strict, ValidationError
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

from lairmake.stages.diagnose import nearest
from lairmake.stages.machine.banks import Banks
from lairmake.stages.machine.scalar_code import OWN, SCALAR_KINDS
from lairmake.stages.machine.types import OPERATIONS, TYPES
from lairmake.stages.machine.vector_rate import (
    Row,
    UnknownKeyError,
    find_widest,
    find_width,
    read_lanes,
)
from lairmake.stages.yaml_faults import explain_yaml
from lairmake.stages.yaml_limits import OURS, compose, construct

# --- Files of machine profiles --------------------------------------------------------------------
#
# Each figure has a value, a source and a grade. A file may be `like` another profile.
#
# Reads    stages/machine/profiles/<name>.yaml, or a file of the same form

INPUTS = ("profiles/*.yaml",)
PROFILES = Path(__file__).parent / "profiles"


RENAMED = {"instruction_queue": "threads", "live_configurations": "descriptors"}
"""The present name of each figure that was called otherwise before."""

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


def read_figures(name: str, known: Sequence[str]) -> dict[str, Any]:
    """Return the values of a file, and of the profile that it is `like`, if it says so.

    Raises ProfileError, also for a figure that is not `known`.
    """
    given, stem = dict(_read(name)), Path(name).stem
    like = given.pop("like", None)
    if like is not None and like not in profile_names():
        hint = hint_at("profile", str(like), profile_names())
        raise ProfileError(f"profile {stem}: like is {like}, no profile", "like", hint)
    figures = {} if like is None else read_figures(like, known)
    check_known("figure", given, known)
    for key, figure in given.items():
        if key == "lanes":
            figures[key] = replace_lanes(
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


def list_files(name: str) -> Iterator[Path]:
    """Yield the file of a profile, and of those that it is `like`, each before it is read."""
    like: Any = name
    while like is not None:
        yield _path_of(like)
        like = _read(like).get("like")


def profile_names() -> list[str]:
    """Return the names of the profiles that come with the compiler, sorted."""
    return sorted(path.stem for path in PROFILES.glob("*.yaml"))


def _read(name: str) -> dict[str, Any]:
    path = _path_of(name)
    if not os.path.isfile(path):  # a Path raises OSError for a name that is too long
        hint = hint_at("profile", name, profile_names())
        raise ProfileError(f"unknown profile {name}", hint=hint)
    try:
        figures = _parsed(path.read_text(encoding="utf-8"), fast=path.parent == PROFILES)
    except (yaml.YAMLError, ValueError) as error:
        raise ProfileError(f"{path} is not YAML: {_said(error)}") from error
    if not isinstance(figures, dict):
        raise ProfileError(f"{path} is not a mapping from figures to values")
    return figures


def _path_of(name: str) -> Path:
    return PROFILES / f"{name}.yaml" if name in profile_names() else Path(name)


@lru_cache
def _parsed(text: str, *, fast: bool) -> Any:
    """Return the data of a YAML text: most stages of a layer ask for the same profile.

    The fast loader says less of what is wrong with a text.
    """
    if fast:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    loader = yaml.SafeLoader(text)
    node = compose(loader)
    return None if node is None else construct(loader, node)


def _said(error: Exception) -> str:
    """Return what is wrong with a text, and in which line."""
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        problem = str(getattr(error, "problem", ""))
        said = problem if isinstance(error, OURS) else explain_yaml(problem)
        return f"line {mark.line + 1}: {said}"
    if isinstance(error, UnicodeDecodeError | yaml.reader.ReaderError):
        return "it holds what is no text in UTF-8"
    return "it has a date or a number that is none"


def _value_of(key: str, figure: Any, profile: str) -> Any:
    """Return the value of a figure in a file. Raises ProfileError if it has no source or grade."""
    said = figure if isinstance(figure, dict) else {"value": figure}
    lacks = [word for word in FORM if said.get(word) in (None, "")]
    odd = [str(word) for word in said if word not in FORM]
    if not lacks and not odd and str(said["grade"]) in GRADES:
        return said["value"]
    wrong = f"has no {' and no '.join(lacks)}" if lacks else f"has grade {said['grade']}"
    wrong = f"has {odd[0]}" if odd else wrong
    raise ProfileError(f"profile {profile}: {key} {wrong}", key.split()[0], HINT)


def replace_lanes(given: Any, figure: Callable[[str, Any], Any], old: Mapping[str, Row]) -> Any:
    """Return the table of lanes `old`, with the `given` figures in it. Raises ProfileError."""
    try:
        return read_lanes(given, figure, old)
    except UnknownKeyError as error:
        hint = hint_at(error.what, error.key, error.known)
        raise ProfileError(str(error), "lanes", hint) from error


def check_known(
    what: str, given: Iterable[str], known: Sequence[str], figure: str | None = None
) -> None:
    """Raise ProfileError for a key that is not known; with its nearest one as a hint."""
    for key in given:
        if key not in known:
            raise ProfileError(f"unknown {what} {key}", figure or key, hint_at(what, key, known))


def hint_at(what: str, name: str, known: Sequence[str]) -> str:
    """Return the hint for an unknown name: what it is called now, the nearest known one, or all."""
    if what == "figure" and name in RENAMED:
        return f"it is called {RENAMED[name]} now"
    near = nearest(str(name), known, cutoff=0.6)
    return f"did you mean {near}?" if near else f"{what}s: {', '.join(known)}"

# --- Profile of a machine -------------------------------------------------------------------------

MOST = 2**31 - 1
DEPTHS = "the words of 16 bits, 2 to 8192, that each of up to 32 queues holds: [6, 4], or []"
Figure = Annotated[int, Field(ge=0, le=MOST)]
Positive = Annotated[int, Field(ge=1, le=MOST)]
OfKind = Annotated[int | None, Field(ge=0, le=MOST)]
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


def _of_words(alignment: int) -> int:
    if alignment % 2 or not 2 <= alignment <= 1024:
        raise PydanticCustomError("alignment", "no whole words, or too many")
    return alignment


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(strict=True))
class Profile:
    """The figures of a machine. Costs and latencies are in cycles, memory and code in bytes.

    `grid` is columns and rows; `lanes` gives elements per cycle by type and operation, as
    `find_lanes` returns them; `link_width` is in bits; `queue_depth` in wavelets, depths of a PE's
    queues in words of 16 bits, by their numbers. `unswitched` has numbers of colours.
    The files say what each figure means and where it comes from. `grades` has the grade of each
    figure that has one value, was not replaced and differs from its default. A new figure has a
    default under which a profile without the figure describes the same machine as before.
    """

    name: str
    grid: Annotated[tuple[Positive, Positive], Strict(False)]
    memory: Positive
    lanes: Annotated[dict[str, dict[str, Figure]], AfterValidator(_of_each_type)]
    sum_lanes: Figure
    stride_limits: Annotated[tuple[Figure, ...], Strict(False), Field(min_length=8, max_length=8)]
    read_banks: Annotated[int, Field(ge=0, le=64)]
    bank_alignment: Annotated[int, AfterValidator(_of_words)]
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
    control_tasks: Figure
    data_tasks: Literal["colours", "queues"]
    colours: Annotated[int, Field(ge=1, le=32)]
    positions: Annotated[int, Field(ge=1, le=4)]
    unswitched: Annotated[tuple[Figure, ...], Strict(False)]
    switch_both: bool
    filters: Figure
    multicast: bool
    remote: Figure
    code_base: Figure
    code_task: Figure
    write_latency: Annotated[int, Field(ge=0, le=8)] = 0
    integer_product: OfKind = None
    constant_division: OfKind = None
    wide_integer: OfKind = None
    wide_product: OfKind = None
    float_operation: OfKind = None
    division: OfKind = None
    square_root: OfKind = None
    exponential: OfKind = None
    power: OfKind = None
    load: OfKind = None
    store: OfKind = None
    branch: OfKind = None
    vector_latency: Figure = 0
    mixed_sum_lanes: OfKind = None
    dispatch_next: OfKind = None

    host_into: Figure = 0
    host_out: Figure = 0
    host_call: Figure = 0
    grades: dict[str, str] = field(default_factory=dict)

    def find_kind_figure(self, kind: str) -> str | None:
        """Return the figure by which a kind of scalar code is charged; None where it is not."""
        figure: str | None = kind
        while figure is not None and getattr(self, figure) is None:
            figure = SCALAR_KINDS[figure]
        return figure

    def find_kind_cost(self, kind: str) -> int:
        """Return the cycles of an operation of a kind of scalar code."""
        figure = self.find_kind_figure(kind)
        return 0 if figure is None else int(getattr(self, figure))

    def find_cost(self, operations: Mapping[str, int]) -> int:
        """Return the cycles of scalar code: of so many operations of each kind."""
        return sum(n * self.find_kind_cost(kind) for kind, n in operations.items())

    def find_dispatch_next(self) -> int:
        """Return the cycles to start a task that is activated when the one before it ends."""
        return self.dispatch if self.dispatch_next is None else self.dispatch_next

    @property
    def banks(self) -> Banks:
        """The banks of memory."""
        return Banks(self.read_banks, self.write_latency)

    def find_lanes(self, operation: str, result: str, *sources: str) -> int:
        """Return the elements a cycle of an operation that gives `result`.

        `sources` are the types of its operands in memory that are no numbers.
        """
        return find_width(self.lanes, operation, result, sources)

    def find_sum_lanes(self, result: str, *sources: str) -> int:
        """Return the elements a cycle that are added up in one of `result`; 0: as many as others.

        `sources` are as those of `find_lanes`.
        """
        same = find_widest(result, sources) == result
        return self.sum_lanes if same else self.find_mixed_sum_lanes()

    def find_mixed_sum_lanes(self) -> int:
        """Return the same, where the type of sources is another one than that of the sum."""
        return self.sum_lanes if self.mixed_sum_lanes is None else self.mixed_sum_lanes

    def find_most_lanes(self, type_: str) -> int:
        """Return the elements a cycle of the widest operation that gives a type."""
        return max(self.lanes[type_].values())


def load_profile(name: str, overrides: Mapping[str, Any] | None = None) -> Profile:
    """Return a profile by its name or the path of its file, with some figures replaced.

    `overrides` gives plain values by key; `lanes` may be a number, for every type, or a mapping
    from some types. Raises ProfileError.
    """
    figures, changed = read_figures(name, KNOWN), dict(overrides or {})
    check_known("figure", changed, KNOWN)
    old = figures.get("lanes", {})
    _check_lanes(name, old)
    if "lanes" in changed:
        changed["lanes"] = replace_lanes(changed["lanes"], lambda _, value: value, old)
        _check_lanes(name, changed["lanes"], old)
    try:
        grades = {
            key: grade for key, grade in read_grades(name).items()
            if key not in changed and not _is_default(key, figures[key])
        }
        named = {"name": Path(name).stem, "grades": grades}
        profile = Profile(**{**named, **figures, **changed})
    except ValidationError as error:
        said = _explain(error, Path(name).stem, {**figures, **changed})
        if said.figure in changed and said.figure in figures:
            said.hint = said.hint or f"{name} has {_shown(figures[said.figure])}"
        raise said from error
    _check_whole(profile, changed)
    return profile


def write_figures(name: str) -> str:
    """Return the figures of a profile as one text: what a stage reads of it, and no sources.

    A figure that has its default is left out. Raises ProfileError.
    """
    figures, grades = read_figures(name, KNOWN), read_grades(name)
    given = {key: value for key, value in figures.items() if not _is_default(key, value)}
    known = {key: grade for key, grade in grades.items() if key in given}
    return _text_of({"name": Path(name).stem, **given, "grades": known})


def _is_default(figure: str, value: Any) -> bool:
    return figure in DEFAULTS and _text_of(value) == _text_of(DEFAULTS[figure])


def _text_of(value: Any) -> str:
    """Return a value as text: another one for 1, 1.0 and true."""
    return json.dumps(value, default=repr, indent=1, sort_keys=True)


def _check_lanes(
    name: str, lanes: Mapping[str, Mapping[str, Any]], old: Mapping[str, Row] | None = None
) -> None:
    """Raise ProfileError for lanes that are no positive whole number, or none for a quotient: loops
    have these. The hint shows `old` ones, which are right.
    """
    for type_, row in lanes.items():
        for operation, width in row.items():
            least = 0 if operation == "DIV" else 1
            if type(width) is not int or not least <= width <= MOST:
                of = type_ if len(set(map(str, row.values()))) == 1 else f"{type_} for {operation}"
                hint = f"{name} has {_shown(old)}" if old else None
                said = f"lanes of {of} is {width}, not a positive whole number"
                raise ProfileError(f"profile {Path(name).stem}: {said}", "lanes", hint)


def _check_whole(profile: Profile, changed: Mapping[str, Any]) -> None:
    """Raise ProfileError where a figure contradicts another: at the one that was changed."""
    found = find_contradiction(profile)
    if found is not None:
        figure = next((each for each in found.figures if each in changed), found.figures[0])
        raise ProfileError(f"profile {profile.name}: {found.message}", figure, found.remedy)


DEFAULTS = {
    key: field.default for key, field in Profile.__dataclass_fields__.items()
    if field.default is not MISSING
}
"""Values of figures that a profile leaves out: the machine is as it was without these figures."""
KNOWN = tuple(key for key in Profile.__dataclass_fields__ if key not in ("name", "grades"))


def _explain(error: ValidationError, name: str, figures: Mapping[str, Any]) -> ProfileError:
    """Return what is wrong first in the figures of a profile, in our words."""
    missing = [str(each["loc"][0]) for each in error.errors() if each["type"] == "missing"]
    if missing:
        remedy = "to change some figures of another: `machine: {profile: wse2, memory: 4096}`"
        return ProfileError(f"profile {name} lacks {', '.join(missing)}", hint=remedy)
    details = error.errors()[0]
    figure = str(details["loc"][0])
    said = f"{figure} is {figures[figure]}, not {_wanted(figure, details['type'])}"
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
        "bank_alignment": "an even number of bytes, 2 to 1024",
        "link_width": "16, or a multiple of 32 up to 1024",
    }
    if figure in special or kind == "int_type":
        return special.get(figure, "a whole number")
    limits = Profile.__pydantic_fields__[figure].metadata  # type: ignore[attr-defined]
    return f"{limits[0].ge} to {limits[1].le}"


def _shown(figure: Any) -> str:
    """Return a figure as people write it; one for each type in a row."""
    if isinstance(figure, Mapping):
        each = {key: sorted(set(figure.get(key, {}).values()) - {0}) for key in TYPES}
        ranges = {key: " to ".join(map(str, dict.fromkeys((row[0], row[-1]))))
                  for key, row in each.items() if row}
        return ", ".join(f"{said} for {key}" for key, said in ranges.items())
    return str(figure).lower() if isinstance(figure, bool) else str(figure)


class Contradiction(NamedTuple):
    """Two figures that cannot both be true: what is wrong, by their keys, and what can be done."""

    figures: tuple[str, ...]
    message: str
    remedy: str


def find_contradiction(profile: Profile) -> Contradiction | None:
    """Return the first pair of figures of a profile that contradict each other, if one does."""
    return (_of_queues(profile) or _of_threads(profile) or _of_tasks(profile)
            or _of_scalar_code(profile))


def _of_scalar_code(profile: Profile) -> Contradiction | None:
    """Say if some kinds of scalar code have a figure and others have none."""
    lacking = [kind for kind in SCALAR_KINDS if getattr(profile, kind) is None]
    given = [kind for kind in SCALAR_KINDS if kind not in (*OWN, *lacking)]
    if not given or not lacking:
        return None
    return Contradiction(
        figures=(*given, *lacking),
        message=f"{given[0]} is a figure of scalar code, and {lacking[0]} has none",
        remedy=f"give {', '.join(lacking)}, too, or none of these figures",
    )


def _of_queues(profile: Profile) -> Contradiction | None:
    """Say if a PE's queues are limited one way only."""
    if bool(profile.input_queues) == bool(profile.output_queues):
        return None
    some, none = ("input", "output") if profile.input_queues else ("output", "input")
    return Contradiction(
        figures=(f"{none}_queues", f"{some}_queues"),
        message=f"{none}_queues is [], as many as are wanted, and {some}_queues is not",
        remedy=f"give {none}_queues depths, or let {some}_queues be [], too",
    )


def _of_threads(profile: Profile) -> Contradiction | None:
    """Say if there are queues of which no thread can make use."""
    queues = {"input_queues": profile.input_queues, "output_queues": profile.output_queues}
    longest = max(queues, key=lambda name: len(queues[name]))
    if len(queues[longest]) <= profile.threads:
        return None
    return Contradiction(
        figures=("threads", longest),
        message=f"threads is {profile.threads}, and each of {len(queues[longest])} {longest} "
        "needs one while it is in use",
        remedy=f"raise threads, or give {longest} fewer depths; []: as many as are wanted",
    )


def _of_tasks(profile: Profile) -> Contradiction | None:
    """Say if what reacts to colours takes ids, or queues, that there are not."""
    if profile.data_tasks == "queues" and not profile.input_queues:
        return Contradiction(
            figures=("data_tasks", "input_queues"),
            message="data_tasks is queues, and input_queues is []",
            remedy="give input_queues depths, or let data_tasks be colours",
        )
    if profile.data_tasks == "colours" and 0 < profile.task_ids < profile.colours:
        return Contradiction(
            figures=("task_ids", "colours"),
            message=f"task_ids is {profile.task_ids}, and data_tasks take those of "
            f"{profile.colours} colours",
            remedy="raise task_ids, or lower colours; task_ids 0: as many as are wanted",
        )
    return None

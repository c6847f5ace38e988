"""The files of machine profiles: figures, each with its value, source and grade, or `like` another.

Reads    stages/machine/profiles/<name>.yaml, or a file of the same form
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from lairmake.stages.diagnose import nearest
from lairmake.stages.limits import OURS, compose, construct
from lairmake.stages.machine.lanes import Row, UnknownKeyError, read_lanes
from lairmake.stages.yaml_faults import explain_yaml

INPUTS = ("profiles/*.yaml",)
PROFILES = Path(__file__).parent / "profiles"


RENAMED = {"instruction_queue": "threads", "live_configurations": "descriptors"}
"""What figures were called before."""

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
    """Return the table of lanes with what is given in it. Raises ProfileError."""
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

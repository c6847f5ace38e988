"""Faults to plant, one at a time, and the tests that must see each of them."""

from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A text of a file, which it holds once, what to put there, and a test that then fails."""

    name: str
    file: str
    old: str
    new: str
    caught_by: str


def faults() -> list[Fault]:
    """Return the faults of faults.yaml."""
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    found = [Fault(**each) for each in yaml.safe_load(text)]
    assert text.count("\n  caught_by:") == len(found), "a key is given twice"
    return found

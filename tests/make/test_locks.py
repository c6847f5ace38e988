"""The locks: they hold what pyproject.toml asks for, with digests, in one version each."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
ASKED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = ASKED["project"]["optional-dependencies"]
PINNED = re.compile(r"^([\w.-]+)==(\S+)(.*(?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)+)", re.M)

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def pinned(part):
    """Return the version of each package in a lock, with what follows: markers and digests."""
    text = (ROOT / f"requirements/{part}.lock").read_text(encoding="utf-8")
    found = {canonicalize_name(name): tuple(rest) for name, *rest in PINNED.findall(text)}
    assert len(found) == len(re.findall(r"^\w", text, re.M)), "a line without a digest"
    return found


def test_there_is_a_lock_for_each_extra():
    assert {path.stem for path in (ROOT / "requirements").iterdir()} == EXTRAS.keys()


@pytest.mark.parametrize("part", EXTRAS)
def test_a_lock_holds_what_is_asked_for(part):
    found = pinned(part)
    for text in (*ASKED["project"]["dependencies"], *EXTRAS[part]):
        asked = Requirement(text)
        version, _ = found[canonicalize_name(asked.name)]
        assert version in asked.specifier, text


@pytest.mark.parametrize("part", EXTRAS)
def test_a_lock_is_made_as_is_said(part):
    said = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    made = (ROOT / f"requirements/{part}.lock").read_text(encoding="utf-8").splitlines()[1]
    (how,) = re.findall(r'^lock="(.*)"$', said, re.M)
    assert made.startswith(f"#    {how} pyproject.toml --extra {part} ")


def test_locks_agree_on_every_package():
    """On its version and its digests; on which platforms it is needed depends on what needs it."""
    every = {}
    for part in EXTRAS:
        for name, found in pinned(part).items():
            version, hashes = every.setdefault(name, found)
            assert (name, version) == (name, found[0])
            assert set(DIGEST.findall(hashes)) == set(DIGEST.findall(found[1]))


def test_the_backend_is_in_the_lock_of_what_builds():
    assert set(ASKED["build-system"]["requires"]) <= set(EXTRAS["build"])


def test_what_others_change_within_has_an_upper_bound():
    bounds = {Requirement(text).name: text for text in ASKED["project"]["dependencies"]}
    assert all(">=" in text for text in bounds.values())
    assert [name for name, text in bounds.items() if "<" in text] == ["doit", "xdsl"]

"""The worked examples of the paper, as data, and how a result is compared with them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import islpy as isl
import pytest
import yaml


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    text = (Path(__file__).parent / "golden.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


@pytest.fixture(scope="session")
def must_equal() -> Callable[..., None]:
    """Compare a set or map with an entry of the golden data, modulo what is known if it says so."""

    def compare(actual: isl.Set | isl.Map, entry: Any, known: Any = None) -> None:
        text = entry["isl"] if isinstance(entry, dict) else entry
        expected = type(actual)(text)
        if isinstance(entry, dict) and "modulo" in entry:
            context = isl.Set(known["isl"])
            actual, expected = actual.intersect_params(context), expected.intersect_params(context)
        assert actual.is_equal(expected), f"{actual} is not {expected}"

    return compare

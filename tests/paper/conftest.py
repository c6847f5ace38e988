"""The worked examples of V, as data, and what the stages write for their layers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import islpy as isl
import pytest
import yaml

from tests.paper.written import Written


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    text = (Path(__file__).parent / "golden.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Written]:
    """Return what the stages write for a layer with these keys of its layer.yaml; built once."""
    built: dict[str, Written] = {}

    def written(layer: str, **changes: Any) -> Written:
        key = f"{layer} {sorted(changes.items())}"
        if key not in built:
            built[key] = Written(layer, tmp_path_factory.mktemp(layer), changes)
        return built[key]

    return written


@pytest.fixture(scope="session")
def must_equal() -> Callable[..., None]:
    """Compare an object with an entry of the golden data, modulo what is known if it says so."""

    def compare(actual: Any, entry: Any, known: Any = None) -> None:
        text = entry["isl"] if isinstance(entry, dict) else entry
        expected = type(actual)(text)
        if isinstance(entry, dict) and "modulo" in entry:
            context = isl.Set(known["isl"])
            actual, expected = actual.intersect_params(context), expected.intersect_params(context)
        assert actual.is_equal(expected), f"{actual} is not {expected}"

    return compare

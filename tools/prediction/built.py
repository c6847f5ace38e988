"""Layers that were built below a folder, with predicted and simulated cycles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lairmake.stages.diagnose import Source
from lairmake.stages.layer.cycles.predict import Prediction, predict, read_written
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.poly.text import Objects

TEXTS = ("tasks.yaml", "simd.yaml", "memory.isl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A layer with its prediction, and the cycles that it took."""

    name: str
    predicted: Prediction
    cycles: int

    @property
    def error(self) -> float:
        """The part of its cycles by which the prediction is above them, or below."""
        return self.predicted.cycles / self.cycles - 1


def compare_all(root: Path) -> Iterator[Compared]:
    """Yield the layers, and parts of kernels and networks, that are built below a checkout."""
    for path in sorted((root / "projects").rglob("build/results.json")):
        results = json.loads(path.read_text(encoding="utf-8"))
        folder = path.parents[1]
        name = folder.relative_to(root / "projects").as_posix()
        cache = root / "cache" / name.replace("/build/parts/", "/")
        if "busiest" in results and all((cache / text).is_file() for text in TEXTS):
            yield _compare(name, folder, cache, results)


def _compare(name: str, folder: Path, cache: Path, results: dict[str, Any]) -> Compared:
    mapping = yaml.safe_load((folder / "layer.yaml").read_text(encoding="utf-8")) or {}

    def source(text: str) -> Source:
        return Source(path=text, text=(cache / text).read_text(encoding="utf-8"))

    def objects(text: str) -> Objects:
        return Objects(source(text).text)

    machine = mapping.get("machine", "wse2")
    figures = {} if isinstance(machine, str) else machine
    changes = {key: value for key, value in figures.items() if key != "profile"}
    written = read_written(
        source,
        objects,
        load_profile(results["machine"], changes),
        invocations=results["invocations"],
        density=(mapping.get("data") or {}).get("density", 0.5),
    )
    return Compared(name=name, predicted=predict(written), cycles=results["cycles"]["simd"])

"""A layer of the paper, and what its stages write."""

import shutil
from pathlib import Path
from typing import Any

import islpy as isl
import yaml

from lairmake.stages import PIPELINE
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.poly.text import read_objects

PROJECTS = Path(__file__).resolve().parents[2] / "projects"


class Written:
    """What the stages up to `simd` write for a copy of a layer, with changes to its layer.yaml."""

    def __init__(self, layer: str, root: Path, changes: dict[str, Any]) -> None:
        self.folder, self.cache = root / "projects" / layer, root / "cache" / layer
        shutil.copytree(PROJECTS / layer, self.folder, ignore=shutil.ignore_patterns("build"))
        given = self.folder / "layer.yaml"
        self.mapping = yaml.safe_load(given.read_text(encoding="utf-8")) | changes
        given.write_text(yaml.safe_dump(self.mapping), encoding="utf-8")
        for stage in PIPELINE[: PIPELINE.index("render")]:
            run_stage(stage, self.folder)

    def object(self, file: str, name: str) -> isl.UnionSet | isl.UnionMap:
        return read_objects((self.cache / file).read_text(encoding="utf-8"))[name]

    def set(self, file: str, name: str) -> isl.Set:
        return isl.Set.from_union_set(self.object(file, name))

    def map(self, file: str, name: str) -> isl.Map:
        return isl.Map.from_union_map(self.object(file, name))

    def tasks(self) -> list[str]:
        return list(self._decisions())

    def simd(self, task: str) -> dict[str, Any]:
        return self._decisions()[task]

    def _decisions(self) -> dict[str, dict[str, Any]]:
        return yaml.safe_load((self.cache / "simd.yaml").read_text(encoding="utf-8"))

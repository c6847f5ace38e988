"""Kernels from texts, through the stages, in this process."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.poly.text import read_objects
from lairmake.stages.volumes.operation import VolumeProgram, read_program


@dataclass(frozen=True, kw_only=True)
class Built:
    """What the stages wrote of a kernel: its program, and the objects of all `.isl` texts."""

    program: VolumeProgram
    objects: dict


class Folder:
    """A kernel folder."""

    def __init__(self, path):
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def write(self, text, kernel=None, name="k.mlir"):
        (self.path / name).write_text(text, encoding="utf-8")
        if kernel is not None:
            (self.path / "kernel.yaml").write_text(kernel, encoding="utf-8")
        return self

    def build(self, *stages):
        """Run stages, and return what they wrote."""
        folder = open_folder(self.path)
        for stage in stages:
            run_stage(stage, folder)
        import yaml

        program = read_program(yaml.safe_load(file_of(folder, "operations.yaml").read_text()))
        texts = [path.read_text("utf-8") for path in sorted(folder.cache.glob("*.isl"))]
        objects = {name: each for text in texts for name, each in read_objects(text).items()}
        return Built(program=program, objects=objects)

    def error(self, stage="shape"):
        """Return what a stage says is wrong, paths without the folder."""
        with pytest.raises((UserError, UserErrors)) as caught:
            run_stage(stage, open_folder(self.path))
        return str(caught.value).replace(f"{self.path}/", "")


@pytest.fixture
def kernel(tmp_path):
    return Folder(tmp_path / "kernel")

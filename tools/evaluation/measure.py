"""Builds of a layer with some keys of its layer.yaml changed, and their results.

Source   V Sec. 6: no input of the experiments has a zero
"""

from __future__ import annotations

import copy
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lairmake.stages import PIPELINE
from lairmake.stages.layer.texts.results_json import Results, read_results
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import tasks_until


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A layer that is measured: the text of its `.lair` and the data of its layer.yaml.

    `inputs` is the folder of its inputs; None where all are generated.
    """

    name: str
    lair: str
    mapping: Mapping[str, Any]
    inputs: Path | None = None


def case_of(name: str, folder: Path) -> Case:
    """Return the layer of a layer folder."""
    mapping = yaml.safe_load((folder / "layer.yaml").read_text(encoding="utf-8")) or {}
    lair = mapping.pop("lair", None)
    path = folder / lair if lair else next(folder.glob("*.lair"))
    inputs = folder / "inputs"
    return Case(
        name=name,
        lair=path.read_text(encoding="utf-8"),
        mapping=mapping,
        inputs=inputs if inputs.is_dir() else None,
    )


def on_machine(case: Case, machine: Any, *, density: float = 1.0, **changes: Any) -> Case:
    """Return a case on a machine, with a share of non-zeros, and other changes."""
    data = {**case.mapping.get("data", {}), "density": density}
    mapping = copy.deepcopy({**case.mapping, "machine": machine, "data": data, **changes})
    return Case(name=case.name, lair=case.lair, mapping=mapping, inputs=case.inputs)


def measure(case: Case, workspace: Path) -> Results:
    """Return the results of a case, built in a new folder of a workspace.

    Raises UserError or UserErrors.
    """
    folder = build(case, workspace, PIPELINE)
    return read_results((folder / "build" / "results.json").read_text(encoding="utf-8"))


def write_mapping(folder: Path, case: Case) -> None:
    """Write the layer.yaml of a case."""
    text = yaml.safe_dump(dict(case.mapping), sort_keys=False)
    (folder / "layer.yaml").write_text(text, encoding="utf-8")


def build(case: Case, workspace: Path, stages: Sequence[str]) -> Path:
    """Run stages on a case in a new folder of a workspace, and return the folder.

    Raises UserError or UserErrors.
    """
    (workspace / "projects").mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=workspace / "projects"))
    (folder / "layer.lair").write_text(case.lair, encoding="utf-8")
    write_mapping(folder, case)
    if case.inputs is not None:
        shutil.copytree(case.inputs, folder / "inputs")
    for each, stage in tasks_until(open_folder(folder), stages[-1]) if stages else ():
        run_stage(stage, each)
    return folder

"""Folders of which each build draws a report, for their YAML says `report: true`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.make.core.declare import declaration
from lairmake.stages.make.core.plans import UnknownPlanError, kept_plan
from lairmake.stages.make.store.folders import (
    KERNEL,
    LAYER,
    NETWORK,
    PROGRAM,
    LayerFolder,
    shown_path,
)
from lairmake.stages.make.store.user_files import content_of

PAGE = "build/report.html"
KEY = "report"
FILES = {
    "report": LAYER, "report_network": NETWORK, "report_kernel": KERNEL, "report_program": PROGRAM,
}
"""By the stage that draws, which file says so."""
REPORTS = "reports"
"""What is kept of a folder under this name: whether it is one of these."""


def with_report(folder: LayerFolder) -> LayerFolder:
    """Return a folder of which the last stage draws, if the file that its user wrote says so."""
    stage = stage_that_draws(folder)
    if stage is None or stage in folder.stages or not _says_so(folder, stage):
        return folder
    analyses = tuple(each for each in folder.analyses if each != stage)
    return replace(folder, stages=(*folder.stages, stage), analyses=analyses)


def stage_that_draws(folder: LayerFolder, file: str = PAGE) -> str | None:
    """Return the stage of a folder that writes build/report.html, or another file; None for none.
    """
    stages = folder.stages + folder.analyses
    return next((stage for stage in stages if file in declaration(stage).writes), None)


def _says_so(folder: LayerFolder, stage: str) -> bool:
    """Return whether the file for a stage that draws says `report: true`; of one that is wrong a
    stage says what is."""
    name = FILES[stage]
    try:
        content = content_of(folder.path / name)
        if KEY.encode() not in content:
            return False  # nearly every folder, without reading YAML
        return bool(kept_plan(
            folder, [name], (stage,), _is_flag, lambda: _read(folder, name, content),
            kind=REPORTS,
        ))
    except UnknownPlanError:
        return False  # who may not begin one lists no stages
    except (UserError, UserErrors):
        return False


def _is_flag(data: Any) -> bool:
    return isinstance(data, bool)


def _read(folder: LayerFolder, name: str, content: bytes) -> bool:
    from lairmake.stages.mapping.yaml_text import read_document

    value = read_document(source_of(shown_path(folder.path / name), content)).value
    return isinstance(value, dict) and value.get(KEY) is True

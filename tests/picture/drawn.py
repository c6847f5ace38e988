"""Folders of `projects/` in a place of their own, drawn stage by stage."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import tasks_until

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Drawn:
    """A folder with its report."""

    folder: Path

    @property
    def page(self):
        return self.folder / "build/report.html"

    def results(self):
        return json.loads((self.folder / "build/results.json").read_text(encoding="utf-8"))

    def usage(self):
        return np.load(self.folder / "build/usage.npz")

    def data(self):
        """Return what the page shows, as it has it."""
        text = self.page.read_text(encoding="utf-8").partition('id="data">')[2]
        return json.loads(text.partition("</script>")[0])


def draw(root, name, stage, file="", more=""):
    """Draw a folder of `projects/`, with `more` at the end of one of its files, in `root`."""
    folder = root / "projects" / name
    shutil.copytree(ROOT / "projects" / name, folder, ignore=shutil.ignore_patterns("build"))
    if file:
        path = folder / file
        path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    for each, task in tasks_until(open_folder(folder), stage):
        run_stage(task, each)
    return Drawn(folder)

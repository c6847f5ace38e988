"""Folders with graphs."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder


class Folder:
    """A folder with a graph."""

    def __init__(self, path):
        self.path = path
        path.mkdir()

    def write(self, content, network=None, name="g.onnx"):
        (self.path / name).write_bytes(content)
        if network is not None:
            (self.path / "network.yaml").write_text(network, encoding="utf-8")
        return self

    def build(self):
        """Extract. Return the folder that was opened."""
        folder = open_folder(self.path)
        run_stage("extract", folder)
        return folder

    def error(self):
        """Return what is wrong, paths without the folder."""
        with pytest.raises((UserError, UserErrors)) as caught:
            self.build()
        return str(caught.value).replace(f"{self.path}/", "").replace(str(self.path), "FOLDER")


@pytest.fixture
def graph(tmp_path):
    return Folder(tmp_path / "graph")

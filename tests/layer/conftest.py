"""A small layer that builds; a test makes one thing in it wrong, and reads the error."""

from __future__ import annotations

from pathlib import Path

import pytest

from lairmake.stages import PIPELINE
from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import tasks_until

LAIR = """lair ff<T=float16>(M, N):
  T W[M][N], T x[N] -> T y[M]
{
  all (i, j) in (M, N)
    y[i] += W[i][j] * x[j]
}
"""

LAYER = """sizes: {M: 8, N: 8}
target: "{ PE[2, 3] }"
placement: "{ ff[i,j] -> PE[j//4, 1 + i//4] }"
tensors:
  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}
  y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}
"""


class LayerFolder:
    """A layer folder of a workspace, in which the user stands."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write("ff.lair", LAIR)
        self.write("layer.yaml", LAYER)

    def write(self, name: str, text: str) -> None:
        file = self.path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.path / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        self.write(name, text.replace(old, new))

    def error(self) -> str:
        """Run the stages until one refuses the layer, and return the text of its error."""
        for folder, stage in tasks_until(open_folder(self.path), PIPELINE[-1]):
            before = self._written()
            try:
                run_stage(stage, folder)
            except (UserError, UserErrors) as error:
                assert self._written() == before
                return str(error)
        return ""

    def _written(self) -> dict[Path, bytes]:
        folders = (open_folder(self.path).cache, self.path / "build")
        files = (p for folder in folders for p in folder.rglob("*") if p.is_file())
        return {p: p.read_bytes() for p in files}


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the projects of one workspace, which keeps the engine compiled."""
    folder = tmp_path_factory.mktemp("workspace") / "projects"
    folder.mkdir()
    return folder


@pytest.fixture
def layer(projects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LayerFolder:
    """Return a layer folder of the workspace; it is the current directory."""
    folder = projects / tmp_path.name
    folder.mkdir()
    monkeypatch.chdir(folder)
    return LayerFolder(folder)

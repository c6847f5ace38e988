"""Draw the grids of the catalogue, and write docs/catalogue.md: `./do gallery`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from stages.layer.texts.results_json import Results, read_results
from stages.make.core.layers import find_layers
from tools.evaluation.templates import template

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = "catalogue"
COLUMNS = 3


def main() -> int:
    """Build and draw all layers, then copy their grids beside the document."""
    for words in (["run", CATALOGUE], ["report", "--svg", CATALOGUE]):
        done = subprocess.run([sys.executable, "-m", "doit", *words], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    pictures = ROOT / "docs" / CATALOGUE
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir()
    shown = list(_list_layers(pictures))
    rows = [shown[at : at + COLUMNS] for at in range(0, len(shown), COLUMNS)]
    text = template("catalogue.md.j2").render(rows=rows, count=len(shown))
    (ROOT / "docs" / "catalogue.md").write_text(text, encoding="utf-8")
    return 0


def _list_layers(pictures: Path) -> Iterator[tuple[str, Results]]:
    """Yield the layers of the catalogue by their names, with their results; copy their grids."""
    for folder in find_layers(ROOT):
        above, _, name = folder.name.rpartition("/")
        if above != CATALOGUE:
            continue
        shutil.copyfile(folder.path / "build/grid.svg", pictures / f"{name}.svg")
        yield name, read_results((folder.path / "build/results.json").read_text("utf-8"))


if __name__ == "__main__":
    sys.exit(main())

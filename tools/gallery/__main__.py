"""Gallery of grids of layers, networks and programs, docs/catalogue.md: `./do gallery`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lairmake.stages.layer.texts.results_json import read_results
from lairmake.stages.make.core.derived import stage_that_draws
from lairmake.stages.make.core.layers import find_layers
from lairmake.stages.make.doit.commands.report import PICTURE
from lairmake.stages.make.store.folders import LayerFolder, is_program
from tools.evaluation.templates import template

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = "catalogue"
COLUMNS = 3
Describe = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A picture: its folder below projects/, its name, and the lines below it."""

    folder: str
    name: str
    says: tuple[str, ...]


def main() -> int:
    """Build and draw all that is shown, then copy the grids beside the document."""
    others = [folder.name for folder in find_layers(ROOT) if is_of_its_own(folder)]
    for words in (["run", CATALOGUE, *others], ["report", "--svg", CATALOGUE, *others]):
        done = subprocess.run([sys.executable, "-m", "doit", *words], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    pictures = ROOT / "docs" / CATALOGUE
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir()
    layers: list[Shown] = []
    networks: list[Shown] = []
    programs: list[Shown] = []
    for folder in find_layers(ROOT):
        if folder.name.startswith(f"{CATALOGUE}/"):
            layers.append(_show(folder, describe_layer, pictures))
        elif is_program(folder):
            programs.append(_show(folder, describe_program, pictures))
        elif is_of_its_own(folder):
            networks.append(_show(folder, describe_network, pictures))
    text = template("catalogue.md.j2").render(
        layers=list(_rows(layers)), count=len(layers), networks=networks,
        programs=list(_rows(programs)),
    )
    (ROOT / "docs" / "catalogue.md").write_text(text, encoding="utf-8")
    return 0


def is_of_its_own(folder: LayerFolder) -> bool:
    """Return whether a folder is that of a program, or of a network on one fabric."""
    is_layer = "simulate" in folder.stages
    return not is_layer and stage_that_draws(folder, PICTURE) is not None


def _show(folder: LayerFolder, describe: Describe, pictures: Path) -> Shown:
    """Copy the grid of a folder, and return what stands below it."""
    name = folder.name.rpartition("/")[2]
    shutil.copyfile(folder.path / PICTURE, pictures / f"{name}.svg")
    says = describe((folder.path / "build/results.json").read_text(encoding="utf-8"))
    return Shown(folder=folder.name, name=name, says=says)


def describe_layer(results: str) -> tuple[str, ...]:
    """Return the lines below a layer, from its results.json."""
    found = read_results(results)
    return (
        f"{found.cycles.simd} cycles, bound {found.bound.cycles}",
        f"{found.speedup:.2f} times as fast as loops", f"{found.pes.compute} PEs compute",
    )


def describe_network(results: str) -> tuple[str, ...]:
    """Return the lines below a network on one fabric, from its results.json."""
    found = json.loads(results)
    columns, rows = found["fabric"]["pes"]
    return (f"{found['fabric']['cycles']} cycles, {len(found['parts'])} parts",
            f"{columns} x {rows} PEs")


def describe_program(results: str) -> tuple[str, ...]:
    """Return the lines below a program, from its results.json."""
    found = json.loads(results)
    columns, rows = found["field"]
    return (f"{found['cycles']} cycles", f"{columns} x {rows} workers")


def _rows(shown: Sequence[Shown]) -> Iterator[Sequence[Shown]]:
    return (shown[at : at + COLUMNS] for at in range(0, len(shown), COLUMNS))


if __name__ == "__main__":
    sys.exit(main())

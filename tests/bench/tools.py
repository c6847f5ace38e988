"""The Make and other build tools on the same layers of twelve small stages."""

import importlib.util
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.bench.process import cost, environment
from tests.bench.synthetic import STAGES, reads_of, write_modules, write_workspace, writes_of

STOCK = """\
from pathlib import Path

RULES = {rules!r}
DOIT_CONFIG = {{"backend": "sqlite3", "verbosity": 0}}


def join(reads, write):
    Path(write).write_text("".join(Path(name).read_text() for name in reads))


def task_layers():
    for write, reads in RULES:
        yield {{"name": write, "file_dep": reads, "targets": [write],
                "actions": [(join, [reads, write])]}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A build tool: its name, its command, the workspace, and where it imports Python from."""

    name: str
    command: list[str]
    layers: list[Path]
    modules: Path

    @property
    def workspace(self):
        """The folder that the command is run in."""
        return self.layers[0].parents[1]

    def build(self):
        """Build the workspace; return what it cost."""
        return cost(self.command, self.workspace, environment(self.modules))

    def edit(self, at, text):
        """Write another algorithm into one layer, which leaves nothing of it up to date."""
        (self.layers[at] / "synthetic.lair").write_text(text, encoding="utf-8")


def tools_in(folder, layers):
    """Yield each tool with a workspace of so many layers of its own; ours comes first.

    What is not on this computer is said, and left out.
    """
    doit = [sys.executable, "-m", "doit"]
    yield _ours(folder / "ours", layers, doit)
    yield _other("doit alone", folder / "stock", layers, _write_dodo, [doit[0], "-S", *doit[1:]])
    for name, write in {"ninja": _write_ninja, "make": _write_makefile}.items():
        if shutil.which(name):
            yield _other(name, folder / name, layers, write, [name])
        else:
            print(f"there is no {name} here: left out", file=sys.stderr)


def _ours(folder, layers, command):
    write_modules(folder / "modules")
    written = write_workspace(folder / "workspace", layers)
    return Tool(name="ours", command=command, layers=written, modules=folder / "modules")


def _other(name, folder, layers, write, command):
    """Return a tool on layers in which a stage's text lies where ours would say `build/` too."""
    written = write_workspace(folder, layers)
    for layer in written:
        (layer / "build").mkdir()
    write(folder, [rule for layer in written for rule in _rules(layer.relative_to(folder))])
    return Tool(name=name, command=command, layers=written, modules=folder / "modules")


def _rules(layer):
    """Yield what each stage of a layer writes, and what it reads."""
    for at in range(STAGES):
        yield f"{layer}/{writes_of(at)}", [f"{layer}/{name}" for name in reads_of(at)]


def _write_dodo(folder, rules):
    """Write a dodo file, and modules that hold doit but no plug-ins, of ours or others."""
    (folder / "dodo.py").write_text(STOCK.format(rules=rules), encoding="utf-8")
    (folder / "modules").mkdir()
    for name in ("doit", "cloudpickle"):
        found = importlib.util.find_spec(name)
        for place in found.submodule_search_locations if found else ():
            (folder / "modules" / name).symlink_to(place)


def _write_ninja(folder, rules):
    lines = ["rule join", "  command = cat $in > $out"]
    lines += [f"build {write}: join {' '.join(reads)}" for write, reads in rules]
    (folder / "build.ninja").write_text("\n".join([*lines, ""]), encoding="utf-8")


def _write_makefile(folder, rules):
    lines = [".SILENT:", f"all: {' '.join(write for write, _ in rules)}"]
    lines += [f"{write}: {' '.join(reads)}\n\tcat $^ > $@" for write, reads in rules]
    (folder / "Makefile").write_text("\n".join([*lines, ""]), encoding="utf-8")

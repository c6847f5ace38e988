"""A small space to build in: write files, run doit, and see what ran and what stayed."""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from doit.doit_cmd import DoitMain

from lairmake.stages import PIPELINE, SEARCHED, WINGS, module_of
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import find_layers, open_folder
from lairmake.stages.make.core.pipeline import tasks_until
from lairmake.stages.make.store.state import WorkspaceState
from lairmake.stages.shipped import users_cache
from tests.forked import can_fork, run_forked

ROOT = Path(__file__).resolve().parents[2]
SMALL = Path(__file__).parent / "small"
LAYER_DODO = (ROOT / "projects/fc/dodo.py").read_text(encoding="utf-8")
ALL_CORES = LAYER_DODO.replace("layer_", "workspace_")
DODO = ALL_CORES.replace("workspace_config()", 'workspace_config() | {"num_process": 1}')
"""With this stages run in one process, in an order that tests may rely on."""
COMMANDS = frozenset(DoitMain().get_cmds())
MODULE_OF = 'def module_of(stage):\n    return f"lairmake.stages.{stage}"\n'
MAKE = (
    "doit.doit_cmd", "importlib.metadata", "lairmake.commands", "multiprocessing.connection",
    "sqlite3", "lairmake.stages.make.core.action", "lairmake.stages.make.core.faults",
    "lairmake.stages.make.core.pipeline", "lairmake.stages.make.doit.commands.run",
    "lairmake.stages.mapping.layer_yaml", "lairmake.stages.make.report.summary",
)
"""What a command imports that builds a layer, and looks whether its layer.yaml is open."""
IMPORTED = {ROOT: (*MAKE, *(module_of(stage) for wing in WINGS for stage in wing.STAGES))}
"""By the folder of modules that no test edits: what its processes of doit need not import."""
SHIPPED = tuple(layer.name for layer in find_layers(ROOT)
                if layer.stages in (PIPELINE, SEARCHED))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a run of doit ended: exit code, the tasks that ran and that the store had, its output."""

    code: int
    ran: list[str]
    hits: list[str]
    out: str
    err: str


class Space:
    """A temporary folder, and the modules that doit finds there.

    Processes are forked from one that has imported what is in `IMPORTED`, or started if `is_cold`.
    """

    def __init__(self, root, modules, is_cold=False):
        self.root = root
        self.modules = modules
        self.is_cold = is_cold

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def layer(self, folder):
        """Write a layer folder for the small stages."""
        self.write(f"{folder}/dodo.py", LAYER_DODO)
        self.write(f"{folder}/layer.yaml", "machine: ideal\n")
        self.write(f"{folder}/a.lair", "One\nTwo  # a word\n")

    def copy(self, folder, name):
        """Copy a layer folder, without what was built in it."""
        shutil.copytree(folder, self.root / name, ignore=shutil.ignore_patterns("build", "__*"))

    def read(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def files(self, below="."):
        found = [p for p in (self.root / below).rglob("*") if p.is_file()]
        names = (p.relative_to(self.root).as_posix() for p in found)
        return sorted(n for n in names if ".lairmake" not in n and "__pycache__" not in n)

    def state(self):
        """Return what the workspace remembers, as a build does that begins now."""
        return WorkspaceState(self.root / ".lairmake")

    def log(self):
        """Return the lines of the log."""
        return list(self.state().lines())

    def run(self, *args, cwd=".", preexec=None, **env):
        """Run doit in a process of its own, standing in `cwd`, after `preexec` there.

        What is built is built with `-v`, so that there is a line for each task; `plain` has none.
        """
        verbose = [] if COMMANDS.intersection(args) else ["-v2"]
        return self.plain(*verbose, *args, cwd=cwd, preexec=preexec, **env)

    def plain(self, *args, cwd=".", preexec=None, **env):
        """Run doit in a process of its own, with no other words than these."""
        return self.python("-m", "doit", *args, cwd=cwd, preexec=preexec, **env)

    def python(self, *args, cwd=".", preexec=None, **env):
        """Run Python in a process of its own, as `run` does doit."""
        place = self.root / cwd
        imported = () if self.is_cold or preexec else IMPORTED.get(self.modules)
        if imported and can_fork(args, env):
            code, out, err = run_forked(args, place, env, self.modules, imported)
        else:
            ended = subprocess.run(
                [sys.executable, *args], cwd=place, capture_output=True, text=True,
                check=False, preexec_fn=preexec,
                env={**os.environ, "PYTHONPATH": str(self.modules), **env},
            )
            code, out, err = ended.returncode, ended.stdout, ended.stderr
        lines = out.splitlines()
        return Run(
            code=code, out=out, err=err,
            ran=[line[3:] for line in lines if line.startswith(".  ")],
            hits=[line[3:].split()[0] for line in lines if line.startswith("=  ")],
        )

    def build(self, *args, cwd=".", **env):
        """Run doit, which must succeed; return the tasks that ran."""
        run = self.run(*args, cwd=cwd, **env)
        assert run.code == 0, run.out + run.err
        return run.ran

    def hits(self, *args, cwd=".", **env):
        """Run doit, which must succeed and run nothing; return what the store had."""
        run = self.run(*args, cwd=cwd, **env)
        assert (run.code, run.ran) == (0, []), run.out + run.err
        return run.hits


@pytest.fixture(scope="session")
def modules(tmp_path_factory):
    """The Make of this project around four small stages; whoever edits it takes `own_modules`."""
    stages = tmp_path_factory.mktemp("modules") / "stages"
    shutil.copytree(ROOT / "lairmake", stages.parent / "lairmake", symlinks=True)
    shutil.copytree(SMALL, stages)
    packages = "fabric lair machine make mapping movement poly program"
    for package in packages.split():
        shutil.copytree(ROOT / "stages" / package, stages / package)
    shutil.copytree(ROOT / "templates", stages.parent / "templates")
    for module in (ROOT / "stages").glob("*.py"):
        shutil.copy(module, stages)
    names = ("parse", "place", "render", "simulate")
    tuples = f"PIPELINE = {names}\nKERNEL, ANALYSES = ('gather',), ('count',)\n"
    tuples += "NETWORK = GRAPH = GRAPH_PARTS = TILES = RECEIVES = WHOLE = ()\n"
    tuples += "LAYER_PICTURES = KERNEL_PICTURES = NETWORK_PICTURES = PROGRAM_PICTURES = ()\n"
    tuples += "WHOLE_PICTURES = ()\n"
    tuples += "PROGRAM = ('translate', 'capture')\nSEARCHED, SLOTS, TRIED = PIPELINE, (), ()\n"
    (stages / "__init__.py").write_text(tuples + MODULE_OF, encoding="utf-8")
    shutil.copy(Path(__file__).with_name("stepwise.py"), stages.parent)
    before = sources(stages.parent)
    IMPORTED[stages.parent] = MAKE
    yield stages.parent
    assert sources(stages.parent) == before, "a test edited what others use: see own_modules"


def sources(folder):
    files = (p for p in folder.rglob("*") if p.is_file() and p.parent.name != "__pycache__")
    return {p: p.read_bytes() for p in files}


@pytest.fixture
def small(tmp_path, modules):
    """A workspace with one layer, a, for the small stages."""
    space = Space(tmp_path / "space", modules)
    space.write("dodo.py", DODO)
    space.layer("projects/a")
    return space


@pytest.fixture
def own_modules(small, tmp_path):
    """Give `small` modules that its test may edit."""
    small.modules = shutil.copytree(small.modules, tmp_path / "modules", symlinks=True)


@pytest.fixture(scope="session")
def paper(tmp_path_factory):
    """A workspace with the layers of the paper, built by the compiler; tests add folders to it."""
    space = Space(tmp_path_factory.mktemp("paper"), ROOT)
    space.write("dodo.py", DODO)
    for layer in ("fc", "conv1d", "conv2d", "pointwise"):
        space.copy(ROOT / "projects" / layer, f"projects/{layer}")
    space.first = space.run()
    return space


@pytest.fixture(scope="session")
def network(tmp_path_factory):
    """A workspace with the network of this project, built by two processes."""
    space = Space(tmp_path_factory.mktemp("network"), ROOT)
    space.write("dodo.py", DODO)
    space.copy(ROOT / "projects/mlp", "projects/mlp")
    space.first = space.run("-n", "2")
    return space


@pytest.fixture
def mlp(network, tmp_path):
    """The same workspace for one test, with all that was built."""
    shutil.copytree(network.root, tmp_path / "space")
    return Space(tmp_path / "space", ROOT)


class Shipped:
    """Copies of the layer folders below projects/, each built in this process, once."""

    names = SHIPPED

    def __init__(self, root):
        self.root = root
        self.simulated = {}

    def built(self, name):
        """Return a copy that all tests share, simulated."""
        if name not in self.simulated:
            folder = self.rendered(name, name)
            run_stage("simulate", folder)
            self.simulated[name] = folder
        return self.simulated[name]

    def rendered(self, name, copy):
        """Return a new copy with its programs."""
        folder = self.root / "projects" / copy
        shutil.copytree(ROOT / "projects" / name, folder, ignore=shutil.ignore_patterns("build"))
        for each, stage in tasks_until(open_folder(folder), "render"):
            run_stage(stage, each)
        return folder


@pytest.fixture(scope="session")
def shipped(tmp_path_factory):
    return Shipped(tmp_path_factory.mktemp("shipped"))


@pytest.fixture
def space(tmp_path):
    return Space(tmp_path, ROOT)


def state_of_code(space):
    """Return what this user keeps of the code of a space."""
    path = os.fsencode((space.modules / "stages").resolve())
    return WorkspaceState(users_cache() / "code" / hashlib.sha256(path).hexdigest()[:16])


def printed(run):
    assert (run.code, run.err) == (0, ""), run.out + run.err
    return run.out

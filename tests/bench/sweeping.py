"""What a sweep costs beyond its builds."""

import shutil

from tests.bench.figures import Figure
from tests.bench.making import workspace_of
from tests.bench.process import run

COMBINATIONS = 60
MOST = 1.1
"""At most so many times the CPU of the builds."""


def sixty(folder):
    """A sweep of 60 layers on two cores, beside an ordinary build of the same folders."""
    workspaces = [folder / name for name in ("swept", "built")]
    for each in workspaces:
        each.mkdir()
    (layer,) = workspace_of(workspaces[0], ["fc"])
    swept = sweep(workspaces[0])
    workspace_of(workspaces[1], [])
    for place in sorted(layer.glob("build/sweep/*/")):
        ignored = shutil.ignore_patterns("build")
        shutil.copytree(place, workspaces[1] / "projects" / place.name, ignore=ignored)
    built = run("doit", "-n", "2", cwd=workspaces[1])
    again = sweep(workspaces[0])
    yield Figure(what="swept, from nothing", value=swept.cpu, unit="s")
    yield Figure(what="built as folders, from nothing", value=built.cpu, unit="s")
    yield Figure(what="swept over built", value=swept.cpu / built.cpu, limit=MOST)
    yield Figure(what="swept again, nothing to do", value=again.cpu, unit="s")


def sweep(workspace):
    """Sweep the layer fc over as many seeds; return what it cost."""
    seeds = ",".join(map(str, range(COMBINATIONS)))
    return run("doit", "sweep", "fc", "--set", f"data.seed={seeds}", "-n", "2", cwd=workspace)

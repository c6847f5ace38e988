"""How fast the Make is: seconds of CPU and MiB of whole processes."""

import re
import shutil
import subprocess
import sys
from statistics import median

from tests.bench.compiling import PAPER, REPEATS
from tests.bench.figures import Figure
from tests.bench.layers import shipped
from tests.bench.process import ROOT, cost, environment, run
from tests.bench.tools import tools_in

LAYERS = 1000
EDITED = LAYERS // 2
NOTHING, MEMORY, ONE = 0.35, 60, 0.6
"""At most so many seconds and MiB with nothing to do, and seconds in all with one edited."""
COLD = {"ninja": 1.3}
"""At most so many times what another tool takes for the same from nothing, processes included."""
LISTED = 0.25
"""At most so many times what `list` takes in a fresh clone of the commit compared with."""
AGAINST = []
"""The commit that this one is compared with, if it is with any."""
REVERT = 30
"""At most so many milliseconds, where all comes from the store."""
MACHINE = "machine: wse2\n"
CHANGES = ((MACHINE, MACHINE), (MACHINE, "machine: ideal\ndata: {seed: 1}\n"))


def thousand(folder):
    """1000 layers of 12 stages beside doit alone, ninja and make: cold, nothing to do, one edited.

    The stages do next to nothing; their work is counted. Cold, ninja and make start a process a
    stage, the others none.
    """
    tools = list(tools_in(folder, LAYERS))
    cold = [tool.build().cpu for tool in tools]
    yield from compared("from nothing", tools, cold, over=COLD)
    costs = turns(tools, lambda tool, turn: tool.build())
    null = [middle(each, "cpu") for each in costs]
    yield from compared("nothing to do", tools, null, limit=NOTHING)
    peaks = [middle(each, "peak") for each in costs]
    yield from compared("nothing to do", tools, peaks, unit="MiB", limit=MEMORY)
    one = [middle(each, "cpu") for each in turns(tools, edited)]
    yield from compared("one edited", tools, one, limit=ONE)


def edited(tool, turn):
    """Edit one layer, as never before, and build."""
    tool.edit(EDITED, f"turn {turn}\n")
    return tool.build()


def turns(tools, measure):
    """Return the costs of each tool, REPEATS of them, measured in turn."""
    costs = [[measure(tool, turn) for tool in tools] for turn in range(REPEATS)]
    return list(zip(*costs, strict=True))


def middle(costs, what):
    """Return the median of one field of costs."""
    return median(getattr(cost, what) for cost in costs)


def compared(what, tools, values, unit="s", limit=None, over=()):
    """Yield a figure for each tool, with a limit for ours, which is the first; and ratios, with
    those limits that are given by the names of other tools."""
    ours, *others = zip(tools, values, strict=True)
    yield Figure(what=f"{what}, {ours[0].name}", value=ours[1], unit=unit, limit=limit)
    for tool, value in others:
        yield Figure(what=f"{what}, {tool.name}", value=value, unit=unit)
        most = dict(over).get(tool.name)
        yield Figure(what=f"{what}, ours over {tool.name}", value=ours[1] / value, limit=most)


def listed(folder):
    """`list` in a fresh clone: no byte code, nothing kept. With --against, over that commit."""
    clones = [clone_of(folder / str(at), each) for at, each in enumerate(["HEAD", *AGAINST])]
    turns = [[list_anew(clone) for clone in clones] for _ in range(REPEATS)]
    ours, *others = (median(values) for values in zip(*turns, strict=True))
    yield Figure(what="list in a fresh clone", value=ours, unit="s")
    for commit, value in zip(AGAINST, others, strict=True):
        yield Figure(what=f"list in a fresh clone of {commit}", value=value, unit="s")
        ratio = median(turn[0] / turn[1] for turn in turns)
        yield Figure(what=f"list in a fresh clone, over {commit}", value=ratio, limit=LISTED)


def clone_of(folder, commit):
    """Return a clone of this repository at a commit. Raises SystemExit where there is none."""
    for command in (
        ["git", "clone", "--quiet", "--no-checkout", ROOT, folder],
        ["git", "-C", folder, "checkout", "--quiet", "--detach", hash_of(commit)],
    ):
        if subprocess.run(command, check=False).returncode != 0:
            raise SystemExit(f"there is no clone of {ROOT} at {commit}")
    return folder


def hash_of(commit):
    """Return the hash of a commit of this repository. Raises SystemExit where there is none."""
    command = ["git", "-C", ROOT, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise SystemExit(f"{commit} is no commit of {ROOT}")
    return found.stdout.strip()


def list_anew(clone):
    """Return the seconds of `list` in a clone without all that was written there."""
    subprocess.run(["git", "-C", clone, "clean", "-qfdx"], check=True)
    return cost([sys.executable, "-m", "lairmake", "list"], clone, environment(clone)).cpu


def reverts(folder):
    """A layer of the paper that becomes what it once was, or lost its outputs: nothing is run."""
    layers = workspace_of(folder, PAPER)
    states = [{layer: text_of(layer).replace(*change) for layer in layers} for change in CHANGES]
    for state in states:
        become(state)
        run("doit", cwd=folder)
    for layer in layers:
        back = [{layer: states[turn % 2][layer]} for turn in range(REPEATS)]
        reverted = [beyond_idle(folder, become, state) for state in back]
        removed = [beyond_idle(folder, remove_outputs, layer) for _ in range(REPEATS)]
        for what, costs in {"reverted": reverted, "without outputs": removed}.items():
            yield Figure(what=f"{layer.name} {what}, beyond nothing to do",
                         value=median(costs) * 1000, unit="ms", limit=REVERT)


def beyond_idle(folder, change, what):
    """Return the seconds that it costs to restore more than to find that there is nothing to do."""
    idle = run("doit", cwd=folder).cpu
    return restored(folder, change, what) - idle


def workspace_of(folder, names):
    """Make a workspace of layers of projects/; return their folders."""
    text = (ROOT / "projects/fc/dodo.py").read_text(encoding="utf-8")
    (folder / "dodo.py").write_text(text.replace("layer_", "workspace_"), encoding="utf-8")
    return [shipped(folder / "projects" / name, name) for name in names]


def text_of(layer):
    """Return the layer.yaml of a layer folder."""
    return (layer / "layer.yaml").read_text(encoding="utf-8")


def become(state):
    """Write the layer.yaml of layer folders."""
    for layer, text in state.items():
        (layer / "layer.yaml").write_text(text, encoding="utf-8")


def remove_outputs(layer):
    """Remove all that the stages wrote, but not what the store holds."""
    shutil.rmtree(layer / "build")
    shutil.rmtree(layer.parents[1] / "cache" / layer.name)


def restored(folder, change, what):
    """Return what it costs to build after a change. Raises SystemExit if a stage runs."""
    change(what)
    done = run("doit", cwd=folder)
    if re.search(" ran\\b", done.out) or "from the store" not in done.out:
        raise SystemExit(f"not all came from the store:\n{done.out}")
    return done.cpu

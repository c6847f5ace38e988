"""How good random layers are, beside being right: cycles and bytes over what there must be.

Figures are kept for the layers of a plain run of the tests, whose seeds are always the same, and
only such a run is compared with them.
"""

import math
from pathlib import Path

import yaml

KEPT = Path(__file__).with_name("quality.yaml")
CYCLES, BYTES = "cycles over bound", "bytes over live bytes"
WORSE = 1.005
"""From which ratio to what was kept on layers count as worse."""

HEADER = """\
# Of the random layers of a plain run of the tests: what `pytest --keep-quality` kept.
# examined: how many layers there were, with those that are refused; layers: how many have a ratio.
# mean: the geometric mean; ninth decile: of ten layers nine have at most this.
"""


def quality_of(outcome):
    """Return by its name each ratio that a layer has."""
    cycles, bound = outcome.results.get("cycles"), outcome.results.get("bound")
    over = cycles["simd"] / bound["cycles"] if cycles and bound and bound["cycles"] else None
    found = {CYCLES: over, BYTES: outcome.over_live}
    return {name: ratio for name, ratio in found.items() if ratio is not None}


def by_name(qualities):
    """Return the ratios of all layers by their names, given those of each."""
    return {
        name: [each[name] for each in qualities if name in each]
        for name in (CYCLES, BYTES) if any(name in each for each in qualities)
    }


def figures(ratios):
    """Return what is kept of the ratios of layers: how many, their mean, their ninth decile."""
    ordered = sorted(ratios)
    mean = math.exp(sum(map(math.log, ordered)) / len(ordered))
    decile = ordered[math.ceil(0.9 * len(ordered)) - 1]
    return {"layers": len(ordered), "mean": round(mean, 3), "ninth decile": round(decile, 2)}


def read_kept(path=KEPT):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def keep(qualities, examined, path=KEPT):
    """Keep the figures of the layers with these qualities, of so many as were examined."""
    found = {name: figures(ratios) for name, ratios in by_name(qualities).items()}
    text = yaml.safe_dump({"examined": examined, **found}, sort_keys=False)
    path.write_text(HEADER + text, encoding="utf-8")


def compared(name, ratios, kept):
    """Return the line that is printed of the ratios, and whether they fall short of what was kept.

    They do so if others of the layers have a ratio than had one: these say nothing of each other.
    """
    now = figures(ratios)
    most = f"at most {now['ninth decile']} for nine of ten"
    line = f"{name}: {now['mean']} in the geometric mean, {most}"
    if now["layers"] != kept["layers"]:
        return f"{line} (kept of {kept['layers']} layers, now {now['layers']} have one)", True
    line += f" (kept: {kept['mean']}, {kept['ninth decile']})"
    return line, now["mean"] > WORSE * kept["mean"]


def compare(qualities, examined, kept):
    """Yield for each name the line that is printed, and whether that is worse than it was.

    Of another run than a plain one, which examines other layers, nothing is compared.
    """
    for name, ratios in by_name(qualities).items():
        if examined == kept["examined"]:
            yield compared(name, ratios, kept[name])
        else:
            now = figures(ratios)
            yield f"{name}: {now['mean']} in the geometric mean of {now['layers']} layers", False

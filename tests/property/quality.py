"""How good random layers are, beside being right: cycles over the bound, and what was kept of that.

Figures are kept for the layers of a plain run of the tests, whose seeds are always the same, and
only such a run is compared with them.
"""

import math
from pathlib import Path

import yaml

KEPT = Path(__file__).with_name("quality.yaml")
WORSE = 1.005
"""From which ratio to what was kept on layers count as worse."""

HEADER = """\
# Of the random layers of a plain run of the tests: what `pytest --keep-quality` kept.
# cycles_over_bound: the geometric mean; ninth_decile: of ten layers nine have at most this.
"""


def quality_of(outcome):
    """Return cycles over bound of a layer; None where the bound is no cycle."""
    cycles, bound = outcome.results.get("cycles"), outcome.results.get("bound")
    return cycles["simd"] / bound["cycles"] if cycles and bound and bound["cycles"] else None


def figures(ratios):
    """Return what is kept of the ratios of layers: how many, their mean, their ninth decile."""
    ordered = sorted(ratios)
    mean = math.exp(sum(map(math.log, ordered)) / len(ordered))
    decile = ordered[math.ceil(0.9 * len(ordered)) - 1]
    return {
        "layers": len(ordered), "cycles_over_bound": round(mean, 3),
        "ninth_decile": round(decile, 2),
    }


def read_kept(path=KEPT):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def keep(ratios, path=KEPT):
    path.write_text(HEADER + yaml.safe_dump(figures(ratios), sort_keys=False), encoding="utf-8")


def compared(ratios, kept):
    """Return the line that is printed of the ratios, and whether they fall short of what was kept.

    Other layers than those of the kept figures are not compared.
    """
    now = figures(ratios)
    line = (
        f"cycles over bound: {now['cycles_over_bound']} in the geometric mean, "
        f"at most {now['ninth_decile']} for nine of ten"
    )
    if now["layers"] != kept["layers"]:
        return line, False
    line += f" (kept: {kept['cycles_over_bound']}, {kept['ninth_decile']})"
    return line, now["cycles_over_bound"] > WORSE * kept["cycles_over_bound"]

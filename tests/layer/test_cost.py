"""Cycles that are expected, and those that the simulated machine charges."""

from math import prod

import pytest

from lairmake.stages.layer import outcome, simulate
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.reference.data import input_samples
from tests.layer.built import build

MACHINE = "machine: {profile: wse2, read_banks: 0, shared_datapath: false}\n"
"""What banks and streams cost is not known before memory is laid out and the fabric runs."""

STREAM = (
    'target: "{ PE[1, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] }"\ntensors:\n'
    '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}\n'
    "data: {density: 1}\n"
)
CONV = """lair n(): float16 x[12], float16 W[5] -> float16 y[8]
{ all (i, j) in (8, 5) y[i] += x[i + j] * W[j] }
"""
STRIDED = """lair n(): float16 x[20], float16 W[6] -> float16 y[8]
{ all (i, j) in (8, 6) y[i] += x[2*i + j] * W[j] }
"""
PARTS = """lair n(): float16 W[12][12], float16 x[12] -> float16 y[12]
{ all (i, j) in (12, 12) y[i] += W[i][j] * x[j] }
"""
TRIANGLE = (
    'target: "{ PE[2, 1] }"\nplacement: "{ n[i, j] -> PE[0, 0] : i <= j; '
    'n[i, j] -> PE[1, 0] : i > j }"\ntensors:\n'
    '  x: {arrives: "{ x[j] -> [PE[p, -1] -> index[j]] : 0 <= p <= 1 }", sparse: true}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}\n'
    "data: {density: 1}\n"
)
ROWS = """lair n(): float16 A[9][9][9], float16 x[9] -> float16 y[9][9]
{ all (i, j, k) in (9, 9, 9) where j <= k and 2*k <= i + 4 y[i][k] += A[i][j][k] * x[j] }
"""
LAYERS = {
    "conv": (CONV, STREAM),
    "conv enumerated": (CONV, STREAM + "simd: {prefer: enumerate}\n"),
    "conv configured": (CONV, STREAM + "simd: {prefer: configure}\n"),
    "strided": (STRIDED, STREAM),
    "rows": (
        ROWS, STREAM.replace("[i, j]", "[i, j, k]")
        + "simd: {prefer: nested}\n"
    ),
    "triangles": (PARTS, TRIANGLE),
    "triangles configured": (PARTS, TRIANGLE + "simd: {prefer: configure}\n"),
}


def busiest(built, variant):
    """Return the cycles in which the busiest PE was not idle, those of `main` left out."""
    inputs = FolderInputs(open_folder(built.folder), simulate.READS)
    node = inputs.lair()
    arrays = input_samples(inputs.mapping(), node, inputs.arrays())
    ran = outcome.run_programs(inputs, variant, arrays, node)
    return int(ran.usage["busy"].max())


@pytest.mark.wide
@pytest.mark.parametrize("layer", LAYERS)
def test_loops_and_vector_instructions_differ_by_as_many_cycles_as_expected(layer):
    lair, mapping = LAYERS[layer]
    built = build(lair, MACHINE + mapping, "render")
    decision = built.yaml("simd.yaml")["on_x"]
    each_call = "configured before" in decision["why"]
    before = decision["by"] != "loops" and not each_call
    configured = prod(decision.get("several", [])) if before else 0
    loops = decision["others"].get("loops", decision)["cycles"]
    saved = busiest(built, "loops") - busiest(built, "simd")
    assert saved == loops - (decision["cycles"] - configured)

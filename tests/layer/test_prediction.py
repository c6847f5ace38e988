"""What is predicted of layers, and what the simulated machine takes."""

import re

import pytest
import yaml

from lairmake.stages.diagnose import Source
from lairmake.stages.layer.cycles.predict import predict, read_written
from lairmake.stages.layer.estimate.guess import DIGITS, RELAYED, ROW, SEQUENCE, TAKE
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.machine.scalar_code import SCALAR_KINDS
from tests.layer.built import MV, PLAIN, build, function

SPARSE = (
    'target: "{ PE[2, 3] }"\nplacement: "{ mv[i,j] -> PE[j//3, 1 + i//4] }"\ntensors:\n'
    '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}\n'
    "data: {density: 1}\n"
)
DENSE = (
    'target: "{ PE[2, 2] }"\nplacement: "{ mv[i,j] -> PE[j//3, i//4] }"\ntensors:\n'
    '  x: {arrives: "{ x[i] -> [PE[i//3, -1] -> index[i mod 3]] }"}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, i//4] -> index[i mod 4]] }"}\n'
)
TRANSPOSE = """lair t(): float16 A[4][18] -> float16 B[18][4]
{ all (i, j) in (18, 4) B[i][j] = A[j][i] }
"""
IN_TURN = (
    'target: "{ PE[2, 2] }"\nplacement: "{ t[i,j] -> PE[i//9, j//2] }"\ntensors:\n'
    '  A: {arrives: "{ A[j,i] -> [PE[-1, j//2] -> index[j mod 2, i]] }"}\n'
    '  B: {leaves: "{ B[i,j] -> [PE[i//9, 2] -> index[i mod 9, j]] }"}\n'
)
OUT_OF_ORDER = (
    'target: "{ PE[2, 2] }"\nplacement: "{ t[i,j] -> PE[i mod 2, i//9] }"\ntensors:\n'
    '  A: {arrives: "{ A[j,i] -> [PE[i mod 2, 3*(i//9) - 1] -> index[j, i]] }"}\n'
    '  B: {leaves: "{ B[i,j] -> [PE[3*(i mod 2) - 1, i//9] -> index[i mod 9, j]] }"}\n'
)
BOTH_WAYS = (
    'target: "{ PE[2, 1] }"\nplacement: "{ t[i,j] -> PE[i mod 2, 0] }"\ntensors:\n'
    '  B: {leaves: "{ B[i,j] -> [PE[i mod 2, -1] -> index[i, j]] : i < 9; '
    'B[i,j] -> [PE[i mod 2, 1] -> index[i, j]] : i >= 9 }"}\n'
)
UNEQUAL = (
    'target: "{ PE[2, 1] }"\nplacement: "{ mv[i,j] -> PE[j mod 2, 0] }"\ntensors:\n'
    '  x: {arrives: "{ x[i] -> [PE[-1, 0] -> index[i//2, i mod 2]] }", sparse: true}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, 0] -> index[i]] }"}\n'
    "data: {density: 1}\n"
)
LAYERS = {
    "sparse": (MV, SPARSE, 4), "dense": (MV, DENSE, 4), "in turn": (TRANSPOSE, IN_TURN, 4),
    "out of order": (TRANSPOSE, OUT_OF_ORDER, 4), "both ways": (TRANSPOSE, BOTH_WAYS, 2),
    "unequal": (MV, UNEQUAL, 2),
}


MACHINES = {"plain": PLAIN, "wse2": "machine: {profile: wse2}\n"}


def find_prediction(built, density):
    def source(name):
        return Source(path=name, text=(built.cache / name).read_text(encoding="utf-8"))

    figures = yaml.safe_load((built.folder / "layer.yaml").read_text(encoding="utf-8"))["machine"]
    profile = load_profile(figures.pop("profile"), figures)
    return predict(
        read_written(source, built.objects, profile, invocations=1, density=density)
    )


@pytest.mark.wide
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("layer", LAYERS)
def test_cycles_are_predicted_within_a_tenth(layer, machine):
    lair, mapping, pes = LAYERS[layer]
    built = build(lair, mapping + MACHINES[machine], "simulate")
    taken, found = built.results()["cycles"]["simd"], find_prediction(built, 1.0)
    assert abs(found.cycles / taken - 1) < 0.1
    assert found.area == pes


RELU = "lair f(): float16 x[4][16] -> float16 y[4][16]\n"
RELU += "{ all (i, j) in (4, 16) y[i][j] = max(x[i][j] + 0, 0) }\n"
ROWS = (
    'target: "{ PE[1, 1] }"\nplacement: "{ f[i,j] -> PE[0, 0] }"\ntensors:\n'
    '  x: {arrives: "{ x[i,j] -> [PE[0, -1] -> index[i, j]] }"MORE}\n'
)
IN_CHUNKS = ROWS.replace("MORE", "") + "machine: ideal\n"
IN_SEQUENCES = ROWS.replace("MORE", ", sparse: true") + "data: {density: 1}\n"


def find_charge(program, name):
    """Return the operations that a function charges for first, as a machine without kinds does."""
    charges = [line for line in function(program, name) if line.startswith("CHARGE(")]
    counts = re.findall(r"\.(\w+) = (\d+)", charges[0])
    return sum(int(n) for kind, n in counts if "scalar" in (kind, SCALAR_KINDS[kind]))


@pytest.mark.wide
def test_operations_that_are_guessed_are_those_that_programs_charge_for():
    adapters = build(*LAYERS["sparse"][:2], "simulate").program("simd/pe_adapter_north.c")
    assert find_charge(adapters, "on_x") == RELAYED
    rows = build(*LAYERS["in turn"][:2], "simulate").program("simd/pe_compute.c")
    assert find_charge(rows, "row_B") + find_charge(rows, "sent_B") == ROW
    chunks = build(RELU, IN_CHUNKS, "render")
    described = chunks.yaml("tasks.yaml")["arrivals"]["x"]["chunks"]
    program = chunks.program("simd/pe_compute.c")
    assert find_charge(program, "chunk_x") == TAKE
    step = find_charge(program, "step_f")
    assert step == DIGITS * (len(described["counts"]) - 1)
    sequences = build(RELU, IN_SEQUENCES, "render").program("simd/pe_compute.c")
    assert find_charge(sequences, "end_x") == SEQUENCE

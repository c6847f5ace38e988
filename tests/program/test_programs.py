"""The programs that come with Lairmake, against what is known of them, and written otherwise."""

import ast
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lairmake.stages.program.front.value import WORLD, take_array
from lairmake.stages.program.values.api import execute, set_parameters
from tests.program.agreeing import read_outputs, run_program

PROJECTS = Path(__file__).resolve().parents[2] / "projects"
SAID = {
    "listing1": "10 iterations, of which the last one breaks; the sum is 2625.0\n",
    "heat": "after 20 steps at most 0.469935, wrong by at most ",
    "cg": "after 17 iterations wrong by at most 4.5e-05\n",
    "cavity": "the stream function is at most 0.09590, and mirrored up to 0.0e+00\n",
    "ising": "energy of a site -1.7502, within 0.0045; Onsager: -1.7456\n",
}


def run(name, **parameters):
    """Return a function that gives the values of a program's objects once it has run."""
    WORLD.begin()
    set_parameters(parameters)
    path = PROJECTS / name / f"{name}.py"
    names = execute(ast.parse(path.read_text("utf-8"), str(path)), str(path))
    return lambda each: take_array(WORLD.objects.get(each, names.get(each)))


@pytest.mark.wide_after(2)
@pytest.mark.parametrize("name", SAID)
def test_a_program_runs_by_its_name_and_says_what_it_found(name):
    ended = subprocess.run([sys.executable, f"{name}.py"], cwd=PROJECTS / name, check=True,
                           capture_output=True, text=True)
    assert ended.stdout.startswith(SAID[name]) and not ended.stderr


@pytest.mark.parametrize(("name", "outputs", "parameters"), [
    ("listing1", ["myLA", "total"], {}), ("heat", ["T", "warmest"], {}),
    ("cg", ["count", "x"], {"n": 6}), ("cavity", ["psi", "strongest", "w"], {"steps": 4}),
    ("ising", ["spin", "squares", "total"], {"blocks": 2, "sweeps": 2}),
])
def test_a_program_gives_the_same_on_x86_as_a_graph_and_at_addresses(name, outputs, parameters):
    source = (PROJECTS / name / f"{name}.py").read_text("utf-8")
    files = run_program(source, parameters)
    assert sorted(read_outputs(files)) == sorted(read_outputs(files, "numpy")) == outputs


def test_listing_1_adds_what_neighbours_have_until_100_is_passed(capsys):
    values = run("listing1")
    rng = np.random.default_rng(0)
    steps, field = rng.integers(1, 30, 10), rng.integers(-4, 5, (6, 6, 8)).astype("float32")
    for count in np.cumsum(steps):
        if count > 100:
            break
        before = field.copy()
        for x, y, z in np.ndindex(4, 4, 7):
            field[x + 1, y + 1, z + 1] += before[x + 2, y + 1, z]
    assert np.array_equal(values("myLA"), field)
    assert values("myGs") == count and values("total") == field.sum()


@pytest.mark.parametrize(("n", "z", "steps"), [(5, 8, 30), (12, 4, 3), (7, 7, 0)])
def test_heat_decays_by_the_factor_of_its_wave(n, z, steps, capsys):
    values = run("heat", n=n, z=z, steps=steps)
    waves = [np.sin(np.pi * np.arange(size) / (size - 1)) for size in (n, n, z)]
    factor = 1 - 0.5 * sum(math.sin(math.pi / 2 / (size - 1)) ** 2 for size in (n, n, z))
    expected = factor**steps * np.einsum("i,j,k->ijk", *waves)
    assert np.max(np.abs(values("T") - expected)) < 3e-7


def test_conjugate_gradients_find_what_a_dense_solver_finds(capsys):
    n, z = 6, 5
    values = run("cg", n=n, z=z, enough=1e-9)
    inside = [(x, y, k) for x, y, k in np.ndindex(n, n, z)
              if 0 < x < n - 1 and 0 < y < n - 1 and 0 < k < z - 1]
    matrix = [[6.0 if a == b else -1.0 if sum(abs(i - j) for i, j in zip(a, b, strict=True)) == 1
               else 0.0 for b in inside] for a in inside]
    right = np.zeros((n, n, z))
    solution = np.random.default_rng(1).uniform(-1.0, 1.0, (n - 2, n - 2, z - 2))
    right[1:-1, 1:-1, 1:-1] = (np.array(matrix) @ solution.ravel()).reshape(solution.shape)
    found = np.linalg.solve(np.array(matrix), [right[at] for at in inside])
    assert np.max(np.abs([values("x")[at] for at in inside] - found)) < 2e-5
    assert 5 < values("count") < 30


def flow_along(n, steps, sweeps, speed):
    """Return the stream function of the cavity, point by point in float64."""
    h, viscosity = 1 / (n - 1), 0.05
    dt, psi, w = 0.2 * h * h / viscosity, np.zeros((n, n)), np.zeros((n, n))
    inside = [(i, j) for i in range(1, n - 1) for j in range(1, n - 1)]
    for _ in range(steps):
        for _ in range(sweeps):
            old = psi.copy()
            for i, j in inside:
                psi[i, j] = (old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1]
                             + h * h * w[i, j]) / 4
        for k in range(1, n - 1):
            w[k, 0] = 2 * (h * speed - psi[k, 1]) / h**2
            w[k, n - 1] = -2 * psi[k, n - 2] / h**2
            w[0, k] = -2 * psi[1, k] / h**2
            w[n - 1, k] = -2 * psi[n - 2, k] / h**2
        old = w.copy()
        for i, j in inside:
            u = (psi[i, j + 1] - psi[i, j - 1]) / (2 * h)
            v = -(psi[i + 1, j] - psi[i - 1, j]) / (2 * h)
            spread = (old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1]
                      - 4 * old[i, j]) / h**2
            carried = (u * (old[i + 1, j] - old[i - 1, j]) / (2 * h)
                       + v * (old[i, j + 1] - old[i, j - 1]) / (2 * h))
            w[i, j] += dt * (viscosity * spread - carried)
    return psi


def test_the_cavity_is_that_of_another_program(capsys):
    values = run("cavity", n=8, steps=25, sweeps=5)
    for layer, speed in enumerate((1.0, -1.0, 0.5)):
        expected = flow_along(8, 25, 5, speed)
        assert np.max(np.abs(values("psi")[:, :, layer] - expected)) < 1e-6
        assert np.max(np.abs(expected)) > 0.02


def flip_one_by_one(n, turns, state):
    """Return spins after half sweeps, site by site with integers of Python."""
    mask, spin = (1 << 32) - 1, np.ones((n, n), int)
    for turn in range(turns):
        old = spin.copy()
        for x, y in np.ndindex(n, n):
            bits = state[x][y]
            bits ^= bits << 13 & mask
            bits ^= bits >> 17
            bits ^= bits << 5 & mask
            state[x][y] = bits
            near = [old[i, j] for i, j in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
                    if 0 <= i < n and 0 <= j < n]
            cost = 2 * old[x, y] * sum(near)
            is_taken = cost <= 0 or bits >> 1 < math.floor(math.exp(-cost / 2.0) * 2**31)
            if (x + y) % 2 == turn % 2 and is_taken:
                spin[x, y] = -old[x, y]
    return spin


def test_spins_flip_as_they_do_one_by_one(capsys):
    seeds = np.random.default_rng(2).integers(1, 2**31, (64, 64), dtype="int32")
    expected = flip_one_by_one(64, 6, seeds.tolist())
    path = PROJECTS / "ising/ising.py"
    source = path.read_text("utf-8").partition("with MACH_Compiler_Ignore")[0]
    WORLD.begin()
    set_parameters({"blocks": 2, "sweeps": 1})
    execute(ast.parse(source), str(path))
    assert np.array_equal(take_array(WORLD.objects["spin"]), expected)
    assert 0 < np.count_nonzero(expected == -1) < 1000

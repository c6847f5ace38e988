"""Layer folders of the sizes that are measured."""

import shutil

import yaml

from lairmake.stages.layer.texts.results_json import read_results
from tests.bench.process import ROOT, run

PROJECTS = ROOT / "projects"
FC = """\
lair: fc.lair
sizes: {{M: {m}, N: {n}}}
machine: {machine}
target: "{{ PE[{columns}, {rows} + 1] }}"
placement: "{{ ff[i,j] -> PE[j//{width}, 1 + i//{height}] }}"
tensors:
  x: {{arrives: "{{ x[j] -> [PE[0, -1] -> index[j]] }}", sparse: {sparse}}}
  y: {{leaves: "{{ y[i] -> [PE[{columns}, 1 + i//{height}] -> index[i mod {height}]] }}"}}
data: {{density: 1}}
"""
CONV2D_LAIR = """\
lair conv2d<T=float16>(K, N):
  T x[N][N], T W[K][3][3] -> T y[K][N - 2][N - 2]
{
  all (o, i, j, k, l) in (K, N - 2, N - 2, 3, 3)
    y[o][i][j] += W[o][k][l] * x[i + k][j + l]
}
"""
CONV2D = """\
sizes: {{K: {channels}, N: {n}}}
machine: {machine}
target: "{{ PE[1, {channels}] }}"
placement: "{{ conv2d[o,i,j,k,l] -> PE[0, o] }}"
tensors:
  x: {{arrives: "{{ x[i, j] -> [PE[0, -1] -> index[i, j]] }}", sparse: {sparse}}}
  y: {{leaves: "{{ y[o, i, j] -> [PE[1, o] -> index[i, j]] }}"}}
data: {{density: 0.5}}
"""


def fc(folder, m, n, columns, rows, machine="wse2", sparse=False):
    """Write fc of projects/ for M = m and N = n, on columns x rows PEs and a row of adapters.

    x arrives dense, or sparse with as few zeros as exact sums allow: none up to n = 1024.
    """
    layer = empty(folder)
    shutil.copy(PROJECTS / "fc" / "fc.lair", layer)
    text = FC.format(
        m=m, n=n, columns=columns, rows=rows, width=n // columns, height=m // rows,
        machine=machine, sparse=str(sparse).lower(),
    )
    (layer / "layer.yaml").write_text(text, encoding="utf-8")
    return layer


def conv2d(folder, channels, n, machine, sparse):
    """Write a 3 x 3 convolution of x[n][n], one output channel a PE, in a column of PEs.

    x arrives dense, or sparse and half of it zeros.
    """
    layer = empty(folder)
    (layer / "conv2d.lair").write_text(CONV2D_LAIR, encoding="utf-8")
    text = CONV2D.format(channels=channels, n=n, machine=machine, sparse=str(sparse).lower())
    (layer / "layer.yaml").write_text(text, encoding="utf-8")
    return layer


def jacobi(folder, columns, rows):
    """Copy stencils/jacobi of projects/, for columns x rows PEs with a column of elements each."""
    layer = shipped(folder, "stencils/jacobi")
    mapping = yaml.safe_load((layer / "layer.yaml").read_text(encoding="utf-8"))
    mapping["sizes"] |= {"M": rows, "N": columns}
    mapping["target"] = f"{{ PE[{columns}, {rows}] }}"
    (layer / "layer.yaml").write_text(yaml.safe_dump(mapping), encoding="utf-8")
    return layer


def shipped(folder, name):
    """Copy a layer of projects/, without what was built of it."""
    shutil.copytree(PROJECTS / name, folder, ignore=shutil.ignore_patterns("build", "__*"))
    return folder


def empty(folder):
    """Make a layer folder for `doit`."""
    folder.mkdir(parents=True)
    shutil.copy(PROJECTS / "fc" / "dodo.py", folder)
    return folder


def build(layer, stage=""):
    """Build a layer with doit in a process of its own, up to a stage; return what it cost."""
    return run("doit", f"{layer.name}:{stage}" if stage else layer.name, cwd=layer)


def compile_cold(layer):
    """Compile a layer of which nothing was built: all but C compilation and simulation."""
    for built in ("build", "cache", ".lairmake"):
        shutil.rmtree(layer / built, ignore_errors=True)
    return build(layer, "render")


def results(layer):
    """Return what build/results.json says. Raises SystemExit where a value in it is not right."""
    found = read_results((layer / "build" / "results.json").read_text(encoding="utf-8"))
    if not all(check.right for check in found.check.values()):
        raise SystemExit(f"{layer.name}: wrong values: {found.check}")
    return found

"""Layer folders below projects/ on a machine whose routers do not copy: their values are right."""

import json
import shutil

import pytest
import yaml

from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import tasks_until
from tests.e2e.conftest import ROOT, SHIPPED
from tests.property.invariants import check_invariants

PAPER = ("fc", "conv1d", "conv2d", "pointwise")
REFUSED = ("catalogue/attention", "catalogue/attention_causal")
"""Their PEs send on more colours than the machine has queues."""
OTHERS = [name for name in SHIPPED if name not in PAPER + REFUSED]
pytestmark = pytest.mark.xdist_group("systolic")


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    return tmp_path_factory.mktemp("systolic") / "projects"


def built(folder, name, **more):
    """Return the results of a copy of a layer on systolic."""
    shutil.copytree(ROOT / "projects" / name, folder, ignore=shutil.ignore_patterns("build"))
    mapping = yaml.safe_load((folder / "layer.yaml").read_text(encoding="utf-8"))
    text = yaml.safe_dump(mapping | {"machine": "systolic"} | more, sort_keys=False)
    (folder / "layer.yaml").write_text(text, encoding="utf-8")
    for each, stage in tasks_until(open_folder(folder), "simulate"):
        run_stage(stage, each)
    check_invariants(folder)
    return json.loads((folder / "build/results.json").read_text(encoding="utf-8"))


def is_right(results):
    """Say whether all values are right, and the bound is one."""
    right = all(check["right"] for check in results["check"].values())
    return right and results["bound"]["cycles"] <= min(results["cycles"].values())


@pytest.mark.wide
@pytest.mark.parametrize("name", [
    *PAPER, *OTHERS[::16], *(pytest.param(name, marks=pytest.mark.long) for name in OTHERS[4::4]
                             if name not in OTHERS[::16]),
])
def test_a_shipped_layer_is_right_where_pes_forward(projects, name):
    assert is_right(built(projects / name, name))


@pytest.mark.wide
@pytest.mark.parametrize("name", ["conv2d", "catalogue/hadamard", "catalogue/matmul"])
def test_a_shipped_layer_is_right_where_each_pe_gets_a_replica(projects, name):
    results = built(projects / f"{name}_replicas", name, skew=False)
    assert is_right(results)
    assert results["multicast"]["cycles"] < results["cycles"]["simd"]

"""PE programs compiled once a session, and layouts of a row of PEs."""

from pathlib import Path

import pytest
import yaml

from lairmake.stages.fabric.compiler import build_library
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.shipped import users_cache

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """Return the library of all programs in programs/."""
    programs = sorted((HERE / "programs").glob("pe_*.c"))
    return build_library(programs, tmp_path_factory.mktemp("library"), cache=users_cache())


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """Return the same library, of which runs are recorded."""
    programs = sorted((HERE / "programs").glob("pe_*.c"))
    folder = tmp_path_factory.mktemp("recorded")
    return build_library(programs, folder, cache=users_cache(), recorded=True)


@pytest.fixture(scope="session")
def ideal():
    return load_profile("ideal", {})


@pytest.fixture
def fc():
    """Return the layout of a fully connected layer, 4 x 4 PEs and a row of adapters."""
    return yaml.safe_load((HERE / "fc.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def row():
    """Return a function that makes the layout of `count` PEs in a row, all of one role."""
    return row_layout


def row_layout(role, count, colours, arrivals=None, departures=None, tensors=None):
    return {
        "grid": f"{{ PE[x, 0] : 0 <= x < {count} }}",
        "roles": {
            role: {
                "at": f"{{ PE[x, 0] : 0 <= x < {count} }}",
                "memory": {"data": 0, "code": 0},
                "tensors": tensors or {},
            }
        },
        "colours": {
            name: {"number": number, "routes": routes}
            for number, (name, routes) in enumerate(colours.items())
        },
        "arrivals": arrivals or {},
        "departures": departures or {},
    }

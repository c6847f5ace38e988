"""How much memory the engine takes for a PE, beside that of its program."""

import ctypes
import shlex

import numpy as np
import pytest

from lairmake.stages.fabric import compiler, driver, engine
from lairmake.stages.fabric.compiler import build_library, c_compiler
from lairmake.stages.machine.profile import load_profile
from tests.fabric.conftest import HERE
from tests.fabric.running import run_fabric

COLOURS, SIZE, ELEMENTS = 14, 32, 8
LIMIT = 3000
"""Bytes for a PE."""


def crossed():
    """Return a layout in which each colour comes to all PEs, seven from either end of the row."""
    pes = f"{{ PE[x, y] : 0 <= x < {SIZE} and 0 <= y < {SIZE} }}"
    ways = [("W", "E", f"x < {SIZE - 1}", -1), ("E", "W", "x > 0", SIZE)]
    colours, arrivals = {}, {}
    for number in range(COLOURS):
        side, to, inner, port = ways[number % 2]
        name = f"c{number}"
        routes = f"[PE[x, y] -> {side}[]] -> ramp[]; [PE[x, y] -> {side}[]] -> {to}[] : {inner}"
        colours[name] = {"number": number, "routes": f"{{ {routes} }}"}
        order = f"{{ {name}[y, i] -> [PE[{port}, y] -> index[i]] : "
        order += f"0 <= y < {SIZE} and 0 <= i < {ELEMENTS} }}"
        arrivals[name] = {"tensor": name, "type": "int32", "colour": name, "side": side,
                          "sparse": False, "order": order}
    role = {"at": pes, "memory": {"data": 0, "code": 0}, "tensors": {}}
    return {"grid": pes, "roles": {"crossed": role}, "colours": colours, "arrivals": arrivals,
            "departures": {}}


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """Return a library whose engine counts what it allocates."""
    monkeypatch.setattr(compiler, "ENGINE", compiler.PROGRAMS)
    command = shlex.join([*c_compiler(), "-include", str(HERE / "counted.h")])
    monkeypatch.setenv("CC", command)
    return build_library([HERE / "programs" / "pe_crossed.c"], tmp_path)


@pytest.mark.wide
def test_a_pe_with_fourteen_colours_takes_three_kilobytes(counted, monkeypatch):
    """What Python hands over counts, but for memories of programs, and values."""
    seen = []
    accept = driver.accept

    def accepted(*arguments):
        seen.append(accept(*arguments))
        return seen[-1]

    monkeypatch.setattr(driver, "accept", accepted)
    values = {f"c{n}": np.ones((SIZE, ELEMENTS), "i4") for n in range(COLOURS)}
    with engine.open_library(counted) as opened:
        run_fabric(counted, crossed(), load_profile("wse2", {}), values)
        allocated = ctypes.c_longlong.in_dll(opened, "counted_most").value
    given = seen[0]
    arrays = (given.role, given.colours.switches, given.colours.routes, given.counters,
              given.usage, given.activity, given.links)
    assert not any(given.colours.filters)
    handed = sum(array.nbytes for array in arrays)
    assert (allocated + handed) / SIZE**2 < LIMIT

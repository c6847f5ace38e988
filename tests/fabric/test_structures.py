"""The structures that Python and the engine share lie in memory as engine.h says."""

import ctypes
import subprocess

import pytest

from lairmake.stages.fabric import engine
from lairmake.stages.fabric.compiler import c_compiler
from lairmake.stages.machine.scalar_code import SCALAR_KINDS
from lairmake.stages.shipped import STAGES

STRUCTURES = {
    "program": engine.EngineProgram, "machine": engine.EngineMachine, "layout": engine.EngineLayout,
    "outcome": engine.Outcome, "inlet": engine.INLET, "outlet": engine.OUTLET,
    "usage": engine.USAGE, "activity": engine.ACTIVITY, "link": engine.LINK,
    "bins": engine.BINNED, "segment": engine.SEGMENT, "event": engine.EVENT,
    "phase": engine.PHASE, "record": engine.EngineRecord, "probe": engine.PROBE,
}
WITHIN = {("machine", kind): f"costs.{kind}" for kind in SCALAR_KINDS} | {
    ("usage", kind): f"spent.{kind}" for kind in SCALAR_KINDS}
"""What C calls a field that lies in another structure."""


def fields_of(kind):
    """Return offset and size of each field of a structure of ctypes or NumPy, and its own size."""
    if isinstance(kind, type):
        found = {name: getattr(kind, name) for name, _ in kind._fields_}
        return {n: (f.offset, f.size) for n, f in found.items()}, ctypes.sizeof(kind)
    found = {name: kind.fields[name] for name in kind.names}
    return {name: (at, type_.itemsize) for name, (type_, at, *_) in found.items()}, kind.itemsize


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return, by structure and field, what the C compiler says; the field '' is the whole."""
    asked = [
        (name, WITHIN.get((name, field), field), field)
        for name, kind in STRUCTURES.items() for field in fields_of(kind)[0]
    ]
    lines = [f"offsetof(struct {n}, {c}), sizeof(((struct {n} *)0)->{c})," for n, c, _ in asked]
    lines += [f"0, sizeof(struct {name})," for name in STRUCTURES]
    place = tmp_path_factory.mktemp("structures")
    text = "\n".join(['#include <stddef.h>', '#include "engine.h"', "const size_t", "found[] = {",
                      *lines, "};\n"])
    (place / "found.c").write_text(text, encoding="utf-8")
    subprocess.run(
        [*c_compiler(), "-shared", "-fPIC", "-w", "-I", str(STAGES / "fabric"), "found.c",
         "-o", "found.so"], cwd=place, check=True,
    )
    names = [*((name, field) for name, _, field in asked), *((name, "") for name in STRUCTURES)]
    kind = ctypes.c_size_t * (2 * len(names))
    numbers = list(kind.in_dll(ctypes.CDLL(str(place / "found.so")), "found"))
    return dict(zip(names, zip(numbers[::2], numbers[1::2], strict=True), strict=True))


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_field_lies_where_the_engine_has_it(measured, name):
    fields, size = fields_of(STRUCTURES[name])
    assert fields == {f: at for (of, f), at in measured.items() if of == name and f}
    assert size == measured[name, ""][1]


@pytest.mark.parametrize("name", STRUCTURES)
def test_no_field_of_the_engine_is_left_out(name):
    """Between two fields, and after the last, lies no more than what an alignment leaves."""
    fields, size = fields_of(STRUCTURES[name])
    ends = [*(at for at, _ in list(fields.values())[1:]), size]
    gaps = [end - at - length for (at, length), end in zip(fields.values(), ends, strict=True)]
    assert max(gaps) < 8

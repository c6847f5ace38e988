"""Procedures of workers give the bits of values/arithmetic: vectors and loops, of all types."""

import itertools

import numpy as np
import pytest

from lairmake.stages.machine.profile import load_profile
from lairmake.stages.machine.types import TYPES, is_integer
from lairmake.stages.program.lowering.worker import find_instruction
from lairmake.stages.program.sections.program import Procedure
from lairmake.stages.program.values.arithmetic import cast, compute
from lairmake.stages.program.values.forms import BITS, COMPARISONS, OF_REALS, OPERATIONS
from tests.program.called import Machine

FIELD, COUNT = (4, 1), 96
UNARY = ("neg", "abs", "sqrt", "exp", "log", "copy")


def draw(type_, rng, few=False):
    """Return elements of random bits, and extremes; or few numbers around those of bits."""
    shape = (*FIELD, COUNT)
    if few:
        return rng.integers(-3, 36, shape).astype(type_)
    size = np.dtype(type_).itemsize
    found = rng.integers(0, 256, (*shape, size), dtype=np.uint8).view(type_)[..., 0].copy()
    if is_integer(type_):
        bounds = np.iinfo(type_)
        special = [bounds.min, bounds.max, 0, -1, 1, bounds.min + 1]
    else:
        most = np.finfo(type_)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, most.max, most.tiny, most.smallest_subnormal,
                   32767.5, -32768.5, 1.0, -1.0, 88.75, 2147483648.0]
    with np.errstate(over="ignore"):
        found[:, :, : 3 * len(special)] = rng.choice(np.array(special).astype(type_),
                                                     (*FIELD, 3 * len(special)))
    return found


def list_operations(type_):
    """Return operations of a type, with those of their operands."""
    for op in (*OPERATIONS, "copy"):
        if (op in BITS) != is_integer(type_) and (op in BITS or op in OF_REALS):
            continue
        if op == "where":
            yield op, (type_, "int16", type_, type_)
        elif op in COMPARISONS:
            yield op, ("int16", type_, type_)
        else:
            yield op, (type_,) * (2 if op in UNARY else 3)
    yield from (("cast", (other, type_)) for other in TYPES if other != type_)


def same(found, wanted):
    """Whether bits are equal, where a NaN is as another."""
    nan = (found != found) & (wanted != wanted)
    raw = f"u{found.dtype.itemsize}"
    return (nan | (found.view(raw) == wanted.view(raw))).all()


@pytest.mark.wide_after(1)
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("profile", ["ideal", "wse2"])
def test_every_operation_gives_the_bits_of_the_interpreter(type_, profile):
    rng, machine, wanted = np.random.default_rng(4), Machine(FIELD, profile), {}
    arrays = {(t, few): [(a := draw(t, rng, few), machine.add(f"{t}{few}{k}", a)) for k in (0, 1)]
              for t, few in itertools.product({type_, "int16"}, (False, True))}
    for number, (op, types) in enumerate(list_operations(type_)):
        given = [arrays[each, op in BITS[3:] and k == 1][k % 2]
                 for k, each in enumerate(types[1:])]
        values = [each[0] for each in given]
        name = f"r{number}_{op}"
        address = machine.add(name, np.zeros((*FIELD, COUNT), types[0]))
        machine.call(address, *(each[1] for each in given), COUNT, 0, kind="compute", op=op,
                     types=types, sources=("ar",) * len(values))
        wanted[name] = cast(values[0], types[0]) if op == "cast" else (
            compute(op, types[-1], *values))
    outputs, _ = machine.run()
    assert [name for name in wanted if not same(outputs[name], wanted[name])] == []


def test_both_vectors_and_loops_are_among_them():
    procedure = Procedure(name="", kind="compute", op="div", types=("float32",) * 3,
                          sources=("ar", "ar"))
    assert find_instruction(procedure, load_profile("ideal")) == "DIV"
    assert find_instruction(procedure, load_profile("wse2")) is None


@pytest.mark.wide_after(2)
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
@pytest.mark.parametrize("op", ["add", "lt"])
def test_ranks_strides_and_scalars(rank, op):
    rng, machine = np.random.default_rng(rank), Machine(FIELD)
    shape = (3, 2, 4, 3)[:rank]
    size = int(np.prod(shape))
    a, b = (rng.integers(-9, 9, (*FIELD, size)).astype("int32") for _ in range(2))
    d = np.full((*FIELD, 2 * size), 7, "int32" if op == "add" else "int16")
    at_d, at_a, at_b = (machine.add(name, each) for name, each in (("d", d), ("a", a), ("b", b)))
    strides = [int(np.prod(shape[k + 1 :])) for k in range(rank)]
    machine.call(at_d, at_a, at_b, *shape, *(2 * each for each in strides), *strides, 0,
                 kind="compute", op=op, types=(d.dtype.name, "int32", "int32"),
                 sources=("ar", "sc"), rank=rank)
    outputs, _ = machine.run()
    d[..., ::2] = compute(op, "int32", a, b[..., :1])
    assert np.array_equal(outputs["d"], d)

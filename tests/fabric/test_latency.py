"""When results of vector instructions can be read: what reads one waits, and nothing else does."""

import numpy as np
import pytest

from lairmake.stages.machine.profile import load_profile
from tests.fabric.running import run_fabric

MOST, WORDS, IN_SIGHT = 24, 96, 4
COPY, ADD, MAC = 0, 1, 7
RUN, LOAD, COMPUTE, CLOCK, SEND = range(5)
NOTHING = (COMPUTE, COPY, 0, 0, 0, 0)
START, LATENCY, DISPATCH = 2, 5, 3
OUT = {"tensor": "out", "type": "int16", "side": "E", "colours": ["out"],
       "order": "{ out[i = 0:3] -> [PE[1, 0] -> index[i]] }"}
FIGURES = {"vector_start_up": START, "vector_latency": LATENCY, "dispatch": DISPATCH, "lanes": 1,
           "descriptors": 64}


def perform(library, row, deeds, figures=FIGURES):
    """Return when each deed that reads the clock did, when the next task did, and the run."""
    listed = np.array([*deeds, *[NOTHING] * (MOST - len(deeds))], "i4")
    tensors = {
        "deeds": {"type": "int32", "shape": [listed.size], "address": 0, "tensor": "deeds",
                  "transfer": "in", "map": "{ [PE[x, 0] -> deeds[i]] -> deeds[x, i] }"},
        "stamp": {"type": "int32", "shape": [MOST + 1], "address": 4 * listed.size,
                  "tensor": "stamp", "transfer": "out",
                  "map": "{ [PE[x, 0] -> stamp[i]] -> stamp[x, i] }"},
    }
    if any(deed[0] == SEND for deed in deeds):
        colours, departures = {"out": "{ [PE[x, y] -> ramp[]] -> E[] }"}, {"out": OUT}
    else:
        colours, departures = {"unused": "{ }"}, {}
    layout = row("latency", 1, colours, departures=departures, tensors=tensors)
    given = {"deeds": listed.reshape(1, -1)}
    profile = load_profile("ideal", figures)
    run = run_fabric(library, layout, profile, given, shapes={"stamp": (1, MOST + 1)})
    *stamps, after = run.outputs["stamp"][0][0].tolist()
    return stamps[: len(deeds)], after, run


def expected(deeds):
    """Return the stamps, and that of the next task, by the rule as docs/machines.md has it."""
    now, results, stamps = 0, [], []

    def wait_for(words):
        return max([now, *(ready for ready, written in results if written & words)])

    for deed, operation, size, d, a, b in deeds:
        stamp = 0
        if deed == RUN:
            reads = [a] if operation == COPY else [a, b]
            reads += [d] if operation == MAC else []
            now = wait_for({word + k for word in reads for k in range(size)})
            now += START + size
            results = [each for each in results if each[0] > now]
            if len(results) == IN_SIGHT:
                now = results.pop(0)[0]
            results.append((now + LATENCY, {d + k for k in range(size)}))
        elif deed == LOAD:
            now = max([now, *(ready for ready, _ in results)]) + size
        elif deed == COMPUTE:
            now += size
        else:
            stamp = DISPATCH + max([now, *(ready for ready, _ in results)])
        stamps.append(stamp)
    end = max([now, *(ready for ready, _ in results)])
    return stamps, 2 * DISPATCH + max(1, end + DISPATCH) - DISPATCH


def run(operation, d, a, b=0, size=4):
    return RUN, operation, size, d, a, b


CLOCKED = (CLOCK, COPY, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("deeds", "end"),
    [
        ([run(COPY, 0, 8)], 6 + 5),
        ([run(COPY, 0, 8), run(COPY, 16, 24)], 2 * 6 + 5),
        ([run(COPY, 0, 8), run(COPY, 16, 3)], 2 * 6 + 2 * 5),
        ([run(COPY, 0, 8), run(COPY, 16, 4)], 2 * 6 + 5),
        ([run(ADD, 0, 8, 12), run(ADD, 16, 24, 0)], 2 * 6 + 2 * 5),
        ([run(ADD, 0, 8, 12), run(ADD, 0, 24, 28)], 2 * 6 + 5),
        ([run(MAC, 0, 8, 12), run(MAC, 0, 24, 28)], 2 * 6 + 2 * 5),
        ([run(COPY, 0, 8), (COMPUTE, 0, 9, 0, 0, 0)], 6 + 9),
        ([run(COPY, 0, 8), (LOAD, 0, 9, 0, 0, 0)], 6 + 5 + 9),
        ([run(COPY, 0, 8), (COMPUTE, 0, 3, 0, 0, 0), run(COPY, 16, 0)], 6 + 5 + 6 + 5),
    ],
    ids=["end", "apart", "reads", "beside", "second operand", "written again", "sums", "computes",
         "loads", "part of the wait"],
)
def test_what_reads_a_result_waits(library, row, deeds, end):
    stamps, after, _ = perform(library, row, [*deeds, CLOCKED])
    assert stamps[-1] == DISPATCH + end
    assert after == stamps[-1] + DISPATCH


def test_waits_are_told_apart(library, row):
    """`latency` has the waits of a task, its end included; it is no start-up."""
    deeds = [run(COPY, 0, 8), run(COPY, 16, 0), (COMPUTE, 0, 2, 0, 0, 0)]
    usage = perform(library, row, deeds)[-1].usage[0]
    assert usage["latency"] == 5 + 3
    assert usage["start_up"] == 2 * START


def test_a_stream_waits_and_its_task_does_not(library, row):
    """What is sent begins when it can be read."""
    cycles = {}
    for source in (0, 8):
        deeds = [run(COPY, 0, 16, size=8), (SEND, COPY, 4, 0, source, 0), CLOCKED]
        stamps, after, found = perform(library, row, deeds)
        cycles[source] = found.cycles, stamps[-1], after
    assert cycles[0][0] == cycles[8][0] + LATENCY
    assert cycles[0][1:] == cycles[8][1:]


def test_a_machine_without_the_figure_waits_for_nothing(library, row):
    deeds = [run(MAC, 0, 8), run(MAC, 0, 8), (LOAD, 0, 1, 0, 0, 0), CLOCKED]
    stamps, _, found = perform(library, row, deeds, {**FIGURES, "vector_latency": 0})
    assert stamps[-1] == DISPATCH + 2 * 6 + 1
    assert found.usage[0]["latency"] == 0


@pytest.mark.parametrize("seed", range(40))
def test_any_task(library, row, seed):
    random = np.random.default_rng(seed)
    deeds = []
    for _ in range(int(random.integers(1, MOST + 1))):
        deed = random.choice([RUN, LOAD, COMPUTE, CLOCK], p=[0.7, 0.05, 0.1, 0.15])
        size = int(random.integers(1, 4 if random.random() < 0.7 else 12))
        firsts = random.integers(0, WORDS - 12, 3) if random.random() < 0.6 else (
            random.integers(0, 12, 3))
        deeds.append((int(deed), int(random.choice([COPY, ADD, MAC])), size, *map(int, firsts)))
    stamps, after, _ = perform(library, row, deeds)
    assert (stamps, after) == expected(deeds)

"""Random figures of a machine, and runs by an engine whose clock looks less far ahead."""

import random

from lairmake.stages.fabric import compiler
from lairmake.stages.layer import outcome, simulate
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.reference.data import input_samples

TYPES = ("float16", "float32", "int16", "int32")
FIGURES = {
    "vector_start_up": (0, 1, 6, 40),
    "configuration": (0, 1, 25),
    "loop": (0, 1, 4),
    "scalar": (0, 1, 3),
    "address": (0, 1, 3),
    "dispatch": (0, 1, 10, 60, 1022, 3000),
    "hop": (1, 1, 2, 7, 1000),
    "ramp": (0, 1, 3, 1000),
    "queue_depth": (1, 2, 3, 8),
    "threads": (1, 2, 3, 4, 8),
}
"""What the figures of a machine may be in a test."""
AS_MANY = {"input_queues": [], "output_queues": [], "data_tasks": "colours", "task_ids": 0}
"""The figures of a machine that has as many queues and ids as are wanted."""


def random_figures(rng: random.Random):
    """Return some figures, one at least, by name."""
    names = rng.sample(list(FIGURES), rng.randint(1, len(FIGURES)))
    figures = {name: rng.choice(FIGURES[name]) for name in names}
    if rng.random() < 0.5:
        figures["lanes"] = {type_: rng.choice((1, 2, 4, 16)) for type_ in TYPES}
    return with_threads(figures)


def random_queues(rng: random.Random):
    """Return figures of links, FIFOs and queues: these are many, each of its own depth."""
    depths = {w: [rng.choice((2, 3, 4, 8)) for _ in range(32)] for w in ("input", "output")}
    queues = {f"{which}_queues": each for which, each in depths.items()}
    links = {"link_width": rng.choice((16, 32, 64)), "fifo": rng.choice((0, 1, 5))}
    return {**queues, "threads": 32, **links} if rng.random() < 0.5 else links


def random_rates(rng: random.Random):
    """Return what a PE's datapath, its memory and its instructions can do."""
    return {
        "sum_lanes": rng.choice((0, 1, 2)),
        "stride_limits": [rng.choice((0, 0, 1, 2)) for _ in range(8)],
        "read_banks": rng.choice((0, 4, 6, 8)),
        "shared_datapath": rng.random() < 0.7,
        "vector_multiply_add": rng.random() < 0.3,
    }


def with_threads(figures):
    """Return figures of which threads may be fewer than the machine has queues."""
    return {**figures, **AS_MANY} if "threads" in figures else figures


def ran(folder, variant, monkeypatch=None, horizon=0):
    """Return all that a run of a built layer tells; with another horizon if that is given."""
    inputs = FolderInputs(open_folder(folder), simulate.READS)
    layer = inputs.lair()
    samples = input_samples(inputs.mapping(), layer, inputs.arrays())
    if horizon:
        monkeypatch.setattr(compiler, "ENGINE", ["-O0", f"-DHORIZON={horizon}"])
    run = outcome.run_programs(inputs, variant, samples, layer)
    told = ("cycles", "main_cycles", "injected", "delivered", "hops", "stalls", "tasks")
    outputs = {name: [v.tobytes() for v in values] for name, values in run.outputs.items()}
    return outputs, run.usage.tobytes(), {name: getattr(run, name) for name in told}

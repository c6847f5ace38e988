"""Random layer folders, and what became of them in the compiler."""

import itertools
import json
import random
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import tasks_until
from tests.property.algorithm import random_algorithm
from tests.property.choices import Choices
from tests.property.conditions import with_conditions
from tests.property.features import features_of
from tests.property.invariants import check_invariants
from tests.property.live import bytes_over_live
from tests.property.mapping import RandomMapping
from tests.property.streams import with_plain_streams
from tests.property.wishes import random_wishes

OUR_FAULTS = ("the fabric stopped", "-std=c11")
"""What an error says that blames no layer: programs that get stuck, or are no C."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomLayer:
    """The texts of a layer folder by file name, and the random numbers that they come from.

    `zeros` are inputs with zeros of both signs: the name, the shape and the seed of each.
    """

    texts: dict[str, str]
    numbers: tuple[float, ...]
    zeros: tuple[tuple[str, tuple[int, ...], int], ...] = ()

    @property
    def size(self):
        """What is smaller in a smaller layer: the length of its texts, then the texts."""
        return sum(map(len, self.texts.values())) + len(self.zeros), *self.texts.values()

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        for name, shape, seed in self.zeros:
            values = np.random.default_rng(seed).choice([0.0, -0.0, 1.0, -1.0], shape)
            (folder / "inputs").mkdir(exist_ok=True)
            np.save(folder / "inputs" / f"{name}.npy", values.astype(np.float16))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What building a layer gave: its results, or the text of the error that refused it.

    `over_live` are bytes of memory over those that are needed at a time; None where there are none.
    """

    results: dict
    refusal: str
    features: frozenset[str] = frozenset()
    over_live: float | None = None


def layer_of_seed(seed):
    """Return the random layer of a seed."""
    return _layer_of(Choices(iter(random.Random(seed).random, None)))


def layer_of_numbers(numbers: Iterable[float]):
    """Return the layer that comes from the given random numbers, and from zeros after them."""
    return _layer_of(Choices(itertools.chain(numbers, itertools.repeat(0.0))))


def _layer_of(rng):
    wishes = random_wishes(rng)
    algorithm = random_algorithm(rng, wishes)
    mapping = RandomMapping(rng, algorithm, wishes)
    text, zeros = mapping.text(), tuple(mapping.zeros())
    algorithm = with_conditions(rng, algorithm)
    text = with_plain_streams(rng, text, mapping.target, algorithm.shapes)
    texts = {"layer.lair": algorithm.text, "layer.yaml": text}
    return RandomLayer(texts=texts, numbers=tuple(rng.taken), zeros=zeros)


def examine(folder):
    """Build a layer, and return what became of it.

    Raises AssertionError, or what a stage raised, unless all is right or the layer is refused.
    """
    outcome = build(folder)
    if outcome.refusal:
        return outcome
    assert is_right(outcome), outcome.results["check"]
    bound, cycles = outcome.results["bound"], outcome.results["cycles"]
    assert bound["cycles"] <= min(cycles.values()), f"{bound} is no bound of {cycles}"
    check_usage(outcome.results)
    check_invariants(folder)
    return replace(outcome, features=features_of(folder), over_live=bytes_over_live(folder))


def build(folder):
    """Run the stages on a layer folder, up to the simulation.

    Raises AssertionError where what went wrong is no fault of the layer.
    """
    try:
        for each, stage in tasks_until(open_folder(folder), "simulate"):
            run_stage(stage, each)
    except (UserError, UserErrors) as error:
        assert not any(fault in str(error) for fault in OUR_FAULTS), str(error)
        return Outcome(results={}, refusal=str(error))
    text = (folder / "build" / "results.json").read_text(encoding="utf-8")
    return Outcome(results=json.loads(text), refusal="")


def check_usage(results):
    """Check that a critical path leads through all cycles, and that those of all PEs are known."""
    usage, path = results["usage"], results["usage"]["path"]
    assert path is None or sum(path.values()) == results["cycles"]["simd"], path
    assert sum(usage["cycles"].values()) % usage["until"] == 0, usage


def is_right(outcome):
    """Say whether every output was equal to the reference."""
    return all(check["right"] for check in outcome.results["check"].values())

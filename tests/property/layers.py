"""Random layer folders, and what became of them in the compiler."""

import json
import random
from dataclasses import dataclass

from stages import PIPELINE
from stages.diagnose import UserError, UserErrors
from stages.make.action import run_stage
from tests.property.algorithm import random_algorithm
from tests.property.mapping import RandomMapping

OUR_FAULTS = ("the fabric stopped", "-std=c11")
"""What an error says that blames no layer: programs that get stuck, or are no C."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What building a layer gave: its results, or the text of the error that refused it."""

    results: dict
    refusal: str


def write_random_layer(folder, seed):
    """Write the layer folder of a seed."""
    rng = random.Random(seed)
    algorithm = random_algorithm(rng)
    mapping = RandomMapping(rng, algorithm)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "layer.lair").write_text(algorithm.text, encoding="utf-8")
    (folder / "layer.yaml").write_text(mapping.text(), encoding="utf-8")


def build(folder):
    """Run the stages on a layer folder, up to the simulation.

    Raises AssertionError where what went wrong is no fault of the layer.
    """
    try:
        for stage in PIPELINE[: PIPELINE.index("simulate") + 1]:
            run_stage(stage, folder)
    except (UserError, UserErrors) as error:
        assert not any(fault in str(error) for fault in OUR_FAULTS), str(error)
        return Outcome(results={}, refusal=str(error))
    text = (folder / "build" / "results.json").read_text(encoding="utf-8")
    return Outcome(results=json.loads(text), refusal="")


def is_right(outcome):
    """Say whether every output was equal to the reference."""
    return all(check["right"] for check in outcome.results["check"].values())

"""Candidates of a layer, each built and simulated as if somebody had given it.

The candidates are those that the search enumerates: all placements of a single statement; for a
graph, those that are left where many partial ones are kept. Of many candidates a sample is tried.
"""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.layer import choose, outcome, simulate
from lairmake.stages.layer.cycles.predict import predict, read_written
from lairmake.stages.layer.outcome import check
from lairmake.stages.layer.search.beam import Search
from lairmake.stages.layer.search.problem import Question, ask
from lairmake.stages.layer.search.proposal import Proposal, propose_state
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import tasks_until
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.reference.data import input_samples
from lairmake.stages.reference.error_bound import is_exact, magnitudes
from lairmake.stages.reference.evaluate import column, evaluate_all
from lairmake.stages.skewing.elements import read_lair
from tools.evaluation.measure import Case, build

WIDTH, MORE = 240, 16
"""Numbers of partial placements of a graph that are kept, and of continuations of each."""

FIRST, REST = 50, 160
"""Numbers of candidates that are tried: of the first by the search's estimate, and of others."""

READ = ("layer.yaml", "tasks.yaml", "simd.yaml", "routes.isl", "adapted.isl", "instances.isl",
        "memory.isl", "schedule.isl", "compressions.isl")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A candidate of a layer, as a case that leaves nothing open; `estimate` is in cycles."""

    name: str
    case: Case
    estimate: int
    refused: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Cycles of a candidate: estimated before the stages, predicted after them, and simulated.

    For a candidate that is `refused`, all but the estimate are None.
    """

    estimate: int
    predicted: int | None = None
    cycles: int | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Number of candidates that a search enumerates, and those of them that are tried."""

    every: int
    trials: tuple[Trial, ...]


def list_trials(case: Case, workspace: Path) -> Listed:
    """Return candidates of a case that leaves something open. Raises UserError(s)."""
    question = _ask(case, workspace)
    wide = len(question.statements) > 1
    width, more = (WIDTH, MORE) if wide else (2**31, 2**31)
    states = Search(question, width=width, more=more).run()
    taken = _sample(states, case.name)
    found = (_trial(case, propose_state(state, question)) for state in taken)
    return Listed(every=len(states), trials=tuple(found))


def _ask(case: Case, workspace: Path) -> Question:
    folder = open_folder(build(case, workspace, ("parse",)))
    inputs = FolderInputs(folder, choose.READS)
    mapping, lair = inputs.mapping(), read_lair(inputs.objects("lair.isl"))
    return ask(mapping, inputs.lair(), lair, read_machine(mapping, inputs))


def _sample(states: Sequence[T], seed: str) -> Iterator[T]:
    """Yield the first of some states, and of the others one of each of as many parts as equal."""
    if len(states) <= FIRST + REST:
        yield from states
        return
    yield from states[:FIRST]
    chance, left = random.Random(seed), len(states) - FIRST
    bounds = [FIRST + left * k // REST for k in range(REST + 1)]
    yield from (
        states[chance.randrange(low, high)]
        for low, high in itertools.pairwise(bounds)
    )


def _trial(case: Case, proposal: Proposal) -> Trial:
    """Return a case with what a proposal has."""
    tensors: Mapping[str, Mapping[str, Any]] = case.mapping.get("tensors", {})
    ports = {
        name: {"arrives": p.arrives} if p.arrives is not None else {"leaves": p.leaves}
        for name, p in proposal.tensors.items()
    }
    given = {name: {**tensors.get(name, {}), **ports.get(name, {})} for name in tensors}
    mapping = {**case.mapping, "placement": proposal.placement, "tensors": given}
    return Trial(
        name=case.name, estimate=proposal.cycles, refused=proposal.refused,
        case=Case(name=case.name, lair=case.lair, mapping=mapping, inputs=case.inputs),
    )


def try_out(trial: Trial, workspace: Path) -> Tried:
    """Return the cycles of a candidate, or the reason why it is refused."""
    if trial.refused is not None:
        return Tried(estimate=trial.estimate, refused=f"choose: {trial.refused}")
    folder = build(trial.case, workspace, ())
    try:
        return _simulate(trial, folder)
    except (UserError, UserErrors) as error:
        return Tried(estimate=trial.estimate, refused=str(error))
    finally:
        shutil.rmtree(folder)


def _simulate(trial: Trial, folder: Path) -> Tried:
    """Return what a candidate was predicted to take, and took. Raises UserError(s)."""
    for each, stage in tasks_until(open_folder(folder), "render"):
        run_stage(stage, each)
    inputs = FolderInputs(open_folder(folder), (*READ, *simulate.READS))
    layer, mapping = inputs.lair(), inputs.mapping()
    written = read_written(
        inputs.source, inputs.objects, read_machine(mapping, inputs),
        invocations=mapping.invocations, density=mapping.data.density,
    )
    samples = input_samples(mapping, layer, inputs.arrays())
    run = outcome.run_programs(inputs, "simd", samples, layer)
    expected = evaluate_all(layer, samples)
    allowed = [] if is_exact(layer, samples) else magnitudes(layer, expected)
    for name in (tensor.name for tensor in layer.outputs):
        wanted = column(expected, name), column(allowed, name)
        if not check(run.outputs[name], *wanted).right:
            raise AssertionError(f"a value of {name} is wrong: {trial.case.mapping}")
    return Tried(
        estimate=trial.estimate, predicted=predict(written).cycles, cycles=run.cycles
    )

"""Command `doit evaluate`: builds of layers, and printed tables or documents."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from lairmake.stages.diagnose import UserError
from lairmake.stages.layer.texts.results_json import Results
from lairmake.stages.make.doit.commands.command import LayerCommand, Options, print_json
from lairmake.stages.make.store.files import write_whole
from lairmake.stages.make.store.folders import LAYER, LayerFolder
from lairmake.stages.mapping.records import as_data
from lairmake.stages.shipped import STAGES
from tools.evaluation import (
    broadcasts,
    chosen,
    counted as layers,
    document,
    judging,
    limited,
    multicast,
    placements,
    programs,
    stencils,
    sweeps,
    trials,
)
from tools.evaluation.measure import Case, case_of, measure, on_machine

T = TypeVar("T")
CATALOGUE = "catalogue/"
STENCILS = "stencils/"
MACHINES = ("wse2", "ideal")


def evaluate(command: LayerCommand, options: Options, words: list[str]) -> int:
    """Build layers, and print tables or write documents; return the exit code.

    Raises InvalidCommand where the words are wrong, UserError where a layer is.
    """
    if not words and Path.cwd() != STAGES.parent:
        raise command.refuse("only Lairmake's own repository has these documents",
                             "name layers, and their tables are printed")
    if options["programs"]:
        return _with_programs(command, options, words)
    if options["broadcast"]:
        return _count(command, options, words)
    if options["multicast"]:
        return _without_multicast(command, options, words)
    if options["stencils"]:
        return _over_time(command, options, words)
    if options["placements"]:
        return _without_placements(command, options, words)
    if options["chosen"]:
        return _with_other_figures(command, options, words)
    cases = _cases(command, words)
    used = () if words else sweeps.SWEEPS
    plan = dict(_plan(cases, used))
    found = dict(zip(plan, measured(list(plan.values())), strict=True))
    on = {m: {case.name: found[m, case.name] for case in cases} for m in MACHINES}
    swept = {
        each.name: {x: {s: found[each.name, x, s] for s in each.series} for x in each.values}
        for each in used
    }
    text = document.document(on["wse2"], on["ideal"], swept, used)
    if not words:
        pictures = {s.name: document.picture(s, swept[s.name]) for s in used}
        write(Path.cwd() / "docs", "evaluation", text, pictures)
    if options["json"]:
        print_json(as_data({**on, "sweeps": swept}))
    elif words:
        print(text, end="")
    return 0


def _count(command: LayerCommand, options: Options, words: list[str]) -> int:
    """Count the accesses of layers, and print or write what came of them."""
    cases = _cases(command, words) if words else [layer.case() for layer in layers.LAYERS]
    sides = () if words else broadcasts.SIDES
    grids = [layers.matmul(side).case() for side in sides]
    every = _each([*cases, *grids], broadcasts.counted)
    found = {case.name: counts for case, counts in zip(cases, every, strict=False)}
    by_side = dict(zip(sides, every, strict=True))
    if not words:
        text = broadcasts.document(found, by_side)
        write(Path.cwd() / "docs", "broadcast", text, broadcasts.pictures(by_side))
    if options["json"]:
        print_json(as_data({"layers": found, "sides": by_side}))
    elif words:
        print(broadcasts.layers_table(found))
    return 0


def _without_multicast(command: LayerCommand, options: Options, words: list[str]) -> int:
    """Build layers for a machine without multicast, and print or write what came of them."""
    cases = [case_of(layer.name, layer.path) for layer in list_layers(command, words)]
    every = [each for case in cases for each in multicast.without_multicast(case)]
    results = list(_each(every, multicast.try_to_measure))
    pairs = zip(results[::2], results[1::2], strict=True)
    found = {
        case.name: (forwarding, replicas)
        for case, (forwarding, replicas) in zip(cases, pairs, strict=True)
        if forwarding is not None and replicas is not None
    }
    for name, pair in found.items():
        _check_values(name, *pair)
    refused = [case.name for case in cases if case.name not in found]
    if not words:
        write(Path.cwd() / "docs", "multicast", multicast.document(found, refused), {})
    if options["json"]:
        print_json(as_data(found))
    elif words:
        print(multicast.layers_table(found))
    return 0


def _over_time(command: LayerCommand, options: Options, words: list[str]) -> int:
    """Measure steps of stencils, and print or write what they take."""
    chosen = list_layers(command, words)
    known = [layer for layer in chosen if words or layer.name.startswith(STENCILS)]
    cases = [case_of(layer.name.removeprefix(STENCILS), layer.path) for layer in known]
    places = [(case.name, machine) for case in cases for machine in stencils.MACHINES]
    by_name = {case.name: case for case in cases}
    rows = [row for row in stencils.list_published() if row.layer in by_name]
    every = [each for case in cases for each in stencils.on_machines(case)]
    every += [stencils.as_published(by_name[row.layer], row) for row in rows]
    steps = list(_each(every, stencils.measure_step))
    found = dict(zip(places, steps, strict=False))
    published = steps[len(places):]
    if not words:
        comments = {case.name: stencils.comment_of(case) for case in cases}
        text = stencils.document(comments, found, published)
        write(Path.cwd() / "docs", "stencils", text, {})
    if options["json"]:
        print_json([{"layer": name, "machine": machine, **as_data(step)}
                    for (name, machine), step in found.items()])
    elif words:
        print(stencils.steps_table(found))
    return 0


def _with_other_figures(command: LayerCommand, options: Options, words: list[str]) -> int:
    """Run layers with other figures of a machine, and print or write what came of them."""
    cases = [on_machine(case, chosen.MACHINE) for case in _cases(command, words)]
    names = [case.name for case in cases]
    found = dict(zip(names, _each(cases, chosen.run_changed), strict=True))
    tried = dict(zip(names, _each(cases, limited.try_limits), strict=True))
    tables = {"limits": limited.changes_table(tried), "limited": limited.limits_table(tried)}
    if not words:
        write(Path.cwd() / "docs", "chosen", chosen.document(found, tables), {})
    if options["json"]:
        print_json({
            "changes": as_data(chosen.list_changes()), "cycles": found,
            "limits": as_data(chosen.list_changes(charged=False)), "tried": as_data(tried),
        })
    elif words:
        print(chosen.layers_table(found), *tables.values(), sep="\n\n")
    return 0


def _without_placements(command: LayerCommand, options: Options, words: list[str]) -> int:
    """Build layers without their placements, and print or write what came of them."""
    layers = {layer.name: case_of(layer.name, layer.path) for layer in list_layers(command, words)}
    cases = [c for c in layers.values() if "->" in str(c.mapping.get("placement", ""))]
    names = [case.name for case in cases]
    found = dict(zip(names, _each(cases, placements.find_placements), strict=True))
    judged = _judge([case for case in cases if case.name in judging.LAYERS])
    if not words:
        text = judging.document(placements.layers_table(found, timed=False), judged)
        write(Path.cwd() / "docs", "placements", text, {})
    if options["json"]:
        print_json({"layers": as_data(found), "candidates": as_data(judged)})
    elif words:
        print(placements.layers_table(found))
        print(f"\n{judging.candidates_table(judged)}" if judged else "", end="")
    return 0


def _judge(cases: Sequence[Case]) -> dict[str, judging.Judged]:
    """Return what came of candidates of some cases, which are built and simulated."""
    anywhere = judging.LAYERS
    open_ = [placements.leave_open(case, anywhere=anywhere[case.name]) for case in cases]
    listed = {
        case.name: each
        for case, each in zip(open_, _each(open_, trials.list_trials), strict=True)
    }
    taken = dict(zip(listed, _each(open_, placements.find_cycles), strict=True))
    every = [trial for each in listed.values() for trial in each.trials]
    return judging.judge(listed, list(_each(every, trials.try_out)), taken)


def _with_programs(command: LayerCommand, options: Options, words: list[str]) -> int:
    """Run programs on the virtual machine, and print or write what they took."""
    if words:
        raise command.refuse("--programs runs programs of its own", "name no layer")
    wanted = programs.list_wanted()
    found = dict(zip(wanted, _each(wanted, programs.measure_program), strict=True))
    write(Path.cwd() / "docs", "machine_cycles", programs.document(found), {})
    if options["json"]:
        print_json([as_data({"program": each, "run": found[each]}) for each in wanted])
    return 0


def _cases(command: LayerCommand, words: Sequence[str]) -> list[Case]:

    layers = list_layers(command, words)
    known = [layer for layer in layers if layer.name.startswith(CATALOGUE)]
    wanted = layers if words else known
    if not wanted:
        raise command.refuse("there is no layer below projects/catalogue here")
    return [case_of(layer.name.removeprefix(CATALOGUE), layer.path) for layer in wanted]


def list_layers(command: LayerCommand, words: Sequence[str]) -> list[LayerFolder]:
    """Return the layer folders of this name; without names, all, but no slot of a search."""
    layers, rest = command.select(words)
    found = [each for each in layers if (each.path / LAYER).is_file() and not each.is_slot]
    others = [each.name for each in layers if each not in found and each.name in words]
    if rest or others:
        raise command.refuse(f"{(rest + others)[0]} is no layer")
    return found


def _plan(cases: Sequence[Case], sweeps: Sequence[Any]) -> Iterator[tuple[tuple[Any, ...], Case]]:
    """Yield what is to be measured, by a name."""
    for machine in MACHINES:
        yield from (((machine, case.name), on_machine(case, machine)) for case in cases)
    for sweep in sweeps:
        for value in sweep.values:
            yield from (((sweep.name, value, s), sweep.case(value, s)) for s in sweep.series)


def measured(cases: Sequence[Case]) -> Iterator[Results]:
    """Yield the results of cases, in order.

    Raises UserError where a value is wrong, and what building raises.
    """
    for case, results in zip(cases, _each(cases, measure), strict=True):
        _check_values(case.name, results)
        yield results


def _check_values(name: str, *results: Results) -> None:
    if not all(found.right for each in results for found in each.check.values()):
        raise UserError(f"{name}: a value is wrong", hint="a build of it says which")


def _each(cases: Sequence[Any], what: Callable[..., T]) -> Iterator[T]:
    """Yield what(case, workspace) of cases, in order, from as many processes as processors."""
    with TemporaryDirectory() as place, ProcessPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(functools.partial(what, workspace=Path(place)), cases)
        for number, results in enumerate(found, start=1):
            name = cases[number - 1].name
            _tell(f"{number} of {len(cases)}: {name}", is_last=number == len(cases))
            yield results


def _tell(text: str, is_last: bool) -> None:
    """Write how far it is: a line on a terminal, else nothing."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{'' if is_last else text}")
        sys.stderr.flush()


def write(folder: Path, name: str, text: str, pictures: Mapping[str, str]) -> None:
    """Write a document and its plots."""
    folder.mkdir(exist_ok=True)
    for picture, drawn in pictures.items():
        write_whole(folder / f"{name}_{picture}.svg", drawn.encode())
    write_whole(folder / f"{name}.md", text.encode())

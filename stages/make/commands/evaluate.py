"""The command `doit evaluate`: what vector instructions gain, over a catalogue of layers."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from stages.diagnose import UserError
from stages.make.commands.command import JSON, LayerCommand, Options, print_json
from stages.make.folders import LAYER
from stages.make.store.files import write_whole
from stages.shipped import STAGES

if TYPE_CHECKING:
    from stages.evaluation.measure import Case
    from stages.make.folders import LayerFolder

CATALOGUE = "catalogue/"
MACHINES = ("wse2", "ideal")
BROADCAST = {
    "name": "broadcast",
    "long": "broadcast",
    "type": bool,
    "default": False,
    "help": "count what eliminating broadcasts gains, and write docs/broadcast.md",
}
MULTICAST = {
    "name": "multicast",
    "long": "multicast",
    "type": bool,
    "default": False,
    "help": "measure what multicast is worth, and write docs/multicast.md",
}


class Evaluate(LayerCommand):
    """Say what vector instructions gain."""

    name = "evaluate"
    doc_purpose = "measure what vector instructions gain, and write docs/evaluation.md"
    doc_usage = "[LAYER ...]"
    doc_description = (
        "Builds the layers below projects/catalogue on wse2 and on ideal, and layers of which one "
        "figure changes at a time, in a temporary folder; writes tables and plots to docs/. Where "
        "layers are named, prints the tables of these and writes nothing."
    )
    cmd_options = (JSON, BROADCAST, MULTICAST)

    def act(self, options: Options, words: list[str]) -> int:
        """Build the layers, and print or write what came of them."""
        from stages.evaluation import document, sweeps

        if not words and Path.cwd() != STAGES.parent:
            raise self.refuse("only Lairmake's own repository has these documents",
                              "name layers, and their tables are printed")
        if options["broadcast"]:
            return self._count(options, words)
        if options["multicast"]:
            return self._without_multicast(options, words)
        cases = self._cases(words)
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
            print_json({**on, "sweeps": swept})
        elif words:
            print(text, end="")
        return 0

    def _count(self, options: Options, words: list[str]) -> int:
        """Count the accesses of layers, and print or write what came of them."""
        from stages.evaluation import broadcast, layers

        cases = self._cases(words) if words else [layer.case() for layer in layers.LAYERS]
        sides = () if words else broadcast.SIDES
        grids = [layers.matmul(side).case() for side in sides]
        every = _each([*cases, *grids], broadcast.counted)
        found = {case.name: counts for case, counts in zip(cases, every, strict=False)}
        by_side = dict(zip(sides, every, strict=True))
        if not words:
            text = broadcast.document(found, by_side)
            write(Path.cwd() / "docs", "broadcast", text, broadcast.pictures(by_side))
        if options["json"]:
            print_json({"layers": found, "sides": by_side})
        elif words:
            print(broadcast.layers_table(found))
        return 0

    def _without_multicast(self, options: Options, words: list[str]) -> int:
        """Build layers for a machine without multicast, and print or write what came of them."""
        from stages.evaluation import multicast
        from stages.evaluation.measure import case_of

        cases = [case_of(layer.name, layer.path) for layer in self._layers(words)]
        every = [each for case in cases for each in multicast.without_multicast(case)]
        results = list(measured(every))
        pairs = zip(results[::2], results[1::2], strict=True)
        found = {case.name: pair for case, pair in zip(cases, pairs, strict=True)}
        if not words:
            write(Path.cwd() / "docs", "multicast", multicast.document(found), {})
        if options["json"]:
            print_json(found)
        elif words:
            print(multicast.layers_table(found))
        return 0

    def _cases(self, words: Sequence[str]) -> list[Case]:
        from stages.evaluation.measure import case_of

        layers = self._layers(words)
        known = [layer for layer in layers if layer.name.startswith(CATALOGUE)]
        chosen = layers if words else known
        if not chosen:
            raise self.refuse("there is no layer below projects/catalogue here")
        return [case_of(layer.name.removeprefix(CATALOGUE), layer.path) for layer in chosen]

    def _layers(self, words: Sequence[str]) -> list[LayerFolder]:
        """Return the layer folders of this name; without names, all."""
        layers, rest = self.select(words)
        found = [layer for layer in layers if (layer.path / LAYER).is_file()]
        others = [each.name for each in layers if each not in found and each.name in words]
        if rest or others:
            raise self.refuse(f"{(rest + others)[0]} is no layer")
        return found


def _plan(cases: Sequence[Case], sweeps: Sequence[Any]) -> Iterator[tuple[tuple[Any, ...], Case]]:
    """Yield what is to be measured, by a name."""
    from stages.evaluation.measure import on_machine

    for machine in MACHINES:
        yield from (((machine, case.name), on_machine(case, machine)) for case in cases)
    for sweep in sweeps:
        for value in sweep.values:
            yield from (((sweep.name, value, s), sweep.case(value, s)) for s in sweep.series)


def measured(cases: Sequence[Case]) -> Iterator[Mapping[str, Any]]:
    """Yield the results of cases, in order.

    Raises UserError where a value is wrong, and what building raises.
    """
    from stages.evaluation.measure import measure
    from stages.make.summary import is_right

    for case, results in zip(cases, _each(cases, measure), strict=True):
        if not is_right(results):
            raise UserError(f"{case.name}: a value is wrong", hint="build it: doit says which")
        yield results


def _each(
    cases: Sequence[Case], what: Callable[..., Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
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

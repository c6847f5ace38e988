"""The end of a build: what is up to date is noted, and the results of layers are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from doit import doit_cmd

from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.faults import list_wrong
from lairmake.stages.make.core.pipeline import RESULTS
from lairmake.stages.make.core.untouched import untouched_of
from lairmake.stages.make.doit.interrupts import INTERRUPTED
from lairmake.stages.make.doit.reporter import StageReporter
from lairmake.stages.make.doit.session import Session
from lairmake.stages.make.store.folders import LayerFolder, file_of, folders_of
from lairmake.stages.make.store.state import memo_of
from lairmake.stages.make.store.state_folder import state_folder

LAYOUTS = "layouts.isl"
"""What the last stage of a kernel writes that is not cut into parts."""

MOST_SUMMARIES = 5
"""How many layers get a summary of several lines, but with `-v`."""


def finish(known: Session, code: int) -> int:
    """Return the exit code of a build that ended with `code`, after all that is left to do."""
    assert known.home is not None
    results = dict(_results(known)) if code < INTERRUPTED else {}
    wrong = [name for name, found in results.items() if list_wrong(found)]
    _settle(known, results.keys() - set(wrong))
    _use(known)
    memo_of(state_folder(known.home)).save()
    code = code or int(bool(wrong))
    if known.reporter is not None:
        new = {name for name in results if _is_new(known, name)}.union(wrong)
        shown = {name: found for name, found in results.items() if name in new}
        if isinstance(known.reporter, StageReporter) and known.reporter.shows_results:
            unchanged = known.unchanged + len(results) - len(shown)
            known.reporter.write("".join(_lines(known, shown, unchanged)))
            _note_variables(shown)
        known.reporter.end(code)
    return code


def _use(known: Session) -> None:
    """Note that tasks which were up to date are of use."""
    for name, found in known.results.items():
        if found.how == "same":
            from lairmake.stages.make.core.action import use

            use(found, known.stages[name][0])


def _note_variables(shown: Mapping[str, Mapping[str, Any]]) -> None:
    """Say that `n=16` is no parameter of a program: doit takes it for a dodo file."""
    given = getattr(doit_cmd, "_CMDLINE_VARS", None)
    if given and any("outputs" in results for results in shown.values()):
        words = ", ".join(f"{name}={value}" for name, value in sorted(given.items()))
        sys.stderr.write(f"{words}: for dodo files; program.yaml has the parameters of a program\n")


def _results(known: Session) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the results of the layers that were asked for and built to the end; {} for none."""
    for name, folder in known.folders.items():
        if name in known.selected and (name in known.clean or _is_built(known, folder)):
            has_results = RESULTS in _written(folder)
            text = file_of(folder, RESULTS).read_text("utf-8") if has_results else "{}"
            yield name, json.loads(text)


def _written(folder: LayerFolder) -> set[str]:
    return {name for stage in folder.stages for name in declaration(stage).writes}


def _is_built(known: Session, folder: LayerFolder) -> bool:
    return all(task in known.results for task in _tasks(folder))


def _is_new(known: Session, name: str) -> bool:
    """Return whether a user wants to see a layer: they named it, or something happened to it."""
    found = (known.results.get(task) for task in _tasks(known.folders[name]))
    return name in known.asked or any(f is not None and f.how != "same" for f in found)


def _tasks(folder: LayerFolder) -> list[str]:
    folders = folders_of(folder)
    return [f"{inside.name}:{stage}" for inside in folders for stage in inside.stages]


def _settle(known: Session, names: set[str]) -> None:
    """Note the layers that are up to date, so that the next build need not look at their tasks."""
    if known.home is None or not known.skips or known.build.keep_edits:
        return
    untouched = untouched_of(known.home)
    for name in sorted(names - known.clean):
        untouched.settle(known.folders[name], known.results)
    untouched.save()


def _lines(
    known: Session, shown: Mapping[str, Mapping[str, Any]], unchanged: int
) -> Iterator[str]:
    for name, results in shown.items():
        yield _shown(known, name, results, len(shown) <= MOST_SUMMARIES or known.verbose)
    if unchanged:
        yield f"{unchanged} {'layer' if unchanged == 1 else 'layers'} unchanged\n"


def _found(folder: LayerFolder, in_full: bool) -> str:
    """Return what the stages of a kernel found that is not cut into parts; nothing of others."""
    if LAYOUTS not in _written(folder):
        return ""
    from lairmake.stages.make.report.summary import READS, summarise_kernel

    text = summarise_kernel(folder.name, {n: file_of(folder, n).read_text("utf-8") for n in READS})
    return text if in_full else text[: text.index("\n") + 1]


def _shown(known: Session, name: str, results: Mapping[str, Any], in_full: bool) -> str:
    if not results:
        return _found(known.folders[name], in_full)
    if "parts" in results:
        from lairmake.stages.make.report.summary import line_of_parts, table

        return table(name, results, known.verbose) if in_full else line_of_parts(name, results)
    if "outputs" in results:
        from lairmake.stages.make.report.summary import program_line, summarise_program

        return summarise_program(name, results) if in_full else program_line(name, results)
    from lairmake.stages.make.report.summary import (
        layer_line,
        summarise_layer,
    )

    return summarise_layer(results) if in_full else layer_line(name, results)

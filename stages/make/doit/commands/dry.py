"""The command `doit dry`: what a build would do, and why, without doing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stages.make.core.build import Build
from stages.make.core.declare import declaration
from stages.make.core.forecast import (
    FROM_STORE,
    LEFT_OUT,
    MAY_RUN,
    UP_TO_DATE,
    WOULD_RUN,
    Forecast,
    forecast,
)
from stages.make.core.key import code_units
from stages.make.core.pipeline import needed
from stages.make.core.writers import writer_of
from stages.make.doit.commands.command import JSON, LayerCommand, Options, print_json
from stages.make.doit.commands.run import KEEP_EDITS
from stages.make.store.folders import STATE, file_of, names_meant, wholes_of
from stages.make.store.marks import FORGOTTEN, is_marked
from stages.make.store.memo import memo_of
from stages.report.causes import Cause, History, find_causes, find_sources
from stages.report.colour import paint
from stages.report.details import list_some

EVERYTHING = {
    "name": "everything",
    "short": "v",
    "long": "everything",
    "type": bool,
    "default": False,
    "help": "print every task, however many there are",
}
MOST_LINES = 40
"""How many lines are printed at most, but with `-v`."""

STYLES = {WOULD_RUN: "red", MAY_RUN: "yellow", FROM_STORE: "cyan", LEFT_OUT: "dim"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a build would do to a task, what of all that it reads changed, and why in words."""

    forecast: Forecast
    causes: Sequence[Cause]
    reason: str


class Dry(LayerCommand):
    """Say what a build would do."""

    name = "dry"
    doc_purpose = "say what a build would do, and why, without doing it"
    doc_usage = "[TASK ...] [-v] [--keep-edits]"
    doc_description = (
        "TASK is a layer, fc, or a stage of one and what it needs, fc:simd. A task would run, come "
        "from the store, or may run: if a task before it would run and writes something else than "
        "before. Nothing is built, and nothing is written into layers and cache. Where that takes "
        f"more than {MOST_LINES} lines, there is one for each layer, or network with its parts; -v "
        "prints one for each task all the same."
    )
    cmd_options = (KEEP_EDITS, EVERYTHING, JSON)

    def act(self, options: Options, words: list[str]) -> int:
        """Print the tasks that a build would not leave alone."""
        build = Build(keep_edits=options["keep_edits"])
        named, stages = self.select_parts(words)
        found = forecast(list(named.values()), build)
        wanted = [task for task, each in found.items() if each.stage in stages or not stages]
        unknown = [word for word in stages if all(word != each.stage for each in found.values())]
        if unknown:
            raise self.refuse_unknown(unknown[0])
        kept = set(needed({task: each.after for task, each in found.items()}, wanted))
        if not kept:
            raise self.refuse("there is no layer here")
        tasks = {task: (each.folder, each.stage) for task, each in found.items()}
        history = History(next(iter(named.values())).home, tasks)
        plans = [_plan(history, found, each) for task, each in found.items() if task in kept]
        if options["json"]:
            print_json([_data(plan) for plan in plans])
        else:
            lines = list(_text(history, plans))
            if len(lines) > MOST_LINES and not options["everything"]:
                lines = list(_grouped(history, plans, wholes_of(named.values())))
            print("\n".join(lines))
        return 0


def _plan(history: History, found: Mapping[str, Forecast], each: Forecast) -> Plan:
    before = history.before(each.task)
    causes: list[Cause] = []
    if before is not None and each.status != UP_TO_DATE:
        causes = list(find_causes(each.folder, before, _line(each)))
    if each.status == MAY_RUN:
        causes = [cause for cause in causes if not _waits(found, cause)]
    reason = _reason(found, each, causes, is_first=before is None)
    return Plan(forecast=each, causes=causes, reason=reason)


def _line(each: Forecast) -> dict[str, Any]:
    """Return what a task would read, as the log has it."""
    if each.key is not None:
        return {"reads": {**each.key.reads, **each.key.further}, "code": code_units(each.stage)}
    memo = memo_of(each.folder.home / STATE)
    names = names_meant(each.folder, declaration(each.stage).reads)
    return {"reads": {name: memo.digest(file_of(each.folder, name)) for name in names}}


def _waits(found: Mapping[str, Forecast], cause: Cause) -> bool:
    """Return whether a file is to be written by a task that would run, or may."""
    by = found.get(cause.by or "")
    return by is not None and by.status in (WOULD_RUN, MAY_RUN)


def _reason(
    found: Mapping[str, Forecast], each: Forecast, causes: Sequence[Cause], is_first: bool
) -> str:
    """Return in one line why a build would do that to a task."""
    if each.status in (UP_TO_DATE, LEFT_OUT):
        return ""
    if is_first:
        return "not built here yet"
    if causes:
        return f"{list_some([cause.name for cause in causes])} changed"
    if each.status == MAY_RUN:
        return f"unless {list_some(list(_waiting(found, each)))} comes out as before"
    if each.status == FROM_STORE:
        return "what it wrote is not there, or edited"
    is_forgotten = is_marked(each.folder.home, each.task, FORGOTTEN)
    return "it was forgotten" if is_forgotten else "not in store"


def _waiting(found: Mapping[str, Forecast], each: Forecast) -> Iterator[str]:
    """Yield what a task reads from tasks that would run, or may."""
    for name in declaration(each.stage).reads:
        by = found.get(writer_of(each.folder, name) or "")
        if by is not None and by.status in (WOULD_RUN, MAY_RUN):
            yield name


def _text(history: History, plans: Sequence[Plan]) -> Iterator[str]:
    """Yield the lines of each layer that a build would not leave alone, and how many it would."""
    to_do = [plan for plan in plans if plan.forecast.status != UP_TO_DATE]
    width = max((len(plan.forecast.stage) for plan in to_do), default=0)
    for layer in dict.fromkeys(plan.forecast.folder.name for plan in to_do):
        own = [plan for plan in to_do if plan.forecast.folder.name == layer]
        yield paint("bold", layer)
        pairs = [(plan.forecast.folder, plan.causes) for plan in own]
        for path, changes in find_sources(history, pairs).items():
            yield f"  {paint('bold', path)}"
            yield from (f"    {change}" for change in changes)
        for plan in own:
            status = f"{plan.forecast.status:<{len(FROM_STORE)}}"
            painted = paint(STYLES[plan.forecast.status], status)
            yield f"  {plan.forecast.stage:<{width}}  {painted}  {plan.reason}".rstrip()
    yield _up_to_date(plans)


def _grouped(
    history: History, plans: Sequence[Plan], wholes: Mapping[str, str]
) -> Iterator[str]:
    """Yield a line for each layer, or network with its parts: what a build would do, and why."""
    found: dict[str, list[Plan]] = {}
    for plan in plans:
        if plan.forecast.status != UP_TO_DATE:
            name = plan.forecast.folder.name
            found.setdefault(wholes.get(name, name), []).append(plan)
    most = len(found) if len(found) < MOST_LINES else MOST_LINES - 2
    for whole, own in list(found.items())[:most]:
        yield f"{paint('bold', whole)}: {_counts(own)}; {_reason_of(history, own)}"
    if most < len(found):
        rest = [plan for own in list(found.values())[most:] for plan in own]
        yield f"and {len(found) - most} more layers: {_counts(rest)}; -v lists them"
    yield _up_to_date(plans)


def _counts(plans: Sequence[Plan]) -> str:
    statuses = Counter(plan.forecast.status for plan in plans)
    return ", ".join(paint(STYLES[s], f"{statuses[s]} {s}") for s in STYLES if statuses[s])


def _reason_of(history: History, plans: Sequence[Plan]) -> str:
    """Return why a build would do that to a layer: the files that changed, else what is first."""
    pairs = [(plan.forecast.folder, plan.causes) for plan in plans]
    changed = list(find_sources(history, pairs))
    return f"{list_some(changed)} changed" if changed else plans[0].reason


def _up_to_date(plans: Sequence[Plan]) -> str:
    count = sum(plan.forecast.status == UP_TO_DATE for plan in plans)
    return f"{count} {'task' if count == 1 else 'tasks'} up to date"


def _data(plan: Plan) -> dict[str, Any]:
    each = plan.forecast
    return {
        "task": each.task,
        "layer": each.folder.name,
        "stage": each.stage,
        "status": each.status,
        "reason": plan.reason,
        "changed": [cause.name for cause in plan.causes],
    }

"""What a build would do to tasks, and why, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lairmake.stages.diagnose import plural
from lairmake.stages.make.core.action import (
    FROM_STORE,
    LEFT_OUT,
    MAY_RUN,
    UP_TO_DATE,
    WOULD_RUN,
    Forecast,
)
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.key import code_units, digest_further, read_digest
from lairmake.stages.make.core.pipeline import writer_of
from lairmake.stages.make.report.causes import Cause, History, find_causes, find_sources
from lairmake.stages.make.report.colour import paint
from lairmake.stages.make.report.details import list_some
from lairmake.stages.make.report.folded import Told, group, say_slots
from lairmake.stages.make.store.folders import matches, names_meant
from lairmake.stages.make.store.marks import FORGOTTEN, is_marked
from lairmake.stages.make.store.state import memo_of
from lairmake.stages.make.store.state_folder import state_folder

MOST_LINES = 40
"""How many lines are printed at most, but with `-v`."""

PLAN_STYLES = {
    WOULD_RUN: "red", MAY_RUN: "yellow", FROM_STORE: "cyan", LEFT_OUT: "dim", UP_TO_DATE: "green",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a build would do to a task, what of all that it reads changed, and why in words."""

    forecast: Forecast
    causes: Sequence[Cause]
    reason: str


def plan_of(history: History, found: Mapping[str, Forecast], each: Forecast) -> Plan:
    """Return what a build would do to one of the tasks `found`, and why."""
    before = history.before(each.task)
    causes: list[Cause] = []
    if before is not None and each.status != UP_TO_DATE:
        causes = list(find_causes(each.folder, each.stage, before, _line(each, before)))
    if each.status == MAY_RUN:
        causes = [cause for cause in causes if not _waits(found, cause)]
    reason = _reason(found, each, causes, is_first=before is None)
    return Plan(forecast=each, causes=causes, reason=reason)


def _line(each: Forecast, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a task would read, as the log has it; `before` is what it had read.

    Of what waits for others it is not known which files it reads beyond those that it declares: it
    is taken to be those that it did.
    """
    if each.key is not None:
        return {"reads": {**each.key.reads, **each.key.further}, "code": code_units(each.stage)}
    memo = memo_of(state_folder(each.folder.home))
    names = names_meant(each.folder, declaration(each.stage).reads)
    reads = {name: read_digest(each.stage, each.folder, name, memo) for name in names}
    declared = declaration(each.stage).reads
    further = [n for n in before["reads"] if not any(matches(n, pattern) for pattern in declared)]
    return {"reads": {n: digest_further(each.folder, n, memo) for n in further} | reads}


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
    open_ = {task for task, other in found.items() if other.status in (WOULD_RUN, MAY_RUN)}
    taken = {crossing.name: crossing.after for crossing in each.folder.crossings}
    for read in declaration(each.stage).reads:
        for name in [name for name in taken if matches(name, read)] or [read]:
            if open_.intersection(taken.get(name, (writer_of(each.folder, name),))):
                yield name


def lines_of_tasks(history: History, plans: Sequence[Plan], told: Told) -> Iterator[str]:
    """Yield the lines of each layer that a build would not leave alone, and how many it would."""
    to_do = [plan for plan in plans if plan.forecast.status != UP_TO_DATE]
    width = max((len(plan.forecast.stage) for plan in to_do), default=0)
    for own in group(to_do, lambda plan: plan.forecast.folder, told):
        if told.folds(own[0].forecast.folder):
            names = [plan.forecast.folder.name for plan in own]
            yield say_slots(names, (plan.forecast.status for plan in own), PLAN_STYLES)
            continue
        yield paint("bold", own[0].forecast.folder.name)
        pairs = [(plan.forecast.folder, plan.causes) for plan in own]
        for path, edits in find_sources(history, pairs).items():
            yield f"  {paint('bold', path)}"
            yield from (f"    {edit}" for edit in edits)
        for plan in own:
            status = f"{plan.forecast.status:<{len(FROM_STORE)}}"
            painted = paint(PLAN_STYLES[plan.forecast.status], status)
            yield f"  {plan.forecast.stage:<{width}}  {painted}  {plan.reason}".rstrip()
    yield _up_to_date(plans)


def lines_of_layers(
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
    return ", ".join(
        paint(PLAN_STYLES[s], f"{statuses[s]} {s}") for s in PLAN_STYLES if statuses[s]
    )


def _reason_of(history: History, plans: Sequence[Plan]) -> str:
    """Return why a build would do that to a layer: the files that changed, else what is first."""
    pairs = [(plan.forecast.folder, plan.causes) for plan in plans]
    changed = list(find_sources(history, pairs))
    return f"{list_some(changed)} changed" if changed else plans[0].reason


def _up_to_date(plans: Sequence[Plan]) -> str:
    count = sum(plan.forecast.status == UP_TO_DATE for plan in plans)
    return f"{plural(count, 'task')} up to date"


def data_of_plan(plan: Plan) -> dict[str, Any]:
    """Return what a build would do to a task, and why, as data for a program."""
    each = plan.forecast
    return {
        "task": each.task,
        "layer": each.folder.name,
        "stage": each.stage,
        "status": each.status,
        "reason": plan.reason,
        "changed": [cause.name for cause in plan.causes],
    }

"""Runner of doit for layers, and the end of a build."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from multiprocessing import SimpleQueue
from typing import Any

from doit import doit_cmd
from doit.exceptions import BaseFail, TaskError
from doit.runner import MRunner

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.pipeline import RESULTS, values_of
from lairmake.stages.make.core.untouched import untouched_of
from lairmake.stages.make.core.verdict import list_wrong
from lairmake.stages.make.core.workers import Apart, apart, wait_for, workers
from lairmake.stages.make.doit.reporter import StageReporter, needed
from lairmake.stages.make.doit.session import INTERRUPTED, Session, ask, outcome
from lairmake.stages.make.store.folders import LayerFolder, file_of, folders_of
from lairmake.stages.make.store.state import memo_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import store_of

# --- Runner of stages in other processes ----------------------------------------------------------

def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LazyRunner(MRunner):  # type: ignore[misc]
    """Hands out stages to processes that run nothing else, and notes their results.

    Most stages of a layer wait for each other, so another process begins only where another layer
    has work. Tasks of the user run in this process. Then no two stages run at a time, since nobody
    knows what those tasks change. Where the user asked for processes, all tasks run in doit's.
    """

    Queue: Any = staticmethod(SimpleQueue)
    num_process: int

    @staticmethod
    def available() -> bool:
        """Return whether processes can be forked; doit would load locks to find that out."""
        return hasattr(os, "fork")

    @property
    def _session(self) -> Session:
        """That of the command: doit's own runners are made of their manager of dependencies."""
        known: Session = self.dep_manager.session
        return known

    def run_tasks(self, task_dispatcher: Any) -> None:
        """Run all tasks."""
        self._run_tasks_init(task_dispatcher)
        is_known = not any(task.loader for task in self.tasks.values())
        selected = task_dispatcher.selected_tasks if is_known else ()
        self._needed = set(needed(self.tasks, selected))
        has_others = not is_known or bool(self._needed - self._session.stages.keys())
        if has_others and self._session.asks_for_processes and self.num_process > 1:
            with workers().looked_after():
                super().run_tasks(task_dispatcher)
            return
        self._most = 1 if has_others else max(self.num_process, 1)
        self._ready: deque[Any] = deque()
        self._busy: dict[Apart, Any] = {}
        self._processes: list[Apart] = []
        self._helpers: list[Apart] | None = None
        self._look_for_work(None)
        while self._ready or self._busy:
            self._begin_tasks()
            for node in self._ended_tasks():
                self._look_for_work(node)
        self._end_engines()

    def _look_for_work(self, completed: Any) -> None:
        """Tell the dispatcher of a task that is done, and take tasks that are ready, if need be."""
        goes_on = self._take(completed)
        while goes_on and len(self._ready) + len(self._busy) < self._most:
            goes_on = self._take(None)

    def _take(self, node: Any) -> bool:
        """Keep the next task that is ready; return whether the dispatcher names one."""
        while not self._stop_running:
            try:
                node = self.task_dispatcher.generator.send(node)
            except StopIteration:
                return False
            if node == "hold on":
                return False
            if self.select_task(node, self.tasks):
                self._ready.append(node)
                return True
        self._ready.clear()
        return False

    def select_task(self, node: Any, tasks_dict: Any) -> bool:
        """Return whether a task is to be run by a process that is free.

        A task without actions needs no process, and one that the store knows is restored here.
        """
        if not super().select_task(node, tasks_dict):
            return False
        if not node.task.actions:
            self.process_task_result(node, self.execute_task(node.task))
            return False
        return not self._restore(node)

    def _restore(self, node: Any) -> bool:
        """Restore a stage from the store, here, if it knows it; return whether it did."""
        from lairmake.stages.make.core.action import restored

        folder, stage = self._session.stages.get(node.task.name, (None, ""))
        if folder is None or node.task.name in self._session.unknown:
            return False
        found = restored(stage, folder, self._session.build)
        if found is None:
            return False
        node.task.meta, node.task.executed = {"result": found}, True
        node.task.values.update(values_of(folder, stage))
        self.process_task_result(node, None)
        return True

    def _begin_tasks(self) -> None:
        """Hand out tasks that are ready, as long as a process is free; one of the user runs here.
        """
        while node := self._next_task():
            self._ready.remove(node)
            if node.task.name not in self._session.stages:
                self.process_task_result(node, self.execute_task(node.task))
                self._look_for_work(node)
                continue
            self.reporter.execute_task(node.task)
            process = next(each for each in self._processes if each not in self._busy)
            folder, stage = self._session.stages[node.task.name]
            seen = self._session.unknown.pop(node.task.name, None)
            ask(process, stage, folder, self._session.build, seen)
            self._busy[process] = node
            self._begin_engines(folder.name)

    def _begin_engines(self, layer: str) -> None:
        """Let other processes compile the engine, once, if a layer that begins runs on it."""
        if self._helpers is not None:
            return
        from lairmake.stages.make.core.workers import begin_engines, engines_of

        if kinds := engines_of(layer, self._needed):
            self._helpers = begin_engines(kinds, self._most, max(cores() - 1, 1))

    def _end_engines(self) -> None:
        """End who still compiles the engine, for tasks that did not come to need it."""
        for each in self._helpers or []:
            each.end()

    def _next_task(self) -> Any:
        """Return a task for which a process is free, or one begins; None where there is none."""
        if not self._ready or self._stop_running:
            return None
        if len(self._busy) == len(self._processes) < self._most:
            layers = {_layer_of(node) for node in self._busy.values()}
            others = (node for node in self._ready if _layer_of(node) not in layers)
            if node := next(others, None):
                self._add_process()
            return node
        return self._ready[0] if len(self._busy) < len(self._processes) else None

    def _add_process(self) -> None:
        """Let another process begin; what more than one of them needs is loaded here, once."""
        if not self._processes:
            self._try_stores()
        if len({_layer_of(node) for node in (*self._busy.values(), *self._ready)}) > 1 < self._most:
            self._load_stages()
        self._processes.append(apart(len(self._processes)))

    def _try_stores(self) -> None:
        """Find out what is wrong with the stores, which each process would say else."""
        home = self._session.home
        if home is not None:
            with contextlib.suppress(UserError, UserErrors), store_of(home).lock(""):
                pass  # what keeps a stage from being built fails that

    def _load_stages(self) -> None:
        """Load the stages that are ready; one that fails does so where it runs."""
        from lairmake.stages.make.core.stage import load

        names = {node.task.name for node in self._ready} & self._session.stages.keys()
        with workers().undisturbed(), contextlib.suppress(Exception):
            for stage in {self._session.stages[name][1] for name in names}:
                load(stage)
        gc.freeze()

    def _ended_tasks(self) -> list[Any]:
        """Wait until a task is done, if any runs, and return those that are."""
        ended = wait_for(list(self._busy)) if self._busy else []
        return [self._end(process, self._busy.pop(process)) for process in ended]

    def _end(self, process: Apart, node: Any) -> Any:
        """Note what became of a task that a process has done, and return it."""
        task = node.task
        folder, stage = self._session.stages[task.name]
        task.executed = True
        try:
            found = outcome(process, stage, folder, task)
        except Exception as error:  # as doit does, of any action
            found = TaskError("PythonAction Error", error)
        failed = found if isinstance(found, BaseFail) else None
        task.values.update({} if failed else found)
        self.process_task_result(node, failed)
        return node


def _layer_of(node: Any) -> str:
    name: str = node.task.name
    return name.partition(":")[0]

# --- End of a build: results, and layers noted as unchanged ---------------------------------------

LAYOUTS = "layouts.isl"
"""Text of the last stage of a kernel that is not cut into parts."""

MOST_SUMMARIES = 5
"""Number of layers, at most, that get a summary of several lines without `-v`."""


def finish(known: Session, code: int) -> int:
    """Do all that is left at the end of a build, and return the exit code; `code` is doit's."""
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
    from lairmake.stages.make.report.kernel_summary import READS, summarise_kernel

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

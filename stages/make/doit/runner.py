"""doit's runner in several processes, for layers: these are forked when two of them have work."""

from __future__ import annotations

import contextlib
import gc
import os
from collections import deque
from multiprocessing import SimpleQueue
from typing import Any

from doit.runner import JobTask, JobTaskPickle, MReporter, MRunner
from doit.task import DelayedLoaded

from stages.make.core.session import session
from stages.make.core.stage import load
from stages.make.core.workers import workers
from stages.make.doit.grouped import needed


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LazyRunner(MRunner):  # type: ignore[misc]
    """Runs tasks in this process as long as those that are ready are of one layer.

    Most stages of a layer wait for each other: more processes would only load modules again. From
    there on this process hands out tasks, and says that they begin when it does so. Where nobody
    asked for processes there is one if tasks of the user run, since nobody knows what they change.
    """

    Queue: Any = staticmethod(SimpleQueue)
    num_process: int
    is_asked_for = True

    def run_tasks(self, task_dispatcher: Any) -> None:
        """Run tasks here until two layers have work, and then in other processes."""
        self._ready: deque[Any] = deque()
        self._run_tasks_init(task_dispatcher)
        if not self.is_asked_for and self._has_others(task_dispatcher.selected_tasks):
            self.num_process = 1
        completed = None
        while not self._stop_running:
            self._look_for_work(completed)
            if not self._ready:
                return
            if self._has_work_for_two():
                self._load_stages()
                with workers().looked_after():
                    super().run_tasks(task_dispatcher)
                return
            completed = self._ready.popleft()
            self.process_task_result(completed, self.execute_task(completed.task))

    def _load_stages(self) -> None:
        """Load the stages that are ready, once for all processes; one that fails does so there."""
        names = {node.task.name for node in self._ready} & session().stages.keys()
        with workers().undisturbed(), contextlib.suppress(Exception):
            for stage in {session().stages[name][1] for name in names}:
                load(stage)
        gc.freeze()

    def _has_others(self, selected: Any) -> bool:
        """Return whether a task of the user is to run, or one that is not known yet."""
        is_known = not any(task.loader for task in self.tasks.values())
        return not is_known or bool(set(needed(self.tasks, selected)) - session().stages.keys())

    def _look_for_work(self, completed: Any) -> None:
        """Select tasks until there is work for all that may run, or none that is ready."""
        node = completed
        while not self._has_enough() and self._take(node):
            node = None

    def _has_enough(self) -> bool:
        return self._has_work_for_two() if self.num_process > 1 else bool(self._ready)

    def _has_work_for_two(self) -> bool:
        """Return whether tasks of several layers are ready, of which each may have a process."""
        layers = {node.task.name.partition(":")[0] for node in self._ready}
        return self.num_process > 1 and len(layers) > 1

    def select_task(self, node: Any, tasks_dict: Any) -> bool:
        """Return whether a task is to be run by whoever is free; one without actions needs none."""
        if not super().select_task(node, tasks_dict):
            return False
        if node.task.actions:
            return True
        self.process_task_result(node, self.execute_task(node.task))
        return False

    def _run_start_processes(self, job_q: Any, result_q: Any) -> Any:
        """Start as many processes as there are layers, at most."""
        layers = {name.partition(":")[0] for name in self.tasks}
        self.num_process = min(self.num_process, max(len(layers), len(self._ready)))
        return super()._run_start_processes(job_q, result_q)

    def get_next_job(self, completed: Any) -> Any:
        """Return a task that is ready; what doit does where none is known to be."""
        if not self._ready or self._stop_running:
            return super().get_next_job(completed)
        if completed is not None:
            self._take(completed)
        task = self._ready.popleft().task
        return JobTask(task) if task.loader is DelayedLoaded else JobTaskPickle(task)

    def _take(self, node: Any) -> bool:
        """Let the dispatcher know of a task that is done; return whether it names one as ready.

        That is kept.
        """
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
        return False

    def execute_task(self, task: Any) -> Any:
        """Run a task; who hands it out to other processes has said that it begins."""
        if not isinstance(self.reporter, MReporter):
            return super().execute_task(task)
        if task.teardown:
            self.teardown_list.append(task)
        return task.execute(self.stream)

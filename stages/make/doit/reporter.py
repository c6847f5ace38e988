"""Reporter of a build: lines printed as tasks run, and the log of the build."""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, TYPE_CHECKING, Any

from doit.exceptions import TaskFailed, UnmetDependency
from doit.reporter import ConsoleReporter

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.derived import PAGE, stage_that_draws
from lairmake.stages.make.core.key import ActionKey, code_units
from lairmake.stages.make.core.outputs import write_outputs
from lairmake.stages.make.core.workers import apart, progress
from lairmake.stages.make.doit.session import Session, StageError, StageFailed, printing
from lairmake.stages.make.store.folders import LayerFolder, file_of, shown_path, wholes_of
from lairmake.stages.make.store.state import state_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import store_of

if TYPE_CHECKING:
    from lairmake.stages.fabric.deadlock import FabricStop
    from lairmake.stages.make.core.action import ActionResult

# --- Live line of a build on a terminal -----------------------------------------------------------

@dataclass(slots=True, kw_only=True)
class RunningTask:
    """A task that runs since `began`, in seconds; it told its `share` at `told`; 0 is never."""

    began: float
    share: float = 0.0
    told: float = 0.0


class LiveLine:
    """One line with the tasks that run, the share done and from the store, and the time left.

    A stage that tells its share goes on at its own pace; others take as long as those before.
    """

    def __init__(self, stream: IO[str], total: int) -> None:
        from rich.console import Console, RenderableType
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        class Heard(Progress):
            def get_renderable(inside) -> RenderableType:  # noqa: N805
                self._hear()
                return super().get_renderable()

        progress().watch()
        self._total = total
        self._done = self._hits = 0
        self._spent = 0.0
        self._running: dict[str, RunningTask] = {}
        self._progress: Any = None
        columns = (
            TextColumn("{task.description}", markup=False), BarColumn(bar_width=20),
            MofNCompleteColumn(), TextColumn("{task.fields[hits]} from the store"),
            TextColumn("{task.fields[left]}"),
        )
        shown = Heard(*columns, console=Console(file=stream), transient=True)
        self._line = shown.add_task("", total=total, hits=0, left="")
        self._progress = shown

    def begin(self, task: str) -> None:
        """Show a task that begins to run."""
        self._running[task] = RunningTask(began=time.monotonic())
        self._progress.start()

    def end(self, task: str, is_hit: bool = False) -> None:
        """Count a task that ended, and whether the store had it."""
        self._done += 1
        self._hits += is_hit
        ran = self._running.pop(task, None)
        self._spent += time.monotonic() - ran.began if ran is not None else 0.0

    def hide(self) -> None:
        """Take the line away, so that something else can be printed."""
        self._progress.stop()

    def show(self) -> None:
        """Show the line again, if anything runs."""
        if self._running:
            self._progress.start()

    def left(self) -> float | None:
        """Return the seconds that the build may take from now on; None where nothing is known."""
        running = list(self._running.values())
        mean = self._spent / self._done if self._done else None
        own = [rest for each in running if (rest := _rest(each, mean)) is not None]
        if mean is None and not own:
            return None
        waiting = (self._total - self._done - len(running)) * (mean or 0.0)
        return max([(waiting + sum(own)) / max(1, len(running)), *own])

    def _hear(self) -> None:
        """Show what running tasks told since: called whenever the line is drawn anew."""
        if self._progress is None:
            return
        for task, share in progress().hear().items():
            if task in self._running:
                self._running[task].share, self._running[task].told = share, time.monotonic()
        left = self.left()
        shares = {task: each.share for task, each in list(self._running.items())}
        self._progress.update(
            self._line, completed=self._done + sum(shares.values()), hits=self._hits,
            description=next(_descriptions(shares), ""),
            left="" if left is None else f"{timedelta(seconds=round(left))} left",
        )


def _rest(running: RunningTask, mean: float | None) -> float | None:
    """Return the seconds that a task may still take: it goes on as fast as until it last told."""
    now = time.monotonic()
    if running.share:
        pace = (running.told - running.began) / running.share
        return max(0.0, running.began + pace - now)
    return max(0.0, running.began + mean - now) if mean is not None else None


def _descriptions(shares: dict[str, float]) -> Iterator[str]:
    """Yield the tasks that run, with how far they are, the last that began first."""
    for task, share in reversed(shares.items()):
        yield f"{task} {share:.0%}" if share else task

# --- Results of the stages of a build, a line a layer ---------------------------------------------

INTERVAL = 30.0
"""Seconds without a line after which a line says how far a layer is."""


class Grouped:
    """Selected stages by layer, and the results of those that ended.

    Parts of networks and kernels, and slots, count for the whole, if that is in `folders`.
    """

    def __init__(self, names: Iterable[str], folders: Iterable[LayerFolder] = ()) -> None:
        self._wholes = wholes_of(folders)
        self._selected = Counter(self._whole(name) for name in names)
        self._done: Counter[str] = Counter()
        self._failed: set[str] = set()
        self._ended: dict[str, Counter[str]] = {}
        self._said = time.monotonic()

    def end(self, name: str, how: str) -> str:
        """Note that a stage `ran`, was a `hit`, stayed the `same` or was `left`.

        Return the line of its layer if it was the last stage there, or if no line was printed for
        long. Otherwise, and for a layer to which nothing happened, return "".
        """
        whole = self._whole(name)
        self._done[whole] += 1
        self._ended.setdefault(whole, Counter())[how] += 1
        if self._done[whole] == self._selected[whole]:
            return self._line(whole)
        if time.monotonic() - self._said < INTERVAL:
            return ""
        self._said = time.monotonic()
        return f"{whole}: {self._done[whole]} of {_stages(self._selected[whole])} done\n"

    def fail(self, name: str) -> str:
        """Return the line, so far, of the layer of a stage that failed."""
        whole = self._whole(name)
        self._done[whole] += 1
        self._failed.add(whole)
        return self._line(whole, name.removeprefix(whole)[1:])

    def left(self) -> int:
        """Return the number of layers that have not ended because others failed."""
        ends = (self._done[whole] == count for whole, count in self._selected.items()
                if whole not in self._failed)
        return list(ends).count(False) if self._failed else 0

    def rest(self) -> str:
        """Return the lines of the layers that did not end."""
        return "".join(map(self._line, list(self._ended)))

    def _whole(self, name: str) -> str:
        layer = name.rpartition(":")[0]
        return self._wholes.get(layer, layer)

    def _line(self, whole: str, failed: str = "") -> str:
        said = list(_counts(self._ended.pop(whole, Counter())))
        said += [f"{failed} failed"] if failed else []
        if not said:
            return ""
        self._said = time.monotonic()
        return f"{whole}: {', '.join(said)}\n"


def needed(tasks: Mapping[str, Any], selected: Iterable[str]) -> list[str]:
    """Return the tasks with actions among the selected ones, and all that these depend on."""
    waiting = list(selected)
    seen = set(waiting)
    while waiting:
        found = {name for name in tasks[waiting.pop()].task_dep if name not in seen}
        seen |= found
        waiting += found
    return [name for name in seen if tasks[name].actions]


def _counts(ended: Counter[str]) -> Iterator[str]:
    if ended["ran"]:
        yield f"{_stages(ended['ran'])} ran"
    if ended["hit"]:
        yield f"{ended['hit'] if ended['ran'] else _stages(ended['hit'])} from the store"


def _stages(count: int) -> str:
    return f"{count} {'stage' if count == 1 else 'stages'}"

# --- Page of a fabric that stopped ----------------------------------------------------------------

def draw_stop(folder: LayerFolder, stop: FabricStop) -> str:
    """Write build/report.html of a folder whose fabric stopped, and return its path.

    The store keeps the page, so that the next report takes it for one of ours, and not for an edit
    by hand. Raises UserError and UserErrors, as stages do.
    """
    from lairmake.stages.make.core.inputs import FolderInputs
    from lairmake.stages.make.core.stage import MOST_OPERATIONS, load
    from lairmake.stages.poly.quota import limit_operations

    stage = stage_that_draws(folder)
    assert stage is not None, "what runs on a fabric can be drawn"
    inputs = FolderInputs(folder, declaration(stage).inputs)
    with limit_operations(MOST_OPERATIONS):
        content = load(stage).draw_stop(inputs, stop).encode()
    store_of(folder.home).keep(content)
    write_outputs(folder, declaration(stage).writes, {PAGE: content})
    return shown_path(file_of(folder, PAGE))

# --- Fabrics that stop in a build: page or hint ---------------------------------------------------

def is_drawn(known: Session, task: str, needed: Collection[str]) -> bool:
    """Return whether a build draws a report of a task's folder, or of the whole around it.

    `needed` are the tasks of the build.
    """
    folder = known.stages[task][0]
    whole = wholes_of(known.folders.values()).get(folder.name, folder.name)
    return any(
        f"{name}:{stage_that_draws(known.folders[name])}" in needed
        for name in {folder.name, whole}
    )


def draw_stops(known: Session) -> None:
    """Draw the fabrics that stopped, where the build would have drawn a report; print the paths."""
    for task in sorted(known.drawn):
        try:
            path = apart().call(draw_stop, known.stages[task][0], known.stops[task])
        except (UserError, UserErrors) as error:
            sys.stderr.write(str(error))
        else:
            sys.stderr.write(f"hint: {path} shows who waits for whom\n")


def hint_of(known: Session, task: str) -> str:
    """Return the hint of how to draw the fabric that stopped in a task; "" for no hint."""
    if task not in known.stops or task in known.drawn:
        return ""
    name = known.stages[task][0].name
    return f"hint: `{known.program} report {name}` draws who waits for whom\n"

# --- Reporter: a line a layer, errors on stderr ---------------------------------------------------

LINES = {"ran": ".  {}\n", "hit": "=  {}  from the store\n"}


class StageReporter(ConsoleReporter):  # type: ignore[misc]
    """Reporter with a line for each layer, or with `-v` for each stage, that did not stay the same.

    On a terminal one line shows the tasks that run instead.
    """

    desc = "what runs, what comes from the store, and the results"

    session: Session
    shows_results = True
    """Whether the results of layers are printed at the end."""

    def __init__(self, outstream: Any, options: Mapping[str, Any]) -> None:
        super().__init__(outstream, options)
        self._live: LiveLine | None = None
        self._grouped = Grouped([])

    def initialize(self, tasks: Mapping[str, Any], selected_tasks: Sequence[str]) -> None:
        """Take note of the tasks of a build, and watch them on a terminal."""
        names = needed(tasks, selected_tasks)
        known = self.session
        stages = (name for name in names if name in known.stages)
        self._grouped = Grouped(stages, known.folders.values())
        if self.outstream.isatty():
            self._live = LiveLine(self.outstream, len(names))

    def write(self, text: str) -> None:
        """Print a text at once; the live line is hidden meanwhile."""
        self._hide()
        with printing(self.outstream):
            super().write(text)
        if self._live is not None:
            self._live.show()

    def execute_task(self, task: Any) -> None:
        """Show a task that begins; the result of a stage is printed when it ends."""
        if task.name not in self.session.stages:
            super().execute_task(task)
        elif self._live is not None:
            self._live.begin(task.name)

    def skip_uptodate(self, task: Any) -> None:
        """Print a task that was restored from the store."""
        found = self.session.results.get(task.name)
        if found is None:
            super().skip_uptodate(task)
        else:
            self._print(task, found)

    def add_success(self, task: Any) -> None:
        """Print the result of a task that ran."""
        found = (task.meta or {}).get("result")
        if found is not None:
            self._print(task, found)

    def add_failure(self, task: Any, fail: Any) -> None:
        """Print a failure, unless it only follows from another one."""
        if isinstance(fail, UnmetDependency):
            if task.name in self.session.stages:
                self._say(self._grouped.end(task.name, "left"))
            return
        if self._live is not None:
            self._live.end(task.name)
        if task.name in self.session.stages:
            line = self._grouped.fail(task.name)
            self.write(f".  {task.title()}\n" if self.session.verbose else line)
        self._hide()
        if isinstance(fail, StageFailed):
            self.tell_refusal(task.name, fail.message + hint_of(self.session, task.name))
        elif isinstance(fail, StageError):
            sys.stderr.write(fail.message)
        else:
            super().add_failure(task, fail)

    def tell_refusal(self, task: str, text: str) -> None:
        """Print the errors of a stage in a layer folder."""
        sys.stderr.write(text)

    def complete_run(self) -> None:
        """Print what doit has to say at the end."""
        self._say(self._grouped.rest())
        self._hide()
        self._live = None  # of an interrupted build some tasks never end
        super().complete_run()
        left = self._grouped.left()
        if left:
            said = "1 other layer was" if left == 1 else f"{left} other layers were"
            sys.stderr.write(f"hint: {said} not built: `{self.session.program} -c` goes on\n")

    def _write_failure(self, result: Mapping[str, Any], write_exception: bool = True) -> None:
        fail = result["exception"]
        said = fail.get_msg() if write_exception else ""
        sys.stderr.write(f"{fail.get_name()} - taskid:{result['task'].name}\n{said}\n")

    def _say(self, line: str) -> None:
        """Print what became of a layer, unless it is told in other ways."""
        if line and self._live is None and not self.session.verbose:
            self.write(line)

    def _hide(self) -> None:
        if self._live is not None:
            self._live.hide()

    def _print(self, task: Any, found: ActionResult) -> None:
        """Print what became of a task, and say what was repaired on the way."""
        if self._live is not None:
            self._live.end(task.name, is_hit=found.how == "hit")
        if self.session.verbose and found.how in LINES:
            self.write(LINES[found.how].format(task.title()))
        self._say(self._grouped.end(task.name, found.how))
        layer = self.session.folders[task.name.rpartition(":")[0]]
        for name, digest in found.repaired.items():
            self._tell_repaired(layer, name, digest)
        for name in found.kept:
            self.write(f"kept {shown_path(file_of(layer, name))}, as it was edited by hand\n")

    def _tell_repaired(self, layer: LayerFolder, name: str, digest: str) -> None:
        """Say that an edit was replaced, and what keeps such edits, if anything does."""
        from lairmake.stages.make.core.pins import how_to_keep

        path, how = shown_path(file_of(layer, name)), how_to_keep(layer, name, self.session.build)
        kept = shown_path(store_of(layer.home).edit_path(digest))
        self.write(f"repaired {path}, which was edited by hand: {how} (this one is in {kept})\n")

# --- Log of a build, whichever reporter prints it -------------------------------------------------

WRONG, BUG = 1, 2
"""Exit codes of doit where a task fails, and where one cannot be run."""

NUMBERS = itertools.count()
"""Numbers of the builds of this process."""


class RecordedBuild:
    """Log of the result of every stage; `recorded` makes a reporter that also keeps it."""

    session: Session

    def __init__(self, outstream: Any, options: Mapping[str, Any]) -> None:
        super().__init__(outstream, options)  # type: ignore[call-arg]
        self._build = ""
        self._stages: set[str] = set()
        self._begin = time.time()
        self._tasks: Mapping[str, Any] = {}
        self._selected: Sequence[str] = ()
        self.session.reporter = self

    def initialize(self, tasks: Mapping[str, Any], selected_tasks: Sequence[str]) -> None:
        """Take note of the tasks of a build."""
        self._tasks, self._selected = tasks, selected_tasks
        if hasattr(super(), "initialize"):
            super().initialize(tasks, selected_tasks)  # type: ignore[misc]

    def skip_uptodate(self, task: Any) -> None:
        """Note a task that was restored from the store, or was up to date."""
        found = self.session.results.get(task.name)
        if found is not None:
            self._note(task, found)
        super().skip_uptodate(task)  # type: ignore[misc]

    def add_success(self, task: Any) -> None:
        """Note a task that was run."""
        found = self.session.results.get(task.name)
        if found is not None:
            self._note(task, found)
        super().add_success(task)  # type: ignore[misc]

    def add_failure(self, task: Any, fail: Any) -> None:
        """Note a failure, unless it only follows from another one."""
        if not isinstance(fail, UnmetDependency):
            self._fail(WRONG if isinstance(fail, TaskFailed) else BUG)
        if task.name in self.session.stages and not isinstance(fail, UnmetDependency):
            from lairmake.stages.make.core.action import current_key

            layer, _, stage = task.name.rpartition(":")
            key = current_key(stage, self.session.folders[layer])
            self._append_key(task.name, "failed", key, {"error": fail.message})
        if isinstance(fail, StageFailed) and fail.stop is not None:
            self.session.stops[task.name] = fail.stop
            if is_drawn(self.session, task.name, needed(self._tasks, self._selected)):
                self.session.drawn.add(task.name)
        super().add_failure(task, fail)  # type: ignore[misc]

    def runtime_error(self, msg: str) -> None:
        """Note an error of doit about a task during the build."""
        self._fail(BUG)
        super().runtime_error(msg)  # type: ignore[misc]

    def _fail(self, code: int) -> None:
        self.session.failed = max(self.session.failed, code)

    def end(self, code: int) -> None:
        """Note the end of the build, in one line if no layer had a task to look at."""
        known, now = self.session, time.time()
        if self._build:
            self._append({"event": "end", "when": now, "seconds": now - self._begin, "exit": code})
        elif code == 0 and known.unchanged + len(known.clean):
            self._start("same", {"layers": known.unchanged + len(known.clean)})
        if known.home is not None:
            state_of(state_folder(known.home)).shorten()

    def _note(self, task: Any, found: ActionResult) -> None:
        edits = {"kept": found.kept, "repaired": found.repaired, "forgotten": found.forgotten}
        edits = {word: what for word, what in edits.items() if what}
        if found.how == "same":
            line = {"key": found.key.digest, "start": found.start}
            self._append_task(task.name, "same", {**line, **edits})
        else:
            done = {"start": found.start, "seconds": found.seconds, "pid": found.pid, **edits}
            self._append_key(task.name, found.how, found.key, {"writes": found.outputs, **done})

    def _append_key(self, task: str, how: str, key: ActionKey, more: Mapping[str, Any]) -> None:
        reads = {**key.reads, **key.further}
        self._append_task(task, how, {"key": key.digest, "reads": reads, **more})

    def _append_task(self, task: str, how: str, more: Mapping[str, Any]) -> None:
        layer, _, stage = task.rpartition(":")
        home = self.session.home
        if not self._build and home is not None:
            from lairmake.stages.make.core.pipeline import news

            self._start("begin", {"always": self.session.build.always, **news(state_folder(home))})
        if "reads" in more and stage not in self._stages:
            self._stages.add(stage)
            self._append({"event": "code", "stage": stage, "units": code_units(stage)})
        self._append({"task": task, "layer": layer, "stage": stage, "how": how, **more})

    def _start(self, event: str, more: Mapping[str, Any]) -> None:
        """Write the first line of the build: what was asked for, nothing being everything."""
        self._build = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{next(NUMBERS)}"
        known = self.session
        asked = {"arguments": known.arguments, "asked": sorted(known.asked)}
        self._append({"event": event, "when": self._begin, "pid": os.getpid(), **asked, **more})

    def _append(self, line: Mapping[str, Any]) -> None:
        home = self.session.home
        if home is not None:
            state_of(state_folder(home)).add({"build": self._build, **line})


def recorded(reporter: type, session: Session) -> type:
    """Return a reporter of doit that also writes the log of a build."""
    return type(reporter.__name__, (RecordedBuild, reporter), {"session": session})

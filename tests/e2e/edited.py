"""The edits of edits.yaml, each tried in a folder of its own: what doit diff and why say of it.

    .venv/bin/python -m tests.e2e.edited [NAME ...]

writes what is expected of them, golden/diff/NAME.txt, anew: look at it with git diff.
"""

import io
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import yaml
from doit.reporter import ZeroReporter

from lairmake.stages.make.core.action import build
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import needed, orders, tasks_of_folders
from lairmake.stages.make.doit.reporter import recorded
from lairmake.stages.make.doit.session import Session
from lairmake.stages.make.report.causes import History, explained, told
from lairmake.stages.make.report.screen import LayerState, compare, screens, state_now
from lairmake.stages.make.store.folders import folders_of

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WHEN = re.compile(r"build of [-\d]+ [:\d]+$", re.MULTILINE)
GOLDEN = HERE / "golden/diff"
EDITS = yaml.safe_load((HERE / "edits.yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the commands print of an edit, and how many lines git diff has of the same texts."""

    diff: str
    why: str
    lines_of_git: int

    @property
    def text(self):
        return f"{self.diff}\n{self.why}"


def golden(name):
    return GOLDEN / f"{name}.txt"


def said_of(name, root):
    """Build a folder below `root`, edit it, build it again, and ask."""
    edit, path = EDITS[name], root / "projects" / name
    shutil.copytree(ROOT / "projects" / edit["of"], path, ignore=shutil.ignore_patterns("build"))
    session = Session(home=root, arguments=[])
    before = _built(session, path, "before")
    shutil.copytree(root / "cache" / name, root / "before")
    for file, changes in edit["edits"].items():
        _replace(_place(path, file), changes)
    after = _built(session, path, "now")
    nothing = LayerState(label="before", files={}, notes=("not there",))
    found = [
        compare(folder, before.get(folder.name, (folder, nothing))[1], state)
        for folder, state in after.values() if not folder.is_slot
    ]
    diff = screens(found, is_whole=False, is_file=False)
    why = _why(root, name, [folder for folder, _ in after.values()])
    return Said(
        diff=diff, why=why.replace(f"{root}/", ""),
        lines_of_git=_lines_of_git(root / "before", root / "cache" / name),
    )


def _place(path, file):
    """Return a file of the layer folder, or of its cache."""
    cache = path.parents[1] / "cache" / path.name
    return cache / file.removeprefix("cache/") if file.startswith("cache/") else path / file


def _replace(path, changes):
    text = path.read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text, f"{path} has no {old}"
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def _built(session, path, label):
    """Build a folder and all its parts, write the log, and return all their states by name."""
    reporter = recorded(ZeroReporter, session)(io.StringIO(), {})
    done = set()
    while True:
        folders = folders_of(open_folder(path))
        tasks = tasks_of_folders(folders)
        task = next((t for t in needed(orders(tasks), tasks) if t not in done), None)
        if task is None:
            break
        folder, stage = tasks[task]
        _note(reporter, task, build(stage, folder))
        done.add(task)
    reporter.end(0)
    return {each.name: (each, replace(state_now(each), label=label)) for each in folders}


def _note(reporter, task, result):
    reporter.session.results[task] = result
    noted = SimpleNamespace(name=task)
    if result.how == "same":
        reporter.skip_uptodate(noted)
    else:
        reporter.add_success(noted)


def _why(root, name, folders):
    tasks = tasks_of_folders(folders, analyses=True)
    history = History(root, tasks)
    wanted = [task for task, (folder, _) in tasks.items() if folder.name == name]
    found = explained(history, tasks, wanted, is_all=False, is_chain=False)
    return WHEN.sub("build", "".join(told(history, *each) for each in found))


def _lines_of_git(before, after):
    command = ["git", "diff", "--no-index", "--no-ext-diff", before, after]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return len(ended.stdout.splitlines())


def main(names):
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name in names or EDITS:
        with tempfile.TemporaryDirectory() as root:
            said = said_of(name, Path(root))
            golden(name).write_text(said.text, encoding="utf-8")
            print(f"{name}: {len(said.diff.splitlines())} lines, git {said.lines_of_git}")


if __name__ == "__main__":
    main(sys.argv[1:])

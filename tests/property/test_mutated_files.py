"""A damaged file ends a build with an error that names a file, or with right values; nothing else.

Each mutant is built in a process of its own, with limits on memory and time: FAST of them by those
stages only that read what users write, MANY by the command line, which simulates what it compiles.
"""

import os
import resource
import signal
import sys
import traceback

import pytest

from lairmake.__main__ import main
from stages import NETWORK, PIPELINE, TILES, TRIED
from stages.diagnose import UserError, UserErrors, source_of
from stages.make.core.action import run_stage
from stages.make.core.edits import check_edit
from stages.make.core.layers import open_folder
from stages.make.core.pipeline import needed, orders, tasks_of_folders
from stages.make.store.folders import folders_of
from stages.make.store.settings import shared_store
from tests.property.mutants import FOLDERS, ROOT, write_mutant

FAST, MANY = range(16), range(1000)
AT_ONCE = 50
SECONDS, BYTES = 60, 4 * 2**30
LATER = frozenset((*PIPELINE[PIPELINE.index("adapt"):], "settle", NETWORK[-1], TILES[-1]))
FINE, REFUSED, WRONG = 0, 1, 2
BY_COMMAND = FOLDERS.keys() - {"settings", "text"}
"""Kinds of folders that `lairmake` builds."""


def build(kind, name, folder):
    """Read a mutant as doit would. Raises UserError or UserErrors."""
    if kind == "settings":
        shared_store(folder)
    elif kind == "text":
        content = (folder / name).read_bytes()
        original = (ROOT / "cache/fc" / name).read_text(encoding="utf-8")
        check_edit(source_of(name, content), original)
    else:
        run_stages(open_folder(folder))


def run_stages(folder):
    """Run the stages that read what users write, in the order of a build."""
    tasks = tasks_of_folders(folders_of(folder))
    for task in needed(orders(tasks), tasks):
        each, stage = tasks[task]
        is_settled = each.is_searched and not each.is_slot and stage in TRIED
        if stage not in LATER and not is_settled:
            run_stage(stage, each)


def names_a_file(error, folder):
    """Return whether a text names a file of a folder, or the folder."""
    said = str(error)
    return str(folder) in said or any(name in said for files in FOLDERS.values() for name in files)


def told(kind, code, said, folder):
    """Return how the command line ended: with right values, or with errors that name a file.

    What a text that is pinned makes the programs compute may be wrong, if that is said.
    """
    if code not in (0, 1, 3) or "Traceback" in said or "a bug of ours" in said:
        return WRONG
    if "WRONG" in said:
        return FINE if (kind, code) == ("pinned", 1) else WRONG
    if code == 0:
        return FINE
    return REFUSED if "error: " in said.lower() and names_a_file(said, folder) else WRONG


def ended(kind, name, folder):
    """Return how a mutant ended, in this process."""
    try:
        build(kind, name, folder)
    except (UserError, UserErrors) as error:
        if names_a_file(error, folder):
            return REFUSED
        sys.stderr.write(f"{kind} {name}: no file is named: {error}\n")
        return WRONG
    except BaseException:
        traceback.print_exc()
        return WRONG
    why = open_folder(folder).unread
    bugs = [why] if "a bug of ours" in why else []
    sys.stderr.writelines(bugs)
    return WRONG if bugs else FINE


def run(seed, tmp_path, whole):
    """Return how the mutant of a seed ended, and what it printed."""
    top = tmp_path / str(seed)
    folder = top / "above" / "l"
    folder.mkdir(parents=True)
    kind, name = write_mutant(seed, folder)
    printed = tmp_path / f"{seed}.txt"
    by_command = whole and kind in BY_COMMAND
    process = os.fork()
    if process == 0:
        code = WRONG
        try:
            file = os.open(printed, os.O_WRONLY | os.O_CREAT)
            os.dup2(file, 1)
            os.dup2(file, 2)
            sys.stdout, sys.stderr = (os.fdopen(each, "w") for each in (1, 2))
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
            os.chdir(folder)
            code = main(["-n", "1"]) if by_command else ended(kind, name, folder)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    outside = [p for p in top.rglob("*") if p != folder and folder not in p.parents]
    said = printed.read_text(encoding="utf-8", errors="replace")
    if outside != [top / "above"]:
        return WRONG, f"{kind} {name}: outside of the folder: {outside}"
    how = told(kind, status, said, folder) if by_command else status
    return how, f"{kind} {name}: {status}: {said}"


def wrong_ones(seeds, tmp_path, whole):
    found = {seed: run(seed, tmp_path, whole) for seed in seeds}
    good = (FINE, REFUSED)
    return {seed: (code, said[-2000:]) for seed, (code, said) in found.items() if code not in good}


def test_a_damaged_file_is_refused_by_name_or_built(tmp_path):
    assert wrong_ones(FAST, tmp_path, False) == {}


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("first", range(MANY.start, MANY.stop, AT_ONCE))
def test_any_of_many_damaged_files_is_refused_by_name_or_built_right(tmp_path, first):
    assert wrong_ones(range(first, first + AT_ONCE), tmp_path, True) == {}


def test_what_is_not_damaged_is_built(tmp_path):
    for kind in ("layer", "kernel"):
        for name, content in FOLDERS[kind].items():
            path = tmp_path / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        build(kind, "", tmp_path / kind)
    assert (tmp_path / "kernel/build/parts").is_dir()
    assert (tmp_path / "layer/cache/placement.isl").is_file()

"""A damaged file ends a build with an error that names a file, or with right values; nothing else.

Each mutant is built in a process of its own, with limits on memory and time, as doit builds it: the
same stages on the same folder; FAST of them by those stages only that read what users write.
"""

import json
import os
import resource
import signal
import sys
import traceback

import pytest

from stages import PIPELINE
from stages.diagnose import UserError, UserErrors, source_of
from stages.make.action import run_stage
from stages.make.edits import check_edit
from stages.make.folders import parts_of
from stages.make.layers import open_folder
from stages.make.session import begin, session
from stages.make.settings import shared_store
from tests.property.mutants import FOLDERS, ROOT, write_mutant

FAST, MANY = range(16), range(1000)
AT_ONCE = 50
SECONDS, BYTES = 60, 4 * 2**30
LATER = frozenset(PIPELINE[PIPELINE.index("adapt"):])
FINE, REFUSED, WRONG = 0, 1, 2


def build(kind, name, folder, whole):
    """Do with a mutant what doit would. Raises UserError or UserErrors."""
    if kind == "settings":
        shared_store(folder)
    elif kind == "text":
        content = (folder / name).read_bytes()
        original = (ROOT / "cache/fc" / name).read_text(encoding="utf-8")
        check_edit(source_of(name, content), original)
    else:
        build_stages(open_folder(folder), whole)


def build_stages(folder, whole):
    """Run all stages, or those that read what users write, in the order of a build."""
    last = folder.stages[-1:] if folder.parts or folder.stages[0] == "connect" else ()
    before = [each for each in folder.stages if each not in last]
    order = [(folder, stage) for stage in before]
    order += [(part, stage) for part in parts_of(folder) for stage in PIPELINE]
    order += [(folder, stage) for stage in last if whole]
    order = [(each, stage) for each, stage in order if whole or stage not in LATER]
    for each, stage in order:
        run_stage(stage, each)
    for results in folder.build.rglob("results.json"):
        checks = json.loads(results.read_text(encoding="utf-8")).get("check", {})
        assert all(check.get("right", True) for check in checks.values()), results


def names_a_file(error, folder):
    said = str(error)
    return str(folder) in said or any(name in said for files in FOLDERS.values() for name in files)


def ended(kind, name, folder, whole):
    """Return how a mutant ended, in this process."""
    begin()
    try:
        build(kind, name, folder, whole)
    except (UserError, UserErrors) as error:
        if names_a_file(error, folder):
            return REFUSED
        sys.stderr.write(f"{kind} {name}: no file is named: {error}\n")
        return WRONG
    except BaseException:
        traceback.print_exc()
        return WRONG
    bugs = [why for why in session().unread.values() if "a bug of ours" in why]
    sys.stderr.writelines(bugs)
    return WRONG if bugs else FINE


def run(seed, tmp_path, whole):
    """Return how the mutant of a seed ended, and what it printed."""
    top = tmp_path / str(seed)
    folder = top / "above" / "l"
    folder.mkdir(parents=True)
    kind, name = write_mutant(seed, folder)
    printed = tmp_path / f"{seed}.txt"
    process = os.fork()
    if process == 0:
        code = WRONG
        try:
            file = os.open(printed, os.O_WRONLY | os.O_CREAT)
            os.dup2(file, 1)
            os.dup2(file, 2)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
            code = ended(kind, name, folder, whole)
            sys.stderr.flush()
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    outside = [p for p in top.rglob("*") if p != folder and folder not in p.parents]
    said = printed.read_text(encoding="utf-8", errors="replace")
    if outside != [top / "above"]:
        return WRONG, f"{kind} {name}: outside of the folder: {outside}"
    return status, f"{kind} {name}: {said}"


def wrong_ones(seeds, tmp_path, whole):
    found = {seed: run(seed, tmp_path, whole) for seed in seeds}
    good = (FINE, REFUSED)
    return {seed: (code, said[-2000:]) for seed, (code, said) in found.items() if code not in good}


def test_a_damaged_file_is_refused_by_name_or_built(tmp_path):
    assert wrong_ones(FAST, tmp_path, False) == {}


@pytest.mark.long
@pytest.mark.parametrize("first", range(MANY.start, MANY.stop, AT_ONCE))
def test_any_of_many_damaged_files_is_refused_by_name_or_built_right(tmp_path, first):
    assert wrong_ones(range(first, first + AT_ONCE), tmp_path, True) == {}


def test_what_is_not_damaged_is_built(tmp_path):
    for kind in ("layer", "kernel"):
        for name, content in FOLDERS[kind].items():
            path = tmp_path / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        build(kind, "", tmp_path / kind, False)
    assert (tmp_path / "kernel/build/parts").is_dir()
    assert (tmp_path / "layer/cache/placement.isl").is_file()

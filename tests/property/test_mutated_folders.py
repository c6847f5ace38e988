"""A damaged file ends a build with an error that names a file, or with right values; nothing else.

Mutants are built in another process, with limits on memory and time: FAST of them, and FURTHER
ones, by those stages only that read what users write, one after the other, MANY by the command
line, each in a process of its own, which simulates what it compiles.
"""

import json
import os
import re
import resource
import signal
import sys
import traceback

import pytest

from lairmake.__main__ import main
from lairmake.stages import (
    GRAPH,
    GRAPH_PARTS,
    KERNEL,
    NETWORK,
    PIPELINE,
    PROGRAM,
    RECEIVES,
    TILES,
    TRIED,
)
from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.edits import check_edit
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.pipeline import needed, orders, tasks_of_folders
from lairmake.stages.make.core.stage import load
from lairmake.stages.make.store.folders import file_of, folders_of
from lairmake.stages.make.store.settings import shared_store
from lairmake.stages.program.sandbox.limits import ChildLimits
from tests.property.damaged_folders import MAKERS, ROOT, files_of, write_damaged, write_files

FAST, FURTHER, MANY = range(200), range(3000, 8000), range(3000)
AT_ONCE = 50
SECONDS, PATIENCE, BYTES = 60, 180, 4 * 2**30
"""What a mutant takes at most: seconds of a core, seconds on the clock, and bytes."""
FEW = 5
"""How many seconds the code of a program runs, in this process."""
LATER = frozenset((
    *PIPELINE[PIPELINE.index("adapt"):], "settle", NETWORK[-1], TILES[-1], GRAPH_PARTS[-1],
    *RECEIVES,
))
FINE, REFUSED, WRONG = 0, 1, 2
BY_COMMAND = MAKERS.keys() - {"settings", "text"}
"""Kinds of folders that `lairmake` builds."""
OF_PYTHON = re.compile(
    r"Traceback|bug of ours|fault of Lairmake|NoneType|"
    r"\bobject (has no attribute|is not [a-z]+able)|index out of range|unhashable|zip\(\)|"
    r"not (subscriptable|iterable|callable|hashable)|invalid literal|"
    r"\b(Key|Value|Type|Index|Attribute|Assertion|Recursion|Overflow|Memory|Unicode)Error|"
    r"to unpack|positional argument|keyword argument|isl_[a-z_]+|<stages\.|<xdsl|0x[0-9a-f]{9,}"
)
"""Words that are of no use to who wrote the folder."""
QUOTED = re.compile(r"the program raises .*|^  .*$", re.MULTILINE)
"""What a user wrote, and what a program raises: who wrote it reads Python."""


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
    after, left = orders(tasks), set()
    for task in needed(after, tasks):
        each, stage = tasks[task]
        is_settled = each.is_searched and not each.is_slot and stage in TRIED
        if stage in LATER or is_settled or not left.isdisjoint(after[task]):
            left.add(task)
        else:
            run_stage(stage, each)


def has_words_of_python(said):
    """Return whether a text says what only who wrote Lairmake can make use of."""
    return OF_PYTHON.search(QUOTED.sub("", said)) is not None


def names_a_file(error, folder):
    """Return whether a text names a file of a folder, the folder, or the graph of a framework."""
    said = str(error)
    names = [name for every in (*map(files_of, MAKERS), {"p.py": b""}) for name in every]
    return any(each in said for each in (str(folder), *names, "error: g: "))


def told(kind, code, said, folder):
    """Return how the command line ended: with right values, or with errors that name a file.

    What a text that is pinned makes the programs compute may be wrong, if that is said.
    """
    if code not in (0, 1, 3) or has_words_of_python(said):
        return WRONG
    if "WRONG" in said:
        return FINE if (kind, code) == ("pinned", 1) else WRONG
    if code == 0:
        return FINE
    named = "error: " in said.lower() and names_a_file(said, folder)
    return REFUSED if named and (kind == "pinned" or is_whole(folder)) else WRONG


def is_whole(folder):
    """Return whether every stage wrote all of its files below a folder, or none of them."""
    try:
        every = folders_of(open_folder(folder))
    except (UserError, UserErrors):
        return True
    for each in every:
        for stage in each.stages:
            names = [n for n in declaration(stage).writes if "*" not in n]
            there = [file_of(each, name).is_file() for name in names]
            if any(there) and not all(there):
                sys.stderr.write(f"{each.name}:{stage} wrote a part of {names}\n")
                return False
    return True


def ended(kind, name, folder):
    """Return how a mutant ended, in this process."""
    try:
        build(kind, name, folder)
    except (UserError, UserErrors) as error:
        sys.stderr.write(str(error))
        if names_a_file(error, folder) and not has_words_of_python(str(error)):
            return REFUSED
        sys.stderr.write(f"{kind} {name}: no file is named, or in words of Python\n")
        return WRONG
    except BaseException:
        traceback.print_exc()
        return WRONG
    why = open_folder(folder).unread
    bugs = [why] if "a bug of ours" in why else []
    sys.stderr.writelines(bugs)
    return WRONG if bugs else FINE


def limit():
    """Bound what code of programs may take of time, and this process of memory."""
    from lairmake.stages.program import capture, interpret, rehearse
    from lairmake.stages.program.interpreter import run

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    for stage in (capture, rehearse):
        whole = stage.run_apart
        stage.run_apart = lambda *given, whole=whole, **more: whole(
            *given, **{"limits": ChildLimits(seconds=FEW), **more})
    run.LONGEST = interpret.LONGEST = FEW


def await_end():
    """Bound what the next mutant may take of time, in this process."""
    signal.alarm(PATIENCE)
    used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_CPU, (used + SECONDS, resource.RLIM_INFINITY))


def build_seed(seed, top, whole, kinds):
    """Build the mutant of a seed, in this process; returns its exit code."""
    folder = top / "above" / "l"
    folder.mkdir(parents=True)
    kind, name = write_damaged(seed, folder, kinds)
    file = os.open(top.parent / f"{seed}.txt", os.O_WRONLY | os.O_CREAT)
    for each in (1, 2):
        os.dup2(file, each)
    sys.stdout, sys.stderr = (os.fdopen(os.dup(each), "w") for each in (1, 2))
    os.chdir(folder)
    by_command = whole and kind in BY_COMMAND
    code = main(["-n", "1"]) if by_command else ended(kind, name, folder)
    sys.stdout.flush()
    sys.stderr.flush()
    return {"seed": seed, "kind": kind, "name": name, "code": code, "by_command": by_command}


def build_seeds(seeds, tmp_path, whole, kinds):
    """Build the mutants of seeds, one after the other, in a process of its own.

    Returns what became of each of them: of those after one that ended the process, nothing.
    """
    done = tmp_path / "done"
    done.unlink(missing_ok=True)
    process = os.fork()
    if process == 0:
        try:
            limit()
            with done.open("w") as told:
                for seed in seeds:
                    await_end()
                    found = build_seed(seed, tmp_path / str(seed), whole, kinds)
                    told.write(json.dumps(found) + "\n")
                    told.flush()
        finally:
            os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    found = [json.loads(line) for line in done.read_text().splitlines()] if done.exists() else []
    if len(found) < len(seeds):
        ended = {"kind": "", "name": "", "code": f"ended with {status}", "by_command": False}
        found.append({"seed": seeds[len(found)], **ended})
    return found


def judge(found, tmp_path):
    """Return how a mutant ended, and what it printed."""
    top = tmp_path / str(found["seed"])
    folder = top / "above" / "l"
    said = (tmp_path / f"{found['seed']}.txt").read_text(encoding="utf-8", errors="replace")
    outside = [p for p in top.rglob("*") if p != folder and folder not in p.parents]
    how = found["code"]
    if outside != [top / "above"]:
        how, said = WRONG, f"outside of the folder: {outside}"
    elif found["by_command"]:
        how = told(found["kind"], how, said, folder)
    return how, f"{found['kind']} {found['name']}: {found['code']}: {said}"


def ends_of(seeds, tmp_path, whole, kinds=tuple(MAKERS)):
    """Return how mutants ended, and what they printed, by their seeds."""
    left, found = list(seeds), {}
    while left:
        ended = build_seeds(left[:1] if whole else left, tmp_path, whole, kinds)
        found |= {each["seed"]: judge(each, tmp_path) for each in ended}
        left = left[len(ended):]
    return found


def wrong_ones(ends):
    """Return the ends of mutants that did not do well, by their seeds."""
    good = (FINE, REFUSED)
    return {seed: (code, said[-2000:]) for seed, (code, said) in ends.items() if code not in good}


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """Load stages here: they need not be loaded for every mutant."""
    for stage in (*KERNEL, *TILES, *GRAPH, *GRAPH_PARTS, *NETWORK, *PROGRAM, *PIPELINE):
        load(stage)


@pytest.mark.parametrize("kinds", [
    ("layer", "kernel"),
    pytest.param([*MAKERS.keys() - {"settings", "text", "programs"}], marks=pytest.mark.long),
])
def test_what_is_not_damaged_is_built(tmp_path, kinds):
    for kind in kinds:
        folder = tmp_path / kind
        write_files(files_of(kind), folder)
        build(kind, "", folder)


@pytest.mark.wide
def test_a_damaged_file_is_refused_by_name_or_built(tmp_path):
    ends = ends_of(FAST, tmp_path, False)
    assert wrong_ones(ends) == {}
    assert {code for code, _ in ends.values()} == {FINE, REFUSED}


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("first", range(FURTHER.start, FURTHER.stop, len(FAST)))
def test_any_of_further_damaged_files_is_refused_by_name_or_read(tmp_path, first):
    assert wrong_ones(ends_of(range(first, first + len(FAST)), tmp_path, False)) == {}


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("first", range(MANY.start, MANY.stop, AT_ONCE))
def test_any_of_many_damaged_files_is_refused_by_name_or_built_right(tmp_path, first):
    assert wrong_ones(ends_of(range(first, first + AT_ONCE), tmp_path, True)) == {}

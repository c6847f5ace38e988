"""Who waits for a lock says for whom: another build, `cache gc`; never for its own processes."""

import os
from contextlib import contextmanager
from functools import partial

import pytest

from lairmake.stages.make.store import lock as lock_holders
from lairmake.stages.make.store.lock import Holder, begin_family, join_family, locked
from lairmake.stages.make.store.shelf import FolderShelf

HOLDER = Holder(who="another build", does="is at a:place")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(lock_holders, "PATIENCE", 0.05)
    monkeypatch.setattr(lock_holders, "_SAID", set())
    monkeypatch.setattr(lock_holders, "_FAMILY", [])


@contextmanager
def held_elsewhere(lock, joins=False):
    """Hold a lock in another process, until half a second after somebody began to wait."""
    (told, tells), (asked, asks) = os.pipe(), os.pipe()
    process = os.fork()
    if process == 0:
        if joins:
            join_family()
        with lock():
            os.write(tells, b"!")
            os.read(asked, 1)
            lock_holders.threading.Event().wait(0.3)
            os._exit(0)
    os.read(told, 1)
    os.write(asks, b"!")
    try:
        yield process
    finally:
        os.waitpid(process, 0)
        for each in (told, tells, asked, asks):
            os.close(each)


@pytest.mark.wide
def test_what_is_waited_for_is_said_with_its_process_once(tmp_path, capsys):
    processes = []
    for _ in range(2):
        with held_elsewhere(lambda: locked(tmp_path, "a")) as process:
            processes.append(process)
            with locked(tmp_path, "a", holder=HOLDER) as held:
                assert held
    said = f"waiting for another build, process {processes[0]}, which is at a:place\n"
    assert capsys.readouterr().err == said


def test_a_process_of_the_same_build_is_not_another_build(tmp_path, capsys):
    begin_family()
    lock = partial(locked, tmp_path, "a")
    with held_elsewhere(lock, joins=True), lock(holder=HOLDER):
        pass
    assert capsys.readouterr().err == ""


def test_a_build_that_waits_while_a_store_is_made_smaller_says_so(tmp_path, capsys):
    shelf = FolderShelf(tmp_path)
    with held_elsewhere(shelf.sweeping) as process, shelf.publishing():
        pass
    assert capsys.readouterr().err == (
        f"waiting for `cache gc`, process {process}, which removes what nobody needs\n"
    )


def test_who_makes_a_store_smaller_waits_for_builds_that_write_into_it(tmp_path, capsys):
    shelf = FolderShelf(tmp_path)
    with held_elsewhere(shelf.publishing) as process, shelf.sweeping():
        pass
    assert capsys.readouterr().err == (
        f"waiting for a build, process {process}, which writes into this store\n"
    )

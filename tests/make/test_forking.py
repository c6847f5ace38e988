"""A process that is forked while a thread is at the database of what is remembered goes on."""

import os
import threading

import pytest

from lairmake.stages.make.store.state import WorkspaceState


@pytest.mark.wide
def test_a_process_forked_while_another_thread_reads_does_not_wait_for_it(tmp_path):
    state = WorkspaceState(tmp_path)
    state.keep("memo", {"a": 1})
    ends = threading.Event()

    def read():
        while not ends.is_set():
            state.get("memo", "a")

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            process = os.fork()
            if process == 0:
                os._exit(0 if state.get("memo", "a") == 1 else 1)
            assert ended(process) == 0
    finally:
        ends.set()
        for thread in threads:
            thread.join()


def ended(process):
    """Return how a process ended; one that waits for ever is killed."""
    killed = threading.Timer(10, os.kill, (process, 9))
    killed.start()
    try:
        return os.waitpid(process, 0)[1]
    finally:
        killed.cancel()

"""What a program does that no PE can is an error with its PE and its task, whatever it is.

PE[0, 0] does it, on an element of x from the north, or in its main; on y it sends to the south.
"""

import ctypes
import os
import re
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from lairmake.stages.fabric.driver import FabricFailure, FabricStuck
from tests.fabric.planned import arrive, leave
from tests.fabric.running import run_fabric

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (ROOT / "tests/fabric/programs/pe_faulty.c").read_text(encoding="utf-8")
FAULTS = re.findall(r"\w+", PROGRAM.partition("faults[] = {")[2].partition("}")[0])
ON_X = "its task `on_x` on an element of x"
BARE = "PE[0, 0] "
NAMED = "PE[0, 0] (faulty) "


def layout(row):
    """Return the layout of a PE that hears x, and sends y."""
    given = {"type": "int32", "shape": [2], "address": 0, "tensor": "given", "transfer": "in",
             "map": "{ [PE[0, 0] -> g[i]] -> given[i] : 0 <= i <= 1 }"}
    colours = {"x": "{ [PE[0, 0] -> N[]] -> ramp[] }", "y": "{ [PE[0, 0] -> ramp[]] -> S[] }"}
    return row("faulty", 1, colours, arrive(1), leave(1), {"g": given})


def run(library, row, profile, fault, in_main=0, **options):
    arrays = {"given": np.array([FAULTS.index(fault), in_main], "i4"), "x": np.ones(1, "i4")}
    return run_fabric(library, layout(row), profile, arrays, **options)


def failure(*arguments, **options):
    with pytest.raises(FabricFailure) as caught:
        run(*arguments, **options)
    return str(caught.value)


SAID = {
    "activates_null": f"{NAMED}activates no task: it is NULL, in {ON_X}",
    "divides": f"{NAMED}divided an integer by zero, or the least one by -1, in {ON_X}",
    "writes_to_null": f"{NAMED}touched memory through a pointer that is NULL in {ON_X}",
    "writes_anywhere": f"{NAMED}touched memory that is not its own in {ON_X}",
    "calls_itself":
        f"{NAMED}had no stack left: functions call each other without an end, in {ON_X}",
    "traps": f"{NAMED}did what C leaves undefined, in {ON_X}",
    "activates_all_the_time":
        f"{NAMED}has 65536 tasks activated that have not run, the last one in {ON_X}",
    "sends_all_the_time":
        f"{NAMED}has 1048576 streams and wavelets under way, the last one from {ON_X}",
    "is_done_twice":
        f"{NAMED}says once more that an invocation is done than there are, 1, in {ON_X}",
    "joins_null": f"{NAMED}joins two streams for no task: it is NULL, in {ON_X}",
    "charges_less": f"{NAMED}is charged -9 cycles in {ON_X}",
    "sends_by_no_vector": f"{BARE}runs a vector instruction that it did not configure",
    "sends_by_null": f"{BARE}runs a vector instruction that it did not configure",
    "configures_elsewhere":
        f"{NAMED}configures a vector that is not in its struct memory, in {ON_X}",
    "configures_less_than_none": f"{NAMED}configures a vector of size -3",
    "configures_no_size": f"{NAMED}configures a vector of 0 sizes; it has 1 to 4",
    "configures_too_many": f"{NAMED}configures a vector of more than 2147483647 points",
    "configures_no_type": f"{NAMED}configures an element type that there is not",
    "configures_no_operation": f"{NAMED}configures an operation that there is not",
    "configures_no_counter": f"{NAMED}configures a counter that the program does not have",
    "runs_between_elements": f"{BARE}touches an element of 4 bytes at byte 9 of its memory",
    "combines_sums": f"{NAMED}combines with a MAC, and what leaves is no sum",
    "sends_no_command": f"{NAMED}makes a control wavelet with no commands, or too many",
    "sends_a_wrong_command": f"{NAMED}makes a control wavelet with a command that there is not",
    "sends_a_far_index": f"{BARE}is told number 65536 of 65536 indices of sparse wavelets",
}


SIGNALLED = ("divides", "writes_to_null", "writes_anywhere", "calls_itself", "traps")
sanitized = pytest.mark.skipif(
    "-fsanitize" in os.environ.get("CC", ""), reason="a sanitizer ends the process before")
EACH = [pytest.param(fault, marks=sanitized) if fault in SIGNALLED else fault for fault in SAID]


@pytest.mark.wide_after(9)
@pytest.mark.parametrize("fault", EACH)
def test_what_no_pe_can_is_an_error_with_its_pe_and_task(library, row, ideal, fault):
    assert failure(library, row, ideal, fault) == SAID[fault]


@sanitized
@pytest.mark.parametrize("fault", ["writes_to_null", "calls_itself"])
def test_it_is_in_main_too(library, row, ideal, fault):
    assert failure(library, row, ideal, fault, 1) == SAID[fault].replace(ON_X, "its main")


def test_room_for_nothing_is_refused(library, row, ideal):
    assert failure(library, row, ideal, "gives_no_room", 1) == "PE[0, 0] gives x room for nothing"


@sanitized
def test_a_task_without_an_end_comes_to_the_limit_of_the_processors_time(library, row, ideal):
    said = failure(library, row, ideal, "loops", task_limit=0.05)
    assert said == (f"{NAMED}has had the processor for 0.05 seconds, and did not come to an end, "
                    f"in {ON_X}")


@pytest.mark.parametrize(("fault", "names"), [
    ("activates_itself", "again"), ("activates_each_other", "p[io]ng"),
])
def test_a_task_that_is_activated_for_ever_comes_to_the_limit_of_cycles(
    library, row, ideal, fault, names
):
    with pytest.raises(FabricStuck) as caught:
        run(library, row, ideal, fault, cycle_limit=1000)
    cause = str(caught.value).split("so: ")[1].splitlines()[0]
    runs = rf"PE\[0, 0\] \(faulty\) runs its task `{names}`, and has taken and sent no wavelet "
    assert re.fullmatch(f"{runs}since cycle [1-4]", cause)
    assert caught.value.is_endless


@sanitized
def test_a_fault_in_another_thread_is_an_error_there(library, row, ideal):
    said = []
    faults = ["divides", "calls_itself"]
    threads = [threading.Thread(target=lambda fault=fault: said.append(
        failure(library, row, ideal, fault))) for fault in faults]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == sorted(SAID[fault] for fault in faults)


@sanitized
def test_a_run_leaves_handlers_and_timers_as_they_were(library, row, ideal):
    ticks = []
    before = signal.signal(signal.SIGVTALRM, lambda *_: ticks.append(1))
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 100.0)
        failure(library, row, ideal, "divides")
        assert 0 < signal.setitimer(signal.ITIMER_VIRTUAL, 0)[0] < 101.0
        signal.raise_signal(signal.SIGVTALRM)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert ticks == [1]


def find_handlers():
    """Return the functions that take the signals that a run catches, as the system has them."""
    found = []
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP,
                   signal.SIGVTALRM):
        action = ctypes.create_string_buffer(256)
        assert ctypes.CDLL(None).sigaction(int(number), None, action) == 0
        found.append(action.raw[:ctypes.sizeof(ctypes.c_void_p)])
    return found


@sanitized
@pytest.mark.parametrize("fault", ["calls_itself", "divides", "configures_no_size"])
def test_a_fault_of_somebody_else_is_none_of_a_run(library, row, ideal, fault):
    before = find_handlers()
    failure(library, row, ideal, fault)
    assert find_handlers() == before

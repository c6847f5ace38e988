"""The process in which isl works."""

import os
import time

import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.workers import apart, wait_for


def fail(text):
    raise UserError(text)


@pytest.fixture
def process():
    """The process of this one, which has begun."""
    apart().call(os.getpid)
    yield apart()
    apart().end()


def test_calls_run_in_one_other_process(process):
    assert process.call(os.getpid) == process.call(os.getpid) != os.getpid()


def test_what_a_call_raises_is_raised_here(process):
    with pytest.raises(UserError, match="no such tensor"):
        process.call(fail, "no such tensor")


def test_a_process_that_is_forked_has_another_one(process):
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writes, str(apart().call(os.getpid)).encode())
        apart().end()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert process.call(os.getpid) != int(os.read(reads, 20))


def test_each_of_several_answers_when_it_is_done(process):
    """One that is asked later answers first, and neither keeps the pipes of the other open."""
    second = apart(1)
    process.ask(time.sleep, 0.3)
    second.ask(os.getpid)
    assert wait_for([process, second]) == [second]
    assert second.answer() != os.getpid()
    assert wait_for([process]) == [process]
    process.leave()
    second.leave()

"""What handles signals during a build."""

import signal

import pytest

from lairmake.stages.make.doit.commands.run import _interruptible
from lairmake.stages.make.doit.session import SIGNALS, interruptible


@pytest.fixture(autouse=True)
def hangups():
    """Let SIGHUP end this process, as where nobody asked for anything else."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


class Unprintable:
    """A session that must not be printed: it holds every task of a build."""

    def __repr__(self):
        raise AssertionError("printed")


def test_setting_a_handler_prints_nothing_of_the_build():
    before = [signal.getsignal(number) for number in SIGNALS]
    with _interruptible(Unprintable()):
        assert all(map(callable, map(signal.getsignal, SIGNALS)))
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_the_signal_that_interrupts_is_told_and_a_second_hangup_changes_nothing():
    """Where a terminal is closed, both the system and the shell say so."""
    with interruptible() as caught:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)
    assert caught == [signal.SIGHUP]


def test_who_began_with_nohup_is_not_interrupted_by_a_hangup():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with interruptible() as caught:
        signal.raise_signal(signal.SIGHUP)
    assert (caught, signal.getsignal(signal.SIGHUP)) == ([], signal.SIG_IGN)

"""What handles signals during a build."""

import signal

from stages.make.doit.commands.run import SIGNALS, _interruptible


class Unprintable:
    """A session that must not be printed: it holds every task of a build."""

    def __repr__(self):
        raise AssertionError("printed")


def test_setting_a_handler_prints_nothing_of_the_build():
    before = [signal.getsignal(number) for number in SIGNALS]
    with _interruptible(Unprintable()):
        assert all(map(callable, map(signal.getsignal, SIGNALS)))
    assert [signal.getsignal(number) for number in SIGNALS] == before

"""How much is done, in calls of functions of Python: the same on every machine."""

import sys


def count_calls(function, *arguments):
    """Return how many functions of Python are called until a function returns."""
    count = 0

    def see(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(see)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return count

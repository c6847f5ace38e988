"""Run a command, and write to a file what it cost: `python launch.py FILE COMMAND ARGUMENT ...`.

The file gets seconds of CPU, of the command and of all that it started, and the most memory that
one of them held, in the units of getrusage. What lost its parent counts where this process is the
one that waits for it then, as `process.cost` asks the system for. To a process getrusage counts
what its starter held when it started it: so this one imports next to nothing.
"""

import os
import sys


def launch(file, *command):
    """Return the exit code of the command, when it and all that it started have ended."""
    child = os.posix_spawnp(command[0], command, os.environ)
    ended = dict(wait_for_all())
    cpu = sum(usage.ru_utime + usage.ru_stime for _, usage in ended.values())
    peak = max(usage.ru_maxrss for _, usage in ended.values())
    with open(file, "w", encoding="ascii") as out:
        out.write(f"{cpu} {peak}")
    return os.waitstatus_to_exitcode(ended[child][0])


def wait_for_all():
    """Yield processes as they end, with their status and usage, until none is left."""
    while True:
        try:
            process, status, usage = os.wait3(0)
        except ChildProcessError:
            return
        yield process, (status, usage)


if __name__ == "__main__":
    sys.exit(launch(*sys.argv[1:]))

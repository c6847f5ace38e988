"""Run a command, and write to a file what it cost: `python launch.py FILE COMMAND ARGUMENT ...`.

The file gets seconds of CPU, of the command and of those that it waited for, and the most memory
that one of them held, in the units of getrusage. To a process that one counts what its starter
held when it started it: so this one imports next to nothing.
"""

import os
import sys


def launch(file, *command):
    """Return the exit code of the command."""
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    with open(file, "w", encoding="ascii") as out:
        out.write(f"{usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}")
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(launch(*sys.argv[1:]))

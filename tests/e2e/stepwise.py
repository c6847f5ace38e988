"""Run steps of a case of doit.yaml, which are words after the folder, and print what each gives.

Steps and what they give are JSON. Each command of doit has a process of its own, forked from this
one, which has imported doit.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from doit.doit_cmd import DoitMain

COMMANDS = ("clean", "forget", "ignore", "info", "list", "reset-dep")
DoitMain().get_cmds().get_plugin("run")


def do(step, root):
    """Do a step; return what is to be the same, None where it is no command."""
    if "write" in step:
        path = root / step["write"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step["text"], encoding="utf-8")
    elif "remove" in step:
        (root / step["remove"]).unlink()
    else:
        code, lines = doit(step["doit"].split())
        if "has" in step:
            return [code, *(word in "\n".join(lines) for word in step["has"])]
        return [code, *(line for line in lines if line.startswith((".  ", "!! ")))]
    return None


def doit(words):
    """Run doit in a process of its own; return its exit code, and the lines it prints."""
    if words[0] not in COMMANDS:
        words = ["run", "-r", "console", *words]
    with tempfile.TemporaryFile("w+") as out:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            code = DoitMain().run(words)
            sys.stdout.flush()
            os._exit(code or 0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        return code, out.read().splitlines()


if __name__ == "__main__":
    print(json.dumps([do(json.loads(step), Path(sys.argv[1])) for step in sys.argv[2:]]))

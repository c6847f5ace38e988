"""Start doit processes that are killed: forked from one that has loaded doit, to be quick.

Arguments: a seed, how often, and the file that stages note their runs in. Prints every run of a
stage whose result was in the store before.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from doit.doit_cmd import DoitMain

ENTRIES = Path(".lairmake/store/entries")


def finished():
    """Return what stages have finished, by what they read."""
    texts = (path.read_text(encoding="utf-8") for path in ENTRIES.glob("??/*"))
    entries = [json.loads(text.partition("\n")[2]) for text in texts]
    return {f"{e['stage']} {json.dumps(e['reads'], sort_keys=True)}" for e in entries}


def build(arguments):
    """Return the process that builds."""
    process = os.fork()
    if process == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(null, stream)
        os._exit(DoitMain().run(arguments))
    return process


def main(seed, times, notes):
    """Kill builds at random moments; every few of them all is forgotten but what was written."""
    rng = random.Random(seed)
    for at in range(times):
        change(rng, at)
        before, seen = finished(), len(notes.read_text(encoding="utf-8").splitlines())
        process = build(["-n", "2"] if at % 2 else [])
        time.sleep(rng.uniform(0.01, 0.25))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        for line in notes.read_text(encoding="utf-8").splitlines()[seen:]:
            if line in before:
                print(f"ran again: {line}")


def change(rng, at):
    """Write another text into one of the layers, now and then."""
    if at % 4 == 0:
        layer = rng.choice("abc")
        text = f"one\nword{at}\n"
        Path(f"projects/{layer}/a.lair").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))

"""Note that a stage runs, and be slow there if a test wants it."""

import json
import os
import time
from pathlib import Path


def go_on(inputs):
    """Tell how far a stage is, four times in $LONG s."""
    for share in (0.0, 0.25, 0.5, 0.75):
        inputs.tell(share)
        time.sleep(float(os.environ.get("LONG", "0")) / 4)


def note(stage, inputs):
    """Append the stage and what it read to the file $NOTED, if there is one; wait for $SLOW s.

    The stage $IN_ISL has isl work without an end, and without counting what it does.
    """
    if "NOTED" in os.environ:
        with Path(os.environ["NOTED"]).open("a", encoding="utf-8") as file:
            file.write(f"{stage} {json.dumps(inputs.reads, sort_keys=True)}\n")
    if os.environ.get("IN_ISL") == stage:
        work_in_isl()
    time.sleep(float(os.environ.get("SLOW", "0")))


def work_in_isl():
    """Have isl do what takes it hours, in one call."""
    import islpy as isl

    hard = isl.Map(
        "[n] -> { [i, j, k, l] -> [(7i + 3j) mod 31 + (11k + j) mod 37, (i + 5l) mod 64, "
        "(13j + k) mod 97 + floor((i + l)/31)] : 0 <= i, j, k, l < n }"
    )
    hard.apply_range(hard.reverse()).lexmin()

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
    """Append the stage and what it read to the file $NOTED, if there is one; wait for $SLOW s."""
    if "NOTED" in os.environ:
        with Path(os.environ["NOTED"]).open("a", encoding="utf-8") as file:
            file.write(f"{stage} {json.dumps(inputs.reads, sort_keys=True)}\n")
    time.sleep(float(os.environ.get("SLOW", "0")))

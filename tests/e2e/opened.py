"""Run stages of a folder, each in a process of its own, and print the files that each opened.

A folder, names of stages, and the top of the project come in on stdin, pickled. What no stage needs
is not loaded here. Prints JSON: a stage, every path that it opened, of modules and of other files,
and the profiles that its key has by their figures.
"""

import json
import os
import pickle
import sys
from pathlib import Path

import islpy  # noqa: F401
import numpy  # noqa: F401

from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.stage import load, perform
from lairmake.stages.make.store.folders import file_of


def run(stage, folder):
    """Return every path that this process opens for a stage, and every module that it loads; and
    the profiles that the stage asked for."""
    opened = set()
    sys.addaudithook(lambda name, given: opened.add(given[0]) if name == "open" else None)
    load(stage)
    inputs = FolderInputs(folder, declaration(stage).inputs)
    contents = perform(stage, inputs)
    found = [str(each) for each in opened if isinstance(each, str | Path)]
    found += [getattr(module, "__file__", None) or "" for module in sys.modules.values()]
    for name, content in contents.items():
        file_of(folder, name).parent.mkdir(parents=True, exist_ok=True)
        file_of(folder, name).write_bytes(content)
    return sorted(set(found)), sorted(inputs.profiles)


def main():
    """Run the stages in turn; the last one wrote what the next one reads."""
    folder, stages, top = pickle.load(sys.stdin.buffer)
    for stage in stages:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            print(json.dumps([stage, *run(stage, folder)]), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(f"{stage} failed in {top}")


main()

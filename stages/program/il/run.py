"""Run the intermediate language of a program, and write down the graph that it recorded.

Paper    E Sec. 5.4
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
from collections.abc import Iterator

import numpy as np

from lairmake.stages.program.il import numpy as il_numpy, objects as il_objects
from lairmake.stages.program.il.finishing import Captured, finish_recording
from lairmake.stages.program.il.naming import GIVEN, Naming
from lairmake.stages.program.il.recording import begin_recording
from lairmake.stages.program.irg.accesses import write_accesses
from lairmake.stages.program.irg.graph_text import write_graph
from lairmake.stages.program.irg.objects_text import write_entries
from lairmake.stages.program.source.tree import give_room
from lairmake.stages.program.values.api import check_parameters, execute


def capture_program(il: str, source: str, path: str) -> dict[str, bytes]:
    """Return the files of the graph that program.il of a source gives.

    What the program raises has positions of `il`, in a file of that path.
    """
    return write_captured(record_program(il, path))


def record_program(il: str, path: str) -> Captured:
    """Return the graph that program.il gives."""
    with give_room():
        tree = Naming().visit(ast.parse(il, path))
    recording = begin_recording(path)
    with _serve_modules():
        execute(tree, path, GIVEN)
    check_parameters()
    return finish_recording(recording)


@contextlib.contextmanager
def _serve_modules() -> Iterator[None]:
    """Let modules beside the program, which are not translated, import what it imports."""
    served = {"lairmake.numpy": il_numpy, "lairmake.objects": il_objects}
    kept = {name: sys.modules.get(name) for name in served}
    sys.modules.update(served)
    try:
        yield
    finally:
        for name, module in kept.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module


def write_captured(captured: Captured) -> dict[str, bytes]:
    """Return the texts of a graph, and the data that it begins with."""
    texts = {
        "objects.yaml": write_entries(captured.graph.entries.values()),
        "graph.yaml": write_graph(captured.graph),
        "accesses.isl": write_accesses(captured.accesses),
    }
    found = {name: text.encode() for name, text in texts.items()}
    for name, array in captured.data.items():
        content = io.BytesIO()
        np.save(content, array, allow_pickle=False)
        found[f"build/data/{name}.npy"] = content.getvalue()
    return found

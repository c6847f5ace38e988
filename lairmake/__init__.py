"""Make for mappings, for those who import it: build a folder, its results, what stages wrote."""

from lairmake.building import build
from lairmake.error import Error
from lairmake.reading import read
from lairmake.results import Bound, Check, Cycles, Files, Results, Task, results

__all__ = [
    "Bound", "Check", "Cycles", "Error", "Files", "Results", "Task", "build", "read", "results",
]

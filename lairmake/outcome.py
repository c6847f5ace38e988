"""Results of a build: values, cycles and programs."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast

from lairmake.error import Error

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from lairmake.stages.make.store.folders import LayerFolder

    Array: TypeAlias = npt.NDArray[np.generic]

T = TypeVar("T")


class Files(Mapping[str, T], Generic[T]):
    """Files by their names, each read when it is first asked for.

    Raises Error where a file is no longer what it was when the results were read.
    """

    def __init__(self, paths: Mapping[str, Path], load: Callable[[bytes], T]) -> None:
        self._files = {name: (path, _state(path.stat())) for name, path in paths.items()}
        self._load = load
        self._known: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._known:
            self._known[name] = self._load(_content(*self._files[name]))
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __eq__(self, other: object) -> bool:
        """Return whether names and bytes are the same; files that were built anew are not."""
        if not isinstance(other, Files):
            return False
        try:
            return self._files == other._files or self._bytes() == other._bytes()
        except Error:
            return False

    __hash__ = None  # type: ignore[assignment]

    def _bytes(self) -> dict[str, bytes]:
        return {name: _content(*found) for name, found in self._files.items()}

    def __repr__(self) -> str:
        return f"<{', '.join(self)}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycles:
    """Cycles with vector instructions, and with loops only: programs in NumPy do not run so."""

    simd: int
    loops: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The least number of cycles that any programs take, and what binds: as `latency`."""

    cycles: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Check of a tensor against NumPy: bit for bit where `exact`, else within rounding."""

    right: bool
    exact: bool
    max_abs_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task: the way to its instruction, and why; its sizes, calls, instances and extra ones."""

    by: str
    why: str
    sizes: tuple[int, ...]
    calls: int
    instances: int
    extra: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Results of a build of a layer, of a network or kernel with its `parts`, or of a program.

    `cycles` are those of the layer, or of all parts one after another. `outputs` are arrays by the
    names of their tensors, or objects, and `programs` C texts by their paths below `build/`. Only
    layers have a `bound` and `tasks`, only layers and programs a `machine`: of others these are
    None and empty. Programs in NumPy have no `speedup`.
    """

    folder: Path
    machine: str | None
    cycles: Cycles | None
    speedup: float | None
    bound: Bound | None
    checks: Mapping[str, Check]
    tasks: Mapping[str, Task]
    outputs: Files[Array]
    programs: Files[str]
    parts: Mapping[str, Results]


def results(folder: str | os.PathLike[str]) -> Results:
    """Return the results of the last build of a folder, whatever was edited since.

    Raises Error where there is no such build, or no such folder.
    """
    from lairmake.stages.make.core.layers import open_folder

    return _results(open_folder(buildable(folder)))


def buildable(folder: str | os.PathLike[str]) -> Path:
    """Return a folder that is built, resolved. Raises Error for another one."""
    from lairmake.stages.make.core.layers import is_buildable

    place = Path(folder).resolve()
    if not place.is_dir():
        raise Error(f"{folder} is no folder", hint=f"paths start from {Path.cwd()}")
    if not is_buildable(place):
        raise Error(f"{folder} is no folder of a layer, a network, a kernel or a program")
    return place


def _results(folder: LayerFolder) -> Results:
    try:
        found = json.loads((folder.build / "results.json").read_bytes())
        if "outputs" in found:
            return _results_of_program(folder, found)
        has_parts = "parts" in found
        cycles = found["one_after_another" if has_parts else "cycles"]
        return Results(
            folder=folder.path, cycles=_made(Cycles, cycles), machine=found.get("machine"),
            speedup=found.get("speedup", round(cycles["loops"] / cycles["simd"], 3)),
            bound=None if has_parts else _made(Bound, found["bound"]),
            checks={name: _made(Check, check) for name, check in found["check"].items()},
            tasks={name: _made(Task, task) for name, task in found.get("tasks", {}).items()},
            outputs=Files(_paths(folder.build / "outputs", "*.npy", stem=True), _array),
            programs=Files(_paths(folder.build, "*/pe_*.c"), bytes.decode),
            parts={name: _results(part) for name, part in folder.parts if not part.is_slot},
        )
    except FileNotFoundError:
        hint = "build it; a kernel has results where kernel.yaml asks for parts"
        raise Error(f"{folder.path} has no results", hint=hint) from None


def _results_of_program(folder: LayerFolder, found: Mapping[str, Any]) -> Results:
    """Return the results of a program: each output is right bit for bit, or not at all."""
    return Results(
        folder=folder.path, machine=found["machine"], cycles=Cycles(simd=found["cycles"]),
        speedup=None, bound=None,
        checks={
            name: Check(right=check["right"], exact=check["right"], max_abs_error=0.0)
            for name, check in found["outputs"].items()
        },
        tasks={}, programs=Files(_paths(folder.build, "*/pe_*.c"), bytes.decode), parts={},
        outputs=Files(_paths(folder.build / "outputs", "*.npy", stem=True), _array),
    )


def _made(kind: type[T], found: Mapping[str, Any]) -> T:
    """Return a dataclass of what a results.json has by the names of its fields; lists as tuples."""
    named = {each.name: found[each.name] for each in fields(cast(Any, kind))}
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in named.items()})


def _paths(folder: Path, pattern: str, stem: bool = False) -> dict[str, Path]:
    """Return the files that match a pattern, by their names: without the ending, or as paths."""
    paths = sorted(folder.glob(pattern))
    return {path.stem if stem else path.relative_to(folder).as_posix(): path for path in paths}


def _state(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)


def _content(path: Path, state: tuple[int, ...]) -> bytes:
    """Return what a file holds. Raises Error where that is not what it held in a state."""
    try:
        with path.open("rb") as file:
            content = file.read()
            if _state(os.fstat(file.fileno())) == state:
                return content
    except FileNotFoundError:
        pass
    raise Error(f"{path} was built anew", path, hint="ask for the results again")


def _array(content: bytes) -> Array:
    import numpy as np

    found: Array = np.load(io.BytesIO(content), allow_pickle=False)
    return found

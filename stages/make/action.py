"""Run one stage, from files to files."""

from __future__ import annotations

import contextlib
import fnmatch
import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stages.diagnose import UserError, UserErrors
from stages.make.declare import declaration
from stages.make.folders import LayerFolder, file_of, is_pattern, names_of, open_folder, shown_path
from stages.make.inputs import Inputs, digest
from stages.make.key import code_digest

MOST_OPERATIONS = 200_000_000
"""How much isl may work in one stage, in its own unit: about a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one run of a stage did: what is up to date as long as all of this still holds.

    `code` is the digest of the stage's code and tools; `reads` and `writes` give a digest per
    path, `listed` the names that a pattern stood for.
    """

    code: str
    reads: dict[str, str]
    listed: dict[str, list[str]]
    writes: dict[str, str]


def run_stage(name: str, layer_folder: Path | str) -> Record:
    """Run stage `name` on a layer folder: read what it declares, write what it returns.

    Raises UserError or UserErrors where the layer folder is wrong; then nothing is written.
    """
    folder = open_folder(layer_folder)
    declared = declaration(name)
    code = code_digest(name)
    inputs = Inputs(folder, declared.reads)
    outputs = _bounded(name, inputs)
    contents = {n: c.encode() if isinstance(c, str) else bytes(c) for n, c in outputs.items()}
    check_names(name, declared.writes, contents)
    writes = write_outputs(folder, declared.writes, contents)
    return Record(code=code, reads=inputs.reads, listed=inputs.listed, writes=writes)


def _bounded(name: str, inputs: Inputs) -> Mapping[str, str | bytes]:
    """Run a stage; a layer that isl would work on for minutes is an error, not a wait."""
    from stages.poly.quota import TooManyOperations, limited

    try:
        with limited(MOST_OPERATIONS):
            stage = importlib.import_module(f"stages.{name}")
            outputs: Mapping[str, str | bytes] = stage.run(inputs)
    except TooManyOperations as error:
        raise UserError(
            f"stage {name}: {error}",
            hint="simplify the placement, or how tensors arrive and leave",
        ) from error
    return outputs


def build_stage(name: str, layer_folder: str) -> Any:
    """Run a stage as the action of a doit task: what is wrong is printed, once, and fails it."""
    from doit.exceptions import TaskFailed

    try:
        return asdict(run_stage(name, layer_folder))
    except (UserError, UserErrors) as error:
        sys.stdout.flush()
        sys.stderr.write(str(error))
        return TaskFailed(f"{name} found an error", report=False)


def check_names(stage: str, declared: Sequence[str], outputs: Mapping[str, bytes]) -> None:
    """Assert that a stage returned every file that it declares, and no other."""
    missing = [n for n in declared if not is_pattern(n) and n not in outputs]
    assert not missing, f"stage {stage} did not return {missing}"
    known = {o for o in outputs for n in declared if fnmatch.fnmatchcase(o, n)}
    assert known == outputs.keys(), f"{stage} does not declare {sorted(outputs.keys() - known)}"


def write_outputs(
    folder: LayerFolder, declared: Sequence[str], outputs: Mapping[str, bytes]
) -> dict[str, str]:
    """Write all outputs or none, remove what an earlier run left, and return the digests by path.

    A file that holds its content already is left alone. Raises UserError where the folder does not
    let itself be written to.
    """
    files = {file_of(folder, name): content for name, content in outputs.items()}
    try:
        with _temporary(files) as temporary:
            for path, written in temporary.items():
                os.replace(written, path)
        for name in _stale(folder, declared, outputs):
            file_of(folder, name).unlink()
    except OSError as error:
        path = Path(error.filename2 or error.filename)
        place = shown_path(path.parent if path.suffix == ".tmp" else path)
        raise UserError(f"cannot write {place}: {error.strerror}") from error
    return {str(path): digest(content) for path, content in files.items()}


@contextlib.contextmanager
def _temporary(files: Mapping[Path, bytes]) -> Iterator[dict[Path, Path]]:
    """Write every content that differs from its file beside it; remove what is left at the end."""
    changed = {path: content for path, content in files.items() if _differs(path, content)}
    temporary = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in changed}
    try:
        for path, content in changed.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary[path].write_bytes(content)
        yield temporary
    finally:
        for path in temporary.values():
            path.unlink(missing_ok=True)


def _differs(path: Path, content: bytes) -> bool:
    return not path.is_file() or path.read_bytes() != content


def _stale(
    folder: LayerFolder, declared: Sequence[str], outputs: Mapping[str, bytes]
) -> list[str]:
    patterns = [name for name in declared if is_pattern(name)]
    return [n for pattern in patterns for n in names_of(folder, pattern) if n not in outputs]

"""The digests of what stages read of the YAML files that users write, for keys, without a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.make.core.declare import Declaration, declaration
from lairmake.stages.make.core.yaml_values import Read, checked, text_of
from lairmake.stages.make.store.files import digest_of
from lairmake.stages.make.store.folders import (
    KERNEL,
    LAYER,
    NETWORK,
    PROGRAM,
    SPLIT,
    LayerFolder,
    every_stage,
    file_of,
)
from lairmake.stages.make.store.state import Memo
from lairmake.stages.make.store.user_files import MOST_BY_HAND
from lairmake.stages.mapping.yaml_paths import ValuePath, unite

if TYPE_CHECKING:
    from lairmake.stages.mapping.models import File

CHECKED_BY = {LAYER: "parse", KERNEL: "shape", PROGRAM: "translate", NETWORK: "connect"}
"""A stage whose code says what is valid in a file, by the name of that."""
CHECKED_BESIDE_GRAPHS = "extract"


def digest_read(
    folder: LayerFolder, name: str, stage: Declaration, memo: Memo, code: Callable[[str], str]
) -> str | None:
    """Return the digest of what a stage reads of a file; None where there is no file to read.

    `code` gives the digest of a stage's code: what is valid is remembered for one code only.
    """
    path, paths = file_of(folder, name), stage.values_of(name)
    if paths is None:
        return memo.digest(path)
    base, is_graph = _kind(folder, name)
    checked_by = CHECKED_BESIDE_GRAPHS if is_graph else CHECKED_BY[base]

    def read(content: bytes) -> str | None:
        found = read_values(content, base, paths, is_graph=is_graph)
        return None if found is None else digest_of(found)

    what = ", ".join(".".join(each) for each in paths)
    return memo.derived(path, what, read, code(checked_by))


def values_read(folder: LayerFolder, name: str, content: bytes) -> Iterator[bytes]:
    """Yield what counts as read of a file with some content, by any stage that reads values of it;
    nothing where it is not valid."""
    base, is_graph = _kind(folder, name)
    every = (declaration(stage).values_of(name) for stage in every_stage(folder))
    for paths in dict.fromkeys(each for each in every if each is not None):
        found = read_values(content, base, paths, is_graph=is_graph)
        if found is not None:
            yield found


def values_of_texts(texts: Iterable[bytes]) -> bytes:
    """Return as one text what counts as read of a file by some stages."""
    return unite(texts)


def is_read_by_values(folder: LayerFolder, name: str) -> bool:
    """Return whether a stage of a folder reads values of a file, and it is there."""
    every = every_stage(folder)
    is_read = any(declaration(stage).values_of(name) is not None for stage in every)
    return is_read and file_of(folder, name).is_file()


def _kind(folder: LayerFolder, name: str) -> tuple[str, bool]:
    """Return what a file is called, in whichever part it lies, and whether it is beside a graph."""
    base = name.rpartition("/")[2]
    return base, base == NETWORK and SPLIT in folder.stages


def read_values(
    content: bytes, name: str, paths: Collection[ValuePath], *, is_graph: bool
) -> bytes | None:
    """Return what counts as read of a file with some content; None where it is not valid."""
    if len(content) > MOST_BY_HAND:
        return None
    try:
        return text_of(checked(_reader(name, is_graph), source_of(name, content)), paths, content)
    except (UserError, UserErrors):
        return None


def _reader(name: str, is_graph: bool) -> Read[File]:
    if name == LAYER:
        from lairmake.stages.mapping.layer_yaml import read_mapping

        return read_mapping
    if name == KERNEL:
        from lairmake.stages.mapping.kernel_yaml import read_kernel

        return read_kernel
    if name == PROGRAM:
        from lairmake.stages.mapping.program_yaml import read_program

        return read_program
    if is_graph:
        from lairmake.stages.mapping.network_yaml import read_graph

        return read_graph
    from lairmake.stages.mapping.network_yaml import read_network_file

    return read_network_file

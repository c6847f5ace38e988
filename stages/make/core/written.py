"""Layer folders that a stage writes in `build/`: the parts of a kernel, or of a network that is
the graph of a framework."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lairmake.stages import LAYER_PICTURES
from lairmake.stages.make.core.receiving import with_receiving
from lairmake.stages.make.core.searched import open_slots, with_slots
from lairmake.stages.make.store.folders import (
    Crossing,
    LayerFolder,
    file_of,
    files_in,
    is_inside,
    is_name,
    is_word,
    names_of,
)
from lairmake.stages.make.store.state_folder import state_folder

Plan = Mapping[str, Sequence[Any]]
"""By the name of each part: the names of the files that are written for it, the part and tensor
that each other input is, whether its layer.yaml leaves something open, the path of the folder that
a user has for it, if there is one, and the parts and tensors of which further inputs are made, by
maps; parts come after those whose results they take."""


def with_written_parts(
    folder: LayerFolder, plan: Plan, stages: tuple[str, ...], writer: str, asked_in: Path
) -> LayerFolder:
    """Return a folder with its stages, and the parts that the stage `writer` writes for it.

    `asked_in` is the file in which a user asks for them.
    """
    parts: dict[str, LayerFolder] = {}
    for name, (files, takes, is_open, path, moved) in plan.items():
        part = _part(folder, name, asked_in)
        after = (f"{folder.name}:{writer}",)
        written = (Crossing(name=f, file=part.path / f, after=after) for f in files)
        taken = (_crossing(tensor, parts[other], own) for tensor, (other, own) in takes.items())
        part = replace(part, crossings=(*written, *taken))
        if path:
            part = with_slots(replace(part, path=(folder.path / path).resolve(), asked_in=None))
        part = open_slots(part) if is_open else part
        given = {
            tensor: [_crossing(tensor, parts[other], own) for other, own in sources]
            for tensor, sources in moved.items()
        }
        parts[name] = with_receiving(part, *after, given)
    return replace(folder, stages=stages, parts=tuple(parts.items()))


def _part(whole: LayerFolder, name: str, asked_in: Path) -> LayerFolder:
    """Return the layer folder of a part, whether there is one of this name or not."""
    path = whole.build / "parts" / name
    return LayerFolder(
        name=f"{whole.name}/{name}", path=path, build=path / "build", cache=whole.cache / name,
        home=whole.home, analyses=LAYER_PICTURES, asked_in=asked_in,
    )


def _crossing(tensor: str, source: LayerFolder, output: str) -> Crossing:
    """Return the input of a part that is a result of another."""
    file = file_of(source, f"build/outputs/{output}.npy")
    return Crossing(
        name=f"inputs/{tensor}.npy", file=file, after=(f"{source.name}:simulate",)
    )


def old_names(whole: LayerFolder) -> list[str]:
    """Return the files that stages wrote for parts which the whole no longer has.

    They go by the names that they have in the whole. What somebody edited is not among them.
    """
    old = set(files_in(whole.build / "parts")) - set(dict(whole.parts))
    names = [name for part in sorted(old) for name in _names_of_part(whole, part)]
    return [name for name in names if _is_written(whole, file_of(whole, name))]


def names_of_parts(whole: LayerFolder) -> list[str]:
    """Return the files in `build/` that stages wrote for parts, whether these are there or not."""
    from lairmake.stages.make.core.declare import declaration

    there = sorted(files_in(whole.build / "parts"))
    patterns = [pattern for stage in whole.stages for pattern in declaration(stage).writes]
    names = [name for part in there for name in _names_of_part(whole, part)]
    names += [name for pattern in patterns for name in names_of(whole, pattern)]
    return [name for name in names if name.startswith("build/")]


def _names_of_part(whole: LayerFolder, name: str) -> Iterator[str]:
    from lairmake.stages import RECEIVES, SEARCHED, TRIED
    from lairmake.stages.make.core.declare import declaration

    part = open_slots(_part(whole, name, whole.path))
    patterns = [pattern for stage in SEARCHED + RECEIVES for pattern in declaration(stage).writes]
    patterns += [f"*/{pattern}" for stage in TRIED for pattern in declaration(stage).writes]
    for pattern in patterns:
        for file in names_of(part, pattern):
            within = file_of(part, file)
            if within.is_relative_to(part.path):
                yield f"build/parts/{name}/{within.relative_to(part.path).as_posix()}"
            elif within.is_file() and not (whole.path / name).exists():
                yield f"{name}/{file}"


def _is_written(whole: LayerFolder, path: Path) -> bool:
    """Return whether a file holds what a stage once wrote."""
    from lairmake.stages.make.store.state import memo_of
    from lairmake.stages.make.store.store import store_of

    digest = memo_of(state_folder(whole.home)).digest(path)
    return digest is not None and store_of(whole.home).has_blob(digest)


def is_plan(data: Any) -> bool:
    """Return whether data that was kept is a plan, whose names lead nowhere else; None is one."""
    if not isinstance(data, dict):
        return data is None
    if any(len(each) != 5 for each in data.values()):
        return False
    files = [name for written, *_ in data.values() for name in written]
    taken = [(tensor, *of) for _, takes, *_ in data.values() for tensor, of in takes.items()]
    made = [(t, *of) for *_, moved in data.values() for t, every in moved.items() for of in every]
    words = [*data, *(word for each in (*taken, *made) for word in each)]
    paths = [path for *_, path, _ in data.values() if path]
    return all(map(is_word, words)) and all(map(is_inside, files)) and all(map(is_name, paths))

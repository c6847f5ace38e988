"""Network folders: their parts as layer folders, with what crosses from one to another."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stages import NETWORK as STAGES
from stages.diagnose import Source, headline, source_of
from stages.make.core.key import code_digest
from stages.make.core.layers import open_folder
from stages.make.core.session import session
from stages.make.core.sweep import Sweep
from stages.make.store.believed import is_name, is_word
from stages.make.store.folders import (
    LAYER,
    NETWORK,
    STATE,
    Crossing,
    LayerFolder,
    file_of,
    parts_of,
    shown_path,
)
from stages.make.store.given import content_of
from stages.make.store.state import state_of

Plan = dict[str, Any]
"""`parts`: the path of every part, in the order of building; `crossings`: lists of part, tensor,
and the part and tensor that it is."""

NOTHING: Plan = {"parts": {}, "crossings": []}


def open_network(folder: LayerFolder) -> LayerFolder:
    """Return a network folder with its parts; without any where its network.yaml is wrong.

    A part that is no layer folder is left out. What is wrong is said by the stage `connect`, which
    reads the file again.
    """
    plan = read_plan(folder)
    parts: dict[str, LayerFolder] = {}
    for name, path in plan["parts"].items():
        parts[name] = _part(folder, name, path, _crossings(folder, name, plan, parts))
    there = tuple((name, part) for name, part in parts.items() if _is_layer(part))
    return replace(folder, stages=STAGES, analyses=(), parts=there)


def network_of(folder: LayerFolder) -> LayerFolder:
    """Return the network that a folder is a part of, or the folder itself."""
    around = open_folder(folder.path.parent)
    return around if folder in parts_of(around) else folder


def _part(
    network: LayerFolder, name: str, path: str, crossings: tuple[Crossing, ...]
) -> LayerFolder:
    """Return a part: the folder of its name builds in itself, a shared one in the network's."""
    place = (network.path / path).resolve()
    own = place == network.path / name
    return LayerFolder(
        name=f"{network.name}/{name}",
        path=place,
        build=place / "build" if own else network.build / name,
        cache=network.cache / name,
        home=network.home,
        crossings=crossings,
    )


def _crossings(
    network: LayerFolder, name: str, plan: Plan, parts: dict[str, LayerFolder]
) -> tuple[Crossing, ...]:
    return tuple(
        _crossing(network, tensor, parts[source], output)
        for part, tensor, source, output in plan["crossings"]
        if part == name
    )


def _crossing(network: LayerFolder, tensor: str, source: LayerFolder, output: str) -> Crossing:
    """Return a crossing; one from a folder that is no layer only waits for that to be said."""
    simulated = [f"{source.name}:simulate"] if _is_layer(source) else []
    return Crossing(
        name=f"inputs/{tensor}.npy",
        file=file_of(source, f"build/outputs/{output}.npy"),
        after=(f"{network.name}:connect", *simulated),
    )


def _is_layer(part: LayerFolder) -> bool:
    return (part.path / LAYER).is_file()


def read_plan(folder: LayerFolder) -> Plan:
    """Return what network.yaml says; nothing where it is wrong, or cannot be read.

    Kept in the state by the name of the network, with the digest of the file and of the code that
    reads it, so that a build with nothing to do reads no YAML.
    """
    state = state_of(folder.home / STATE)
    try:
        content = content_of(folder.path / NETWORK)
        digest = hashlib.sha256(plan_code(folder.home, STAGES).encode() + content).hexdigest()
        kept = state.get("networks", folder.name)
        if isinstance(kept, list) and kept[:1] == [digest] and _is_plan(kept[1]):
            return dict(kept[1])
        plan = _planned(source_of(shown_path(folder.path / NETWORK), content))
    except Exception as error:  # whoever builds it is told by a stage, with a traceback of a bug
        session().unread[folder.name] = headline(error)
        return NOTHING
    state.keep("networks", {folder.name: (digest, plan)})
    return plan


def _is_plan(data: Any) -> bool:
    """Return whether data that was kept is a plan, whose names lead nowhere else."""
    if not isinstance(data, dict) or data.keys() != NOTHING.keys():
        return False
    names = [*data["parts"], *(name for crossing in data["crossings"] for name in crossing)]
    return all(map(is_word, names)) and all(map(is_name, data["parts"].values()))


def plan_code(home: Path, stages: Sequence[str]) -> str:
    """Return the digest of the code of some stages, with which plans are kept.

    A build with nothing to do knows it from the last one.
    """
    known = session()
    known.sweep = known.sweep or Sweep(home)
    return " ".join(map(code_digest, stages))


def _planned(source: Source) -> Plan:
    from stages.mapping.network_yaml import plan_of, read_network

    return plan_of(read_network(source))

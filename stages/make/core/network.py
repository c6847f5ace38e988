"""Network folders: their parts as layer folders, with what crosses from one to another."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lairmake.stages import NETWORK as STAGES, NETWORK_PICTURES, WHOLE, WHOLE_PICTURES
from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.make.core.plans import kept_plan, why_unread
from lairmake.stages.make.core.receiving import with_receiving
from lairmake.stages.make.core.reported import with_report
from lairmake.stages.make.core.searched import with_slots
from lairmake.stages.make.store.folders import (
    LAYER,
    NETWORK,
    Crossing,
    LayerFolder,
    file_of,
    is_name,
    is_word,
    shown_path,
)
from lairmake.stages.make.store.user_files import content_of

if TYPE_CHECKING:
    from lairmake.stages.lair.specialise import Layer

NetworkPlan = dict[str, Any]
"""`parts`: the path of every part, in the order of building; `crossings`: lists of part, tensor,
and the part and tensor that it is; `moved`: such lists of what is a part of it, or elsewhere;
`whole`: whether all parts run on one fabric, too."""
MOVES = "crossed.isl"
KEYS = {"parts", "crossings", "moved", "whole"}


def open_network(folder: LayerFolder) -> LayerFolder:
    """Return a network folder with its parts; without any where its network.yaml is wrong.

    Then it is `unread`: what is wrong is said by the stage `connect`, which reads the file again.
    A part that is no layer folder is left out. Where names of tensors are wrong, or parts are no
    layers, these have no stages: `connect` says so before anything of them is built.
    """
    try:
        plan, is_wrong = read_network_plan(folder), False
    except UnknownEndError as error:
        plan, is_wrong = error.plan, True
    except Exception as error:  # the stage fails with it again
        return replace(folder, stages=STAGES, analyses=NETWORK_PICTURES, unread=why_unread(error))
    files = [folder.path / path / LAYER for path in plan["parts"].values()]
    is_wrong = is_wrong or not all(file.is_file() for file in files)
    parts: dict[str, LayerFolder] = {}
    for name, path in plan["parts"].items():
        crossings = _crossings(folder, name, plan, parts)
        part = _network_part(folder, name, path, crossings, is_wrong)
        parts[name] = _receiving(folder, part, [m for m in plan["moved"] if m[0] == name], parts)
    there = tuple((name, part) for name, part in parts.items() if _is_layer(part))
    stages, pictures = STAGES, NETWORK_PICTURES
    if plan["whole"]:
        stages, pictures = (STAGES[0], *WHOLE, *STAGES[1:]), WHOLE_PICTURES
    return replace(folder, stages=stages, analyses=pictures, parts=there)


def _network_part(
    network: LayerFolder, name: str, path: str, crossings: tuple[Crossing, ...], is_wrong: bool
) -> LayerFolder:
    """Return a part: the folder of its name builds in itself, a shared one in the network's.

    It has no stages where the network `is_wrong`.
    """
    place = (network.path / path).resolve()
    own = place == network.path / name
    part = LayerFolder(
        name=f"{network.name}/{name}",
        path=place,
        build=place / "build" if own else network.build / name,
        cache=network.cache / name,
        home=network.home,
        crossings=crossings,
    )
    return replace(part, stages=()) if is_wrong else with_report(with_slots(part))


def _crossings(
    network: LayerFolder, name: str, plan: NetworkPlan, parts: dict[str, LayerFolder]
) -> tuple[Crossing, ...]:
    return tuple(
        _network_crossing(network, tensor, parts[source], output)
        for part, tensor, source, output in plan["crossings"]
        if part == name
    )


def _network_crossing(
    network: LayerFolder, tensor: str, source: LayerFolder, output: str
) -> Crossing:
    """Return a crossing as it is: an input."""
    return _taken(network, f"inputs/{tensor}.npy", source, output)


def _taken(network: LayerFolder, name: str, source: LayerFolder, output: str) -> Crossing:
    """Return a crossing; one from a folder that is no layer only waits for that to be said."""
    simulated = [f"{source.name}:simulate"] if _is_layer(source) else []
    return Crossing(
        name=name,
        file=file_of(source, f"build/outputs/{output}.npy"),
        after=(f"{network.name}:connect", *simulated),
    )


def _receiving(
    network: LayerFolder, part: LayerFolder, moved: Sequence[Sequence[str]],
    parts: Mapping[str, LayerFolder],
) -> LayerFolder:
    """Return a part with the stage that makes its inputs where elements move on the way.

    `moved` has its inputs, and the parts and outputs of which they are made, in their order.
    """
    given = {
        tensor: [_taken(network, tensor, parts[source], output) for _, _, source, output in each]
        for tensor, each in itertools.groupby(moved, key=lambda each: each[1])
    }
    return with_receiving(part, f"{network.name}:connect", given)


def _is_layer(part: LayerFolder) -> bool:
    return (part.path / LAYER).is_file()


class UnknownEndError(Exception):
    """What network.yaml says is a `plan` that leads to tensors which its parts have not."""

    def __init__(self, plan: NetworkPlan) -> None:
        super().__init__("the stage connect says which")
        self.plan = plan


def read_network_plan(folder: LayerFolder) -> NetworkPlan:
    """Return what network.yaml says.

    Raises UnknownEndError where tensors are not there, and any Exception where something is wrong:
    UserError, or another one for a bug.
    """
    return dict(
        kept_plan(
            folder, [NETWORK], STAGES, _is_network_plan, functools.partial(_plan_network, folder)
        )
    )


def _is_network_plan(data: Any) -> bool:
    """Return whether data that was kept is a plan, whose names lead nowhere else."""
    if not isinstance(data, dict) or data.keys() != KEYS:
        return False
    crossings = [*data["crossings"], *data["moved"]]
    names = [*data["parts"], *(name for crossing in crossings for name in crossing)]
    return all(map(is_word, names)) and all(map(is_name, data["parts"].values()))


def _plan_network(folder: LayerFolder) -> NetworkPlan:
    from lairmake.stages.mapping.network_yaml import describe_plan, read_network
    from lairmake.stages.network.maps import list_unknown_ends

    path = folder.path / NETWORK
    network = read_network(source_of(shown_path(path), content_of(path)))
    plan = describe_plan(network)
    layers = {name: _layer(folder, path) for name, path in network.parts.items()}
    known = {name: layer for name, layer in layers.items() if layer is not None}
    if any(list_unknown_ends(network, known)):
        raise UnknownEndError(plan)
    return plan


def _layer(network: LayerFolder, path: str) -> Layer | None:
    """Return the layer of a part; None where it cannot be read, which a stage of it says."""
    from lairmake.stages.make.core.folder_inputs import FolderInputs

    place = (network.path / path).resolve()
    part = replace(network, path=place, build=place / "build", cache=place / "cache")
    try:
        return FolderInputs(part, (LAYER, "*.lair")).lair()
    except (UserError, UserErrors, OSError):
        return None

"""Kernel folders whose result is made of parts: which these are, as layer folders in `build/`."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from stages.make.files import load_data, remove_left_overs, save_data
from stages.make.folders import KERNEL, MLIR, STATE, Crossing, LayerFolder, files_in

if TYPE_CHECKING:
    from stages.make.inputs import Inputs

Plan = dict[str, list[str]]
"""The names of the files that each part reads, by the name of the part."""


def open_kernel(folder: LayerFolder) -> LayerFolder:
    """Return a kernel folder with the parts of its result, if kernel.yaml asks for some.

    Without any where it is wrong: what is wrong is said by the stages, which read it again.
    """
    from stages import KERNEL as STAGES, TILES

    plan = read_plan(folder)
    if plan is None:
        return folder
    parts = tuple((name, _part(folder, name, files)) for name, files in plan.items())
    return replace(folder, stages=STAGES + TILES, parts=parts)


def _part(kernel: LayerFolder, name: str, files: list[str]) -> LayerFolder:
    """Return the layer folder of a part: all of its files come from the stage `emit`."""
    path = kernel.build / "parts" / name
    written = tuple(
        Crossing(name=file, file=path / file, after=(f"{kernel.name}:emit",)) for file in files
    )
    return LayerFolder(
        name=f"{kernel.name}/{name}", path=path, build=path / "build", cache=kernel.cache / name,
        home=kernel.home, analyses=(), crossings=written,
    )


def read_plan(folder: LayerFolder) -> Plan | None:
    """Return the parts that kernel.yaml asks for; None where it asks for none.

    Kept in `.lairmake/` by the name of the kernel, with the digest of what it follows from, so that
    a build with nothing to do reads no MLIR.
    """
    names = sorted(n for n in files_in(folder.path) if n == KERNEL or n.endswith(MLIR))
    if KERNEL not in names:
        return None
    known = hashlib.sha256(_code().encode())
    for name in names:
        content = (folder.path / name).read_bytes()
        known.update(f"{name}\0{len(content)}\0".encode() + content)
    kept = folder.home / STATE / "kernels" / hashlib.sha256(folder.name.encode()).hexdigest()
    digest, plan = load_data(kept) or ("", None)
    if digest != known.hexdigest():
        plan = _plan(folder)
        remove_left_overs(kept.parent)
        save_data(kept, (known.hexdigest(), plan))
    found: Plan | None = plan
    return found


def _code() -> str:
    """Return the digest of the code that a plan follows from."""
    from stages import KERNEL as STAGES, TILES
    from stages.make.key import code_digest

    return " ".join(map(code_digest, STAGES + TILES))


def _plan(folder: LayerFolder) -> Plan | None:
    """Run the stages up to the one that writes parts, and keep only what those are called.

    Returns None where kernel.yaml asks for none, no files where something is wrong.
    """
    from stages import KERNEL as STAGES, TILES
    from stages.diagnose import UserError, UserErrors
    from stages.make.declare import declaration
    from stages.make.inputs import Inputs
    from stages.make.stage import perform

    written: dict[str, bytes] = {}
    try:
        if not Inputs(folder, (KERNEL,)).kernel().has_parts:
            return None
        for stage in (STAGES + TILES)[: (STAGES + TILES).index("emit")]:
            inputs = Inputs(folder, declaration(stage).reads, written)
            written |= perform(stage, inputs)
        return _files(Inputs(folder, tuple(written), written))
    except (UserError, UserErrors):
        return {}


def _files(inputs: Inputs) -> Plan:
    """Return the files of each part, from tiles.yaml."""
    from stages.volumes.pasting import placed_tiles

    kernel = inputs.yaml("operations.yaml")["kernel"]
    return {
        tile.name: [
            f"{kernel}.lair", "layer.yaml",
            *(f"inputs/{tensor}.npy" for tensor in tile.region["inputs"]),
        ]
        for tile in placed_tiles(inputs.yaml("tiles.yaml"))
        if "constant" not in tile.region
    }

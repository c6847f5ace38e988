"""What one stage wrote and a later one refuses: our fault, and not that of who reads the error."""

from __future__ import annotations

import contextlib

from lairmake.stages.diagnose import OurFault, UserError, UserErrors
from lairmake.stages.make.core.blame import list_edited
from lairmake.stages.make.core.build import BuildOptions
from lairmake.stages.make.store.folders import KERNEL, LayerFolder, shown_path

REPORT = (
    "nothing that you wrote is wrong: please report it to the authors of Lairmake, with the files "
    "of this folder"
)
WITHOUT_LIMITS = ("parse", "place")
"""The stages that no machine bounds: a layer that they refuse is no layer on any of them."""


def raise_ours(stage: str, folder: LayerFolder, error: Exception, build: BuildOptions) -> None:
    """Raise OurFault for an error of a stage in a text that another stage wrote.

    Others stay as they are: an error in what a user wrote, and any where somebody edited a text by
    hand that is read on the way to it, or where that is of a revision.
    """
    said = error.__cause__ if isinstance(error.__cause__, UserError | UserErrors) else error
    if not isinstance(said, UserError | UserErrors):
        return
    errors = said.errors if isinstance(said, UserErrors) else [said]
    wrong = [each for each in errors if _is_written(each, stage, folder)]
    if not wrong or build.of_revision or _is_edited(folder, build):
        return
    first = wrong[0]
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    message = f"a fault of Lairmake: stage {stage} refuses what another stage wrote"
    if folder.asked_in is not None:
        message += f" for part {folder.path.name} of {shown_path(folder.asked_in)}"
    raise OurFault(f"{message}: {first.message}{more}", first.span, REPORT) from error


def _is_written(error: UserError, stage: str, folder: LayerFolder) -> bool:
    """Return whether an error is at a place in a text that a stage wrote, whatever a user asked.

    Of a part that is a layer which a stage wrote, so are its `.lair`, and of a kernel its
    layer.yaml: that of a graph has what its network.yaml says of the part.
    """
    if error.span is None:
        return False
    path = error.span.source.path
    if path.startswith((f"{shown_path(folder.cache)}/", f"{shown_path(folder.build)}/")):
        return True
    if folder.asked_in is None or not path.startswith(f"{shown_path(folder.path)}/"):
        return False
    is_layer = path.endswith(".lair") or folder.asked_in.name == KERNEL
    return is_layer and stage in WITHOUT_LIMITS


def _is_edited(folder: LayerFolder, build: BuildOptions) -> bool:
    """Return whether a text of a folder, or of that which it is a part of, was edited by hand."""
    from lairmake.stages.make.core.layers import open_folder

    with contextlib.suppress(UserError, UserErrors, OSError):
        if list_edited(folder, build):
            return True
        if folder.asked_in is not None:
            return bool(list_edited(open_folder(folder.asked_in.parent), build))
    return False

"""A stage in a slot: what it refuses fails no build, but ends what is tried there.

A text that says why stands in the place of what the stage would write, and of all that follows.
"""

from __future__ import annotations

from stages.diagnose import UserError, UserErrors, headline
from stages.make.core.declare import declaration, is_text
from stages.make.core.faults import perform_in
from stages.make.core.folder_inputs import FolderInputs
from stages.make.store.folders import LAYER, LayerFolder, names_meant
from stages.mapping.refused import REFUSED, refusal, why_refused


def try_in(folder: LayerFolder, stage: str, inputs: FolderInputs) -> dict[str, bytes]:
    """Return the contents that a stage writes for a slot, by the names that it declares.

    Where it refuses what is tried, or an earlier stage did, each says so instead.
    """
    declared = declaration(stage)
    names = (n for n in names_meant(folder, declared.reads) if is_text(n) and n != LAYER)
    refused = next((text for text in map(inputs.text, names) if why_refused(text)), None)
    if refused is None:
        try:
            return perform_in(folder, stage, inputs)
        except OSError:
            raise
        except Exception as error:  # a bug of ours is no reason not to take another candidate
            refused = refusal(f"{stage}: {_said(error)}")
    return {name: refused.encode() for name in declared.writes}


def is_refused(contents: dict[str, bytes]) -> bool:
    """Return whether a stage wrote only that something is refused."""
    return all(content.startswith(REFUSED.encode()) for content in contents.values())


def _said(error: Exception) -> str:
    """Return what is wrong in one line, without the places of files: a slot has none of its own."""
    errors = error.errors if isinstance(error, UserErrors) else [error]
    first = errors[0]
    return first.message if isinstance(first, UserError) else headline(first)

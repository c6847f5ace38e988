"""A stage in a slot: what it refuses fails no build, but ends what is tried there.

A text that says why stands in the place of what the stage would write, and of all that follows.
"""

from __future__ import annotations

from collections.abc import Mapping

from lairmake.stages.diagnose import UndeclaredReadError, UserError, UserErrors, headline
from lairmake.stages.make.core.declare import declaration, is_text
from lairmake.stages.make.core.faults import perform_in
from lairmake.stages.make.core.folder_inputs import FolderInputs
from lairmake.stages.make.store.folders import LAYER, LayerFolder, names_meant
from lairmake.stages.mapping.candidates import REFUSED, refusal_in, refusal_text, why_refused
from lairmake.stages.shipped import UndeclaredDataError


def try_in(folder: LayerFolder, stage: str, inputs: FolderInputs) -> dict[str, bytes]:
    """Return the contents that a stage writes for a slot, by the names that it declares.

    Where it refuses what is tried, or an earlier stage did, each says so instead.
    """
    declared = declaration(stage)
    given = names_meant(folder, declared.reads)
    names = (n for n in given if is_text(n) and n != LAYER)
    refused = next((text for text in map(inputs.text, names) if why_refused(text)), None)
    if refused is None:
        try:
            return perform_in(folder, stage, inputs)
        except (OSError, UndeclaredDataError, UndeclaredReadError):
            raise  # no fault of what is tried: the store would keep that it is refused
        except Exception as error:  # a bug of ours is no reason not to take another candidate
            refused = _refusal(stage, error, {inputs.shown(n): n for n in given if _is_written(n)})
    return {name: refused.encode() for name in declared.writes}


def is_refused(contents: dict[str, bytes]) -> bool:
    """Return whether a stage wrote only that something is refused."""
    return all(content.startswith(REFUSED.encode()) for content in contents.values())


def _is_written(name: str) -> bool:
    """Return whether a user writes the file of this name that a slot reads."""
    return name == LAYER or name.endswith(".lair")


def _refusal(stage: str, error: Exception, written: Mapping[str, str]) -> str:
    """Return the text that says what is wrong first, with its place in a file that users wrote.

    `written` has these by their paths; other files are of the slot, which is nobody's.
    """
    first = error.errors[0] if isinstance(error, UserErrors) else error
    if not isinstance(first, UserError):
        return refusal_text(f"{stage}: {headline(first)}")
    file = written.get(first.span.source.path) if first.span is not None else None
    if file is None:
        return refusal_text(f"{stage}: {first.message}")
    return refusal_in(stage, first, file)

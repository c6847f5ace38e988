"""What goes wrong because of texts that somebody edited by hand, at the places of the edits."""

from __future__ import annotations

import json
from collections.abc import Mapping

from lairmake.stages.diagnose import Span, UserError, source_of
from lairmake.stages.make.core.build import BuildOptions
from lairmake.stages.make.core.disk import compare
from lairmake.stages.make.core.outlook import current_key, entry_of
from lairmake.stages.make.core.verdict import list_wrong
from lairmake.stages.make.store.folders import LayerFolder, every_stage, file_of, shown_path
from lairmake.stages.make.store.store import store_of
from lairmake.stages.make.store.user_files import content_of

RESULTS = "build/results.json"


def blame_edits(stage: str, folder: LayerFolder, error: Exception, build: BuildOptions) -> None:
    """Raise UserError for the failure of a stage, if texts that were edited by hand may be why."""
    from lairmake.stages.make.core.edits import first_change

    store = store_of(folder.home)
    wrote = list_edited(folder, build)
    originals = {name: store.blob(digest) for name, digest in wrote.items()}
    spans = [
        first_change(source_of(shown_path(path), content_of(path)), original.decode())
        for name, original in originals.items()
        if original is not None and (path := file_of(folder, name))
    ]
    if spans:
        more = ", ".join(f"{span.source.path}:{span.line}" for span in spans[1:])
        told = f"edited by hand, and stage {stage} fails: {_said(error)}"
        hint = f"edited too: {more}" if more else "undo the edit"
        raise _like(error, told, spans[0], hint) from error


def _said(error: Exception) -> str:
    """Return what keeps a stage from reading a text: what Python says of it is for nobody."""
    if isinstance(error, UserError):
        return error.message
    if isinstance(error, KeyError) and error.args:
        return f"there is no {error.args[0]}"
    return "what it says does not fit the other texts"


def list_edited(folder: LayerFolder, build: BuildOptions) -> dict[str, str]:
    """Return the digests of what stages wrote where a text that a person edited stays instead."""
    stages = every_stage(folder)
    return {n: d for each in stages for n, d in _originals(each, folder, build).items()}


def _like(error: Exception, message: str, span: Span, hint: str | None) -> UserError:
    """Return an error that is drawn as another one is, if that is of a fabric that stopped."""
    stop = getattr(error, "stop", None)
    if stop is None:
        return UserError(message, span, hint)
    from lairmake.stages.fabric.deadlock import FabricStopped

    return FabricStopped(message, span, hint, stop)


def check_values(
    stage: str, folder: LayerFolder, contents: Mapping[str, bytes], build: BuildOptions
) -> None:
    """Raise UserError if values are wrong, and texts that were edited by hand may be why."""
    wrong = list_wrong(json.loads(contents[RESULTS])) if RESULTS in contents else []
    if wrong:
        verb = "is" if len(wrong) == 1 else "are"
        blame_edits(stage, folder, UserError(f"{', '.join(wrong)} {verb} wrong"), build)


def _originals(stage: str, folder: LayerFolder, build: BuildOptions) -> Mapping[str, str]:
    """Return the digests of what a stage wrote where texts that a person edited stay instead."""
    entry = entry_of(folder, current_key(stage, folder))
    if entry is None:
        return {}
    kept = compare(stage, folder, entry.outputs, build).kept
    return {name: entry.outputs[name] for name in kept}

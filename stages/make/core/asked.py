"""Errors in layers that a stage wrote, as errors in the file in which a user asked for them: the
kernel.yaml of a kernel, or the network.yaml beside the graph of a framework."""

from __future__ import annotations

from lairmake.stages.diagnose import Source, Span, UserError, UserErrors, source_of
from lairmake.stages.make.store.folders import NETWORK, LayerFolder, shown_path
from lairmake.stages.make.store.user_files import content_of
from lairmake.stages.mapping.yaml_text import read_document

REMEDY = "which follows from this: take smaller tiles, or another machine"
OF_GRAPHS = "which was made for this: more can be said of it under `parts`"


def as_asked(error: UserError | UserErrors, folder: LayerFolder) -> UserError | UserErrors:
    """Return an error as one of what a user wrote, where a stage wrote the layer for them.

    What is wrong with a part is told at the place in kernel.yaml that asks for it; what has no
    place in a file is told as it is, an array with the folder that it is of.
    """
    if isinstance(error, UserErrors):
        error = UserErrors(_in_folder(each, folder) for each in error.errors)
    else:
        error = _in_folder(error, folder)
    file = folder.asked_in
    if file is None or not file.is_file():
        return error
    part, source = folder.path.name, source_of(shown_path(file), content_of(file))
    if isinstance(error, UserErrors):
        return UserErrors(_asked(each, part, source) for each in error.errors)
    return _asked(error, part, source)


def _in_folder(error: UserError, folder: LayerFolder) -> UserError:
    """Return an error about an array, which goes by the name that stages use, with its folder."""
    place = shown_path(folder.path)
    if error.span is None and error.message.startswith("inputs/") and place != ".":
        return UserError(f"{place}/{error.message}", None, error.hint)
    return error


def _asked(error: UserError, part: str, source: Source) -> UserError:
    place = _place(source, part)
    if error.span is None or place is None:
        return error
    remedy = OF_GRAPHS if _is_of_graph(source) else REMEDY
    written = f"{error.span.source.path}:{error.span.line}, {remedy}"
    hint = f"{error.hint}: in {written}" if error.hint else f"see {written}"
    return UserError(f"part {part}: {error.message}", place, hint)


def _is_of_graph(source: Source) -> bool:
    return source.path.rpartition("/")[2] == NETWORK


def _place(source: Source, part: str) -> Span | None:
    """Return where kernel.yaml asks for parts: its tiles, else its facts.

    Of a network.yaml that is what it says of the part, or of the target of all; None where it says
    nothing of these.
    """
    if _is_of_graph(source):
        keys = read_document(source).keys
        return keys.get(("parts", part)) or keys.get(("target",))
    from lairmake.stages.mapping.kernel_yaml import read_kernel

    kernel = read_kernel(source)
    return kernel.key_span("tiles" if kernel.tiles else "facts")

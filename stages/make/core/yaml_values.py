"""What a stage reads of the YAML files that users write: values, of which its key has the digest.

The text of these values is what counts as read, so that an edit of a comment is none. A file that
is not valid counts with all of its bytes: any stage that reads it says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from lairmake.stages import ANALYSES, SEARCHED
from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.make.core.declare import declaration, texts_of
from lairmake.stages.make.store.folders import LAYER
from lairmake.stages.mapping.inputs import Model
from lairmake.stages.mapping.yaml_paths import ValuePath

if TYPE_CHECKING:
    from lairmake.stages.mapping.layer_yaml import LayerMapping
    from lairmake.stages.mapping.models import File

Read = Callable[[Source], Model]


def checked(read: Read[Model], source: Source) -> Model:
    """Return a YAML file as `read` does. Raises UserErrors, UserError for what cannot be pinned."""
    file = read(source)
    if file.NAME == LAYER:
        _check_pins(file)  # type: ignore[arg-type]
    return file


def text_of(file: File, paths: Collection[ValuePath], content: bytes) -> bytes:
    """Return what counts as read of a file: values at some paths, or its `content` where one of
    them is none that has a text."""
    try:
        return file.only(paths).says.encode()
    except (TypeError, ValueError):
        return content


def _check_pins(mapping: LayerMapping) -> None:
    """Raise UserError for a file that is to stay as it was edited, but that no stage writes."""
    from lairmake.stages.lair.tree import did_you_mean

    stages = SEARCHED + ANALYSES if mapping.pin else ()
    texts = texts_of(name for stage in stages for name in declaration(stage).writes)
    for at, name in enumerate(mapping.pin):
        if name not in texts:
            hint = did_you_mean(name, texts, "texts of stages")
            raise UserError(f"{name} cannot be pinned", mapping.span("pin", at), hint)
